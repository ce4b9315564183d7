"""Rows and what is none, of lines and of items: each has an outcome of its own, and none an exception."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_sources import own_source
from strategies import json_values

from failure_kinds.sources import bundled_sources
from failure_kinds.sources.decoding import LONGEST_READ, RowDecoder, UnreadableError
from failure_kinds.sources.json_stream import JsonStreamError
from failure_kinds.sources.paths import parse_path, values_at
from failure_kinds.sources.row_files import LONGEST_LINE, ItemRows, LineRows
from failure_kinds.sources.row_types import paths_read, row_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from failure_kinds.sources.row_files import Item

PLAIN = bundled_sources()["plain"]
DECODER = RowDecoder(paths_read(PLAIN))


def kind_of(row: Any) -> Any:
    return msgspec.to_builtins(row).get("failure_kind")


def read(content: bytes) -> tuple[list[Any], list[tuple[int, str]], int, int]:
    """The kinds that were read, the unreadable lines with why, and how many lines there were and blank ones."""
    unreadable: list[tuple[int, str]] = []
    stream: Any = io.BufferedReader(io.BytesIO(content))
    rows = LineRows(stream, DECODER, lambda line, reason: unreadable.append((line, reason)))
    kinds = [kind_of(row) for row in rows]
    assert rows.place is None
    return kinds, unreadable, rows.number, rows.blank


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (b"", []),
        (b'{"failure_kind": "a"}\n{"failure_kind": "b"}\n', ["a", "b"]),
        (b'{"failure_kind": "a"}\r\n{"failure_kind": "b"}\r\n', ["a", "b"]),
        (b'\xef\xbb\xbf{"failure_kind": "a"}\n', ["a"]),
        (b'{"failure_kind": "a"}', ["a"]),
        ('{"failure_kind": "a\u2028b\u0085c"}\n'.encode(), ["a\u2028b\u0085c"]),
        (b'{"failure_kind": "a", "failure_kind": "b"}\n', ["b"]),
        (b'{"failure_kind": "a", "reward": NaN, "x": [Infinity, -Infinity]}\n', ["a"]),
        (b'{"failure_kind": "a\xff"}\n', ["a\ufffd"]),
        (b'{"failure_kind": "a", "response": "\xff"}\n', ["a"]),
        (b'{"failure_kind": "a", "response": "\\ud800"}\n', ["a"]),
        (b'{"failure_kind": "a", "reward": 1e400}\n', ["a"]),
        (b'{"failure_kind": NaN}\n{"failure_kind": 1e400}\n{"failure_kind": -Infinity}\n', [None] * 3),
        (b'{"failure_kind": "NaN", "x": "-Infinity", "y": NaN}\n', ["NaN"]),
        (b'{"failure_kind": "a \\" NaN \\\\", "y": NaN}\n', ['a " NaN \\']),
        (b'{"failure_kind": "a\\ud800", "y": 1.5}\n', ["a\ud800"]),
        (b'{"failure_kind": 1.5, "y": "\\ud800"}\n', [1.5]),
        (b'{"failure_kind": "\\ud800", "stage": NaN, "policy": 1.5, "score": 1e999}\n', ["\ud800"]),
        (b'{"failure_kind": 123456789012345678901234567890}\n', [123456789012345678901234567890]),
        (b"{}\n", [None]),
    ],
)
def test_rows(content: bytes, kinds: list[Any]) -> None:
    assert read(content) == (kinds, [], content.count(b"\n") + (content[-1:] not in (b"", b"\n")), 0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"null", "it is null, not an object"),
        (b"true", "it is a boolean, not an object"),
        (b'"text"', "it is text, not an object"),
        (b"5", "it is a number, not an object"),
        (b'[{"failure_kind": "a"}]', "it is a list, not an object"),
        (b'{"failure_kind": "a"', "it isn't JSON"),
        (b'{"failure_kind": "a"} {"failure_kind": "b"}', "it isn't JSON"),
        (b"not JSON", "it isn't JSON"),
        (b"\xff\xfe", "it isn't JSON"),
        (b'\xef\xbb\xbf{"failure_kind": "late"}', "it isn't JSON"),
        (b'{"failure_kind": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "it is nested too deep"),
        (b'{"response": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "it is nested too deep"),
        (b'{"response": NaN, "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "it is nested too deep"),
        (b'{"response": "\\ud800", "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "it is nested too deep"),
        (b'{"failure_kind": ' + b"1" * 5000 + b"}", "it isn't JSON"),
        (b'{"failure_kind": "' + b"x" * (2 << 20) + b'"}', "the fields that matter are longer than 1 MiB"),
        (b'{"failure_kind": ["' + b"x" * (2 << 20) + b'"]}', "the fields that matter are longer than 1 MiB"),
        (b'{"failure": "' + b"x" * (2 << 20) + b'"}', "the fields that matter are longer than 1 MiB"),
        (b'{"failure": ["' + b"x" * (2 << 20) + b'"]}', "the fields that matter are longer than 1 MiB"),
        (b'{"response": NaN, "stage": "' + b"x" * (2 << 20) + b'"}', "the fields that matter are longer than 1 MiB"),
        (b'{"stage": {"a": "\\ud800' + b"x" * (2 << 20) + b'"}}', "the fields that matter are longer than 1 MiB"),
        (b'"' + b"x" * (2 << 20) + b'"', "it is text, not an object"),
        (b'{"response": oh, "x": "' + b"x" * (4 << 20) + b'"}', "it isn't JSON"),
        (b'{"response": "\\ud800", "x": "' + b"x" * (4 << 20) + b'"}', "it isn't JSON"),  # Python's parser is too slow
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else value,
)
def test_a_line_that_is_no_row_is_counted_with_its_number(line: bytes, reason: str) -> None:
    content = b'{"failure_kind": "before"}\n' + line + b'\n{"failure_kind": "after"}\n'
    assert read(content) == (["before", "after"], [(2, reason)], 3, 0)


@pytest.mark.parametrize("beside", [b"1", b"NaN", b'[1, {"a": -Infinity}]', b'"\\ud800"'])
def test_a_long_row_is_a_row(beside: bytes) -> None:
    content = b'{"response": "' + b"x" * (3 << 20) + b'", "x": ' + beside + b', "failure_kind": "a"}\n'
    assert read(content) == (["a"], [], 1, 0)


def test_a_very_long_one_too() -> None:
    content = b'{"response": "' + b"x" * (9 << 20) + b'", "x": NaN, "failure_kind": "a"}\n'
    assert read(content) == (["a"], [], 1, 0)


def test_what_is_read_may_fill_the_whole_of_what_is_allowed() -> None:
    text = b'{"failure_kind": "' + b"x" * (LONGEST_READ - 2) + b'", "response": 1}'
    assert len(kind_of(DECODER.decode(text))) == LONGEST_READ - 2
    with pytest.raises(UnreadableError):
        DECODER.decode(text.replace(b'"x', b'"xx'))


def test_a_mark_is_passed_over_at_the_start_of_a_file_alone() -> None:
    for from_start, expected in ((True, ["a"]), (False, [])):
        stream: Any = io.BufferedReader(io.BytesIO(b'\xef\xbb\xbf{"failure_kind": "a"}'))
        rows = LineRows(stream, DECODER, lambda *_: None, from_start=from_start)
        assert [kind_of(row) for row in rows] == expected


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_passed_over(end: bytes) -> None:
    content = b'{"failure_kind": "a"}\n{"response": "' + b"x" * LONGEST_LINE + b'"}' + end
    kinds, unreadable, lines, _ = read(content + (b'{"failure_kind": "b"}' if end else b""))
    assert unreadable == [(2, "it is longer than 16 MiB")]
    assert (kinds, lines) == ((["a", "b"], 3) if end else (["a"], 2))


def test_blank_lines_are_counted() -> None:
    assert read(b'\n  \t\r\n{"failure_kind": "a"}\n\n') == (["a"], [], 4, 3)


@given(st.lists(st.binary(max_size=30)))
def test_every_line_is_a_row_blank_or_unreadable(lines: list[bytes]) -> None:
    content = b"\n".join(lines)
    kinds, unreadable, count, blank = read(content)
    assert len(kinds) + len(unreadable) + blank == count


def test_the_rows_of_a_value_are_those_of_its_json() -> None:
    rows = [{"failure_kind": f"kind_{number}", "response": {"text": "x" * number}} for number in range(100)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert read(content)[0] == [row["failure_kind"] for row in rows]


def test_what_a_damaged_file_holds_before_the_damage_is_read() -> None:
    packed = gzip.compress(b'{"failure_kind": "a"}\n' * 3)[:-1]
    stream: Any = io.BufferedReader(gzip.GzipFile(fileobj=io.BytesIO(packed)))
    unreadable: list[tuple[int, str]] = []
    rows = LineRows(stream, DECODER, lambda *line: unreadable.append(line))
    kinds = [kind_of(row) for row in rows]
    assert unreadable == [
        (
            len(kinds) + 1,
            "the file can't be read on from here: Compressed file ended before the end-of-stream marker was reached",
        )
    ]


class TestItems:
    @staticmethod
    def read(*items: Item, then: Exception | None = None) -> tuple[list[tuple[Any, ...]], list[tuple[int, str]]]:
        """Number, place and kind of each row, and what is unreadable."""

        def every() -> Iterator[Item]:
            yield from items
            if then is not None:
                raise then

        unreadable: list[tuple[int, str]] = []
        rows = ItemRows(every(), DECODER, lambda number, reason: unreadable.append((number, reason)))
        return [(rows.number, rows.place, kind_of(row)) for row in rows], unreadable

    def test_each_has_its_number_and_its_place(self) -> None:
        rows, unreadable = self.read(("a[0]", b'{"failure_kind": "x"}'), (None, b'{"failure_kind": NaN}'))
        assert rows == [(1, "a[0]", "x"), (2, None, None)]
        assert unreadable == []

    def test_what_is_no_row_is_counted_with_its_number(self) -> None:
        items: list[Item] = [("a", b"5"), ("b", UnreadableError("it is damaged")), ("c", b"{}"), ("d", b"")]
        assert self.read(*items) == (
            [(3, "c", None)],
            [(1, "a: it is a number, not an object"), (2, "b: it is damaged"), (4, "d: it isn't JSON")],
        )

    @pytest.mark.parametrize(
        "error", [JsonStreamError("it is cut off"), OSError("it is cut off"), EOFError("it is cut off")]
    )
    def test_what_comes_before_a_damage_is_read(self, error: Exception) -> None:
        assert self.read(("a", b"{}"), then=error) == (
            [(1, "a", None)],
            [(2, "the file can't be read on from here: it is cut off")],
        )


class TestTypes:
    """A row's type takes whatever stands in a field, and holds what the paths lead to."""

    PATHS = tuple(
        map(parse_path, ("a", "b.c", "b.d.e", "f[].g", "h[i].j", "i", "k.l", "k", "m.n", "m[-1].n", "o[i].p", "o.q"))
    )

    @given(
        st.dictionaries(
            st.sampled_from(list("abcdefghijklmnopqz")),
            st.recursive(
                json_values,
                lambda values: (
                    st.lists(values, max_size=3) | st.dictionaries(st.sampled_from(list("cdegjlnpqz")), values)
                ),
                max_leaves=5,
            ),
        )
    )
    def test_what_a_path_leads_to_is_the_same_in_the_row_and_in_what_was_decoded(self, row: dict[str, Any]) -> None:
        text = json.dumps(row, allow_nan=True)
        plain = json.loads(text, parse_constant=lambda _: None)
        decoded = msgspec.to_builtins(RowDecoder(self.PATHS).decode(text.encode()))
        for path in self.PATHS:
            expected, got = list(values_at(plain, path, plain)), list(values_at(decoded, path, decoded))
            if path == parse_path("k"):  # another path leads through it
                expected, got = [type(value) for value in expected], [type(value) for value in got]
            assert got == expected

    def test_nothing_else_is_built(self) -> None:
        text = b'{"b": {"c": 1, "x": [1]}, "f": [{"g": 1, "x": 2}], "h": {"n": {"j": 1, "x": 2}}, "x": {}}'
        decoded = msgspec.to_builtins(msgspec.json.decode(text, type=row_type(self.PATHS)))
        assert decoded == {"b": {"c": 1}, "f": [{"g": 1}], "h": {"n": {"j": 1}}}

    def test_everything_that_evidence_is_taken_from_is_read(self) -> None:
        own = own_source("""
kind: [{field: type, within: ["steps[]", "by[id]"], when: {all: [a.b], none: [c], any: [d], equal: {e: x}}}]
stage:
  - {field: at, phases: [{field: setup, stage: seed}]}
  - {stage: agent, when: {all: [f]}}
policy: [role]
http_status: [{field: status, when: {all: [model]}}]
score: [grade]
failed: [failed]
finished: [finished]
omitted: [omitted]
""")
        top = {path[0].key for path in paths_read(own)}
        assert " ".join(sorted(top)) == (
            "a at by c d e f failed finished grade id model omitted role setup status steps"
        )
        beside = {"type", "at", "role", "status", "model", "setup"}
        assert {path[1].key for path in paths_read(own) if path[1:] and path[0].key in ("steps", "by")} == beside

"""Members of lists in JSON files of any size: where each begins and ends, and what is no JSON."""

from __future__ import annotations

import io
import json
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values

from failure_kinds.sources import json_stream
from failure_kinds.sources.json_stream import CutOffError, JsonStream, JsonStreamError


class Trickle:
    """A stream that gives one to three bytes at a time, whatever it is asked for."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)
        self._random = random.Random(len(content))  # noqa: S311  # nothing is secret

    def read(self, size: int, /) -> bytes:
        return self._content.read(min(size, self._random.randint(1, 3)))


STREAMS = {"at once": io.BytesIO, "bytes by bytes": Trickle}
every_stream = pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)


def members_of(stream: JsonStream) -> list[Any]:
    return [json.loads(stream.value()) for _ in stream.members()]


def entries_of(stream: JsonStream) -> list[tuple[str, Any]]:
    return [(key, json.loads(stream.value())) for key in stream.entries()]


indents = st.sampled_from([None, 0, 1, 4, "\t", "\r\n"])
separators = st.sampled_from([(",", ":"), (" ,\t", " : "), (",\n\n", ":")])


@given(st.lists(json_values, max_size=4), indents, separators, st.booleans(), st.sampled_from([*STREAMS]))
def test_the_members_of_a_list_are_those_of_the_value(
    values: list[Any], indent: Any, separator: tuple[str, str], ascii_only: bool, how: str
) -> None:
    text = json.dumps(values, indent=indent, separators=separator, ensure_ascii=ascii_only)
    content = f" \n{text}\t".encode("utf-8", "surrogatepass")
    stream = JsonStream(STREAMS[how](content))
    # Compared as text: NaN isn't equal to itself.
    assert json.dumps(members_of(stream)) == json.dumps(json.loads(text))
    assert stream.peek() == b""


@given(st.dictionaries(st.text(), json_values, max_size=4), indents, separators, st.sampled_from([*STREAMS]))
def test_the_entries_of_an_object_are_those_of_the_value(
    values: dict[str, Any], indent: Any, separator: tuple[str, str], how: str
) -> None:
    text = json.dumps(values, indent=indent, separators=separator)
    stream = JsonStream(STREAMS[how](text.encode()))
    assert json.dumps(dict(entries_of(stream))) == json.dumps(json.loads(text))
    assert stream.peek() == b""


@given(json_values, st.sampled_from([*STREAMS]))
def test_a_value_is_as_it_is_written_and_can_be_passed_over(value: Any, how: str) -> None:
    text = json.dumps(value, indent=1).encode()
    stream = JsonStream(STREAMS[how](b"[%b , %b]" % (text, text)))
    steps = stream.members()
    next(steps)
    assert stream.value() == text
    next(steps)
    stream.skip()
    assert next(steps, "end") == "end"


@every_stream
@pytest.mark.parametrize(
    "text",
    [
        rb'"a\"]}"',
        rb'"\\"',
        rb'"\\\""',
        '"é\u2028タ"'.encode(),
        b'["[", "]", {"}": "{"}]',
        b"-1.5e+3",
        b"null",
        b"[[]]",
    ],
)
def test_brackets_and_quotation_marks_in_strings_mean_nothing(stream: Any, text: bytes) -> None:
    assert members_of(JsonStream(stream(b"[" + text + b"," + text + b"]"))) == [json.loads(text)] * 2


@every_stream
def test_a_byte_order_mark_is_passed_over(stream: Any) -> None:
    assert members_of(JsonStream(stream(b"\xef\xbb\xbf [1]"))) == [1]
    with pytest.raises(JsonStreamError):
        members_of(JsonStream(stream(b"\xef\xbb[1]")))


@every_stream
def test_lists_within_objects_are_stepped_through(stream: Any) -> None:
    found = JsonStream(stream(b'{"a": [1, 2], "b": {"c": []}, "d": 3}'))
    seen = [(key, members_of(found) if key == "a" else found.value()) for key in found.entries()]
    assert seen == [("a", [1, 2]), ("b", b'{"c": []}'), ("d", b"3")]


@every_stream
def test_keys_may_hold_escapes_and_line_ends(stream: Any) -> None:
    assert entries_of(JsonStream(stream(b'{"\\u0061\\"" : 1, "b\n": 2}'))) == [('a"', 1), ("b\n", 2)]


@every_stream
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"[",
        b"[1",
        b"[1,",
        b'["',
        b'["a',
        b'["a\\',
        b'["a"',
        b"[{",
        b'[{"a":',
        b'[{"a": "}]',
        b"[[]",
        b"[[1,2",
    ],
)
def test_a_list_that_is_cut_off(stream: Any, text: bytes) -> None:
    with pytest.raises(CutOffError, match=r"^it is cut off$"):
        members_of(JsonStream(stream(text)))


@every_stream
@pytest.mark.parametrize("text", [b"", b"{", b'{"a', b'{"a"', b'{"a":', b'{"a": 1', b'{"a": 1,', b'{"a": [1'])
def test_an_object_that_is_cut_off(stream: Any, text: bytes) -> None:
    with pytest.raises(CutOffError, match=r"^it is cut off$"):
        entries_of(JsonStream(stream(text)))


@every_stream
@pytest.mark.parametrize(
    "text", [b"1", b"{}", b'"[]"', b"]", b"[1 2]", b"[,]", b"[1,,2]", b"[1,]", b"[:]", b"[1}", b"[}"]
)
def test_what_is_no_list(stream: Any, text: bytes) -> None:
    with pytest.raises(JsonStreamError, match=r"^it isn't JSON$") as caught:
        members_of(JsonStream(stream(text)))
    assert not isinstance(caught.value, CutOffError)


@every_stream
@pytest.mark.parametrize(
    "text",
    [
        b"1",
        b"[]",
        b"{1: 2}",
        b"{a: 1}",
        b'{"a" 1}',
        b'{"a": 1 "b": 2}',
        b'{"a": ,}',
        b'{"a": 1]',
        b'{"\\x": 1}',
        b'{"\xff": 1}',
    ],
)
def test_what_is_no_object(stream: Any, text: bytes) -> None:
    with pytest.raises(JsonStreamError, match=r"^it isn't JSON$"):
        entries_of(JsonStream(stream(text)))


@given(st.binary(max_size=12) | st.text('[]{}:,"\\1a \n', max_size=12).map(str.encode), st.sampled_from([*STREAMS]))
def test_whatever_the_bytes_are_they_are_json_or_said_to_be_none(content: bytes, how: str) -> None:
    for step in (members_of, entries_of):
        with suppress(ValueError):  # what isn't seen here, whoever decodes a value sees
            step(JsonStream(STREAMS[how](content)))


def test_a_million_brackets_are_passed_over() -> None:
    count = 1_000_000
    stream = JsonStream(io.BytesIO(b"[" + b"[" * count + b"]" * count + b', {"a": ' + b"[{" * count))
    steps = stream.members()
    next(steps)
    assert len(stream.value()) == 2 * count
    next(steps)
    with pytest.raises(CutOffError):
        stream.skip()


def test_no_more_is_held_than_a_member() -> None:
    member = b'{"text": "' + b"x" * 100_000 + b'"}'
    stream = JsonStream(io.BytesIO(b"[" + b",".join([member] * 100) + b"]"))
    assert sum(stream.value() == member and len(stream._text) < 1_000_000 for _ in stream.members()) == 100


@pytest.mark.parametrize("text", [b'["' + b"x" * 2000 + b'"]', b"[" + b"1," * 1000 + b"1]"])
def test_a_value_that_is_too_long_is_refused(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST_ITEM", 1000)
    monkeypatch.setattr(json_stream, "_PIECE", 100)
    with pytest.raises(JsonStreamError, match=r"^a value is longer than 0 MiB$"):
        JsonStream(io.BytesIO(text)).value()


def test_a_long_value_that_is_passed_over_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST_ITEM", 1000)
    monkeypatch.setattr(json_stream, "_PIECE", 100)
    stream = JsonStream(io.BytesIO(b"[" + b"1," * 1000 + b"1] 2"))
    stream.skip()
    assert stream.value() == b"2"

"""Lines that are rows and lines that are none: each has an outcome of its own, and none an exception."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from failure_kinds.files import ENDINGS, expand_paths, is_plain, open_file, open_part
from failure_kinds.jsonlines import LONGEST_LINE, RowFile
from failure_kinds.rows import evidence_reader

if TYPE_CHECKING:
    from pathlib import Path


def read(content: bytes) -> tuple[list[Any], list[tuple[int, str]], int, int]:
    """The kinds that were read, the unreadable lines with why, and how many lines there were and blank ones."""
    unreadable: list[tuple[int, str]] = []
    row_type, _ = evidence_reader()
    stream: Any = io.BufferedReader(io.BytesIO(content))
    rows = RowFile(stream, row_type, lambda line, reason: unreadable.append((line, reason)))
    kinds = [row.failure_kind for row in rows]
    return kinds, unreadable, rows.line, rows.blank


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
        (b'{"failure_kind": "' + b"x" * (2 << 20) + b'"}', "the fields that matter are longer than 1 MiB"),
        (b'{"response": NaN, "x": "' + b"x" * (4 << 20) + b'"}', "it isn't JSON"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else value,
)
def test_a_line_that_is_no_row_is_counted_with_its_number(line: bytes, reason: str) -> None:
    content = b'{"failure_kind": "before"}\n' + line + b'\n{"failure_kind": "after"}\n'
    assert read(content) == (["before", "after"], [(2, reason)], 3, 0)


def test_a_long_row_is_a_row() -> None:
    content = b'{"response": "' + b"x" * (3 << 20) + b'", "failure_kind": "a"}\n'
    assert read(content)[0] == ["a"]


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


class TestFiles:
    ROWS = b'{"failure_kind": "a"}\n{"failure_kind": "b"}\n'

    @pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
    def test_their_first_bytes_tell_how_they_are_packed(self, pack: Any, tmp_path: Path) -> None:
        path = tmp_path / "rows.of-any-name"
        path.write_bytes(pack(self.ROWS))
        opened = open_file(str(path))
        with opened.source, opened.stream:
            assert opened.stream.read() == self.ROWS
            assert opened.size == opened.source.tell() == path.stat().st_size

    @pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
    def test_several_packed_parts_follow_each_other(self, pack: Any, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(pack(self.ROWS) + pack(self.ROWS))
        opened = open_file(str(tmp_path / "rows"))
        with opened.source, opened.stream:
            assert opened.stream.read() == self.ROWS * 2

    @pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
    def test_a_pipe_may_give_a_byte_at_a_time(self, pack: Any, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")

        def feed() -> None:
            with (tmp_path / "fifo").open("wb", buffering=0) as fifo:
                for byte in pack(self.ROWS):
                    fifo.write(bytes([byte]))

        feeder = threading.Thread(target=feed)
        feeder.start()
        opened = open_file(str(tmp_path / "fifo"))
        with opened.source, opened.stream:
            assert (opened.stream.read(), opened.size) == (self.ROWS, None)
        feeder.join()

    @pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
    def test_one_that_was_cut_off_is_not_taken_for_a_whole_one(self, pack: Any, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(pack(self.ROWS * 1000)[:-4])
        opened = open_file(str(tmp_path / "rows"))
        with opened.source, opened.stream, pytest.raises(EOFError):
            opened.stream.read()

    def test_a_part_of_one_ends_where_it_was_to_end(self, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(self.ROWS)
        with open_part(str(tmp_path / "rows"), 22, 40) as part:
            assert part.read() == self.ROWS[22:40]

    @pytest.mark.parametrize(("content", "plain"), [(b"x" * 10, True), (b"x" * 9, False), (b"\x1f\x8b" * 10, False)])
    def test_one_that_is_plain_and_large_enough(self, content: bytes, plain: bool, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(content)
        assert is_plain(str(tmp_path / "rows"), 10) is plain
        assert not is_plain("-", 0)

    def test_a_folder_means_the_row_files_in_it(self, tmp_path: Path) -> None:
        for name in ("b.jsonl", "a/c.ndjson.zst", "a/d.jsonl.gz", "a/e.json", "f.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).touch()
        found = [path.removeprefix(str(tmp_path))[1:] for path in expand_paths([tmp_path])]
        assert found == ["a/c.ndjson.zst", "a/d.jsonl.gz", "b.jsonl"]

    def test_a_pattern_means_what_it_matches(self, tmp_path: Path) -> None:
        for name in ("run1.jsonl", "run2.jsonl", "other.jsonl", "run3.jsonl/"):
            (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()
        assert [path[-10:] for path in expand_paths([f"{tmp_path}/run*.jsonl", "-"])] == [
            "run1.jsonl",
            "run2.jsonl",
            "-",
        ]

    def test_a_file_is_read_once_however_often_it_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").touch()
        (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
        found = list(expand_paths([tmp_path / "a.jsonl", tmp_path, f"{tmp_path}/*", "-", "-"]))
        assert found == [str(tmp_path / "a.jsonl"), "-"]

    def test_a_file_whose_name_looks_like_a_pattern_is_that_file(self, tmp_path: Path) -> None:
        path = tmp_path / "run[1].jsonl"
        path.touch()
        assert list(expand_paths([path])) == [str(path)]

    def test_what_means_no_file_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"no\.jsonl: no such file or folder, and no file matches it"):
            list(expand_paths([tmp_path / "no.jsonl"]))
        with pytest.raises(FileNotFoundError, match="the folder holds no file that ends in " + ", ".join(ENDINGS[:2])):
            list(expand_paths([tmp_path]))

    def test_what_is_no_regular_file_is_read_as_it_is(self) -> None:
        assert list(expand_paths(["/dev/null"])) == ["/dev/null"]


def test_the_rows_of_a_value_are_those_of_its_json() -> None:
    rows = [{"failure_kind": f"kind_{number}", "response": {"text": "x" * number}} for number in range(100)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert read(content)[0] == [row["failure_kind"] for row in rows]

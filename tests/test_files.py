"""Files of rows: which ones a path means, and their bytes, however they are packed or damaged."""

from __future__ import annotations

import gzip
import io
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from failure_kinds.files import ENDINGS, expand_paths, is_plain, look_ahead, open_file, open_part

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b'{"failure_kind": "a"}\n{"failure_kind": "b"}\n'


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_their_first_bytes_tell_how_they_are_packed(pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.of-any-name"
    path.write_bytes(pack(ROWS))
    opened = open_file(str(path))
    with opened.source, opened.stream:
        assert opened.stream.read() == ROWS
        assert opened.size == opened.source.tell() == path.stat().st_size


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_several_packed_parts_follow_each_other(pack: Any, tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(pack(ROWS) + pack(ROWS))
    opened = open_file(str(tmp_path / "rows"))
    with opened.source, opened.stream:
        assert opened.stream.read() == ROWS * 2


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_pipe_may_give_a_byte_at_a_time(pack: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    def feed() -> None:
        with (tmp_path / "fifo").open("wb", buffering=0) as fifo:
            for byte in pack(ROWS):
                fifo.write(bytes([byte]))

    feeder = threading.Thread(target=feed)
    feeder.start()
    opened = open_file(str(tmp_path / "fifo"))
    with opened.source, opened.stream:
        assert (opened.stream.read(), opened.size) == (ROWS, None)
    feeder.join()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_one_that_was_cut_off_is_not_taken_for_a_whole_one(pack: Any, tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(pack(ROWS * 1000)[:-4])
    opened = open_file(str(tmp_path / "rows"))
    with opened.source, opened.stream, pytest.raises(EOFError):
        opened.stream.read()


def test_a_part_of_one_ends_where_it_was_to_end(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(ROWS)
    with open_part(str(tmp_path / "rows"), 22, 40) as part:
        assert part.read() == ROWS[22:40]


@pytest.mark.parametrize(("content", "plain"), [(b"x" * 10, True), (b"x" * 9, False), (b"\x1f\x8b" * 10, False)])
def test_one_that_is_plain_and_large_enough(content: bytes, plain: bool, tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(content)
    assert is_plain(str(tmp_path / "rows"), 10) is plain
    assert not is_plain("-", 0)


def test_a_folder_means_the_row_files_in_it(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/c.ndjson.zst", "a/d.jsonl.gz", "a/e.json", "a/g.json.zst", "f.txt", "h.eval", "i.trajs"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [path.removeprefix(str(tmp_path))[1:] for path in expand_paths([tmp_path])]
    assert found == ["a/c.ndjson.zst", "a/d.jsonl.gz", "a/e.json", "a/g.json.zst", "b.jsonl"]
    found = [path.removeprefix(str(tmp_path))[1:] for path in expand_paths([tmp_path], {"*.eval", "*.traj"})]
    assert found == ["a/c.ndjson.zst", "a/d.jsonl.gz", "a/e.json", "a/g.json.zst", "b.jsonl", "h.eval"]


def test_a_file_of_a_folder_may_have_no_name_but_an_ending(tmp_path: Path) -> None:
    (tmp_path / "a.eval").mkdir()
    for name in ("a.eval/.gz", "a.eval/.zst", "a.eval/.gz.zst", "rows.jsonl"):
        (tmp_path / name).touch()
    assert list(expand_paths([tmp_path], {"*.eval"})) == [str(tmp_path / "rows.jsonl")]


def test_a_pattern_means_what_it_matches(tmp_path: Path) -> None:
    for name in ("run1.jsonl", "run2.jsonl", "other.jsonl", "run3.jsonl/"):
        (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()
    assert [path[-10:] for path in expand_paths([f"{tmp_path}/run*.jsonl", "-"])] == [
        "run1.jsonl",
        "run2.jsonl",
        "-",
    ]


def test_a_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    found = list(expand_paths([tmp_path / "a.jsonl", tmp_path, f"{tmp_path}/*", "-", "-"]))
    assert found == [str(tmp_path / "a.jsonl"), "-"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "run[1].jsonl"
    path.touch()
    assert list(expand_paths([path])) == [str(path)]


def test_what_means_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.jsonl: no such file or folder, and no file matches it"):
        list(expand_paths([tmp_path / "no.jsonl"]))
    wanted = ", ".join([*ENDINGS, r"\*.eval", "report.json"])
    with pytest.raises(FileNotFoundError, match=f"the folder holds no file that ends in {wanted}$"):
        list(expand_paths([tmp_path], ["report.json", "*.eval", "*.eval"]))


def test_what_is_no_regular_file_is_read_as_it_is() -> None:
    assert list(expand_paths(["/dev/null"])) == ["/dev/null"]


class Failing(io.RawIOBase):
    """Bytes that come a few at a time, and then fail."""

    def __init__(self, content: bytes, error: Exception) -> None:
        self._content = content
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._content:
            raise self._error
        count = min(3, len(buffer))
        piece, self._content = self._content[:count], self._content[count:]
        buffer[: len(piece)] = piece
        return len(piece)


class TestLookingAhead:
    @pytest.mark.parametrize("size", [0, 1, 44, 1000])
    def test_the_bytes_that_were_looked_at_are_read_again(self, size: int) -> None:
        head, stream = look_ahead(io.BufferedReader(io.BytesIO(ROWS)), size)
        assert (head, stream.read()) == (ROWS[:size], ROWS)

    @pytest.mark.parametrize("error", [OSError("damaged"), EOFError("damaged")])
    @pytest.mark.parametrize("size", [5, 1000])
    def test_of_a_damaged_file_all_that_comes_before_the_damage_is_read(self, error: Exception, size: int) -> None:
        head, stream = look_ahead(io.BufferedReader(Failing(ROWS, error)), size)
        assert head == ROWS[:size]
        assert stream.readline() + stream.readline() == ROWS
        for _ in range(2):
            with pytest.raises(type(error), match="damaged"):
                stream.read()

    @pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
    @pytest.mark.parametrize("size", [100, 1 << 20])
    def test_so_is_all_of_a_packed_file_that_was_cut_off(self, pack: Any, size: int, tmp_path: Path) -> None:
        rows = b"".join(b'{"failure_kind": "x%d"}\n' % number for number in range(10_000))
        (tmp_path / "rows").write_bytes(pack(rows)[:-9])
        opened = open_file(str(tmp_path / "rows"))
        with opened.source, opened.stream:
            _, stream = look_ahead(opened.stream, size)
            pieces: list[bytes] = []
            with pytest.raises(EOFError):
                pieces.extend(iter(lambda: stream.read1(5000), b""))
        read = b"".join(pieces)
        assert rows.startswith(read)
        assert len(read) >= 1 << 17  # a block of Zstandard's is unpacked as a whole, or not at all

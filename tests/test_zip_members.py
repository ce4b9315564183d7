"""Members of zip files: however they are packed, and whatever is wrong with them, nothing is lost."""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from own_sources import own_source

from failure_kinds.sources import UnrecognisedError, read_failures
from failure_kinds.sources.zip_members import DAMAGES, member_names, open_member

OWN = own_source("""
layouts:
  log: {members: [samples/*.json], rows: document, header: [header.json, start.json]}
kind: [{field: kind, vocabulary: true}]
carry_file: {model: eval.model}
""")
LISTS = own_source("""
layouts:
  log: {members: [part*.json], rows: "rows[]"}
kind: [{field: kind, vocabulary: true}]
""")

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
ENCRYPTED = 1
UTF8_NAMES = 1 << 11


def packed(method: int, content: bytes) -> bytes:
    """A member's content in several parts, where the method knows parts."""
    if method == STORED:
        return content
    if method == DEFLATED:
        deflate = zlib.compressobj(wbits=-15)
        return deflate.compress(content) + deflate.flush()
    half = len(content) // 2
    return zstandard.compress(content[:half]) + zstandard.compress(content[half:])


def zip_of(*members: tuple[str, bytes], method: int = DEFLATED, flags: int = 0) -> bytes:
    """A zip file, written by hand: Python's own can write no Zstandard, and nothing that is wrong."""
    body, directory = b"", b""
    for name, content in members:
        data, raw_name = packed(method, content), name.encode()
        about = struct.pack(
            "<5HLLL2H", 20, flags, method, 0, 33, zlib.crc32(content), len(data), len(content), len(raw_name), 0
        )
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 20) + about + struct.pack("<3HLL", 0, 0, 0, 0, len(body)) + raw_name
        )
        body += b"PK\x03\x04" + about + raw_name + data
    end = struct.pack("<4HLLH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def sample(kind: str) -> bytes:
    return json.dumps({"kind": kind, "text": "x" * 300}).encode()


def read(folder: Path, content: bytes, source: Any = OWN) -> tuple[list[Any], list[tuple[int, str]]]:
    """Kind, place and model of each row, and what is unreadable."""
    (folder / "log.eval").write_bytes(content)
    unreadable: list[tuple[int, str]] = []
    rows = read_failures(folder / "log.eval", source, on_unreadable=lambda _, *row: unreadable.append(row))
    return [(row.number, row.place, row.evidence.failure_kind, row.extras.get("model")) for row in rows], unreadable


every_method = pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])


@every_method
def test_members_are_rows_and_the_header_is_about_them_all(method: int, tmp_path: Path) -> None:
    members = (
        ("samples/1.json", sample("a")), ("other.json", b"{}"), ("samples/2.json", sample("b")),
        ("start.json", b'{"eval": {"model": "no"}}'), ("header.json", b'{"x": [1], "eval": {"model": "m"}}'),
    )  # fmt: skip
    assert read(tmp_path, zip_of(*members, method=method)) == (
        [(1, "samples/1.json", "a", "m"), (2, "samples/2.json", "b", "m")],
        [],
    )
    assert read(tmp_path, zip_of(*members[:-1], method=method))[0][0][-1] == "no"
    assert read(tmp_path, zip_of(*members[:-2], method=method))[0][0][-1] is None


@every_method
def test_pythons_own_reader_reads_the_same(method: int) -> None:
    content = sample("a") * 1000
    with zipfile.ZipFile(io.BytesIO(zip_of(("a", content), method=method))) as file:
        assert file.testzip() is None if method != ZSTANDARD else file.namelist() == ["a"]


@every_method
def test_lines_in_members(method: int, tmp_path: Path) -> None:
    own = own_source("layouts: {log: {members: [x]}}\nkind: [{field: kind, vocabulary: true}]")
    content = zip_of(("x", b'{"kind": "a"}\n\n5\n{"kind": "b"}'), method=method)
    assert read(tmp_path, content, own) == (
        [(1, "x:1", "a", None), (3, "x:4", "b", None)],
        [(2, "x:3: it is a number, not an object")],
    )


@every_method
def test_members_of_lists_in_members(method: int, tmp_path: Path) -> None:
    content = zip_of(
        ("part1.json", b'{"rows": [{"kind": "a"}, {"kind": "b"}]}'), ("part2.json", b'{"x": 1}'), method=method
    )
    assert read(tmp_path, content, LISTS) == (
        [(1, "part1.json:rows[0]", "a", None), (2, "part1.json:rows[1]", "b", None)],
        [(3, "part2.json: there is no list rows")],
    )


@every_method
def test_of_two_members_of_one_name_the_last_counts(method: int, tmp_path: Path) -> None:
    content = zip_of(("samples/1.json", sample("old")), ("samples/1.json", sample("new")), method=method)
    assert [row[2] for row in read(tmp_path, content)[0]] == ["new"]


def test_a_header_that_is_damaged_costs_no_row(tmp_path: Path) -> None:
    for header in (b"[]", b"{", b'{"eval": {"model": ', b""):
        content = zip_of(("header.json", header), ("samples/1.json", sample("a")))
        assert read(tmp_path, content) == ([(1, "samples/1.json", "a", None)], [])


@pytest.mark.parametrize(
    ("content", "why", "kinds"),
    [
        (b"[1]", "samples/2.json: it is a list, not an object", "ac"),
        (b'{"kind": "b"', "samples/2.json: it is cut off", "ac"),
        (b'{"kind": "b"} {}', "samples/2.json: more than one JSON value", "abc"),
        (b"", "samples/2.json: it is cut off", "ac"),
        (b"oh", "samples/2.json: it isn't JSON", "ac"),
        (b"}", "samples/2.json: it isn't JSON", "ac"),
    ],
)
def test_a_member_that_is_no_row_is_counted(content: bytes, why: str, kinds: str, tmp_path: Path) -> None:
    members = ("samples/1.json", sample("a")), ("samples/2.json", content), ("samples/3.json", sample("c"))
    rows, unreadable = read(tmp_path, zip_of(*members))
    assert [row[2] for row in rows] == list(kinds)
    assert unreadable == [(len(kinds), why)]


@every_method
def test_so_is_one_that_is_damaged(method: int, tmp_path: Path) -> None:
    good = packed(method, sample("b"))
    content = zip_of(*((f"samples/{kind}.json", sample(kind)) for kind in "abc"), method=method)
    damaged = content.replace(good, b"\xff" * len(good), 1)
    rows, unreadable = read(tmp_path, damaged)
    assert [row[2] for row in rows] == ["a", "c"]
    assert [number for number, _ in unreadable] == [2]
    assert unreadable[0][1].startswith(("samples/b.json: ", "it isn't JSON"))


def test_one_whose_bytes_are_others_than_were_written(tmp_path: Path) -> None:
    content = zip_of(("samples/1.json", sample("a")), method=STORED).replace(b'"a"', b'"b"')
    assert read(tmp_path, content) == ([], [(1, "samples/1.json: Bad CRC-32 for file 'samples/1.json'")])


def test_an_encrypted_one_is_said_to_be_one(tmp_path: Path) -> None:
    rows, unreadable = read(tmp_path, zip_of(("samples/1.json", sample("a")), flags=ENCRYPTED))
    assert rows == []
    assert "is encrypted, password required" in unreadable[0][1]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 99])
def test_one_that_is_packed_in_another_way_is_said_to_be(method: int, tmp_path: Path) -> None:
    content = zip_of(("samples/1.json", sample("a")), method=STORED)
    content = content.replace(b"\0\0\0\0!\0", struct.pack("<HH", method, 0) + b"!\0")
    why = f"samples/1.json: it is packed in a way that isn't read (method {method})"
    assert read(tmp_path, content) == ([], [(1, why)])


def test_one_that_begins_where_the_file_ends(tmp_path: Path) -> None:
    content = zip_of(("samples/1.json", sample("a")), method=ZSTANDARD)
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        file.getinfo("samples/1.json").header_offset = len(content) - 10
        with pytest.raises(zipfile.BadZipFile, match="it is cut off"):
            open_member(file, "samples/1.json")


def test_names_match_patterns_once_and_in_order() -> None:
    content = zip_of(("b/2", b""), ("a/1", b""), ("B/3", b""), ("b/2", b""), ("b/c/d", b""))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert list(member_names(file, ("b/*", "*/2"))) == ["b/2", "b/c/d"]
        assert list(member_names(file, ())) == []


CONTENTS = [
    zip_of(
        ("samples/a.json", sample("a")),
        ("samples/é.json", sample("b")),
        ("header.json", b"{}"),
        method=method,
        flags=flags,
    )
    for method in (STORED, DEFLATED, ZSTANDARD)
    for flags in (0, UTF8_NAMES)
]


@given(st.sampled_from(CONTENTS), st.integers(), st.integers(1, 4), st.booleans())
def test_whatever_is_wrong_with_a_file_its_rows_are_read_or_counted_or_it_is_refused(
    content: bytes, seed: int, changes: int, cut: bool
) -> None:
    chance = random.Random(seed)  # noqa: S311  # nothing is secret
    damaged = bytearray(content)
    for _ in range(changes):
        damaged[chance.randrange(4, len(damaged))] = chance.randrange(256)
    with tempfile.TemporaryDirectory() as folder:
        try:
            read(Path(folder), bytes(damaged[: chance.randrange(4, len(damaged)) if cut else None]))
        except UnrecognisedError as error:
            assert error.reason in (
                "it is no zip file that can be read: damaged, or packed once more",
                "own doesn't describe it; it is a zip file",
            )


def test_a_name_that_is_no_text_is_a_damage_too(tmp_path: Path) -> None:
    content = zip_of(("samples/é.json", sample("a")), ("samples/b.json", sample("b")), flags=UTF8_NAMES)
    first = content.index("é".encode())
    local = content[:first] + b"\xff\xff" + content[first + 2 :]
    rows, unreadable = read(tmp_path, local)
    assert [row[2] for row in rows] == ["b"]
    assert len(unreadable) == 1
    with pytest.raises(UnrecognisedError, match="it is no zip file that can be read: damaged, or packed once more"):
        read(tmp_path, content.replace("é".encode(), b"\xff\xff"))
    assert UnicodeDecodeError in DAMAGES

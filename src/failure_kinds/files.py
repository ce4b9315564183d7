"""Files of rows: which ones a path means, and their bytes, whether they are plain, gzip or Zstandard."""

from __future__ import annotations

import glob
import io
import os
import zlib
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

__all__ = [
    "DAMAGES",
    "ENDINGS",
    "PARQUET",
    "STANDARD_INPUT",
    "OpenFile",
    "expand_paths",
    "is_plain",
    "look_ahead",
    "matches_any",
    "open_file",
    "open_part",
    "unpack_zstandard",
]

STANDARD_INPUT: Final = "-"
"""The path that means standard input."""

DAMAGES: Final = (OSError, EOFError, zlib.error)
"""What reading a file may raise that is open: it is damaged or cut off."""

ENDINGS: Final = (
    *(name + packed for name in (".jsonl", ".ndjson", ".json") for packed in ("", ".gz", ".zst")),
    ".parquet",
)
"""What the files end in that are read when a folder is named."""

PARQUET: Final = b"PAR1"
"""The bytes that a Parquet file begins with."""

_BUFFER: Final = 1 << 17
_PIECE: Final = 512  # of packed bytes at a time: one piece of a hostile file can grow twenty thousand times
_MAX_WINDOW: Final = 1 << 26

_GZIP: Final = b"\x1f\x8b"
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"


def __dir__() -> list[str]:
    return __all__


class OpenFile(NamedTuple):
    """A file that is open for reading.

    Attributes:
        stream: Its bytes, unpacked.
        source: The file itself, whose position tells how far the reading has come.
        size: Its size in bytes; None where that can't be known, as in a pipe.
    """

    stream: io.BufferedReader
    source: io.RawIOBase
    size: int | None


def expand_paths(paths: Iterable[str | os.PathLike[str]], patterns: Collection[str] = ()) -> Iterator[str]:
    """Yield the files that paths mean, each once: a file itself, a folder its row files, a pattern what it matches.

    Args:
        paths: Files, folders, patterns with `*`, `?`, `[...]` or `**`, and `-` for standard input.
        patterns: Patterns of the names of further files that are read of a folder, such as `*.eval`.

    Raises:
        FileNotFoundError: A path means no file; its message says which, and what was looked for.
    """
    met: set[str] = set()
    for path in (os.fspath(path) for path in paths):
        for file in _files_of(path, patterns):
            place = file if file == STANDARD_INPUT else os.path.realpath(file)
            if place not in met:
                met.add(place)
                yield file


def _files_of(path: str, patterns: Collection[str]) -> Iterator[str]:
    if path == STANDARD_INPUT or os.path.isfile(path):
        yield path
    elif os.path.isdir(path):
        found = sorted(str(file) for file in Path(path).rglob("*") if _is_wanted(file, patterns))
        if not found:
            wanted = ", ".join([*ENDINGS, *sorted(set(patterns))])
            raise FileNotFoundError(f"{path}: the folder holds no file that ends in {wanted}")
        yield from found
    elif os.path.lexists(path):
        yield path  # a pipe or a device
    else:
        found = sorted(file for file in glob.iglob(path, recursive=True) if os.path.isfile(file))
        if not found:
            raise FileNotFoundError(f"{path}: no such file or folder, and no file matches it as a pattern")
        yield from found


def matches_any(path: str | os.PathLike[str], patterns: Iterable[str]) -> bool:
    """Whether the name of a file, unpacked, matches one of some patterns, such as `attempts/*.json`."""
    file = PurePath(path)
    unpacked = file.with_name(file.name.removesuffix(".gz").removesuffix(".zst") or file.name)
    return any(map(unpacked.match, patterns))


def _is_wanted(file: Path, patterns: Collection[str]) -> bool:
    return (file.name.endswith(ENDINGS) or matches_any(file, patterns)) and file.is_file()


def open_file(path: str) -> OpenFile:
    """Open a file of rows; its first bytes tell how it is packed.

    Raises:
        OSError: It can't be opened.
    """
    own = path != STANDARD_INPUT
    raw: Any = open(path if own else 0, "rb", buffering=0, closefd=own)  # noqa: SIM115  # the caller closes it
    size = os.fstat(raw.fileno()).st_size if raw.seekable() else None
    head = b""
    while len(head) < len(_ZSTANDARD) and (more := raw.read(len(_ZSTANDARD) - len(head))):
        head += more  # a pipe may give a byte at a time
    packed: Any = io.BufferedReader(_Headed(head, raw), _BUFFER)
    if head.startswith(_GZIP):
        return OpenFile(io.BufferedReader(_Gzip(packed), _BUFFER), raw, size)
    if head.startswith(_ZSTANDARD):
        return OpenFile(unpack_zstandard(packed), raw, size)
    return OpenFile(packed, raw, size)


def unpack_zstandard(packed: io.BufferedReader) -> io.BufferedReader:
    """Return the unpacked bytes of a Zstandard stream, of one frame or several."""
    return io.BufferedReader(_Zstandard(packed), _BUFFER)


def look_ahead(stream: io.BufferedReader, size: int) -> tuple[bytes, io.BufferedReader]:
    """Return up to so many bytes that a stream begins with, and a stream that begins with them.

    Of a damaged file, these are the bytes before the damage; reading on raises it.
    """
    head = bytearray()
    damage = None
    try:
        while len(head) < size and (piece := stream.read1(size - len(head))):
            head += piece
    except DAMAGES as error:
        damage = error
    return bytes(head), io.BufferedReader(_Headed(bytes(head), stream, damage), _BUFFER)


def is_plain(path: str, size: int) -> bool:
    """Whether a path is a regular file of lines that isn't packed, of at least so many bytes."""
    if not os.path.isfile(path) or os.path.getsize(path) < size:
        return False
    with open(path, "rb") as file:
        return not file.read(4).startswith((_GZIP, _ZSTANDARD, PARQUET))


def open_part(path: str, start: int, end: int) -> io.BufferedReader:
    """Open the bytes of a plain file from one place to another."""
    return io.BufferedReader(_Part(path, start, end), _BUFFER)


class _Part(io.RawIOBase):
    """The bytes of a file up to a place in it."""

    def __init__(self, path: str, start: int, end: int) -> None:
        self._file = io.FileIO(path)
        self._file.seek(start)
        self._left = self._size = end - start

    def tell(self) -> int:
        return self._size - self._left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[: self._left]) or 0
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class _Headed(io.RawIOBase):
    """The bytes of a file whose first ones were taken already."""

    def __init__(self, head: bytes, raw: io.RawIOBase | io.BufferedReader, damage: Exception | None = None) -> None:
        self._head = head
        # A buffer that is filled to its end would lose what comes before a damage.
        self._read_on = raw.readinto1 if isinstance(raw, io.BufferedReader) else raw.readinto
        self._damage = damage

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if not self._head:
            if self._damage is not None:
                raise self._damage
            return self._read_on(buffer)
        count = min(len(buffer), len(self._head))
        buffer[:count] = self._head[:count]
        self._head = self._head[count:]
        return count


class _Gzip(io.RawIOBase):
    """Unpacked bytes. Of a damaged file, all that come before the damage are handed out."""

    def __init__(self, packed: io.BufferedReader) -> None:
        import gzip

        self._file = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _Zstandard(io.RawIOBase):
    """Unpacked bytes. The package's own stream takes a file that was cut off for a whole one; this doesn't."""

    def __init__(self, packed: io.BufferedReader) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._new_frame = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj
        self._packed = packed
        self._frame: Any = None
        self._rest = b""
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacked:
            piece = self._rest or self._packed.read(_PIECE)
            if not piece:
                if self._frame is not None:
                    raise EOFError("the file was cut off before the end of its last frame")
                return 0
            frame = self._frame or self._new_frame()
            try:
                self._unpacked = memoryview(frame.decompress(piece))
            except self._error as error:
                raise OSError(str(error)) from None
            self._rest, self._frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        count = min(len(buffer), len(self._unpacked))
        buffer[:count] = self._unpacked[:count]
        self._unpacked = self._unpacked[count:]
        return count

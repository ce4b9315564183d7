"""The members of a zip file, unpacked: stored, deflated, or as Zstandard, which Python's own module learns in 3.14."""

from __future__ import annotations

import fnmatch
import struct
import zipfile
from typing import IO, TYPE_CHECKING, Final

from ..files import DAMAGES as FILE_DAMAGES
from ..files import open_part, unpack_zstandard

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DAMAGES", "ZIP", "member_names", "open_member"]

ZIP: Final = b"PK\x03\x04"
"""The bytes that a zip file with something in it begins with."""

DAMAGES: Final = (*FILE_DAMAGES, zipfile.BadZipFile, NotImplementedError, RuntimeError, UnicodeDecodeError)
"""What reading a zip file may raise: it is damaged, encrypted, or packed in a way that isn't known."""

_KNOWN: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ZSTANDARD: Final = 93
_LOCAL_HEADER: Final = struct.Struct("<26x2H")  # the lengths of the name and of the extra field that follow


def __dir__() -> list[str]:
    return __all__


def member_names(file: zipfile.ZipFile, patterns: tuple[str, ...]) -> Iterator[str]:
    """Yield the names that match a pattern, each once: of several members of one name, the last counts."""
    for name in dict.fromkeys(file.namelist()):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            yield name


def open_member(file: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member.

    Raises:
        OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError: One of `DAMAGES`; so may reading on.
    """
    member = file.getinfo(name)
    if member.compress_type in _KNOWN:
        return file.open(member)
    if member.compress_type != _ZSTANDARD:
        raise NotImplementedError(f"it is packed in a way that isn't read (method {member.compress_type})")
    path = str(file.filename)
    with open(path, "rb") as raw:
        raw.seek(member.header_offset)
        header = raw.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        raise zipfile.BadZipFile("it is cut off")
    start = member.header_offset + _LOCAL_HEADER.size + sum(_LOCAL_HEADER.unpack(header))
    return unpack_zstandard(open_part(path, start, start + member.compress_size))

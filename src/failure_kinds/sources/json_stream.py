"""The members of a list in a JSON file of any size, one by one: as bytes, with no more in memory than one of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BOM", "LONGEST_ITEM", "ByteStream", "CutOffError", "JsonStream", "JsonStreamError"]

BOM: Final = b"\xef\xbb\xbf"
"""The mark that some programs begin a file of UTF-8 with."""

LONGEST_ITEM: Final = 256 << 20
"""A value of more bytes is no row; memory stays bounded."""

_PIECE: Final = 1 << 18
_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^][{}:,\" \t\r\n]++")
# What changes the depth, and strings, in which brackets mean nothing.
_BRACKET: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}"]', re.DOTALL)


def __dir__() -> list[str]:
    return __all__


class ByteStream(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes; none at the end."""


class JsonStreamError(ValueError):
    """A stream isn't JSON from here on; the message says why."""


class CutOffError(JsonStreamError):
    """A stream ends before its value does."""


class JsonStream:
    """A cursor over JSON text that is read piece by piece.

    It looks at no more than it needs to tell where values begin and end: whoever decodes a value says if it is wrong.
    """

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._text = b""
        self._at = 0
        self._kept: int | None = None  # from where on the text is still needed
        if self._next(len(BOM)) == BOM:
            self._at += len(BOM)

    def peek(self) -> bytes:
        """Return the first byte of what comes next that is no white space; nothing at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches everywhere
            if self._at < len(self._text):
                return self._text[self._at : self._at + 1]
            if not self._more():
                return b""

    def members(self) -> Iterator[None]:
        """Step through the list that comes next: at each step, the next member is what comes next.

        Raises:
            JsonStreamError: The list isn't closed, or isn't one.
        """
        self._take(b"[")
        yield from self._until(b"]")

    def entries(self) -> Iterator[str]:
        """Step through the object that comes next: at each key, its value is what comes next.

        Raises:
            JsonStreamError: The object isn't closed, or isn't one.
        """
        self._take(b"{")
        for _ in self._until(b"}"):
            yield self._key()

    def value(self) -> bytes:
        """Return the value that comes next, as it is written.

        Raises:
            JsonStreamError: It isn't JSON, is cut off, or is longer than `LONGEST_ITEM`.
        """
        self.peek()
        self._kept = self._at
        self.skip()
        start, self._kept = self._kept, None
        return self._text[start : self._at]

    def skip(self) -> None:
        """Pass over the value that comes next.

        Raises:
            JsonStreamError: It isn't JSON, or is cut off.
        """
        first = self.peek()
        if first in (b"{", b"["):
            self._skip_nested()
        elif first == b'"':
            self._skip_string()
        elif not self._skip_scalar():
            raise _unexpected(first)

    def _key(self) -> str:
        key = self.value()
        self._take(b":")
        if not key.startswith(b'"'):
            raise _unexpected(key)
        try:
            return str(json.loads(key, strict=False))
        except ValueError:
            raise _unexpected(key) from None

    def _until(self, end: bytes) -> Iterator[None]:
        if self.peek() == end:
            self._at += 1
            return
        while True:
            yield
            following = self.peek()
            self._at += 1
            if following == end:
                return
            if following != b",":
                raise _unexpected(following)

    def _take(self, wanted: bytes) -> None:
        found = self.peek()
        if found != wanted:
            raise _unexpected(found)
        self._at += 1

    def _skip_nested(self) -> None:
        depth = 0
        while True:
            for token in _BRACKET.finditer(self._text, self._at):
                first = self._text[token.start()]
                if first == 0x22:  # a quotation mark
                    if token.end() - token.start() == 1:
                        break  # the string isn't there in full
                elif first in b"{[":
                    depth += 1
                else:
                    depth -= 1
                self._at = token.end()
                if depth == 0:
                    return
            else:
                self._at = len(self._text)
                self._need_more()
                continue
            self._at = token.start()
            self._skip_string()

    def _skip_string(self) -> None:
        while (string := _STRING.match(self._text, self._at)) is None:
            self._need_more()
        self._at = string.end()

    def _skip_scalar(self) -> bool:
        found = False
        while (scalar := _SCALAR.match(self._text, self._at)) is not None:
            found = True
            self._at = scalar.end()
            if self._at < len(self._text) or not self._more():
                break
        return found

    def _next(self, count: int) -> bytes:
        while len(self._text) - self._at < count and self._more():
            pass
        return self._text[self._at : self._at + count]

    def _need_more(self) -> None:
        if not self._more():
            raise _unexpected(b"")

    def _more(self) -> bool:
        """Read on, and let go of what nobody needs any longer. Pieces grow, so that a long string is seldom redone."""
        needed = self._at if self._kept is None else self._kept
        if len(self._text) - needed > LONGEST_ITEM:
            raise JsonStreamError(f"a value is longer than {LONGEST_ITEM >> 20} MiB")
        piece = self._stream.read(max(_PIECE, len(self._text) - needed))
        self._text = self._text[needed:] + piece
        self._at -= needed
        if self._kept is not None:
            self._kept = 0
        return bool(piece)


def _unexpected(found: bytes) -> JsonStreamError:
    return JsonStreamError("it isn't JSON") if found else CutOffError("it is cut off")

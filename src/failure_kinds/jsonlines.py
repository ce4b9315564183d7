"""Rows out of lines of JSON, as fast as one process can: fields that nobody asked for are passed over, not built.

A line is bytes up to a newline, and nothing else ends one. A line that is no JSON object is counted, never raised.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator

__all__ = ["LONGEST_LINE", "RowFile"]

LONGEST_LINE: Final = 16 << 20
"""A line of as many bytes or more is passed over and counted as unreadable, so that memory stays bounded."""

_LONG: Final = 1 << 20  # no more than this for the fields that are read, all together
_LONGEST_FOR_PYTHON: Final = 4 << 20  # its parser builds everything, and a dozen times as large
_NOT_TAKEN: Final = (msgspec.MsgspecError, ValueError)
_BOM: Final = b"\xef\xbb\xbf"


def __dir__() -> list[str]:
    return __all__


class _UnreadableError(Exception):
    """A line is no row; the message says why."""


class RowFile:
    """The rows of a file, decoded one by one, with a count of the lines that are none.

    Attributes:
        line: The number of the line that was read last, counted from 1.
        blank: How many lines there were with nothing on them.
    """

    def __init__(
        self,
        stream: io.BufferedReader,
        row_type: type[msgspec.Struct],
        on_unreadable: Callable[[int, str], None],
        *,
        from_start: bool = True,
    ) -> None:
        """Prepare to read.

        Args:
            stream: The file's bytes.
            row_type: The type that a row is decoded as.
            on_unreadable: Called with the number of each line that is no row, and why.
            from_start: Whether it is read from its start, where a byte order mark may stand.
        """
        self.line = 0
        self.blank = 0
        self._stream = stream
        self._from_start = from_start
        self._type = row_type
        self._decode = msgspec.json.Decoder(row_type).decode
        self._decode_raw = msgspec.json.Decoder(_raw(row_type)).decode
        self._on_unreadable = on_unreadable

    def __iter__(self) -> Iterator[Any]:
        decode = self._decode
        if self._from_start and self._stream.peek(3)[:3] == _BOM:
            self._stream.read(3)
        for line in iter(partial(self._stream.readline, LONGEST_LINE), b""):
            self.line += 1
            try:
                yield decode(line) if len(line) <= _LONG else self._decode_long(line)
            except (*_NOT_TAKEN, RecursionError, _UnreadableError) as error:
                yield from self._read_again(line, error)

    def _read_again(self, line: bytes, error: Exception) -> Iterator[Any]:
        """The row on a line that msgspec doesn't take, if it is one after all."""
        if not line.strip():
            self.blank += 1
            return
        try:
            if not isinstance(error, _NOT_TAKEN):
                raise error
            yield self._decode_odd(line)
        except RecursionError:
            self._on_unreadable(self.line, "it is nested too deep")
        except _UnreadableError as unreadable:
            self._on_unreadable(self.line, str(unreadable))

    def _decode_long(self, line: bytes) -> Any:
        if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
            while (rest := self._stream.readline(1 << 17)) and not rest.endswith(b"\n"):
                pass
            raise _UnreadableError(f"it is longer than {LONGEST_LINE >> 20} MiB")
        raw = self._decode_raw(line)
        if sum(len(memoryview(value)) for value in msgspec.structs.astuple(raw)) > _LONG:
            raise _UnreadableError(f"the fields that matter are longer than {_LONG >> 20} MiB")
        return self._decode(line)

    def _decode_odd(self, line: bytes) -> Any:
        """The row on a line that Python's parser takes alone: it knows NaN, half characters, and bytes beside UTF-8."""
        if len(line) > _LONGEST_FOR_PYTHON:
            raise _UnreadableError("it isn't JSON")
        try:
            row = json.loads(line.decode("utf-8", "replace"), parse_constant=lambda _: None)
            return msgspec.convert(row, self._type)
        except msgspec.ValidationError:
            raise _UnreadableError(f"it is {_what(row)}, not an object") from None
        except ValueError:
            raise _UnreadableError("it isn't JSON") from None


def _raw(row_type: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """A type with the same fields, which are left as the bytes that they are written in."""
    fields = msgspec.structs.fields(row_type)
    return msgspec.defstruct(
        "_Raw",
        [(field.name, msgspec.Raw, msgspec.Raw()) for field in fields],
        rename={field.name: field.encode_name for field in fields},
    )


def _what(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", str: "text", list: "a list"}.get(type(value), "a number")

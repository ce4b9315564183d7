"""Decoding a row from its JSON as fast as one process can: what nobody asked for is passed over, not built."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from .row_types import row_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .paths import Path

__all__ = ["LONGEST_READ", "NOT_TAKEN", "RowDecoder", "UnreadableError"]

LONGEST_READ: Final = 1 << 20
"""No more bytes than this for the fields that are read, all together."""

_LONGEST_FOR_PYTHON: Final = 4 << 20  # its parser builds everything, and a dozen times as large
NOT_TAKEN: Final = (msgspec.MsgspecError, ValueError)
"""What the fast decoder raises; `RowDecoder.decode` may take the row all the same."""

# What Python writes for numbers that JSON doesn't know. Strings are found first, so that nothing inside one is.
_NO_NUMBER: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(-?Infinity|NaN)', re.DOTALL)


def __dir__() -> list[str]:
    return __all__


class UnreadableError(Exception):
    """What should be a row is none; the message says why."""


class RowDecoder:
    """Decodes rows of one source."""

    def __init__(self, paths: Iterable[Path]) -> None:
        """Prepare to decode.

        Args:
            paths: The paths to the fields that are read.
        """
        paths = tuple(paths)
        self.type = row_type(paths)
        self.fast = msgspec.json.Decoder(self.type).decode
        self._raw = msgspec.json.Decoder(row_type(paths, msgspec.Raw)).decode

    def decode(self, text: bytes) -> Any:
        """Return the row that a text is.

        Raises:
            UnreadableError: It is none.
        """
        try:
            try:
                return self._taken(text)
            except NOT_TAKEN:
                return self._odd(text)
        except RecursionError:
            raise UnreadableError("it is nested too deep") from None

    def _taken(self, text: bytes) -> Any:
        """The row in a text that msgspec takes."""
        if len(text) > LONGEST_READ:
            _refuse_if_large(self._raw(text))
        return self.fast(text)

    def _odd(self, text: bytes) -> Any:
        """The row in a text that msgspec doesn't take, if it is one after all."""
        if b"NaN" in text or b"Infinity" in text:
            text = _NO_NUMBER.sub(lambda match: b"null" if match[1] else match[0], text)
            try:
                return self._taken(text)
            except NOT_TAKEN:
                pass
        if len(text) > _LONGEST_FOR_PYTHON:
            raise UnreadableError("it isn't JSON")
        try:
            # It knows half characters, and bytes beside UTF-8.
            row = json.loads(text.decode("utf-8", "replace"), parse_float=_finite)
            taken = msgspec.convert(row, self.type)
        except msgspec.ValidationError:
            raise UnreadableError(f"it is {_what(row)}, not an object") from None
        except ValueError:
            raise UnreadableError("it isn't JSON") from None
        _refuse_if_large(taken)
        return taken


def _finite(text: str) -> float | None:
    """A number; none where it is too large for one, as other parsers of JSON write it."""
    number = float(text)
    return number if math.isfinite(number) else None


def _refuse_if_large(row: msgspec.Struct) -> None:
    if _size(row) > LONGEST_READ:
        raise UnreadableError(f"the fields that matter are longer than {LONGEST_READ >> 20} MiB")


def _size(value: Any) -> int:
    """How many bytes of a row are kept."""
    if isinstance(value, msgspec.Raw):
        return len(memoryview(value))
    if isinstance(value, msgspec.Struct):
        return sum(map(_size, msgspec.structs.astuple(value)))
    if isinstance(value, dict | list):
        return sum(map(_size, value.values() if isinstance(value, dict) else value))
    return len(value) if isinstance(value, str) else 0


def _what(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", str: "text", list: "a list"}.get(type(value), "a number")

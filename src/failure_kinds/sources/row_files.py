"""The rows of a file, decoded one by one, whatever form the file has. What is no row is counted, never raised."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..files import DAMAGES
from .decoding import LONGEST_READ, NOT_TAKEN, UnreadableError
from .json_stream import BOM, JsonStreamError

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterable, Iterator

    from .decoding import RowDecoder

__all__ = ["LONGEST_LINE", "Item", "ItemRows", "LineRows", "Rows"]

LONGEST_LINE: Final = 16 << 20
"""A line of as many bytes or more is passed over and counted as unreadable, so that memory stays bounded."""

_CUT_SHORT: Final = "the file can't be read on from here: {}"

Item = tuple["str | None", "bytes | UnreadableError"]
"""The place of a row in its file, such as `samples[3]`, None where the file is the row; and the row as written."""


def __dir__() -> list[str]:
    return __all__


class Rows(Protocol):
    """The rows of a file.

    Attributes:
        number: The number of the row that was read last, counted from 1: of the line, if the rows are lines.
        place: Where it stands in the file; None if the number says it, or the file is the row.
        blank: How many lines there were with nothing on them.
    """

    number: int
    place: str | None
    blank: int

    def __iter__(self) -> Iterator[Any]: ...


class LineRows:
    """Rows that are lines. A line is bytes up to a newline, and nothing else ends one."""

    place: str | None = None

    def __init__(
        self,
        stream: io.BufferedReader,
        decoder: RowDecoder,
        on_unreadable: Callable[[int, str], None],
        *,
        from_start: bool = True,
    ) -> None:
        """Prepare to read.

        Args:
            stream: The file's bytes.
            decoder: What decodes a row.
            on_unreadable: Called with the number of each line that is no row, and why.
            from_start: Whether it is read from its start, where a byte order mark may stand.
        """
        self.number = 0
        self.blank = 0
        self._stream = stream
        self._decoder = decoder
        self._from_start = from_start
        self._on_unreadable = on_unreadable

    def __iter__(self) -> Iterator[Any]:
        fast = self._decoder.fast
        try:
            if self._from_start and self._stream.peek(len(BOM))[: len(BOM)] == BOM:
                self._stream.read(len(BOM))
            for line in iter(partial(self._stream.readline, LONGEST_LINE), b""):
                self.number += 1
                try:
                    yield fast(line) if len(line) <= LONGEST_READ else self._long(line)
                except UnreadableError as unreadable:
                    self._on_unreadable(self.number, str(unreadable))
                except (*NOT_TAKEN, RecursionError):
                    yield from self._again(line)
        except DAMAGES as error:  # what came before that counts
            self.number += 1
            self._on_unreadable(self.number, _CUT_SHORT.format(error))

    def _long(self, line: bytes) -> Any:
        if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
            while (rest := self._stream.readline(1 << 17)) and not rest.endswith(b"\n"):
                pass
            raise UnreadableError(f"it is longer than {LONGEST_LINE >> 20} MiB")
        return self._decoder.decode(line)

    def _again(self, line: bytes) -> Iterator[Any]:
        """The row on a line that isn't taken at once, if it is one after all."""
        if not line.strip():
            self.blank += 1
            return
        try:
            yield self._decoder.decode(line)
        except UnreadableError as unreadable:
            self._on_unreadable(self.number, str(unreadable))


class ItemRows:
    """Rows that are whole documents, members of lists, or members of a zip file."""

    blank = 0

    def __init__(self, items: Iterable[Item], decoder: RowDecoder, on_unreadable: Callable[[int, str], None]) -> None:
        """Prepare to read.

        Args:
            items: The rows as they are written; reading on may raise what is wrong with the file.
            decoder: What decodes a row.
            on_unreadable: Called with the number of each item that is no row, and why.
        """
        self.number = 0
        self.place: str | None = None
        self._items = items
        self._decoder = decoder
        self._on_unreadable = on_unreadable

    def __iter__(self) -> Iterator[Any]:
        try:
            for place, text in self._items:
                self.place = place
                self.number += 1
                try:
                    if isinstance(text, UnreadableError):
                        raise text
                    row = self._decoder.decode(text)
                except UnreadableError as unreadable:
                    self._on_unreadable(self.number, f"{place}: {unreadable}" if place else str(unreadable))
                else:
                    yield row
        except (*DAMAGES, JsonStreamError) as error:
            self.number += 1
            self._on_unreadable(self.number, _CUT_SHORT.format(error))

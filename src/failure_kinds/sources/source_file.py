"""A file of some tool's, open: what it was recognised as, and its rows."""

from __future__ import annotations

import zipfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from ..files import PARQUET, STANDARD_INPUT, OpenFile, look_ahead, matches_any, open_file
from .items import Header, items_in, items_in_zip
from .recognition import HEAD, UnrecognisedError, recognise, shape_of, shape_of_zip
from .row_files import LONGEST_LINE, ItemRows, LineRows
from .source import LINES
from .zip_members import DAMAGES, ZIP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .decoding import RowDecoder
    from .recognition import Recognised
    from .row_files import Rows
    from .source import Source

__all__ = ["SourceFile", "recognise_file"]


def __dir__() -> list[str]:
    return __all__


class SourceFile:
    """A file that is open for reading; use it in a `with` block.

    Attributes:
        recognised: The source and the layout.
        header: What the file says of all its rows, once the first of them has been read.
    """

    def __init__(self, path: str, sources: Iterable[Source], *, named: bool = True) -> None:
        """Open a file and recognise it.

        Args:
            path: The file, `-` for standard input.
            sources: The sources that it may be of.
            named: Whether it was named itself, and isn't one of a folder, where another file may hold its rows too.

        Raises:
            OSError: It can't be opened.
            UnrecognisedError: No source fits, or several do; it is a file of totals, or its rows are in another file.
        """
        self.header: Header = {}
        with ExitStack() as stack:
            self._opened: OpenFile = open_file(path)
            stack.enter_context(self._opened.source)
            stack.enter_context(self._opened.stream)
            head, self._stream = look_ahead(self._opened.stream, HEAD)
            if len(head) == HEAD and b"\n" not in head:  # the first row alone may be longer
                head, self._stream = look_ahead(self._stream, LONGEST_LINE)
            if head.startswith(PARQUET):
                raise UnrecognisedError("it is a Parquet file; a report reads it whole, and `tables` as a frame")
            self._zip = stack.enter_context(_zip_file(path, self._opened.size)) if head.startswith(ZIP) else None
            shape = shape_of(head) if self._zip is None else shape_of_zip(self._zip)
            candidates = sources if named else [_in_folder(source, path) for source in sources]
            try:
                self.recognised: Recognised = recognise(shape, candidates, named=named)
            except UnrecognisedError as error:
                is_cut_off = shape.cut_off and len(head) < HEAD and not error.aggregate
                reason = f"it is damaged or cut off, and {error.reason}" if is_cut_off else error.reason
                raise UnrecognisedError(reason, error.candidates, error.aggregate, is_cut_off) from None
            if not named and self.recognised.layout.repeats is not None:
                raise UnrecognisedError(self.recognised.layout.repeats)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def size(self) -> int | None:
        """The size of the file in bytes; None where that can't be known."""
        return self._opened.size

    @property
    def position(self) -> int:
        """How many bytes of it have been read, as far as that can be known."""
        return 0 if self._opened.size is None else self._opened.source.tell()

    def rows(self, decoder: RowDecoder, on_unreadable: Callable[[int, str], None]) -> Rows:
        """Return the rows of the file.

        Args:
            decoder: What decodes a row.
            on_unreadable: Called with the number of each row that can't be read, and why.
        """
        source, layout = self.recognised
        wanted = {path[0].key for path in source.carry_file.values()}
        if self._zip is not None:
            return ItemRows(items_in_zip(self._zip, layout, wanted, self.header), decoder, on_unreadable)
        if layout.rows == LINES and not layout.lists:
            return LineRows(self._stream, decoder, on_unreadable)
        return ItemRows(items_in(self._stream, layout, wanted, self.header), decoder, on_unreadable)


def recognise_file(path: str, sources: Iterable[Source], *, named: bool = True) -> Recognised:
    """Return what a file is recognised as; the arguments and what is raised are those of `SourceFile`."""
    with SourceFile(path, sources, named=named) as file:
        return file.recognised


def _in_folder(source: Source, path: str) -> Source:
    """A source with no more of its layouts than those whose files have such a name."""
    layouts = (layout for layout in source.layouts if not layout.files or matches_any(path, layout.files))
    return source._replace(layouts=tuple(layouts))


def _zip_file(path: str, size: int | None) -> zipfile.ZipFile:
    if path == STANDARD_INPUT or size is None:
        raise UnrecognisedError("a zip file is read from its end; name the file itself", damaged=True)
    try:
        return zipfile.ZipFile(path)
    except DAMAGES:
        reason = "it is no zip file that can be read: damaged, or packed once more"
        raise UnrecognisedError(reason, damaged=True) from None

"""The parts that a report is made of, whatever it is written as: sections of sentences and tables, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..failure_class import FailureClass
from ..spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..report_model import ClassCounts, LabelCount

__all__ = [
    "COUNT",
    "LONG_TABLE",
    "SHARE",
    "Bar",
    "Cell",
    "Column",
    "Name",
    "Row",
    "Section",
    "Sentence",
    "Table",
    "by_class",
    "counted",
    "files_named",
    "label_text",
    "name_or",
    "number",
    "percent",
    "ratio",
    "table_of",
    "text_bar",
]

LONG_TABLE: Final = 20
"""A table with more rows than this is folded away where the format can do that."""

_FILES_NAMED: Final = 5
_BAR_CELLS: Final = 20


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class Name:
    """Something that was recorded. It may hold anything, so that each format shows it apart from our own words.

    As text it is what a reader can see: what doesn't print, such as a line end or a mark that turns the direction of
    writing, is its escape.
    """

    recorded: str

    def __str__(self) -> str:
        return printable(self.recorded) or '""'


Cell = str | Name | FailureClass
Sentence = tuple[str | Name, ...]
Bar = tuple[tuple[FailureClass, float], ...]
"""The parts of a bar, each with its length; a bar of the full width is 1 long."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and whether it holds numbers."""

    heading: str
    numeric: bool = False


COUNT: Final = Column("count", numeric=True)
SHARE: Final = Column("share", numeric=True)


@dataclass(frozen=True)
class Row:
    """A row of a table: its cells, and the bars that show its numbers."""

    cells: tuple[Cell, ...]
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: What it shows; None where the heading of its section says it.
        columns: Its columns.
        rows: Its rows; there is at least one.
        is_sum: Whether the last row is the sum of the others.
        is_whole: Whether the bars of the rows are the parts of one whole; if so, every format draws them.
    """

    caption: str | None
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    is_sum: bool = False
    is_whole: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the report under one heading; its key is short and no other section's."""

    key: str
    heading: str
    blocks: tuple[Sentence | Table, ...]


def table_of(caption: str | None, columns: tuple[Column, ...], rows: Iterable[Row]) -> tuple[Table, ...]:
    """Return a table, or none if it had no rows."""
    held = tuple(rows)
    return (Table(caption, columns, held),) if held else ()


def name_or(recorded: str | None, otherwise: str = "none") -> Name | str:
    """Return what was recorded as a name, or other words where nothing was."""
    return otherwise if recorded is None else Name(recorded)


def label_text(label: LabelCount) -> str | None:
    """Return what failures are called; beside a value that no source maps, which one recorded it."""
    return label.label if label.unmapped_by is None else f"{label.label} ({label.unmapped_by})"


def files_named(files: Sequence[str]) -> Name:
    """Return the names of files, of many only the first."""
    more = len(files) - _FILES_NAMED
    return Name(", ".join(files[:_FILES_NAMED]) + (f" and {number(more)} more" if more > 0 else ""))


def by_class(classes: ClassCounts) -> tuple[tuple[FailureClass, int], ...]:
    """Return each class with its count."""
    return tuple((side, getattr(classes, side.value)) for side in FailureClass)


def ratio(count: float, total: float) -> float:
    """Return the share that a count is of a total, 0 of none."""
    return count / total if total else 0.0


def number(count: int) -> str:
    """Return a count as text."""
    return f"{count:,}"


def counted(count: int, noun: str) -> str:
    """Return a count and what is counted, with the ending that fits."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def percent(share: float) -> str:
    """Return a share as a percentage; what is there is never shown as nothing, nor what isn't all of it as all."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def text_bar(bar: Bar, filled: str, empty: str) -> str:
    """Return a bar as text; if there is anything, at least one cell of it is filled."""
    length = sum(part for _, part in bar)
    cells = max(round(length * _BAR_CELLS), 1 if length else 0)
    return filled * cells + empty * (_BAR_CELLS - cells)

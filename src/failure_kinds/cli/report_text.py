"""A report as text: on a terminal within its width, in a pipe as plain columns of any width."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from rich.padding import Padding
from rich.text import Text

from ..failure_class import FailureClass
from .console import CLASS_STYLES
from .report_parts import Table, text_bar
from .report_sections import TITLE, sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ..report_model import FailureReport
    from .report_parts import Cell, Row

__all__ = ["print_report"]

_GAP: Final = "  "
_INDENT: Final = 4


def __dir__() -> list[str]:
    return __all__


def print_report(report: FailureReport, console: Console) -> None:
    """Print a report.

    On a terminal, the columns of a table that don't fit beside the others stand below each row. Anywhere else a row is
    one line, however long. What the encoding can't carry is written as its escape.

    Args:
        report: The report.
        console: Where to; whether it is a terminal, its width, its colours and its encoding are heeded.
    """
    _print(console, Text(TITLE, "bold"))
    for section in sections(report):
        _print(console, Text(f"\n{section.heading}", "bold"))
        for block in section.blocks:
            _print(console, Text())
            if isinstance(block, Table):
                _print_table(console, block)
            else:
                _print(console, Text("").join(_text(console, piece) for piece in block))


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=not console.is_terminal)


def _print_table(console: Console, table: Table) -> None:
    if table.caption is not None:
        _print(console, Text(table.caption, "italic"))
    headings = [Text(column.heading, "dim") for column in table.columns]
    rows = [[_text(console, cell) for cell in row.cells] for row in table.rows]
    if table.is_sum:
        for text in rows[-1]:
            text.stylize("bold")
    if table.is_whole:
        headings.append(Text("of all", "dim"))
        for texts, row in zip(rows, table.rows, strict=True):
            texts.append(_bar(console, row))
    widths = [max(text.cell_len for text in column) for column in zip(headings, *rows, strict=True)]
    beside = _how_many_fit(widths, console.width) if console.is_terminal else len(widths)
    for texts in (headings, *rows):
        for text, width, column in zip(texts[:beside], widths, table.columns, strict=False):
            text.align("right" if column.numeric else "left", width)
        line = Text(_GAP).join(texts[:beside])
        line.rstrip()
        _print(console, line)
        if texts is not headings and texts[beside:]:
            _print_below(console, headings[beside:], texts[beside:])


def _how_many_fit(widths: Sequence[int], width: int) -> int:
    """How many of the first columns fit beside each other; the first one counts as if it did."""
    ends = accumulate(widths, lambda end, column: end + len(_GAP) + column)
    return max(1, sum(end <= width for end in ends))


def _print_below(console: Console, headings: Sequence[Text], texts: Sequence[Text]) -> None:
    cells = (Text(" ").join(pair) for pair in zip(headings, texts, strict=True))
    console.print(Padding.indent(Text(", ").join(cells), _INDENT))


def _text(console: Console, piece: Cell) -> Text:
    """What the encoding of a console can carry of a cell, the rest as escapes."""
    if isinstance(piece, FailureClass):
        return Text(piece.value, CLASS_STYLES[piece.value])
    return Text(str(piece).encode(console.encoding, "backslashreplace").decode(console.encoding))


def _bar(console: Console, row: Row) -> Text:
    ((side, _),) = row.bars[0]
    is_plain = not console.is_terminal or console.options.ascii_only or console.legacy_windows
    return Text(text_bar(row.bars[0], *("#." if is_plain else "█░")), CLASS_STYLES[side.value])

"""A report as GitHub-flavoured Markdown, for a pull request or a job's summary."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Final

from ..failure_class import FailureClass
from .report_parts import LONG_TABLE, Name, Table, text_bar
from .report_sections import TITLE, sections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..report_model import FailureReport
    from .report_parts import Cell, Section, Sentence

__all__ = ["markdown_report"]

_HARMLESS_IN_CODE: Final = re.compile(r"(?! )[^`|\\<>&]+(?<! )")


def __dir__() -> list[str]:
    return __all__


def markdown_report(report: FailureReport) -> str:
    """Return a report as GitHub-flavoured Markdown; a long table is folded away in a `<details>`.

    Args:
        report: The report. Names in it may hold anything: they can't end a cell, mention a user or become HTML.
    """
    blocks = [f"## {TITLE}"]
    for section in sections(report):
        blocks.append(f"### {section.heading}")
        blocks.extend(_block(section, block) for block in section.blocks)
    return "\n\n".join(blocks) + "\n"


def _block(section: Section, block: Sentence | Table) -> str:
    if not isinstance(block, Table):
        return "".join(map(_piece, block))
    table = _table(block)
    if len(block.rows) > LONG_TABLE:
        caption = block.caption or section.heading
        return f"<details>\n<summary>{caption}: {len(block.rows):,} rows</summary>\n\n{table}\n\n</details>"
    return table if block.caption is None else f"**{block.caption}**\n\n{table}"


def _table(table: Table) -> str:
    headings = [column.heading for column in table.columns]
    marks = ["---:" if column.numeric else ":---" for column in table.columns]
    rows = [[_piece(cell) for cell in row.cells] for row in table.rows]
    if table.is_sum:
        rows[-1] = [f"**{cell}**" for cell in rows[-1]]
    if table.is_whole:
        headings.append("of all")
        marks.append(":---")
        for cells, row in zip(rows, table.rows, strict=True):
            cells.append(f"`{text_bar(row.bars[0], '█', '░')}`")
    return "\n".join(map(_row, (headings, marks, *rows)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _piece(piece: Cell) -> str:
    if isinstance(piece, FailureClass):
        return piece.value
    return _code(str(piece)) if isinstance(piece, Name) else html.escape(piece, quote=False)


def _code(text: str) -> str:
    """Text as code, in which GitHub looks for no mention and no link.

    Not every text can stand in a code span: a backtick would end it, and in a table so would a pipe. Where there is
    anything of the kind, each character but letters, digits and spaces is its number, which is never read as markup.
    """
    if _HARMLESS_IN_CODE.fullmatch(text):
        return f"`{text}`"
    return f"<code>{''.join(c if c.isalnum() or c == ' ' else f'&#{ord(c)};' for c in text)}</code>"

"""A report as one HTML page that loads nothing and runs nothing.

The page is built as a tree and written by the standard library, so that no text can be forgotten to be escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, tostring

import importlib_resources

from ..failure_class import FailureClass
from .report_parts import LONG_TABLE, Name, Table, percent
from .report_sections import TITLE, sections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..report_model import FailureReport
    from .report_parts import Bar, Cell, Row, Section, Sentence

__all__ = ["html_report"]

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_WITHIN_TEXT: Final = ("a", "code", "span", "svg")
"""Elements without a line end behind them, as it would be seen; the others have one, to keep the source readable."""

_MARKS: Final = {
    "evaluation": "",
    "model": "M-2 2 2 -2 M-2 10 10 -2 M6 10 10 6",
    "unknown": "M2 2h2v2h-2z M6 6h2v2h-2z",
}
"""Class -> the marks of its pattern, as a path in a square of 8: none, stripes, dots."""


def __dir__() -> list[str]:
    return __all__


def html_report(report: FailureReport) -> str:
    """Return a report as a self-contained HTML page with charts, for light and dark, for screens and for paper.

    Args:
        report: The report. Names in it may hold anything: they are shown as text.
    """
    parts = sections(report)
    page = _element(
        "html",
        _head(),
        _element(
            "body",
            _element("a", "Skip to the report", class_="skip", href="#report"),
            _patterns(),
            _element("header", _element("h1", TITLE), _contents(parts)),
            _element("main", *(_section(section) for section in parts), id="report", tabindex="-1"),
        ),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


def _element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """An element; an underscore in the name of an attribute is a hyphen, one at its end is none."""
    element = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    element.tail = "" if tag in _WITHIN_TEXT else "\n"
    for child in children:
        if isinstance(child, Element):
            element.append(child)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + child
        else:
            element.text = (element.text or "") + child
    return element


def _head() -> Element:
    style = (importlib_resources.files(__package__) / "report.css").read_text(encoding="utf-8")
    return _element(
        "head",
        _element("meta", charset="utf-8"),
        _element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        _element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        _element("meta", name="color-scheme", content="light dark"),
        _element("title", TITLE),
        _element("link", rel="icon", href="data:,"),
        _element("style", f"\n{style}"),
    )


def _contents(parts: Iterable[Section]) -> Element:
    links = (_element("li", _element("a", section.heading, href=f"#{section.key}")) for section in parts)
    return _element("nav", _element("ul", *links), aria_label="Sections")


def _section(section: Section) -> Element:
    blocks = (element for block in section.blocks for element in _block(section, block))
    return _element("section", _element("h2", section.heading, id=section.key), *blocks, aria_labelledby=section.key)


def _block(section: Section, block: Sentence | Table) -> list[Element]:
    if not isinstance(block, Table):
        return [_element("p", *map(_piece, block))]
    caption = block.caption or section.heading
    shown, rest = block.rows[:LONG_TABLE], block.rows[LONG_TABLE:]
    elements = [_region(block, shown, caption, is_said=block.caption is None)]
    if rest:
        more = _region(block, rest, f"{caption}, continued", is_said=True)
        elements.append(_element("details", _element("summary", f"{len(rest):,} more"), more))
    if block.is_whole:
        elements.insert(0, _whole(block))
    elif len(shown[0].bars) > 1:
        elements.insert(0, _element("p", "The upper bar is this run, the lower one the other.", class_="note"))
    return elements


def _region(table: Table, rows: tuple[Row, ...], caption: str, *, is_said: bool) -> Element:
    """A table in a box that scrolls sideways where the page is narrow, with the keyboard too.

    A caption that the heading or the summary above it says already is for those who don't see it there.
    """
    headings = (
        _element("th", column.heading, scope="col", class_="number" if column.numeric else "text")
        for column in table.columns
    )
    whole = _element(
        "table",
        _element("caption", caption, class_="said" if is_said else "new"),
        _element("thead", _element("tr", *headings)),
        _element("tbody", *(_row(table, row) for row in rows)),
        class_="sum" if table.is_sum else "list",
    )
    return _element("div", whole, class_="region", role="region", tabindex="0", aria_label=caption)


def _row(table: Table, row: Row) -> Element:
    bars = () if table.is_whole else (_bar(bar, "bar", aria_hidden="true") for bar in row.bars)
    first, *others = (_piece(cell) for cell in row.cells)
    cells = (
        _element("td", cell, class_="number" if column.numeric else "text")
        for cell, column in zip(others, table.columns[1:], strict=True)
    )
    return _element("tr", _element("th", first, *bars, scope="row", class_="text"), *cells)


def _piece(piece: Cell) -> Element | str:
    if isinstance(piece, FailureClass):
        swatch = _bar(((piece, 1),), "swatch", aria_hidden="true")
        return _element("span", swatch, piece.value, class_="side")
    # A name is a paragraph of its own as to the direction of writing: it can't turn what stands beside it.
    return _element("code", str(piece), dir="auto") if isinstance(piece, Name) else piece


def _whole(table: Table) -> Element:
    """The bars of all rows as one, described for those who don't see it."""
    parts = tuple(part for row in table.rows for bar in row.bars for part in bar)
    described = ", ".join(f"{side.value} {percent(length)}" for side, length in parts)
    return _bar(parts, "whole", role="img", aria_label=described)


def _bar(bar: Bar, kind: str, **attributes: str) -> Element:
    svg, start = _element("svg", class_=kind, **attributes), 0.0
    for side, length in bar:
        if length:
            place = {"x": f"{100 * start:.3f}%", "width": f"{100 * length:.3f}%", "height": "100%"}
            svg.append(_element("rect", fill=f"url(#fill-{side.value})", **place))
        start += length
    return svg


def _patterns() -> Element:
    """What bars are filled with: a colour and a pattern for each class, as not everybody tells the colours apart."""
    patterns = (
        _element(
            "pattern",
            _element("rect", width="8", height="8", class_=f"fill {side}"),
            _element("path", d=marks, class_="marks"),
            id=f"fill-{side}",
            width="8",
            height="8",
            patternUnits="userSpaceOnUse",
        )
        for side, marks in _MARKS.items()
    )
    return _element("svg", *patterns, class_="patterns", width="0", height="0", aria_hidden="true")

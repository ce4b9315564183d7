"""Two runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .report_parts import (
    Cell,
    Column,
    Name,
    Row,
    Table,
    by_class,
    files_named,
    label_text,
    name_or,
    number,
    percent,
    ratio,
)

if TYPE_CHECKING:
    from ..failure_class import FailureClass
    from ..report_model import FailureReport
    from .report_parts import Sentence

__all__ = ["comparison"]


def __dir__() -> list[str]:
    return __all__


class _Pair(NamedTuple):
    """What both runs have, or one of them: how it is called, its class, how often it is here and how often there."""

    cells: tuple[Cell, ...]
    side: FailureClass
    here: int
    there: int


def comparison(report: FailureReport) -> tuple[Sentence | Table, ...]:
    """Return how a report compares with the other one that it holds, if it holds one."""
    other = report.other
    if other is None:
        return ()
    rules: Sentence = ("The two were made with the same rules.",)
    if not report.comparable:
        digests = Name(report.digest), " against ", Name(other.digest)
        consequence = "): the differences below may come from the rules."
        rules = ("The two were made with different rules (digest ", *digests, consequence)
    blocks = (rules, _runs(report, other))
    if not report.classes.total + other.classes.total:
        return blocks
    return (
        *blocks,
        _side_by_side("Classes side by side", ("class",), _class_pairs(report, other), report, other),
        _side_by_side(
            "Labels side by side, the largest change of share first",
            ("label", "class"),
            _label_pairs(report, other),
            report,
            other,
        ),
    )


def _runs(report: FailureReport, other: FailureReport) -> Table:
    columns = (Column("run"), Column("rows", numeric=True), Column("failures", numeric=True), Column("files"))
    rows = (
        Row((run, number(its.account.lines - its.account.blank), number(its.account.failures), files_named(its.files)))
        for run, its in (("this run", report), ("other run", other))
    )
    return Table("The two runs", columns, tuple(rows))


def _class_pairs(report: FailureReport, other: FailureReport) -> list[_Pair]:
    pairs = zip(by_class(report.classes), by_class(other.classes), strict=True)
    return [_Pair((side,), side, here, there) for (side, here), (_, there) in pairs]


def _label_pairs(report: FailureReport, other: FailureReport) -> list[_Pair]:
    counts: dict[tuple[str | None, FailureClass], list[int]] = {}
    for position, run in enumerate((report, other)):
        for label in run.labels:
            counts.setdefault((label_text(label), label.failure_class), [0, 0])[position] += label.count
    pairs = [_Pair((name_or(label, "no name"), side), side, *both) for (label, side), both in counts.items()]

    def order(pair: _Pair) -> tuple[int, int, str]:
        # The change of share in whole numbers, so that equal changes are equal.
        change = pair.here * (other.classes.total or 1) - pair.there * (report.classes.total or 1)
        return -abs(change), -pair.here - pair.there, str(pair.cells[0])

    return sorted(pairs, key=order)


def _side_by_side(
    caption: str, what: tuple[str, ...], pairs: list[_Pair], report: FailureReport, other: FailureReport
) -> Table:
    numbers = ("this run", "share", "other run", "share", "difference", "in points")
    columns = (*map(Column, what), *(Column(heading, numeric=True) for heading in numbers))
    shares = [(ratio(pair.here, report.classes.total), ratio(pair.there, other.classes.total)) for pair in pairs]
    most = max(map(max, shares))
    rows = (
        Row(
            (
                *pair.cells,
                *(number(pair.here), percent(here), number(pair.there), percent(there)),
                *(f"{pair.here - pair.there:+,}", f"{100 * (here - there):+z.1f}"),
            ),
            bars=tuple(((pair.side, ratio(share, most)),) for share in (here, there)),
        )
        for pair, (here, there) in zip(pairs, shares, strict=True)
    )
    return Table(caption, columns, tuple(rows))

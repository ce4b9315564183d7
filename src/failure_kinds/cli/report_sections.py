"""What a report says and in which order: every format renders these sections, so that none forgets one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..failure_class import FailureClass
from .report_comparison import comparison
from .report_parts import (
    COUNT,
    SHARE,
    Column,
    Name,
    Row,
    Section,
    Table,
    by_class,
    counted,
    files_named,
    label_text,
    name_or,
    number,
    percent,
    ratio,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..report_model import Account, ClassCounts, FailureReport, NameCount
    from .report_parts import Sentence

__all__ = ["TITLE", "sections"]

TITLE: Final = "Failure report"


def __dir__() -> list[str]:
    return __all__


def sections(report: FailureReport) -> tuple[Section, ...]:
    """Return what a report says, in the order in which it is to be read; what has nothing to say is left out."""
    every = (
        Section("account", "Where every row went", _account(report.account)),
        Section("sources", "What it was read as", _sources(report)),
        Section("classes", "On whose side", _classes(report.classes)),
        Section("labels", "Failures by label and stage", _labels(report)),
        Section("findings", "Worth a look", _findings(report)),
        Section("moves", "What these rules move against the bundled vocabulary", _moves(report)),
        Section("groups", "Groups", _groups(report)),
        Section("comparison", "Two runs side by side", comparison(report)),
        Section("rules", "Made with", _made_with(report)),
    )
    return tuple(section for section in every if section.blocks)


def _account(account: Account) -> tuple[Sentence | Table, ...]:
    lines = (
        ("rows that record a failure", account.failures),
        ("rows that record none", account.without_failure),
        ("unlabelled: no name, no status", account.unlabelled),
        ("omitted rollouts", account.omitted),
        ("unreadable rows", account.unreadable),
        ("blank lines", account.blank),
        ("= rows and blank lines", account.lines),
    )
    where_they_went = Table(
        None,
        (Column("rows"), COUNT),
        tuple(Row((what, number(count))) for what, count in lines),
        is_sum=True,
    )
    unreadable = table_of(
        _first("unreadable rows", "Unreadable rows", len(account.unreadable_lines), account.unreadable),
        (Column("file"), Column("line or row", numeric=True), Column("why")),
        (Row((Name(line.file), number(line.line), Name(line.reason))) for line in account.unreadable_lines),
    )
    return ((_outcome(account),), *_expectation(account), where_they_went, *unreadable)


def _outcome(account: Account) -> str:
    rows = counted(account.lines - account.blank, "row")
    if account.failures:
        return f"{counted(account.failures, 'failure')} in {rows}."
    if account.lines == account.blank:
        why = "no file holds rows that are read" if account.passed_over else "there are no rows"
        return f"Nothing to report: {why}."
    if account.unlabelled or account.unreadable:
        return f"No failure with a name or a status in {rows}; what is unlabelled or unreadable may still be one."
    return f"Good news: no failure in {rows}."


def _expectation(account: Account) -> tuple[Sentence, ...]:
    if account.expected is None or account.unaccounted is None:
        return ()
    missing = account.unaccounted
    verdict = (
        f"{number(missing)} unaccounted for"
        if missing > 0
        else f"{number(-missing)} more than expected"
        if missing < 0
        else "all accounted for"
    )
    expected, found = counted(account.expected, "row"), number(account.expected - missing)
    return ((f"{expected} expected, {found} found: {verdict}.",),)


def _sources(report: FailureReport) -> tuple[Table, ...]:
    account = report.account
    read = table_of(
        None,
        (
            Column("tool"),
            Column("source"),
            *(Column(what, numeric=True) for what in ("files", "rows", "failures")),
        ),
        (
            Row(
                (
                    Name(source.title),
                    Name(source.source),
                    number(source.files),
                    number(source.rows),
                    number(source.failures),
                )
            )
            for source in report.sources
        ),
    )
    passed_over = table_of(
        _first("files passed over", "Files passed over", len(account.passed_over_files), account.passed_over),
        (Column("file"), Column("why")),
        (Row((Name(file.file), Name(file.reason))) for file in account.passed_over_files),
    )
    return (*read, *passed_over)


def _first(what: str, all_of_them: str, shown: int, count: int) -> str:
    """The caption of a table that shows no more than the first of something."""
    return all_of_them if shown == count else f"The first {shown} of {number(count)} {what}"


def _classes(classes: ClassCounts) -> tuple[Table, ...]:
    if not classes.total:
        return ()
    rows = (
        Row((side, number(count), percent(ratio(count, classes.total))), (((side, ratio(count, classes.total)),),))
        for side, count in by_class(classes)
    )
    return (Table(None, (Column("class"), COUNT, SHARE), tuple(rows), is_whole=True),)


def _labels(report: FailureReport) -> tuple[Table, ...]:
    most = max((label.count for label in report.labels), default=0)
    return table_of(
        None,
        (Column("label"), Column("stage"), COUNT, SHARE, Column("class"), Column("rule"), Column("rule's origin")),
        (
            Row(
                (
                    name_or(label_text(label), "no name"),
                    name_or(label.stage),
                    number(label.count),
                    percent(label.share),
                    label.failure_class,
                    Name(label.rule),
                    name_or(label.origin),
                ),
                (((label.failure_class, ratio(label.count, most)),),),
            )
            for label in report.labels
        ),
    )


def _findings(report: FailureReport) -> tuple[Sentence | Table, ...]:
    sentences = (
        (report.failed_and_scored, "row", "with both a failure and a score"),
        (
            report.policy_assumed,
            "failure",
            "would be classed or called otherwise in another model's request; nobody recorded whose it was",
        ),
    )
    return (
        *table_of(
            "Values that no source maps to a kind",
            (Column("source"), Column("value"), COUNT),
            (Row((Name(value.source), Name(value.value), number(value.count))) for value in report.unmapped),
        ),
        *_names("Names that nobody knows", "name", "nearest known name", report.unknown_names),
        *_names("Retired names", "name", "read as", report.retired_names),
        *_names("Stages that nobody knows", "stage", "nearest known stage", report.unknown_stages),
        *table_of(
            "HTTP statuses that are no evidence",
            (Column("status"), COUNT),
            (Row((Name(status.name), number(status.count))) for status in report.statuses_without_evidence),
        ),
        *((f"{counted(count, noun)} {what}.",) for count, noun, what in sentences if count),
    )


def _names(caption: str, recorded: str, instead: str, names: Iterable[NameCount]) -> tuple[Table, ...]:
    return table_of(
        caption,
        (Column(recorded), COUNT, Column(instead)),
        (Row((Name(name.name), number(name.count), name_or(name.instead))) for name in names),
    )


def _moves(report: FailureReport) -> tuple[Sentence | Table, ...]:
    if report.moves is None:
        return ()
    if not report.moves:
        return (("Nothing moved: the bundled vocabulary says the same of every failure.",),)
    columns = (
        *(Column("name"), Column("stage"), Column("HTTP status"), COUNT, Column("class before"), Column("class now")),
        *(Column("label before"), Column("label now"), Column("rule's origin")),
    )
    rows = (
        Row(
            (
                name_or(move.name, "no name"),
                name_or(move.stage),
                "none" if move.http_status is None else str(move.http_status),
                number(move.count),
                move.class_before,
                move.class_after,
                name_or(move.label_before, "no name"),
                name_or(move.label_after, "no name"),
                name_or(move.origin),
            )
        )
        for move in report.moves
    )
    return table_of(None, columns, rows)


def _groups(report: FailureReport) -> tuple[Sentence | Table, ...]:
    if report.by is None:
        return ()
    most = max((group.classes.total for group in report.groups), default=0)
    numbers = ("rows", "failures", *(side.value for side in FailureClass))
    rows = (
        Row(
            (
                name_or(group.value),
                number(group.rows),
                number(group.classes.total),
                *(number(count) for _, count in by_class(group.classes)),
            ),
            (tuple((side, ratio(count, most)) for side, count in by_class(group.classes)),),
        )
        for group in report.groups
    )
    columns = (Column("value"), *(Column(heading, numeric=True) for heading in numbers))
    return (("Split by ", Name(report.by), "."), *table_of(None, columns, rows))


def _made_with(report: FailureReport) -> tuple[Sentence, ...]:
    named = ((", ", Name(source.source), " ", Name(source.digest)) for source in report.sources)
    sources = [piece for pieces in named for piece in pieces][1:]
    return (
        *((("Sources: ", *sources, "."),) if sources else ()),
        ("Vocabulary ", Name(report.vocabulary_version), ", digest ", Name(report.digest), "."),
        *((("Files: ", files_named(report.files), "."),) if report.files else ()),
    )

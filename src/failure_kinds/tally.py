"""The counts behind a report, with bounded memory whatever the rows hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .loading import load_registry
from .report_model import (
    Account,
    ClassCounts,
    FailureReport,
    GroupCount,
    LabelCount,
    Move,
    NameCount,
    PassedOver,
    SourceCount,
    UnmappedValue,
    UnreadableLine,
)
from .scan import UNREADABLE_LINES, Scan, other_name, values_of
from .sources.evidence import Evidence, Outcome
from .spelling import is_namespaced, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .classification import Explanation
    from .registry import FailureRegistry
    from .sources.source import Source

__all__ = ["Tally"]

_NAMES: Final = 1000
_STAGES: Final = 100
_GROUPS: Final = 1000

K = TypeVar("K")


def __dir__() -> list[str]:
    return __all__


class _Limited:
    """Known names, and others up to a number; what comes after that is counted under one name."""

    def __init__(self, known: set[str], limit: int) -> None:
        self._admitted = set(known)
        self._limit = len(known) + limit

    def admit(self, text: str | None) -> str | None:
        if text is None or text in self._admitted:
            return text
        if len(self._admitted) < self._limit:
            self._admitted.add(text)
            return text
        return other_name(text)


class Tally:
    """The counts so far. Each different evidence is explained once."""

    def __init__(self, registry: FailureRegistry, sources: Mapping[str, Source]) -> None:
        self.registry = registry
        self._lines = 0
        self._blank = 0
        self._bundled = load_registry()
        self._moved = registry != self._bundled
        self._limited = {
            "failure_kind": _Limited({*registry.kinds, *registry.config.kind_aliases}, _NAMES),
            "stage": _Limited(set(registry.stages), _STAGES),
            "group": _Limited(set(), _GROUPS),
            "odd_status": _Limited(set(), _NAMES),
            "unmapped": _Limited(set(), _NAMES),
        }
        self._sources = sources
        self._files_of: Counter[tuple[str, str]] = Counter()
        self._rows_of: Counter[str] = Counter()
        self._failures_of: Counter[str] = Counter()
        self._passed_over: list[PassedOver] = []
        self._unmapped: Counter[tuple[str, str]] = Counter()
        self._unreadable_lines: list[UnreadableLine] = []
        self._outcomes: Counter[str] = Counter()
        self._classes: Counter[tuple[str | None, str]] = Counter()
        self._rows: Counter[str | None] = Counter()
        self._labels: Counter[tuple[Any, ...]] = Counter()
        self._moves: Counter[tuple[Any, ...]] = Counter()
        self._unknown_names: Counter[str] = Counter()
        self._retired_names: Counter[str] = Counter()
        self._unknown_stages: Counter[str] = Counter()
        self._odd_statuses: Counter[str] = Counter()
        self._scored = 0
        self._assumed = 0

    def add(self, path: str, scan: Scan) -> None:
        """Add what was found in a file."""
        self._files_of[scan.source, scan.layout] += 1
        self._rows_of[scan.source] += scan.lines - scan.blank
        self._lines += scan.lines
        self._blank += scan.blank
        self._outcomes["unreadable"] += scan.unreadable
        lines = [UnreadableLine(file=path, line=line, reason=reason) for line, reason in scan.unreadable_lines]
        self._unreadable_lines = [*self._unreadable_lines, *lines][:UNREADABLE_LINES]
        for field, names in self._limited.items():  # the largest first, if they can't all be told apart
            for value, _ in values_of(field, scan.counts).most_common():
                names.admit(value)
        for evidence, count in scan.counts.items():
            self._add(Evidence(*evidence), count, scan.source)

    def add_unreadable(self, path: str, reason: str) -> None:
        """Note a file that can't be read at all, as one row that can't."""
        self._lines += 1
        self._outcomes["unreadable"] += 1
        self._unreadable_lines = [*self._unreadable_lines, UnreadableLine(file=path, line=1, reason=reason)]
        del self._unreadable_lines[UNREADABLE_LINES:]

    def pass_over(self, path: str, reason: str) -> None:
        """Note a file that isn't read."""
        self._passed_over.append(PassedOver(file=path, reason=reason))

    def explain(self, evidence: Evidence) -> Explanation:
        """Return why a row has its class. What nobody maps to a kind is no name of one, whatever it looks like."""
        return self.registry.explain_failure(
            evidence.failure_kind, evidence.stage, evidence.http_status, evidence.policy
        )

    def _add(self, row: Evidence, count: int, source: str) -> None:
        group = self._limited["group"].admit(row.group)
        self._rows[group] += count
        self._outcomes[row.outcome] += count
        if row.outcome not in (Outcome.FAILURE, Outcome.UNLABELLED):
            return
        stage = self._limited["stage"].admit(row.stage)
        if stage is not None and stage not in self.registry.stages:
            self._unknown_stages[stage] += count
        if (odd_status := self._limited["odd_status"].admit(row.odd_status)) is not None:
            self._odd_statuses[odd_status] += count
        self._scored += count if row.scored else 0
        if row.outcome == Outcome.FAILURE:
            kind = self._limited["failure_kind"].admit(row.failure_kind)
            unmapped = self._limited["unmapped"].admit(row.unmapped)
            self._add_failure(row._replace(failure_kind=kind, unmapped=unmapped, stage=stage), group, count, source)

    def _add_failure(self, row: Evidence, group: str | None, count: int, source: str) -> None:
        kind, registry = row.failure_kind, self.registry
        found = self.explain(row)
        self._classes[group, found.failure_class.value] += count
        self._failures_of[source] += count
        unmapped_by = None
        if row.unmapped is not None:
            self._unmapped[source, row.unmapped] += count
            unmapped_by = source if found.label is None else None
        label = row.unmapped if unmapped_by else found.label
        self._labels[label, unmapped_by, row.stage, found.failure_class, found.rule, found.origin] += count
        if kind is not None:
            if kind in registry.retired:
                self._retired_names[kind] += count
            elif registry.config.rules.kind(kind) == kind and not (kind in registry.kinds or is_namespaced(kind)):
                self._unknown_names[kind] += count
        if row.policy is None and self._answers(registry, row) != self._answers(registry, row._replace(policy=False)):
            self._assumed += count
        if self._moved:
            before = self._bundled.explain_failure(kind, row.stage, row.http_status, row.policy)
            if (before.failure_class, before.label) != (found.failure_class, found.label):
                evidence = kind, row.stage, row.http_status
                changed = before.failure_class, found.failure_class, before.label, found.label, found.origin
                self._moves[(*evidence, *changed)] += count

    @staticmethod
    def _answers(registry: FailureRegistry, row: Evidence) -> tuple[object, object]:
        evidence = row.failure_kind, row.stage, row.http_status, row.policy
        return registry.classify_failure(*evidence), registry.reporting_failure_kind(evidence[0], *evidence[2:])

    def report(self, files: tuple[str, ...], expected: int | None, by: str | None) -> FailureReport:
        """Return the counts as a report."""
        classes = self._class_counts(*self._rows)
        return FailureReport(
            vocabulary_version=self.registry.version,
            digest=self.registry.digest,
            files=files,
            sources=self._source_counts(),
            account=Account(
                lines=self._lines,
                failures=self._outcomes[Outcome.FAILURE],
                without_failure=self._outcomes[Outcome.WITHOUT_FAILURE],
                unlabelled=self._outcomes[Outcome.UNLABELLED],
                omitted=self._outcomes[Outcome.OMITTED],
                unreadable=self._outcomes["unreadable"],
                blank=self._blank,
                expected=expected,
                unaccounted=None if expected is None else expected - (self._lines - self._blank),
                unreadable_lines=tuple(self._unreadable_lines),
                passed_over=len(self._passed_over),
                passed_over_files=tuple(self._passed_over[:UNREADABLE_LINES]),
            ),
            classes=classes,
            labels=tuple(
                LabelCount(
                    label=label,
                    unmapped_by=unmapped_by,
                    stage=stage,
                    failure_class=failure_class,
                    rule=rule,
                    origin=origin,
                    count=count,
                    share=count / classes.total,
                )
                for (label, unmapped_by, stage, failure_class, rule, origin), count in _largest_first(self._labels)
            ),
            unmapped=tuple(
                UnmappedValue(source=source, value=value, count=count)
                for (source, value), count in _largest_first(self._unmapped)
            ),
            unknown_names=self._names_of(self._unknown_names, lambda name: nearest(name, self.registry.kinds)),
            retired_names=self._names_of(self._retired_names, self.registry.retired.get),
            unknown_stages=self._names_of(self._unknown_stages, lambda name: nearest(name, self.registry.stages)),
            statuses_without_evidence=self._names_of(self._odd_statuses, lambda _: None),
            failed_and_scored=self._scored,
            policy_assumed=self._assumed,
            moves=self._move_list() if self._moved else None,
            by=by,
            groups=() if by is None else self._groups(),
        )

    def _source_counts(self) -> tuple[SourceCount, ...]:
        counts = []
        for name, rows in _largest_first(self._rows_of):
            layouts = {layout: files for (source, layout), files in self._files_of.items() if source == name}
            counts.append(
                SourceCount(
                    source=name,
                    title=self._sources[name].title,
                    digest=self._sources[name].digest,
                    layouts=tuple(sorted(layouts)),
                    files=sum(layouts.values()),
                    rows=rows,
                    failures=self._failures_of[name],
                )
            )
        return tuple(counts)

    def _class_counts(self, *groups: str | None) -> ClassCounts:
        counts: Counter[str] = Counter()
        for (group, failure_class), count in self._classes.items():
            counts[failure_class] += count if group in groups else 0
        return ClassCounts(**counts)

    def _groups(self) -> tuple[GroupCount, ...]:
        return tuple(
            GroupCount(value=value, rows=rows, classes=self._class_counts(value))
            for value, rows in _largest_first(self._rows)
        )

    def _move_list(self) -> tuple[Move, ...]:
        fields = "name", "stage", "http_status", "class_before", "class_after", "label_before", "label_after", "origin"
        return tuple(
            Move(**dict(zip(fields, move, strict=True)), count=count) for move, count in _largest_first(self._moves)
        )

    @staticmethod
    def _names_of(counts: Counter[str], instead: Callable[[str], str | None]) -> tuple[NameCount, ...]:
        return tuple(NameCount(name=name, count=count, instead=instead(name)) for name, count in _largest_first(counts))


def _largest_first(counts: Counter[K]) -> list[tuple[K, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))

"""What two configurations answer differently: the changed cells of kind, stage, status and policy, drawn together."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from .changes import rules_of
from .document import STATUS_TABLES
from .spelling import is_namespaced, printable
from .terms import statuses

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from .classification import FailureClassificationConfig
    from .registry import FailureRegistry

__all__ = ["AS_RECORDED", "Difference", "effective_differences"]


AS_RECORDED: Final = "(as recorded)"
"""The answer of a registry that reports a failure under the name that was recorded."""


def __dir__() -> list[str]:
    return __all__


class Difference(NamedTuple):
    """Failures that two registries answer differently, all of them in the same way.

    Attributes:
        what: `class`, or `label` for what a failure is reported as.
        names: The recorded names, `(unknown name)`, `(other namespaced name)` and `(no kind)` among them.
        stages: The stages, None for no stage; empty for a label, which doesn't depend on the stage.
        statuses: The HTTP statuses, None for no status.
        policy: Whether the requests are the evaluated model's; None if it makes no difference.
        before: What the old registry answers; for a label, that may be `AS_RECORDED`.
        after: What the new one answers.
    """

    what: str
    names: tuple[str, ...]
    stages: tuple[str | None, ...]
    statuses: tuple[int | None, ...]
    policy: bool | None
    before: str
    after: str


# By stage and policy, the statuses at which an answer changes.
_Cells = dict[str | None, dict[bool, list[int | None]]]


def effective_differences(old: FailureRegistry, new: FailureRegistry) -> tuple[Difference, ...]:
    """Return every difference in class, then in label, over all names, stages, statuses and both kinds of request.

    Failures whose answers change alike are one difference.
    """
    alike: dict[Difference, list[str]] = defaultdict(list)
    blocks = _status_blocks(old, new)
    for recorded, names in _names_treated_alike(old, new):
        for (what, before, after), cells in _changed_cells(old, new, recorded, blocks).items():
            for (policy, codes), stages in _merged(cells).items():
                where = tuple(stages) if what == "class" else ()
                alike[Difference(what, (), where, codes, policy, before, after)] += names
    found = (difference._replace(names=tuple(names)) for difference, names in alike.items())
    return tuple(sorted(found, key=lambda difference: difference.what))


def _names_treated_alike(old: FailureRegistry, new: FailureRegistry) -> Iterator[tuple[str | None, list[str]]]:
    """Names of which both registries say the same: what would be recorded for one, and what people call them all."""
    met: dict[str | None, str] = {}
    for registry in (old, new):
        keys = (place.key for place in rules_of(registry) if isinstance(place.key, str))
        met |= {name: printable(name) for name in (*registry.kinds, *registry.retired, *keys)}
    longer = 1 + max((len(name or "") for name in met), default=0)  # than every name met, so that it is none of them
    met |= {"?" * longer: "(unknown name)", "x:" + "x" * longer: "(other namespaced name)", None: "(no kind)"}
    labels = {says for registry in (old, new) for place, says in rules_of(registry).items() if "report" in place.field}
    alike: dict[tuple[object, ...], list[str | None]] = defaultdict(list)
    for name in met:
        alike[tuple(said for registry in (old, new) for said in _said_of(name, registry.config, labels))].append(name)
    return ((names[0], [met[name] for name in names]) for names in alike.values())


def _said_of(recorded: str | None, config: FailureClassificationConfig, labels: Container[object]) -> Iterator[object]:
    """All that the rules of a configuration know of a name."""
    kind = config.rules.kind(recorded)
    yield kind == recorded  # or else it isn't called as recorded
    yield kind if kind != recorded or kind in labels else ""
    yield is_namespaced(kind)
    yield kind in config.by_failure_kind
    stages = (rules.by_failure_kind for rules in config.by_stage.values())
    tables = (config.by_failure_kind, config.http_refinable_kinds, config.non_policy_reporting_kind_by_failure_kind)
    yield from (table.get(kind or "") for table in (*tables, *stages))


def _status_blocks(old: FailureRegistry, new: FailureRegistry) -> list[list[int | None]]:
    """No status, and the statuses in blocks that no rule of either registry tells apart."""
    tables = [getattr(registry.config, field) for registry in (old, new) for field in STATUS_TABLES]
    blocks: dict[tuple[object, ...], list[int | None]] = defaultdict(list)
    for status in (*statuses("4xx"), *statuses("5xx")):
        blocks[tuple(table.get(status) for table in tables)].append(status)
    return [[None], *blocks.values()]


def _changed_cells(
    old: FailureRegistry, new: FailureRegistry, recorded: str | None, blocks: Iterable[list[int | None]]
) -> dict[tuple[str, str, str], _Cells]:
    """Where an answer gives way to another: what is asked, and both answers -> the cells."""
    changed: dict[tuple[str, str, str], _Cells] = defaultdict(dict)
    both, stages = (old.config.rules, new.config.rules), (*{**old.stages, **new.stages}, None)
    for policy, block in product((True, False), blocks):
        status = block[0]
        answers: dict[tuple[str, str | None], list[str]] = {
            ("class", stage): [rules.classify(recorded, stage, status, policy).value for rules in both]
            for stage in stages
        }
        labels = [rules.reporting_kind(recorded, status, policy) for rules in both]
        answers["label", None] = [AS_RECORDED if label == recorded else str(label) for label in labels]
        for (what, stage), (before, after) in answers.items():
            if before != after:
                changed[what, before, after].setdefault(stage, {True: [], False: []})[policy] += block
    return changed


def _merged(cells: _Cells) -> dict[tuple[bool | None, tuple[int | None, ...]], list[str | None]]:
    """The stages in which the same statuses change. The policy is None where it makes no difference to them."""
    merged: dict[tuple[bool | None, tuple[int | None, ...]], list[str | None]] = defaultdict(list)
    for stage, by_policy in cells.items():
        own, others = (tuple(sorted(by_policy[policy], key=lambda status: status or 0)) for policy in (True, False))
        for policy, codes in [(None, own)] if own == others else [(True, own), (False, others)]:
            if codes:
                merged[policy, codes].append(stage)
    return merged

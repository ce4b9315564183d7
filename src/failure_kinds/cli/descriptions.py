"""What a vocabulary holds under a name, as plain data that is printed as text or as JSON."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..failure_class import FailureClass
from ..spelling import is_namespaced, nearest
from ..terms import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..classification import Explanation
    from ..registry import FailureRegistry

    Description = dict[str, Any]

__all__ = ["Found", "describe_kind", "find", "verdict"]

_CLASSES: Final = {
    "evaluation": "Something of the evaluation's broke: infrastructure, a judge, a sandbox, the harness.",
    "model": "The evaluated model or agent did it itself.",
    "unknown": "What was recorded doesn't say on whose side it lies.",
}


def __dir__() -> list[str]:
    return __all__


class Found(NamedTuple):
    """What a name turned out to be.

    Attributes:
        name: The name of the vocabulary that it was taken for.
        descriptions: What the vocabulary holds under that name; more than one where, for example, a stage and a domain
            share it.
    """

    name: str
    descriptions: list[Description]


def find(registry: FailureRegistry, name: str) -> Found | None:
    """Return what a name stands for, in whatever case or misspelling; None if nothing is near.

    Args:
        registry: The vocabulary.
        name: A kind, its constant, a retired name, an alias, a stage, a domain, a group, a class or an HTTP status.
    """
    if name.isascii() and name.isdigit():
        is_known = len(name) == 3 and name[0] in "45"
        return Found(name, [_describe_status(registry, int(name))]) if is_known else None
    known = {constant.lower(): kind for constant, kind in registry.constants.items()}
    aliases = (alias for alias, kind in registry.config.kind_aliases.items() if kind is not None)
    for section in (_CLASSES, registry.kinds, registry.retired, aliases, registry.stages, registry.domains):
        known |= {entry: entry for entry in section}
    known |= {group: group for group in registry.groups}
    match = name if name in known or is_namespaced(name) else nearest(name, known)
    if match is None:
        return None
    name = known.get(match, match)
    return Found(name, list(_descriptions(registry, name)))


def _descriptions(registry: FailureRegistry, name: str) -> Iterator[Description]:
    kind = registry.config.rules.kind(name)
    if name in registry.retired or kind != name:
        yield _describe_alias(registry, name, kind if kind != name else None)
    if kind is not None and (kind in registry.kinds or is_namespaced(kind)):
        yield describe_kind(registry, kind)
    if name in _CLASSES:
        yield _describe_class(registry, FailureClass(name))
    if name in registry.stages:
        yield _describe_stage(registry, name)
    if name in registry.domains:
        yield {
            "type": "domain",
            "name": name,
            "summary": registry.domains[name],
            "kinds": [kind.name for kind in registry.kinds.values() if kind.domain == name],
            "declared": registry.origin("domains", name),
        }
    if name in registry.groups:
        yield {
            "type": "group",
            "name": name,
            "kinds": list(registry.groups[name]),
            "declared": registry.origin("groups", name),
        }


def describe_kind(registry: FailureRegistry, name: str) -> Description:
    """Return what a kind means and how it is classified; one of an environment's own has no declaration."""
    config = registry.config
    kind = registry.kinds.get(name)
    elsewhere = registry.explain_failure(name, policy=False)
    return {
        "type": "kind",
        "name": name,
        "summary": kind.summary if kind else None,
        "class": verdict(registry.explain_failure(name)),
        "class_by_stage": {stage: verdict(registry.explain_failure(name, stage)) for stage in registry.stages},
        "of_another_model": verdict(elsewhere) if elsewhere.label != name else None,
        "gives_way_to_a_status": config.http_refinable_kinds.get(name) is True,
        "statuses": _statuses(config.reporting_kind_by_status_code, name),
        "statuses_of_another_model": _statuses(config.non_policy_reporting_kind_by_status_code, name),
        "server_fault": registry.is_server_failure(name),
        "gate_derived": registry.is_gate_derived(name),
        "read_as_it": [alias for alias, read_as in config.kind_aliases.items() if read_as == name],
        "groups": [group for group, members in registry.groups.items() if name in members],
        "domain": kind.domain if kind else None,
        "constant": kind.constant if kind else None,
        "declared": registry.origin(name),
    }


def _statuses(labels: Mapping[int, str | None], name: str) -> str | None:
    return folded(status for status, label in labels.items() if label == name) or None


def _describe_status(registry: FailureRegistry, status: int) -> Description:
    refinable = registry.config.http_refinable_kinds
    return {
        "type": "HTTP status",
        "name": str(status),
        "summary": next((f"{known.phrase}." for known in HTTPStatus if known == status), None),
        "of_the_evaluated_model": verdict(registry.explain_failure(None, http_status=status)),
        "of_another_model": verdict(registry.explain_failure(None, http_status=status, policy=False)),
        "relabels": [kind for kind, gives_way in refinable.items() if gives_way],
    }


def _describe_alias(registry: FailureRegistry, name: str, kind: str | None) -> Description:
    is_retired = name in registry.retired
    return {
        "type": "retired name" if is_retired else "alias",
        "name": name,
        "read_as": kind,
        "declared": registry.origin("retired" if is_retired else "kind_aliases", name),
    }


def _describe_class(registry: FailureRegistry, failure_class: FailureClass) -> Description:
    kinds = [kind for kind in registry.kinds if registry.classify_failure(kind) is failure_class]
    at_stage = {
        stage: [
            kind
            for kind in registry.kinds
            if kind not in kinds and registry.classify_failure(kind, stage) is failure_class
        ]
        for stage in registry.stages
    }
    return {
        "type": "class",
        "name": failure_class.value,
        "summary": _CLASSES[failure_class.value],
        "kinds": kinds,
        "kinds_by_stage": {stage: others for stage, others in at_stage.items() if others},
    }


def _describe_stage(registry: FailureRegistry, stage: str) -> Description:
    rules = registry.config.by_stage.get(stage)
    return {
        "type": "stage",
        "name": stage,
        "summary": registry.stages[stage],
        "default_class": rules.default_class.value if rules and rules.default_class else None,
        "class_by_kind": {
            kind: verdict(registry.explain_failure(kind, stage))
            for kind, said in (rules.by_failure_kind if rules else {}).items()
            if said is not None
        },
        "declared": registry.origin("stages", stage),
    }


def verdict(explanation: Explanation) -> dict[str, str | None]:
    """Return the class of a failure as plain data, with the label, the rule that decided and where it is written."""
    return {
        "class": explanation.failure_class.value,
        "label": explanation.label,
        "rule": explanation.rule,
        "origin": explanation.origin,
    }

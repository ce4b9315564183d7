"""What the rules of a configuration call a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .spelling import is_namespaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .document import ClassificationSection

__all__ = ["Labelling", "without_nulls"]

K = TypeVar("K")
V = TypeVar("V")


def __dir__() -> list[str]:
    return __all__


def without_nulls(table: Mapping[K, V | None]) -> dict[K, V]:
    """Return the entries of a table that say anything."""
    return {key: said for key, said in table.items() if said is not None}


class Labelling:
    """What the rules of a configuration call a failure.

    Attributes:
        aliases: Recorded name -> the kind that it is read as.
        stand_ins: Kind -> what to call the failure where the request wasn't the evaluated model's.
        status_labels: Whether the request was the evaluated model's -> HTTP status -> what to call the failure.
        known: The kinds that the rules for kinds know.
        refinable: The kinds that say themselves that an HTTP status knows better.
    """

    __slots__ = ("aliases", "known", "refinable", "stand_ins", "status_labels")

    def __init__(self, config: ClassificationSection) -> None:
        self.aliases = without_nulls(config.kind_aliases)
        self.stand_ins = without_nulls(config.non_policy_reporting_kind_by_failure_kind)
        self.status_labels = {
            True: without_nulls(config.reporting_kind_by_status_code),
            False: without_nulls(config.non_policy_reporting_kind_by_status_code),
        }
        self.known = frozenset(config.by_failure_kind)
        self.refinable = frozenset(kind for kind, gives_way in config.http_refinable_kinds.items() if gives_way)

    def gives_way(self, kind: str | None) -> bool:
        """Whether an HTTP status knows better: there is no kind, or one that says so, or one that nobody knows."""
        return kind is None or kind in self.refinable or (kind not in self.known and not is_namespaced(kind))

    def label(self, kind: str | None, status: int | None, policy: bool) -> tuple[str | None, str]:
        """Return what to call a failure, and the name of the rule that asks for the class of that.

        Args:
            kind: The kind that the recorded one is read as.
            status: The HTTP status, if it is evidence.
            policy: Whether the request counts as the evaluated model's.
        """
        if status is not None and status in self.status_labels[policy] and self.gives_way(kind):
            return self.status_labels[policy][status], "http_evidence"
        if not policy and kind in self.stand_ins:
            return self.stand_ins[kind], "non_policy_kind"
        return kind, "kind"

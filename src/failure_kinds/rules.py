"""The rules of a configuration as look-up tables, and what counts as evidence for them.

All of it is pure and total: whatever was recorded is answered, never raised on. Only typed fields are evidence; no text
is ever searched for any.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .spelling import is_namespaced, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .document import ClassificationSection
    from .failure_class import FailureClass

    _Table = dict[Any, FailureClass]
    _ByStage = dict[Any, _Table]

__all__ = ["CompiledRules", "is_policy", "status_evidence"]

K = TypeVar("K")
V = TypeVar("V")

# What stands in a table for every namespaced name that no rule knows. None stands for all else that no rule knows.
_NAMESPACED: Final = object()


def __dir__() -> list[str]:
    return __all__


def status_evidence(http_status: object) -> int | None:
    """Return an HTTP status as evidence of a failure: an integer (NumPy's too, no bool) from 400 to 599, else None."""
    if type(http_status) is not int:
        if isinstance(http_status, bool) or not isinstance(http_status, Integral):
            return None
        http_status = int(http_status)
    return http_status if 400 <= http_status <= 599 else None


def is_policy(policy: object) -> bool:
    """Whether a request counts as the evaluated model's: unless this is false; None says nothing, so it counts."""
    try:
        return policy is None or bool(policy)
    except Exception:  # noqa: BLE001  # a missing value of pandas, an array: they don't say either
        return True


class CompiledRules:
    """The rules of a configuration, compiled into tables that hold the answer for every known kind, stage and status.

    What the rules mean stands in `classification.explain`, one after the other. The tests hold the tables against it.
    """

    __slots__ = ("_aliases", "_answers", "_known", "_non_policy_labels", "_refinable", "_status_labels")

    def __init__(self, config: ClassificationSection) -> None:
        self._aliases = _without_nulls(config.kind_aliases)
        self._known = frozenset(config.by_failure_kind)
        self._refinable = {kind for kind, gives_way in config.http_refinable_kinds.items() if gives_way}
        self._non_policy_labels = _without_nulls(config.non_policy_reporting_kind_by_failure_kind)
        self._status_labels = {
            True: _without_nulls(config.reporting_kind_by_status_code),
            False: _without_nulls(config.non_policy_reporting_kind_by_status_code),
        }
        # policy -> status -> stage -> kind -> class
        self._answers: dict[Any, dict[Any, _ByStage]] = {
            policy: self._by_status(config, policy) for policy in (True, False)
        }

    def classify(self, failure_kind: object, stage: object, http_status: object, policy: object) -> FailureClass:
        """Return the class of a failure. The arguments are those of `failure_kinds.classify_failure`."""
        if http_status is not None and type(http_status) is not int:
            http_status = status_evidence(http_status)  # before it is looked up: 503.0 == 503
        try:
            table = self._answers[policy][http_status][stage]
            answer = table.get(failure_kind)
        except Exception:  # noqa: BLE001  # recorded in another form than the tables', or in a hostile one
            known_stage = plain_text(stage)
            by_stage = self._answers[is_policy(policy)][status_evidence(http_status)]
            table = by_stage[known_stage if known_stage in by_stage else None]
            failure_kind = plain_text(failure_kind)
            answer = table.get(failure_kind)
        if answer is not None:
            return answer
        return table[_NAMESPACED if http_status is not None and is_namespaced(failure_kind) else None]

    def reporting_kind(self, failure_kind: object, http_status: object, policy: object) -> str | None:
        """Return what to call a failure. The arguments are those of `failure_kinds.reporting_failure_kind`."""
        return self.label(self.kind(failure_kind), status_evidence(http_status), is_policy(policy))[0]

    def kind(self, failure_kind: object) -> str | None:
        """Return the kind that a recorded one is read as; None if it isn't text."""
        kind = plain_text(failure_kind)
        return None if kind is None else self._aliases.get(kind, kind)

    def label(self, kind: str | None, status: int | None, policy: bool) -> tuple[str | None, str]:
        """Return what to call a failure, and the name of the rule that asks for the class of that.

        Args:
            kind: The kind that the recorded one is read as.
            status: The HTTP status, if it is evidence.
            policy: Whether the request counts as the evaluated model's.
        """
        if status is not None and status in self._status_labels[policy] and self._gives_way(kind):
            return self._status_labels[policy][status], "http_evidence"
        if not policy and kind in self._non_policy_labels:
            return self._non_policy_labels[kind], "non_policy_kind"
        return kind, "kind"

    def _gives_way(self, kind: str | None) -> bool:
        """Whether an HTTP status knows better: there is no kind, or one that says so, or one that nobody knows."""
        return kind is None or kind in self._refinable or (kind not in self._known and not is_namespaced(kind))

    def _by_status(self, config: ClassificationSection, policy: bool) -> dict[Any, _ByStage]:
        """The tables for each status. Statuses of which the rules say the same share theirs."""
        shared: dict[Any, _ByStage] = {}
        tables: dict[Any, _ByStage] = {}
        labels = self._status_labels[policy]
        for status in (None, *range(400, 600)):
            said = None if status is None else (config.by_status_code.get(status), labels.get(status))
            if said not in shared:
                shared[said] = self._by_stage(config, status, policy)
            tables[status] = shared[said]
        return tables

    def _by_stage(self, config: ClassificationSection, status: int | None, policy: bool) -> _ByStage:
        """The tables for each stage, and for none: laid down from the last rule to the first."""
        classes = _without_nulls(config.by_failure_kind)
        kinds: set[Any] = {None, _NAMESPACED, *self._known, *self._refinable, *self._non_policy_labels}
        kinds.update(self._aliases.values(), *(rules.by_failure_kind for rules in config.by_stage.values()))
        unstaged: _Table = dict.fromkeys(kinds, config.default_class) | classes
        for kind in kinds - {_NAMESPACED}:
            label, _ = self.label(kind, status, policy)
            if label in classes:
                unstaged[kind] = classes[label]
        tables: _ByStage = {None: unstaged}
        for stage, rules in config.by_stage.items():
            unruled = unstaged if rules.default_class is None else dict.fromkeys(kinds, rules.default_class)
            tables[stage] = unruled | _without_nulls(rules.by_failure_kind)
        if status is not None and (override := config.by_status_code.get(status)):
            tables = {stage: dict.fromkeys(kinds, override) for stage in tables}
        return {
            stage: table | {alias: table[kind] for alias, kind in self._aliases.items()}
            for stage, table in tables.items()
        }


def _without_nulls(table: Mapping[K, V | None]) -> dict[K, V]:
    return {key: said for key, said in table.items() if said is not None}

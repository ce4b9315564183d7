"""The rules of a configuration as look-up tables, and what counts as evidence for them.

All of it is pure and total: whatever was recorded is answered, never raised on. Only typed fields are evidence; no text
is ever searched for any.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Final

from .labelling import Labelling
from .rule_list import POLICIES, compile_rules
from .spelling import is_namespaced, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .document import ClassificationSection
    from .failure_class import FailureClass
    from .rule_list import Rule

    _Table = dict[Any, FailureClass]
    _ByStage = dict[Any, _Table]

__all__ = ["CompiledRules", "is_policy", "status_evidence"]

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

    Attributes:
        labelling: What the rules call a failure.
        rule_list: The rules as the short list that the tables are made from.
    """

    __slots__ = ("_answers", "labelling", "rule_list")

    def __init__(self, config: ClassificationSection) -> None:
        self.labelling = Labelling(config)
        self.rule_list = compile_rules(config, self.labelling)
        # policy -> status -> stage -> kind -> class
        self._answers: dict[Any, dict[Any, _ByStage]] = {policy: self._by_status(config, policy) for policy in POLICIES}

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
        return self.labelling.label(self.kind(failure_kind), status_evidence(http_status), is_policy(policy))[0]

    def kind(self, failure_kind: object) -> str | None:
        """Return the kind that a recorded one is read as; None if it isn't text."""
        kind = plain_text(failure_kind)
        return None if kind is None else self.labelling.aliases.get(kind, kind)

    def _by_status(self, config: ClassificationSection, policy: bool) -> dict[Any, _ByStage]:
        """The tables for each status. Statuses that the same rules are for share theirs."""
        rules = [rule for rule in self.rule_list.classes if rule.policy in (None, policy)]
        of_status = [rule for rule in rules if rule.statuses is not None]
        shared: dict[Any, _ByStage] = {}
        tables: dict[Any, _ByStage] = {}
        for status in (None, *range(400, 600)):
            idle = frozenset(id(rule) for rule in of_status if status not in (rule.statuses or ()))
            if idle not in shared:
                shared[idle] = self._by_stage([rule for rule in rules if id(rule) not in idle], config.by_stage)
            tables[status] = shared[idle]
        return tables

    def _by_stage(self, rules: list[Rule], stages: Iterable[str]) -> _ByStage:
        """The tables for each stage, and for none: laid down from the last rule to the first."""
        giving_way = (None, *self.rule_list.giving_way)
        every = (*giving_way, _NAMESPACED, *self.rule_list.keeping)
        tables: _ByStage = {stage: {} for stage in (None, *stages)}
        for rule in reversed(rules):
            kinds = giving_way if rule.giving_way else every if rule.kinds is None else rule.kinds
            said: _Table = dict.fromkeys(kinds, rule.answer)
            for stage in tables if rule.stages is None else rule.stages:
                tables[stage].update(said)
        return tables

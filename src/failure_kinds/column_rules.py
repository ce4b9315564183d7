"""The rules of a configuration as Narwhals expressions over whole columns, written from the list of rules."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import narwhals as nw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .rule_list import Rule, RuleList

__all__ = ["Columns", "first_answer", "gives_way", "literal", "status_evidence", "translated"]

# `$` alone would admit the end of a line behind the name, in some engines.
_NAMESPACED: Final = "^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$"
_OTHER_AT_THE_END: Final = "[^a-z0-9_]$"

_FEW: Final = 4  # of so many names, each is compared sooner than it is looked up


def __dir__() -> list[str]:
    return __all__


class Columns(NamedTuple):
    """The evidence in a table as expressions; None for what the table doesn't have.

    Attributes:
        kind: The recorded names, as text.
        stage: The stages, as text.
        policy: Whether the requests were the evaluated model's, as booleans.
        status: The HTTP statuses, as `status_evidence` returns them.
        gives_way: Whether the recorded names give way to a status, as `gives_way` returns it.
    """

    kind: nw.Expr
    stage: nw.Expr | None
    policy: nw.Expr | None
    status: nw.Expr | None
    gives_way: nw.Expr


def status_evidence(status: nw.Expr, *, whole: bool = False) -> nw.Expr:
    """Return the statuses that are evidence as integers, and 0 in place of all others and of those that are missing.

    Args:
        status: The statuses, as numbers.
        whole: Whether they are known to be integers.
    """
    in_range = nw.when(status.is_between(400, 599).fill_null(False)).then(status).otherwise(0)
    if not whole:
        in_range = nw.when(in_range.round() == in_range).then(in_range).otherwise(0)
    return in_range.cast(nw.Int16)


def gives_way(kind: nw.Expr, rules: RuleList) -> nw.Expr:
    """Return whether an HTTP status knows better than a recorded name, as booleans that are never null."""
    keeping = _is_named(kind, rules.keeping)
    # Patterns are slow to look for, so they see an empty text in place of every known name.
    other = nw.when(keeping | _is_named(kind, rules.giving_way)).then(nw.lit("")).otherwise(kind)
    namespaced = other.str.contains(_NAMESPACED) & ~other.str.contains(_OTHER_AT_THE_END)
    return ~(keeping | namespaced.fill_null(False))


def first_answer(rules: Iterable[tuple[Rule, str | int]], columns: Columns, otherwise: nw.Expr) -> nw.Expr:
    """Return what the first rule answers that is for a failure.

    Args:
        rules: Rules in their order, each with its answer: a text, or a number up to 32767.
        columns: The evidence.
        otherwise: The answer where no rule is for a failure.
    """
    applying = [(rule, answer) for rule, answer in rules if _can_apply(rule, columns)]
    chosen: list[tuple[nw.Expr, nw.Expr]] = []
    for giving_way, group in itertools.groupby(applying, lambda choice: choice[0].giving_way):
        tested = _tested(group, columns)
        if giving_way:  # asked once for all of them
            any_of_them = functools.reduce(operator.or_, (test for test, _ in tested))
            tested = [(columns.gives_way & any_of_them, _chosen(tested[:-1], tested[-1][1]))]
        chosen += tested
    return _chosen(chosen, otherwise)


def translated(number: nw.Expr, answers: Sequence[str]) -> nw.Expr:
    """Return answers by their places among these."""
    last, *others = dict.fromkeys(reversed(answers))
    places = {answer: [place for place, said in enumerate(answers) if said == answer] for answer in others}
    return _chosen([(number.is_in(places[answer]), literal(answer)) for answer in others], literal(last))


def literal(answer: str | int) -> nw.Expr:
    """Return an answer as an expression."""
    return nw.lit(answer, dtype=nw.String if isinstance(answer, str) else nw.Int16)


def _tested(rules: Iterable[tuple[Rule, str | int]], columns: Columns) -> list[tuple[nw.Expr, nw.Expr]]:
    """Tests with their answers; rules that follow each other and answer the same share theirs."""
    return [
        (functools.reduce(operator.or_, (_test(rule, columns) for rule, _ in group)), literal(answer))
        for answer, group in itertools.groupby(rules, operator.itemgetter(1))
    ]


def _chosen(tested: Iterable[tuple[nw.Expr, nw.Expr]], otherwise: nw.Expr) -> nw.Expr:
    chain: Any = nw
    for test, answer in tested:
        chain = chain.when(test).then(answer)
    return otherwise if chain is nw else chain.otherwise(otherwise)  # type: ignore[no-any-return]


def _can_apply(rule: Rule, columns: Columns) -> bool:
    """Whether a table without some columns can hold failures that a rule is for."""
    return not (
        (rule.stages is not None and columns.stage is None)
        or (rule.statuses is not None and columns.status is None)
        or (rule.policy is False and columns.policy is None)
    )


def _test(rule: Rule, columns: Columns) -> nw.Expr:
    """Whether a rule is for a failure, but for its name's giving way; never null."""
    tests = []
    if rule.statuses is not None:
        tests.append(_is_one_of(columns.status, rule.statuses))
    if rule.stages is not None:
        tests.append(_is_named(columns.stage, rule.stages))
    if rule.policy is not None and columns.policy is not None:
        policy = columns.policy.fill_null(True)
        tests.append(policy if rule.policy else ~policy)
    if rule.kinds is not None:
        tests.append(_is_named(columns.kind, rule.kinds))
    return functools.reduce(operator.and_, tests)


def _is_named(column: Any, names: Iterable[str]) -> nw.Expr:
    names = sorted(names)
    if 0 < len(names) <= _FEW:
        named = functools.reduce(operator.or_, (column == name for name in names))
    else:
        named = column.is_in(names)
    return named.fill_null(False)  # type: ignore[no-any-return]


def _is_one_of(status: Any, statuses: frozenset[int]) -> nw.Expr:
    first, last = min(statuses), max(statuses)
    if len(statuses) == last - first + 1:
        return status.is_between(first, last)  # type: ignore[no-any-return]
    return status.is_in(sorted(statuses))  # type: ignore[no-any-return]

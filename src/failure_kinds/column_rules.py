"""Rules in the language of Narwhals' expressions over whole columns."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final

import narwhals as nw

from .rule_expressions import MORE_THAN_NAMESPACED, NAMESPACED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from .rule_list import RuleList

__all__ = ["COLUMNS", "gives_way", "status_evidence", "translated"]

_FEW: Final = 4  # of so many names, each is compared sooner than it is looked up
_MOST_NESTED: Final = 20  # of more choices, one within the other, engines run out of stack


def __dir__() -> list[str]:
    return __all__


class _ColumnExpressions:
    def literal(self, answer: str | int) -> nw.Expr:
        return nw.lit(answer, dtype=nw.String if isinstance(answer, str) else nw.Int16)

    def is_named(self, column: nw.Expr, names: AbstractSet[str]) -> nw.Expr:
        if 0 < len(names) <= _FEW:
            return self.any_of([column == name for name in sorted(names)]).fill_null(False)
        return column.is_in(sorted(names)).fill_null(False)

    def is_status(self, column: nw.Expr, statuses: frozenset[int]) -> nw.Expr:
        first, last = min(statuses), max(statuses)
        if len(statuses) == last - first + 1:
            return column.is_between(first, last)
        return column.is_in(sorted(statuses))

    def is_policy(self, column: nw.Expr) -> nw.Expr:
        return column.fill_null(True)

    def negated(self, test: nw.Expr) -> nw.Expr:
        return ~test

    def all_of(self, tests: Sequence[nw.Expr]) -> nw.Expr:
        return _joined(operator.and_, tests)

    def any_of(self, tests: Sequence[nw.Expr]) -> nw.Expr:
        return _joined(operator.or_, tests)

    def first_of(self, choices: Sequence[tuple[nw.Expr, nw.Expr]], otherwise: nw.Expr) -> nw.Expr:
        if len(choices) > _MOST_NESTED:
            half = len(choices) // 2
            first, rest = choices[:half], choices[half:]
            among = self.first_of(first[:-1], first[-1][1])
            return (
                nw.when(self.any_of([test for test, _ in first])).then(among).otherwise(self.first_of(rest, otherwise))
            )
        for test, answer in reversed(choices):
            otherwise = nw.when(test).then(answer).otherwise(otherwise)
        return otherwise


COLUMNS: Final = _ColumnExpressions()
"""The language."""


def _joined(how: Callable[[nw.Expr, nw.Expr], nw.Expr], tests: Sequence[nw.Expr]) -> nw.Expr:
    """Tests as a balanced tree: in a chain, each would stand within the next, deeper than engines can go."""
    if len(tests) == 1:
        return tests[0]
    half = len(tests) // 2
    return how(_joined(how, tests[:half]), _joined(how, tests[half:]))


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
    """Return the test whether an HTTP status knows better than a recorded name."""
    keeping = COLUMNS.is_named(kind, rules.keeping)
    # Patterns are slow to look for, so they see an empty text in place of every known name.
    known = keeping | COLUMNS.is_named(kind, rules.giving_way)
    other = nw.when(known).then(nw.lit("")).otherwise(kind)
    namespaced = other.str.contains(NAMESPACED) & ~other.str.contains(MORE_THAN_NAMESPACED)
    return ~(keeping | namespaced.fill_null(False))


def translated(number: nw.Expr, answers: Sequence[str]) -> nw.Expr:
    """Return answers by their places among these."""
    last, *others = dict.fromkeys(reversed(answers))
    places = {answer: [place for place, said in enumerate(answers) if said == answer] for answer in others}
    return COLUMNS.first_of([(number.is_in(places[each]), nw.lit(each)) for each in others], nw.lit(last))

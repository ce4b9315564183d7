"""The rules as expressions of any language, in terms of the few things that a language must be able to say."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar

from .active import get_registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from .classification import FailureClassificationConfig
    from .registry import FailureRegistry
    from .rule_list import Rule, RuleList

__all__ = ["MORE_THAN_NAMESPACED", "NAMESPACED", "Columns", "Language", "decided", "label", "rules_in_force"]

NAMESPACED: Final = "^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$"
"""What a namespaced name matches. In some languages, so does one with the end of a line behind it."""

MORE_THAN_NAMESPACED: Final = "^[a-z0-9_:]*[^a-z0-9_:]+$"
"""What that matches, and no namespaced name."""

E = TypeVar("E")


def __dir__() -> list[str]:
    return __all__


class Language(Protocol[E]):
    """What a language must be able to say."""

    def literal(self, answer: str | int) -> E:
        """An answer."""

    def is_named(self, column: E, names: AbstractSet[str]) -> E:
        """Whether a text is one of some names."""

    def is_status(self, column: E, statuses: frozenset[int]) -> E:
        """Whether a status is one of some."""

    def is_policy(self, column: E) -> E:
        """Whether a request counts as the evaluated model's: unless it is said that it isn't. It is never null."""

    def negated(self, test: E) -> E:
        """Whether a test doesn't hold."""

    def all_of(self, tests: Sequence[E]) -> E:
        """Whether each of some tests holds, of which there is at least one."""

    def any_of(self, tests: Sequence[E]) -> E:
        """Whether one of some tests holds, of which there is at least one."""

    def first_of(self, choices: Sequence[tuple[E, E]], otherwise: E) -> E:
        """The answer of the first test that holds."""


class Columns(NamedTuple, Generic[E]):
    """The evidence in a table; None for what the table doesn't have.

    Attributes:
        kind: The recorded names.
        stage: The stages.
        status: The HTTP statuses.
        policy: Whether the requests were the evaluated model's.
        gives_way: A test, whether the recorded names give way to an HTTP status.
    """

    kind: E
    stage: E | None
    status: E | None
    policy: E | None
    gives_way: E


def rules_in_force(config: FailureClassificationConfig | None, registry: FailureRegistry | None) -> RuleList:
    """Return the rules of a configuration.

    Args:
        config: The configuration; by default the registry's.
        registry: The registry; by default the active one.

    Raises:
        VocabularyError: The active registry has to be loaded, and can't be.
    """
    if config is None:
        config = (get_registry() if registry is None else registry).config
    return config.rules.rule_list


def decided(language: Language[E], rules: RuleList, columns: Columns[E], answers: Sequence[str | int]) -> E:
    """Return what stands for the rule that decides the class.

    Args:
        language: What to write in.
        rules: The rules.
        columns: The evidence.
        answers: What stands for each of the rules for the class, in their order.
    """
    *others, (_, last) = zip(rules.classes, answers, strict=True)
    while others and others[-1][1] == last:
        others.pop()
    return _first_answer(language, others, columns, language.literal(last))


def label(language: Language[E], rules: RuleList, columns: Columns[E]) -> E:
    """Return what to call the failures; the arguments are those of `decided`."""
    return _first_answer(language, [(rule, rule.answer) for rule in rules.labels], columns, columns.kind)


def _first_answer(
    language: Language[E], rules: Iterable[tuple[Rule, str | int]], columns: Columns[E], otherwise: E
) -> E:
    applying = [(rule, answer) for rule, answer in rules if _can_apply(rule, columns)]
    choices: list[tuple[E, E]] = []
    for giving_way, group in itertools.groupby(applying, lambda choice: choice[0].giving_way):
        of_group = _choices(language, group, columns)
        if giving_way:  # asked once for all of them
            any_of_them = language.any_of([test for test, _ in of_group])
            answer = language.first_of(of_group[:-1], of_group[-1][1])
            of_group = [(language.all_of([columns.gives_way, any_of_them]), answer)]
        choices += of_group
    return language.first_of(choices, otherwise)


def _choices(language: Language[E], rules: Iterable[tuple[Rule, str | int]], columns: Columns[E]) -> list[tuple[E, E]]:
    """Tests with their answers; rules that follow each other and answer the same share theirs."""
    return [
        (language.any_of([_test(language, rule, columns) for rule, _ in group]), language.literal(answer))
        for answer, group in itertools.groupby(rules, operator.itemgetter(1))
    ]


def _can_apply(rule: Rule, columns: Columns[Any]) -> bool:
    """Whether a table without some columns can hold failures that a rule is for."""
    return not (
        (rule.stages is not None and columns.stage is None)
        or (rule.statuses is not None and columns.status is None)
        or (rule.policy is False and columns.policy is None)
    )


def _test(language: Language[E], rule: Rule, columns: Columns[E]) -> E:
    """Whether a rule is for a failure, but for its name's giving way."""
    tests = []
    if rule.statuses is not None and columns.status is not None:
        tests.append(language.is_status(columns.status, rule.statuses))
    if rule.stages is not None and columns.stage is not None:
        tests.append(language.is_named(columns.stage, rule.stages))
    if rule.policy is not None and columns.policy is not None:
        is_policy = language.is_policy(columns.policy)
        tests.append(is_policy if rule.policy else language.negated(is_policy))
    if rule.kinds is not None:
        tests.append(language.is_named(columns.kind, rule.kinds))
    return language.all_of(tests)

"""The rules of a configuration as one short list, from which tables, expressions and SQL are written.

A rule says which failures it is for and what it answers; the first one that is for a failure answers. What the rules
mean stands in `classification.explain`; the tests hold the list against it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from .labelling import Labelling, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .document import ClassificationSection

__all__ = ["POLICIES", "Rule", "RuleList", "compile_rules"]

POLICIES: Final = (True, False)
"""Whether a request is the evaluated model's."""

K = TypeVar("K")
V = TypeVar("V")


def __dir__() -> list[str]:
    return __all__


class Rule(NamedTuple):
    """For failures that have all that it names; what is None, it doesn't ask for.

    Attributes:
        name: One of `classification.RULES`.
        answer: A `FailureClass`, or what to call the failure.
        kinds: The recorded names that it is for, aliases included.
        stages: The stages that it is for.
        statuses: The HTTP statuses that it is for.
        policy: Whether it is for requests of the evaluated model, or for all others.
        giving_way: Whether it is only for failures whose recorded name gives way to an HTTP status.
    """

    name: str
    answer: Any
    kinds: frozenset[str] | None = None
    stages: frozenset[str] | None = None
    statuses: frozenset[int] | None = None
    policy: bool | None = None
    giving_way: bool = False


class RuleList(NamedTuple):
    """The rules of a configuration.

    A recorded name gives way to an HTTP status unless it is one of `keeping`, or namespaced and none of `giving_way`;
    no name gives way as well.

    Attributes:
        classes: The rules for the class; the last one is for every failure.
        labels: The rules for what to call a failure; where none is for it, it is called what was recorded.
        keeping: Recorded names that don't give way to an HTTP status.
        giving_way: Recorded names that do. Those of the two are all that the rules tell from others.
    """

    classes: tuple[Rule, ...]
    labels: tuple[Rule, ...]
    keeping: frozenset[str]
    giving_way: frozenset[str]

    @property
    def class_answers(self) -> list[str]:
        """The class that each of `classes` answers."""
        return [rule.answer.value for rule in self.classes]

    @property
    def class_names(self) -> list[str]:
        """The name of each of `classes`."""
        return [rule.name for rule in self.classes]


def compile_rules(config: ClassificationSection, labelling: Labelling) -> RuleList:
    """Return the rules of a configuration, and of its labelling, as a list."""
    return _Compiler(config, labelling).rule_list()


class _Compiler:
    def __init__(self, config: ClassificationSection, labelling: Labelling) -> None:
        self._config = config
        self._labelling = labelling
        self._classes = without_nulls(config.by_failure_kind)

    def rule_list(self) -> RuleList:
        labelling, stages = self._labelling, self._config.by_stage.values()
        kinds = {*labelling.known, *labelling.refinable, *labelling.stand_ins, *labelling.aliases.values()}
        names = kinds.union(labelling.aliases, *(rules.by_failure_kind for rules in stages))
        giving_way = frozenset(name for name in names if labelling.gives_way(labelling.aliases.get(name, name)))
        return RuleList(
            classes=(
                *self._status_overrides(),
                *self._stage_kinds(),
                *self._stage_defaults(),
                *_http_evidence(self._class_by_status()),
                *self._unclassed_http_evidence(),
                *self._of_kinds("non_policy_kind", self._class_of_stand_ins(), policy=False),
                *self._of_kinds("kind", self._classes),
                Rule("default", self._config.default_class),
            ),
            labels=(
                *_http_evidence(labelling.status_labels),
                *self._of_kinds("non_policy_kind", labelling.stand_ins, policy=False),
                *self._aliases(),
            ),
            keeping=frozenset(names - giving_way),
            giving_way=giving_way,
        )

    def _recorded(self, kinds: Iterable[str]) -> frozenset[str]:
        """The names that are read as one of these kinds."""
        kinds, aliases = set(kinds), self._labelling.aliases
        return frozenset((*(kinds - aliases.keys()), *(alias for alias, kind in aliases.items() if kind in kinds)))

    def _of_kinds(self, name: str, answers: Mapping[str, Any], **asked: Any) -> Iterator[Rule]:
        """A rule for the kinds of each answer."""
        for answer, kinds in _grouped(answers):
            if recorded := self._recorded(kinds):
                yield Rule(name, answer, recorded, **asked)

    def _status_overrides(self) -> Iterator[Rule]:
        for failure_class, statuses in _grouped(without_nulls(self._config.by_status_code)):
            yield Rule("status_override", failure_class, statuses=statuses)

    def _stage_kinds(self) -> list[Rule]:
        stages: defaultdict[Rule, set[str]] = defaultdict(set)  # stages of which the rules say the same
        for stage, rules in self._config.by_stage.items():
            for rule in self._of_kinds("stage_kind", without_nulls(rules.by_failure_kind)):
                stages[rule].add(stage)
        ruled = (rule._replace(stages=frozenset(of_rule)) for rule, of_rule in stages.items())
        return sorted(ruled, key=lambda rule: str(rule.answer.value))

    def _stage_defaults(self) -> Iterator[Rule]:
        defaults = without_nulls({stage: rules.default_class for stage, rules in self._config.by_stage.items()})
        for failure_class, stages in _grouped(defaults):
            yield Rule("stage_default", failure_class, stages=stages)

    def _class_by_status(self) -> dict[bool, dict[int, Any]]:
        return {
            policy: without_nulls({status: self._classes.get(label) for status, label in labels.items()})
            for policy, labels in self._labelling.status_labels.items()
        }

    def _unclassed_http_evidence(self) -> Iterator[Rule]:
        """The kinds that something stands for, where they give way to a status whose label has no class."""
        labels = self._labelling.status_labels[False]
        unclassed = frozenset(status for status, label in labels.items() if label not in self._classes)
        kinds = [kind for kind in self._class_of_stand_ins() if self._labelling.gives_way(kind)]
        if unclassed:
            classes = {kind: self._classes[kind] for kind in kinds if kind in self._classes}
            defaults = dict.fromkeys(set(kinds) - classes.keys(), self._config.default_class)
            yield from self._of_kinds("kind", classes, statuses=unclassed, policy=False)
            yield from self._of_kinds("default", defaults, statuses=unclassed, policy=False)

    def _class_of_stand_ins(self) -> dict[str, Any]:
        return without_nulls({kind: self._classes.get(label) for kind, label in self._labelling.stand_ins.items()})

    def _aliases(self) -> Iterator[Rule]:
        for kind, aliases in _grouped(self._labelling.aliases):
            if read_as := aliases - {kind}:
                yield Rule("kind", kind, read_as)


def _http_evidence(answers: Mapping[bool, Mapping[int, Any]]) -> Iterator[Rule]:
    """A rule for the statuses of each answer: one for all requests, and one for the rest of each policy's."""
    by_answer: defaultdict[Any, dict[bool, frozenset[int]]] = defaultdict(lambda: dict.fromkeys(POLICIES, frozenset()))
    for policy in POLICIES:
        for answer, statuses in _grouped(answers[policy]):
            by_answer[answer][policy] = statuses
    for answer, of_policy in by_answer.items():
        both = of_policy[True] & of_policy[False]
        parts: dict[bool | None, frozenset[int]] = {
            None: both,
            True: of_policy[True] - both,
            False: of_policy[False] - both,
        }
        for asked, statuses in parts.items():
            if statuses:
                yield Rule("http_evidence", answer, statuses=statuses, policy=asked, giving_way=True)


def _grouped(answers: Mapping[K, V]) -> list[tuple[V, frozenset[K]]]:
    """Each answer with the keys that it belongs to."""
    keys: defaultdict[V, set[K]] = defaultdict(set)
    for key, answer in answers.items():
        keys[answer].add(key)
    return [(answer, frozenset(of_answer)) for answer, of_answer in keys.items()]

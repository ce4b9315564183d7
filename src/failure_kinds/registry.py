"""What a vocabulary holds when all its files are laid over each other, and the questions that it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from .classification import Explanation, FailureClassificationConfig, Step, explain, look_up
from .errors import UnregisteredKindError
from .failure_class import FailureClass
from .frozen import FrozenDict
from .rules import status_evidence
from .seen import LABELLED, WARNED
from .spelling import did_you_mean, is_namespaced, plain_text, shown
from .terms import Names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .constants import FailureStage

__all__ = ["OTHER_LABEL", "WARNED_NAMES", "FailureRegistry", "Kind"]

WARNED_NAMES: Final = 1000
"""How many different unregistered names a process warns of."""

OTHER_LABEL: Final = "_OTHER"
"""The metric label of every name that gets none of its own."""

T = TypeVar("T")


def __dir__() -> list[str]:
    return __all__


class Kind(NamedTuple):
    """A kind as it is declared.

    Attributes:
        name: What is recorded.
        constant: The name of its constant.
        domain: The part of the system that it belongs to.
        summary: One sentence that says what was observed.
        failure_class: The class that its declaration states, None if it states none. The rules of a configuration may
            say otherwise.
        server_fault: Whether it is declared that an evaluation failure of this kind is a server's.
        gate_derived: Whether it is derived from saved rows, so that no producer may emit it.
    """

    name: str
    constant: str
    domain: str
    summary: str
    failure_class: FailureClass | None
    server_fault: bool
    gate_derived: bool


def _without_idle(rules: dict[str, Any]) -> dict[str, Any]:
    """Rules without the entries that say nothing: nulls, flags that are down, and maps of nothing else."""
    said = {key: _without_idle(value) if isinstance(value, dict) else value for key, value in rules.items()}
    return {key: value for key, value in said.items() if value not in (None, False, {})}


@dataclass(frozen=True)
class FailureRegistry:
    """A whole vocabulary with its rules. It can't be changed; `load_registry` makes one.

    Two are equal if they hold the same, whatever files that came from.

    Attributes:
        version: The version of the vocabulary.
        domains: Domain -> what belongs to it.
        stages: Stage of an episode -> what is going on in it.
        kinds: Name -> `Kind`, gate-derived ones included.
        groups: Group -> its kinds, in order.
        retired: Retired name -> the kind that it is read as.
        config: The rules.
    """

    version: str
    domains: Mapping[str, str]
    stages: Mapping[str, str]
    kinds: Mapping[str, Kind]
    groups: Mapping[str, tuple[str, ...]]
    retired: Mapping[str, str]
    config: FailureClassificationConfig
    _origins: Mapping[tuple[str | int, ...], str] = field(default_factory=FrozenDict, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"<FailureRegistry {self.version}, digest {self.digest}, {len(self.kinds)} kinds>"

    # --- what it holds ---------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits of a SHA-256 over all that decides a class or a label, and so over no wording.

        Two reports with the same digest are comparable.
        """
        import hashlib  # here and below: a first answer has no need of these, and shouldn't wait for them
        import json

        effective = {
            "domains": sorted(self.domains),
            "stages": sorted(self.stages),
            "kinds": {
                kind.name: [kind.domain, kind.constant, kind.server_fault, kind.gate_derived]
                for kind in self.kinds.values()
            },
            "groups": dict(self.groups),
            "retired": dict(self.retired),
            "config": _without_idle(self.config.model_dump(mode="json")),
        }
        return hashlib.sha256(json.dumps(effective, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def failure_kinds(self) -> frozenset[str]:
        """The registered names: what a producer may emit."""
        return frozenset(kind.name for kind in self.kinds.values() if not kind.gate_derived)

    @cached_property
    def gate_derived_kinds(self) -> frozenset[str]:
        """Kinds that are derived from saved rows, which no producer may emit."""
        return frozenset(kind.name for kind in self.kinds.values() if kind.gate_derived)

    @cached_property
    def model_fault_kinds(self) -> frozenset[str]:
        """Kinds, gate-derived ones included, whose kind rule says `MODEL`."""
        return frozenset(name for name in self.kinds if self.config.by_failure_kind.get(name) is FailureClass.MODEL)

    @cached_property
    def server_fault_kinds(self) -> frozenset[str]:
        """Kinds of which an evaluation failure is a server's."""
        return frozenset(name for name in self.kinds if self.config.server_fault_kinds.get(name))

    @cached_property
    def provider_failure_kinds(self) -> frozenset[str]:
        """The group `provider_failure`."""
        return frozenset(self.groups.get("provider_failure", ()))

    @property
    def judge_failure_kinds(self) -> tuple[str, ...]:
        """The group `judge_failure`, in order."""
        return self.groups.get("judge_failure", ())

    @cached_property
    def constants(self) -> Mapping[str, str]:
        """Constant -> the kind's name."""
        return FrozenDict({kind.constant: kind.name for kind in self.kinds.values()})

    @cached_property
    def names(self) -> Names:
        """The names that rules and labels may use."""
        return Names(self.failure_kinds, self.gate_derived_kinds, self.retired, self.stages, self.domains)

    def origin(self, *entry: str | int) -> str | None:
        """Return where something was written: `file:line`, or the path in a Python mapping.

        Args:
            entry: The name of a kind; or the keys that lead to something in a vocabulary file, such as
                `"retired", "judge_invalid"`; for a rule, `"classification"` may be left out.

        Returns:
            The place, or None where nothing is written.
        """
        if len(entry) == 1 and entry[0] in self.kinds:
            entry = ("kinds", *entry)
        return self._origins.get(entry) or self._origins.get(("classification", *entry))

    # --- classification --------------------------------------------------------------------------------------------

    def classify_failure(
        self,
        failure_kind: str | None,
        stage: FailureStage | str | None = None,
        http_status: object = None,
        policy: bool | None = True,
    ) -> FailureClass:
        """Return the class of a failure under this registry's rules; see `failure_kinds.classify_failure`."""
        return self.config.rules.classify(failure_kind, stage, http_status, policy)

    def reporting_failure_kind(
        self, kind: str | None, http_status: object = None, policy: bool | None = True
    ) -> str | None:
        """Return what to call a failure under this registry's rules; see `failure_kinds.reporting_failure_kind`."""
        return self.config.rules.reporting_kind(kind, http_status, policy)

    def explain_failure(
        self,
        failure_kind: str | None,
        stage: FailureStage | str | None = None,
        http_status: object = None,
        policy: bool | None = True,
        config: FailureClassificationConfig | None = None,
    ) -> Explanation:
        """Return why a failure has its class; see `failure_kinds.explain_failure`."""
        rules = self.config if config is None else config
        explanation = explain(rules, failure_kind, stage, http_status, policy)
        return Explanation(
            explanation.label,
            tuple(step._replace(origin=self._origin_of(step)) for step in explanation.steps),
            tuple(self._notes(rules, failure_kind, stage, http_status)),
        )

    def _origin_of(self, step: Step) -> str | None:
        if step.entry is None or step.says is None:
            return None
        return self.origin(*step.entry) if look_up(self.config, step.entry) is step.says else "config"

    def _notes(
        self, config: FailureClassificationConfig, kind: object, stage: object, http_status: object
    ) -> Iterator[str]:
        name, known_stage = plain_text(kind), plain_text(stage)
        if name is not None:
            if (read_as := config.rules.kind(name)) != name:
                yield f"{shown(name)} is read as {read_as!r}"
            elif name not in self.kinds and (reason := self.why_unregistered(name)):
                yield reason
        elif kind is not None:
            yield f"{shown(kind)} isn't text, so it counts as no failure kind"
        if stage is not None and known_stage not in self.stages and known_stage not in config.by_stage:
            yield f"{shown(stage)} isn't a stage of the vocabulary, so it has no rule{did_you_mean(stage, self.stages)}"
        if http_status is not None and status_evidence(http_status) is None:
            yield f"{shown(http_status)} isn't an integer from 400 to 599, so it counts as no HTTP status"

    # --- names -----------------------------------------------------------------------------------------------------

    def is_registered(self, name: object) -> bool:
        """Whether a producer may emit a name; see `failure_kinds.is_registered`."""
        return plain_text(name) in self.failure_kinds

    def is_gate_derived(self, name: object) -> bool:
        """Whether a kind is derived from saved rows; see `failure_kinds.is_gate_derived`."""
        return plain_text(name) in self.gate_derived_kinds

    def is_evaluation_side(self, name: object, config: FailureClassificationConfig | None = None) -> bool:
        """Whether the kind rule alone says `EVALUATION`; see `failure_kinds.is_evaluation_side`."""
        rules = (self.config if config is None else config).by_failure_kind
        kind = plain_text(name)
        return kind is not None and kind in self.kinds and rules.get(kind) is FailureClass.EVALUATION

    def is_server_failure(self, kind: object, config: FailureClassificationConfig | None = None) -> bool:
        """Whether an evaluation failure of a kind is a server's; see `failure_kinds.is_server_failure`."""
        config = self.config if config is None else config
        return config.server_fault_kinds.get(config.rules.kind(kind) or "") is True

    def canonical_failure_kind(self, name: T) -> T | str:
        """Return the replacement of a retired name; see `failure_kinds.canonical_failure_kind`."""
        return self.retired.get(plain_text(name) or "", name)

    def require_failure_kind(self, name: object) -> str:
        """Return a name that a producer may emit; see `failure_kinds.require_failure_kind`."""
        text = plain_text(name)
        if text is None:
            raise UnregisteredKindError(f"a failure kind is needed, not {shown(name)}", name)
        if reason := self.why_unregistered(text):
            raise UnregisteredKindError(reason, name)
        return cast("str", name)

    def validate_failure_kind(self, name: T) -> T:
        """Return a name as it is, and warn of one that isn't registered; see `failure_kinds.validate_failure_kind`."""
        text = plain_text(name)
        if text is None or text in self.failure_kinds or is_namespaced(text):
            return name
        seen = WARNED.admit(text, WARNED_NAMES)
        if seen.is_new:
            import logging

            logger = logging.getLogger("failure_kinds")
            logger.warning("%s", self.why_unregistered(text))
            if seen.is_last:
                logger.warning("%d names were unregistered; further ones aren't shown", WARNED_NAMES)
        return name

    def metric_label(self, name: object, budget: int = 100) -> str:
        """Return a label of low cardinality for a name; see `failure_kinds.metric_label`."""
        label = plain_text(self.canonical_failure_kind(name))
        if label is None:
            return OTHER_LABEL
        if label in self.kinds or (is_namespaced(label) and LABELLED.admit(label, budget).is_known):
            return label
        return OTHER_LABEL

    def why_unregistered(self, name: str) -> str | None:
        """Return why a producer may not emit a name, and what to emit instead; None if it may."""
        if name in self.failure_kinds or is_namespaced(name):
            return None
        if name in self.retired:
            return f"failure kind {shown(name)} is retired; use {self.retired[name]!r}"
        if name in self.gate_derived_kinds:
            return f"failure kind {shown(name)} is derived from saved rows; no producer may emit it"
        return f"failure kind {shown(name)} isn't registered{did_you_mean(name, self.failure_kinds)}"

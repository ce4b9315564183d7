"""The configuration of a classification, and what each of its rules says of a failure.

The class is what the first of these rules says that says anything; null doesn't.

    1  status_override   by_status_code[http_status]
    2  stage_kind        by_stage[stage].by_failure_kind[kind]
    3  stage_default     by_stage[stage].default_class
    4  http_evidence     by_failure_kind[label], where the label came from the HTTP status
    5  non_policy_kind   by_failure_kind[label], where the label came from the request not being the policy's
    6  kind              by_failure_kind[kind]
    7  default           default_class
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeVar, cast

from .document import ClassificationSection, StageSection
from .failure_class import FailureClass
from .frozen import FrozenDict
from .rules import CompiledRules, is_policy, status_evidence
from .spelling import plain_text

if TYPE_CHECKING:
    from .registry import FailureRegistry
    from .terms import Declared

    ClassRules = Mapping[str, FailureClass | str | None]
    KindRules = Mapping[str, str | None]
    FlagRules = Mapping[str, bool | None]
    StatusClassRules = (
        Mapping[int, FailureClass | str | None] | ClassRules | Mapping[int | str, FailureClass | str | None]
    )
    StatusKindRules = Mapping[int, str | None] | KindRules | Mapping[int | str, str | None]

__all__ = [
    "RULES",
    "Explanation",
    "FailureClass",
    "FailureClassificationConfig",
    "StageClassificationConfig",
    "Step",
    "explain",
]

RULES: Final = (
    "status_override",
    "stage_kind",
    "stage_default",
    "http_evidence",
    "non_policy_kind",
    "kind",
    "default",
)
"""The names of the rules, in their order of precedence."""

K = TypeVar("K")
V = TypeVar("V")


def __dir__() -> list[str]:
    return __all__


def _default_classification_config() -> FailureRegistry:
    """The active registry: its names are declared, and its rules are what is merged over.

    The one arrow that runs back, for the configurations that callers make: the active registry's rules are themselves
    such a configuration.
    """
    from .active import get_registry

    return get_registry()


class StageClassificationConfig(StageSection):
    """Rules for failures of one stage.

    Args:
        by_failure_kind: Kind -> class, in this stage. None takes away a rule that would be merged over.
        default_class: The class of every other failure in this stage; None for none.

    Raises:
        pydantic.ValidationError: A kind isn't declared in the active registry, or a class isn't one.
        VocabularyError: The active registry can't be loaded.
    """

    if TYPE_CHECKING:

        def __init__(
            self, *, by_failure_kind: ClassRules | None = None, default_class: FailureClass | str | None = None
        ) -> None: ...

    else:

        def __init__(self, **given: Any) -> None:
            _validate(self, given, _default_classification_config())


class FailureClassificationConfig(ClassificationSection):
    """Rules that say on whose side a failure lies, and what to call it.

    What is given is merged, field by field and key by key, over the rules of the active registry; None as a value
    means that there is no such rule. The result can't be changed, in any depth; it can be hashed, compared, pickled,
    and dumped to JSON and read back.

    Args:
        by_failure_kind: Kind -> class.
        by_stage: Stage -> a `StageClassificationConfig`, or a mapping of that form.
        by_status_code: HTTP status -> class; it outranks every other rule. In the maps of statuses a key is an
            integer from 400 to 599, that as text, or `4xx` or `5xx` for the hundred codes without a key of their own.
        default_class: The class of a failure that no rule answers for.
        reporting_kind_by_status_code: HTTP status of a request to the evaluated model -> what to call the failure.
        non_policy_reporting_kind_by_status_code: HTTP status of a request to another model -> what to call the failure.
        kind_aliases: Any recorded name -> the kind that it is read as, in one step.
        http_refinable_kinds: Kind -> whether it gives way to what an HTTP status says.
        non_policy_reporting_kind_by_failure_kind: Kind -> what to call the failure where the request wasn't the
            evaluated model's.
        server_fault_kinds: Kind -> whether an evaluation failure of this kind is a server's.

    Raises:
        pydantic.ValidationError: A name isn't declared in the active registry, or a value isn't one that is allowed.
        VocabularyError: The active registry can't be loaded.

    >>> config = FailureClassificationConfig(by_failure_kind={"agent_timeout": "evaluation"})
    >>> config.by_failure_kind["agent_timeout"], config.by_failure_kind["agent_limit"]
    (<FailureClass.EVALUATION: 'evaluation'>, <FailureClass.MODEL: 'model'>)
    """

    # A slot, because pydantic's private attributes are slow to read, and because it is no part of the value: it takes
    # no part in comparing, hashing and pickling.
    __slots__ = ("rules",)

    if TYPE_CHECKING:
        rules: CompiledRules

        def __init__(
            self,
            *,
            by_failure_kind: ClassRules | None = None,
            by_stage: Mapping[str, StageSection | Mapping[str, Any] | None] | None = None,
            by_status_code: StatusClassRules | None = None,
            default_class: FailureClass | str = ...,
            reporting_kind_by_status_code: StatusKindRules | None = None,
            non_policy_reporting_kind_by_status_code: StatusKindRules | None = None,
            kind_aliases: KindRules | None = None,
            http_refinable_kinds: FlagRules | None = None,
            non_policy_reporting_kind_by_failure_kind: KindRules | None = None,
            server_fault_kinds: FlagRules | None = None,
        ) -> None: ...

    else:

        def __init__(self, **given: Any) -> None:
            self._merge(given, _default_classification_config())

    def _merge(self, given: Mapping[str, Any], registry: FailureRegistry) -> None:
        """Become what is given, merged over a registry's rules."""
        _validate(self, given, registry)
        object.__setattr__(self, "__dict__", self._merged(registry.config, _given(self)))
        self._compile()

    @classmethod
    def model_validate(cls, obj: Any, *, context: Any = None, **options: Any) -> Self:
        """Return a configuration, merged over the rules of the registry that is given as the context, if one is.

        Raises:
            pydantic.ValidationError: As for the constructor.
            VocabularyError: As for the constructor.
        """
        if context is None or not isinstance(obj, Mapping):
            return super().model_validate(obj, **options)
        config = cls.__new__(cls)
        config._merge(obj, context)  # noqa: SLF001
        return config

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Return a configuration of values that are known to be right; they aren't validated."""
        config = super().model_construct(_fields_set, **values)
        config._compile()  # noqa: SLF001
        return config

    @classmethod
    def merged_over(cls, base: ClassificationSection, given: Mapping[str, Any]) -> Self:
        """Return validated fields merged over the rules of a base."""
        return cls.model_construct(**cls._merged(base, given))

    @classmethod
    def _merged(cls, base: ClassificationSection, given: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: getattr(base, name) for name in cls.model_fields}
        for name, said in given.items():
            if name == "by_stage":
                fields[name] = cls.merge_stages(fields[name], said)
            else:
                fields[name] = said if name == "default_class" else cls.merge_rules(fields[name], said)
        return fields

    @staticmethod
    def merge_rules(base: Mapping[K, V], given: Mapping[K, V]) -> FrozenDict[K, V]:
        """Return a map laid over another, key by key."""
        return FrozenDict({**base, **given})

    @staticmethod
    def merge_stages(
        base: Mapping[str, StageSection], given: Mapping[str, StageSection]
    ) -> FrozenDict[str, StageClassificationConfig]:
        """Return the rules of stages laid over others: the kinds key by key, the default class if one is given."""
        none = StageSection.model_construct(set())
        return FrozenDict(
            {stage: _merged_stage(base.get(stage, none), given.get(stage, none)) for stage in {**base, **given}}
        )

    def _compile(self) -> None:
        object.__setattr__(self, "rules", CompiledRules(self))

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        self._compile()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:  # noqa: ARG002
        """Return this configuration with some fields replaced as a whole, or itself.

        Args:
            update: Field -> its new value, in any form that the constructor takes.
            deep: Makes no difference: nothing of it can change.

        Returns:
            A configuration in which a replaced map holds what is given and no more. Read back from a dump, it is
            merged over the active registry's rules, as any configuration is.

        Raises:
            pydantic.ValidationError: As for the constructor.
        """
        if not update:
            return self
        checking = type(self).__new__(type(self))
        _validate(checking, update, _default_classification_config())
        checked = _given(checking)
        replaced = self._merged(ClassificationSection.model_construct(), checked)
        return self.model_construct(**{**self.__dict__, **{name: replaced[name] for name in checked}})

    def copy(self, **options: Any) -> Self:  # the old name, which wouldn't validate
        """Return `model_copy(**options)`."""
        return self.model_copy(**options)


def _validate(model: StageSection | ClassificationSection, given: Mapping[str, Any], context: Declared) -> None:
    type(model).__pydantic_validator__.validate_python(given, self_instance=model, context=context)


def _given(section: ClassificationSection) -> dict[str, Any]:
    return {name: getattr(section, name) for name in section.model_fields_set}


def _merged_stage(base: StageSection, given: StageSection) -> StageClassificationConfig:
    return StageClassificationConfig.model_construct(
        by_failure_kind=FrozenDict({**base.by_failure_kind, **given.by_failure_kind}),
        default_class=given.default_class if "default_class" in given.model_fields_set else base.default_class,
    )


class Step(NamedTuple):
    """What one rule says of a failure.

    Attributes:
        rule: The rule's name, one of `RULES`.
        entry: The entry of the configuration that it looks up, such as `("by_failure_kind", "agent_timeout")`; None
            where the rule doesn't apply to this failure.
        says: The class that stands there; None if there is none, so that the next rule is asked.
        origin: Where the entry was written (`file:line`), as far as that is known.
    """

    rule: str
    entry: tuple[str | int, ...] | None
    says: FailureClass | None
    origin: str | None = None


class Explanation(NamedTuple):
    """Why a failure has its class.

    Attributes:
        label: What to call the failure in a report, as `reporting_failure_kind` answers.
        steps: Every rule in order of precedence, with what it says.
        notes: A sentence for each thing that was recorded but is no evidence, or is read as something else.
    """

    label: str | None
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    @property
    def decided(self) -> Step:
        """The first step that says anything."""
        return next(step for step in self.steps if step.says is not None)

    @property
    def failure_class(self) -> FailureClass:
        """The class of the failure, as `classify_failure` answers."""
        return cast("FailureClass", self.decided.says)

    @property
    def rule(self) -> str:
        """The name of the rule that decides, one of `RULES`."""
        return self.decided.rule

    @property
    def origin(self) -> str | None:
        """Where the deciding entry was written (`file:line`), as far as that is known."""
        return self.decided.origin


def explain(
    config: FailureClassificationConfig, failure_kind: object, stage: object, http_status: object, policy: object
) -> Explanation:
    """Return what every rule of a configuration says of a failure.

    This is the meaning of the rules; `CompiledRules.classify` is the fast form of its `failure_class`. The arguments
    are those of `failure_kinds.explain_failure`.
    """
    kind = config.rules.kind(failure_kind)
    status = status_evidence(http_status)
    label, label_rule = config.rules.labelling.label(kind, status, is_policy(policy))
    known_stage = plain_text(stage)
    of_stage = ("by_stage", known_stage) if known_stage is not None and known_stage in config.by_stage else None
    entries: tuple[tuple[str | int, ...] | None, ...] = (
        ("by_status_code", status) if status is not None else None,
        (*of_stage, "by_failure_kind", kind) if of_stage and kind is not None else None,
        (*of_stage, "default_class") if of_stage else None,
        ("by_failure_kind", label) if label_rule == "http_evidence" and label is not None else None,
        ("by_failure_kind", label) if label_rule == "non_policy_kind" and label is not None else None,
        ("by_failure_kind", kind) if kind is not None else None,
        ("default_class",),
    )
    steps = (Step(rule, entry, look_up(config, entry)) for rule, entry in zip(RULES, entries, strict=True))
    return Explanation(label, tuple(steps))


def look_up(config: ClassificationSection, entry: tuple[str | int, ...] | None) -> FailureClass | None:
    """Return the class that stands at an entry of a configuration, None if there is none."""
    if entry is None:
        return None
    found: Any = config
    for key in entry:
        found = found.get(key) if isinstance(found, Mapping) else getattr(found, str(key), None)
    return cast("FailureClass | None", found)

"""The form of a vocabulary file: the one description of it, for validation and for the JSON Schema.

A whole vocabulary states a `version`; a user's file has the same form without one. The models check a file by itself;
what depends on the files below it is checked where files are laid over each other. Values may be the text that the
strict reader yields or Python's own (`True`, `429`, `FailureClass.MODEL`), as they stand in a mapping.
"""

# No postponed annotations here: pydantic would have to compile each one again, a fifth of the import's time.
import re
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StringConstraints,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from .failure_class import FailureClass
from .frozen import FrozenDict
from .spelling import did_you_mean, is_name, is_namespaced, shown

__all__ = [
    "SCHEMA_VERSION",
    "ClassificationSection",
    "Declared",
    "Document",
    "DomainGroup",
    "KindSection",
    "Names",
    "StageSection",
    "exact_last",
    "json_schema",
    "statuses",
]

SCHEMA_VERSION: Final = 1
"""The form of file that this version of the package reads."""

RESERVED_CONSTANTS: Final = frozenset(
    {
        "FAILURE_KINDS",
        "GATE_DERIVED_KINDS",
        "JUDGE_FAILURE_KINDS",
        "MODEL_FAULT_KINDS",
        "PROVIDER_FAILURE_KINDS",
        "QUOTA_RESET_REGEX",
        "SERVER_FAULT_KINDS",
    }
)
"""Upper-case names of the package's own, which no kind may take as its constant."""

_CLASSES: Final = tuple(failure_class.value for failure_class in FailureClass)
_STATUS_KEY: Final = re.compile(r"[45][0-9]{2}|[45]xx")
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_VERSION: Final = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}")


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a file may refer to: declared by it or by a file below.

    Attributes:
        registered: Kinds that a producer may emit.
        gate_derived: Kinds that are derived from saved rows, which no producer may emit.
        retired: Retired name -> its replacement.
        stages: Stages of an episode.
        domains: Domains of kinds.
    """

    registered: AbstractSet[str]
    gate_derived: AbstractSet[str]
    retired: Mapping[str, str]
    stages: Mapping[str, str]
    domains: Mapping[str, str]

    def why_no_rule_name(self, name: str) -> str | None:
        """Why a rule can't name this kind; None if it can."""
        if name in self.registered or name in self.gate_derived or name in self.retired or is_namespaced(name):
            return None
        known = {*self.registered, *self.gate_derived, *self.retired}
        advice = did_you_mean(name, known) or "; declare it under `kinds`, or write it as `<server>:<kind>`"
        return f"unknown failure kind {shown(name)}{advice}"

    def why_no_label(self, name: str) -> str | None:
        """Why a failure can't be read as, or reported as, this kind; None if it can."""
        if name in self.registered or is_namespaced(name):
            return None
        if name in self.retired:
            return f"{shown(name)} is retired; write its replacement {self.retired[name]!r}"
        if name in self.gate_derived:
            return f"{shown(name)} is derived from saved rows; nothing may be reported as it"
        return self.why_no_rule_name(name)


class Declared(Protocol):
    """The validation context: something that knows which names are declared."""

    @property
    def names(self) -> Names:
        """The names that the data at hand may refer to."""


def _refuse(message: str) -> PydanticCustomError:
    return PydanticCustomError("vocabulary", "{message}", {"message": message})


def _names(info: ValidationInfo) -> Names:
    return cast("Declared", info.context).names


def _checked_name(value: str) -> str:
    if not is_name(value):
        raise _refuse(f"{shown(value)} is no name; use lower-case letters, digits and underscores, a letter first")
    return value


def _known_domain(value: str, info: ValidationInfo) -> str:
    domains = _names(info).domains
    if value not in domains:
        raise _refuse(f"unknown domain {shown(value)}{did_you_mean(value, domains) or _one_of(domains)}")
    return value


def _known_stage(value: str, info: ValidationInfo) -> str:
    stages = _names(info).stages
    if value not in stages:
        raise _refuse(f"unknown stage {shown(value)}{did_you_mean(value, stages) or _one_of(stages)}")
    return value


def _one_of(names: Collection[str]) -> str:
    return f"; it is one of {', '.join(names)}" if names else ""


def validate_kinds(value: str, info: ValidationInfo) -> str:
    """Check that a rule may name a kind: registered, gate-derived, retired or namespaced."""
    if reason := _names(info).why_no_rule_name(value):
        raise _refuse(reason)
    return value


def validate_reporting_kinds(value: str, info: ValidationInfo) -> str:
    """Check that a failure may be reported as, or read as, a kind: registered or namespaced."""
    if reason := _names(info).why_no_label(value):
        raise _refuse(reason)
    return value


def _current_kind(value: str, info: ValidationInfo) -> str:
    registered = _names(info).registered
    if value not in registered:
        raise _refuse(f"{shown(value)} is no kind that a name could be read as{did_you_mean(value, registered)}")
    return value


def _failure_class(value: object) -> FailureClass:
    if isinstance(value, FailureClass):
        return value
    if isinstance(value, str) and value in _CLASSES:
        return FailureClass(value)
    if value is None:
        raise _refuse("a class is needed here; write evaluation, model or unknown")
    raise _refuse(f"{shown(value)} is no class; write evaluation, model or unknown{did_you_mean(value, _CLASSES)}")


def _flag(value: object) -> bool:
    if value is True or value == "true":
        return True
    if value is False or value == "false":
        return False
    raise _refuse(f"{shown(value)} is no flag; write true or false")


def _schema_version(value: object) -> int:
    if value == SCHEMA_VERSION or value == str(SCHEMA_VERSION):
        return SCHEMA_VERSION
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, int) and value > SCHEMA_VERSION:
        raise _refuse(
            f"schema {value} is newer than this version of failure-kinds reads ({SCHEMA_VERSION}); upgrade the package"
        )
    raise _refuse(f"{shown(value)} is no schema version; write {SCHEMA_VERSION}")


def _status_key(value: object) -> str:
    text = str(value) if type(value) is int and 400 <= value <= 599 else value
    if isinstance(text, str) and _STATUS_KEY.fullmatch(text):
        return text
    raise _refuse(f"{shown(value)} is no status of a failure; write three digits from 400 to 599, or 4xx or 5xx")


def _no_twins(value: object) -> object:
    # A Python mapping can hold 429 and "429"; in a file, the reader has refused the second.
    if isinstance(value, Mapping):
        for key in value:
            if type(key) is int and 400 <= key <= 599 and str(key) in value:
                raise _refuse(f"{key} is given twice, as a number and as text; keep one of them")
    return value


def statuses(key: str | int) -> Collection[int]:
    """The statuses that a key of a status table stands for: a hundred for `4xx` or `5xx`, else one."""
    text = str(key)
    return range(int(text[0]) * 100, int(text[0]) * 100 + 100) if text.endswith("xx") else (int(text),)


def exact_last(keys: Iterable[str]) -> list[str]:
    """The keys of a status table with the exact ones behind the ranges, because these are laid on top."""
    return sorted(keys, key=lambda key: not str(key).endswith("xx"))


def _expanded(table: Mapping[str, Any]) -> FrozenDict[int, Any]:
    return FrozenDict({status: table[key] for key in exact_last(table) for status in statuses(key)})


def _empty_if_null(value: object) -> object:
    return {} if value is None else value


def _constant_name(value: str) -> str:
    if not _CONSTANT.fullmatch(value):
        raise _refuse(f"{shown(value)} is no constant; use upper-case letters, digits and underscores, a letter first")
    if value in RESERVED_CONSTANTS:
        raise _refuse(f"{value} is a name of the package's own; choose another constant")
    return value


def _version(value: str) -> str:
    if not _VERSION.fullmatch(value):
        raise _refuse(f"{shown(value)} is no version; write three numbers, such as 1.0.0")
    return value


def _distinct(members: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [name for position, name in enumerate(members) if name in members[:position]]:
        raise _refuse(f"{shown(twice[0])} is given twice")
    return members


def _json(pattern: re.Pattern[str] | str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^({getattr(pattern, 'pattern', pattern)})$"})


_NAME_JSON: Final = _json("[a-z][a-z0-9_]*")
_KIND_JSON: Final = _json("[a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?")

Name = Annotated[str, AfterValidator(_checked_name), _NAME_JSON]
DomainName = Annotated[str, AfterValidator(_known_domain), _NAME_JSON]
StageName = Annotated[str, AfterValidator(_known_stage), _NAME_JSON]
CurrentKind = Annotated[str, AfterValidator(_current_kind), _NAME_JSON]
RuleKind = Annotated[str, AfterValidator(validate_kinds), _KIND_JSON]
Label = Annotated[str, AfterValidator(validate_reporting_kinds), _KIND_JSON]
Constant = Annotated[str, AfterValidator(_constant_name), _json(_CONSTANT)]
Version = Annotated[str, AfterValidator(_version), _json(_VERSION)]
Text = Annotated[str, StringConstraints(pattern=r"\S")]
Class = Annotated[FailureClass, BeforeValidator(_failure_class), WithJsonSchema({"enum": list(_CLASSES)})]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"enum": [True, False, "true", "false"]})]
StatusKey = Annotated[int, PlainValidator(_status_key), _json(_STATUS_KEY)]

_LAID_OVER: Final = BeforeValidator(_empty_if_null)
_FROZEN: Final = AfterValidator(FrozenDict)
_STATUS_TABLE: Final = (BeforeValidator(_no_twins), AfterValidator(_expanded), _LAID_OVER)

KindClasses = Annotated[Mapping[RuleKind, Class | None], _FROZEN, _LAID_OVER]
KindFlags = Annotated[Mapping[RuleKind, Flag | None], _FROZEN, _LAID_OVER]
KindLabels = Annotated[Mapping[RuleKind, Label | None], _FROZEN, _LAID_OVER]
Aliases = Annotated[Mapping[Text, Label | None], _FROZEN, _LAID_OVER]
StatusClasses = Annotated[Mapping[StatusKey, Class | None], *_STATUS_TABLE]
StatusLabels = Annotated[Mapping[StatusKey, Label | None], *_STATUS_TABLE]


def _map(description: str) -> Any:
    return Field(default_factory=FrozenDict, description=description)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KindSection(_Section):
    """The declaration of a kind."""

    domain: DomainName = Field(description="The part of the system that the kind belongs to.")
    failure_class: Class | None = Field(
        default=None,
        alias="class",
        description="Whose side it is on where no closer rule answers; without it, `default_class` does.",
    )
    server_fault: Flag = Field(default=False, description="Whether an evaluation failure of this kind is a server's.")
    gate_derived: Flag = Field(
        default=False, description="Whether it is derived from saved rows, so that no producer may emit it."
    )
    constant: Constant | None = Field(
        default=None, description="The name of its constant, where that isn't the kind's in upper case."
    )
    summary: Text = Field(description="One sentence that says what was observed.")


class DomainGroup(_Section):
    """A group that holds the kinds of a domain."""

    domain: DomainName = Field(description="The domain whose kinds are in it, in the order of their declaration.")


class StageSection(_Section):
    """Rules for failures of one stage."""

    by_failure_kind: KindClasses = _map("Kind -> class; null takes a rule away.")
    default_class: Class | None = Field(default=None, description="The class of the stage's other failures, if any.")


Stages = Annotated[Mapping[StageName, Annotated[StageSection, _LAID_OVER]], _FROZEN, _LAID_OVER]


class ClassificationSection(_Section):
    """Rules that say on whose side a failure lies, and what to call it. Null takes a rule away."""

    default_class: Class = Field(
        default_factory=lambda: FailureClass.UNKNOWN, description="The class of a failure that no rule answers for."
    )
    by_failure_kind: KindClasses = _map("Kind -> class.")
    by_stage: Stages = _map("Stage -> rules for failures of that stage, which outrank those for all stages.")
    by_status_code: StatusClasses = _map("HTTP status -> class. It outranks every other rule.")
    reporting_kind_by_status_code: StatusLabels = _map(
        "HTTP status of a request to the evaluated model -> what to call the failure."
    )
    non_policy_reporting_kind_by_status_code: StatusLabels = _map(
        "HTTP status of a request to another model -> what to call the failure."
    )
    kind_aliases: Aliases = _map("Any recorded name -> the kind that it is read as.")
    http_refinable_kinds: KindFlags = _map("Kind -> whether it gives way to what an HTTP status says.")
    non_policy_reporting_kind_by_failure_kind: KindLabels = _map(
        "Kind -> what to call the failure where the request wasn't the evaluated model's."
    )
    server_fault_kinds: KindFlags = _map("Kind -> whether an evaluation failure of this kind is a server's.")


def _form_of_group(value: object) -> str:
    return "domain" if isinstance(value, Mapping) else "kinds"


Group = Annotated[
    Annotated[tuple[RuleKind, ...], AfterValidator(_distinct), Tag("kinds")] | Annotated[DomainGroup, Tag("domain")],
    Discriminator(_form_of_group),
]


class Document(_Section):
    """A vocabulary of failure kinds, or a file that is laid over one."""

    schema_version: Annotated[
        Literal[1], PlainValidator(_schema_version), WithJsonSchema({"enum": [SCHEMA_VERSION, str(SCHEMA_VERSION)]})
    ] = Field(description="The form of the file.")
    version: Version | None = Field(
        default=None, description="The version of a whole vocabulary; a file that is laid over one has none."
    )
    domains: Annotated[Mapping[Name, Text], _LAID_OVER] = _map("Domain -> what belongs to it.")
    stages: Annotated[Mapping[Name, Text], _LAID_OVER] = _map("Stage of an episode -> what is going on in it.")
    kinds: Annotated[Mapping[Name, KindSection], _LAID_OVER] = _map("Kind -> its declaration.")
    groups: Annotated[Mapping[Name, Group], _LAID_OVER] = _map(
        "Group -> its kinds, in order, or the domain whose kinds it holds."
    )
    retired: Annotated[Mapping[Name, CurrentKind], _LAID_OVER] = _map("Retired name -> the kind that it is read as.")
    classification: Annotated[ClassificationSection, _LAID_OVER] = Field(
        default_factory=ClassificationSection, description="The rules."
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a vocabulary file, for editors and other tools.

    It takes the text that the strict reader yields as well as the numbers and booleans of a common YAML parser.
    """
    schema = Document.model_json_schema()
    for node in _objects(schema):
        node.pop("title", None)
        if "patternProperties" in node:
            node["additionalProperties"] = False
            node.pop("propertyNames", None)
        if "required" not in node:
            node["type"] = ["object", "null"]  # a section that requires nothing may be left empty
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "failure-kinds vocabulary, or a file that is laid over one",
        **schema,
    }


def _objects(node: Any) -> list[dict[str, Any]]:
    """Every schema of a mapping that a schema holds."""
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    found = [schema for part in parts for schema in _objects(part)]
    return [node, *found] if isinstance(node, dict) and node.get("type") == "object" else found

"""The form of a vocabulary file: the one description of it, for validation and for the JSON Schema.

A whole vocabulary states a `version`; a user's file has the same form without one. The models check a file by itself;
what depends on the files below it is looked for where files are laid over each other.
"""

# No postponed annotations here: pydantic would have to compile each one again, a fifth of the import's time.
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag

from .failure_class import FailureClass
from .frozen import FrozenDict
from .spelling import shown
from .terms import (
    LAID_OVER,
    Aliases,
    Class,
    Constant,
    CurrentKind,
    DomainName,
    Flag,
    KindClasses,
    KindFlags,
    KindLabels,
    Name,
    RuleKind,
    SchemaVersion,
    StageName,
    StatusClasses,
    StatusLabels,
    Text,
    Version,
    refuse,
)

__all__ = [
    "STATUS_TABLES",
    "ClassificationSection",
    "Document",
    "DomainGroup",
    "KindSection",
    "StageSection",
    "json_schema",
    "schema_of",
]


def __dir__() -> list[str]:
    return __all__


def _map(description: str) -> Any:
    return Field(default_factory=FrozenDict, description=description)


class _Section(BaseModel):
    # Built on first use: to load a file takes the validator of a `Document` and no other.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


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

    domain: DomainName = Field(description="The domain whose kinds are in it, by name.")


class StageSection(_Section):
    """Rules for failures of one stage."""

    by_failure_kind: KindClasses = _map("Kind -> class; null takes a rule away.")
    default_class: Class | None = Field(default=None, description="The class of the stage's other failures, if any.")


Stages = Annotated[Mapping[StageName, Annotated[StageSection, LAID_OVER]], AfterValidator(FrozenDict), LAID_OVER]


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


def _distinct(members: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in members:
        if name in seen:
            raise refuse(f"{shown(name)} is given twice")
        seen.add(name)
    return members


STATUS_TABLES = tuple(name for name in ClassificationSection.model_fields if name.endswith("by_status_code"))
"""The maps of the classification whose keys are HTTP statuses."""


def _form_of_group(value: object) -> str:
    return "domain" if isinstance(value, Mapping) else "kinds"


Group = Annotated[
    Annotated[tuple[RuleKind, ...], AfterValidator(_distinct), Tag("kinds")] | Annotated[DomainGroup, Tag("domain")],
    Discriminator(_form_of_group),
]


class Document(_Section):
    """A vocabulary of failure kinds, or a file that is laid over one."""

    schema_version: SchemaVersion = Field(description="The form of the file.")
    version: Version | None = Field(
        default=None, description="The version of a whole vocabulary; a file that is laid over one has none."
    )
    domains: Annotated[Mapping[Name, Text], LAID_OVER] = _map("Domain -> what belongs to it.")
    stages: Annotated[Mapping[Name, Text], LAID_OVER] = _map("Stage of an episode -> what is going on in it.")
    kinds: Annotated[Mapping[Name, KindSection], LAID_OVER] = _map("Kind -> its declaration.")
    groups: Annotated[Mapping[Name, Group], LAID_OVER] = _map(
        "Group -> its kinds, in order, or the domain whose kinds it holds."
    )
    retired: Annotated[Mapping[Name, CurrentKind], LAID_OVER] = _map("Retired name -> the kind that it is read as.")
    classification: Annotated[ClassificationSection, LAID_OVER] = Field(
        default_factory=ClassificationSection, description="The rules."
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a vocabulary file, for editors and other tools.

    It takes the text that the strict reader yields as well as the numbers and booleans of a common YAML parser.
    """
    return schema_of(Document, "failure-kinds vocabulary, or a file that is laid over one")


def schema_of(model: type[BaseModel], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file that a model describes, under a title."""
    schema = model.model_json_schema()
    for node in _objects(schema):
        node.pop("title", None)
        if "patternProperties" in node:
            node["additionalProperties"] = False
            node.pop("propertyNames", None)
        if "required" not in node:
            node["type"] = ["object", "null"]  # a section that requires nothing may be left empty
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _objects(node: Any) -> list[dict[str, Any]]:
    """Every schema of a mapping that a schema holds."""
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    found = [schema for part in parts for schema in _objects(part)]
    return [node, *found] if isinstance(node, dict) and node.get("type") == "object" else found

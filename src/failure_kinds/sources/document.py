"""The form of a source file: the one description of it, for validation and for the JSON Schema."""

# No postponed annotations here: pydantic would have to compile each one again.
import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ..document import schema_of
from ..spelling import did_you_mean, shown
from ..terms import LAID_OVER, Flag, Label, Name, RuleKind, SchemaVersion, StageName, Text, refuse
from .bundled import source_resources
from .paths import ROW, is_path
from .source import CLASS_NAME, DOCUMENT, LINES

__all__ = ["SourceDocument", "json_schema"]

_LIST: Final = re.compile(r"([^.\[\]]+(\.[^.\[\]]+)*)?\[\]")
_EXCEPTION: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*\.)?[A-Za-z_][A-Za-z0-9_]*")


def __dir__() -> list[str]:
    return __all__


def _checked_path(value: str) -> str:
    if not is_path(value):
        raise refuse(f"{shown(value)} is no path; write keys with dots between them, such as `info.exit_status`")
    return value


def _checked_field(value: str) -> str:
    if value == ROW:
        raise refuse("a row as a whole can't be carried along; name a field of it")
    return value


def _checked_rows(value: str) -> str:
    if value not in (LINES, DOCUMENT) and not _LIST.fullmatch(value):
        raise refuse(f"{shown(value)} is no place of rows; write {LINES}, {DOCUMENT}, or a list such as `samples[]`")
    return value


def _checked_exception(value: str) -> str:
    if not _EXCEPTION.fullmatch(value):
        raise refuse(f"{shown(value)} is no class of exceptions; write `<root package>.<class>`, or Python's own")
    return value


def _known_source(value: str) -> str:
    known = source_resources()
    if value not in known:
        advice = did_you_mean(value, known) or f"; it is one of {', '.join(known)}"
        raise refuse(f"there is no source {shown(value)}{advice}")
    return value


def _checked_score(value: object) -> float:
    try:
        score = float(value)  # type: ignore[arg-type]  # what isn't a number raises
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise refuse(f"{shown(value)} is no score; write a number")
    return score


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else [] if value is None else value


def _as_rules(value: object) -> object:
    return [value] if isinstance(value, Mapping) else _as_list(value)


def _short_for(key: str, section: Any) -> BeforeValidator:
    """Lets a section be written as one value alone if it says no more than that."""
    return BeforeValidator(
        lambda value: {key: value} if isinstance(value, str) else value, json_schema_input_type=str | section
    )


# What an editor sees of a scalar; the strict reader takes each as the text that is written.
_Scalar = str | int | float | bool

BundledSource = Annotated[str, AfterValidator(_known_source)]
PathText = Annotated[str, AfterValidator(_checked_path)]
FieldText = Annotated[PathText, AfterValidator(_checked_field)]
Paths = Annotated[tuple[PathText, ...], BeforeValidator(_as_list, json_schema_input_type=str | list[str] | None)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_as_list, json_schema_input_type=_Scalar | list[_Scalar] | None)]


def _list(description: str) -> Any:
    return Field(default=(), description=description)


def _map(description: str) -> Any:
    return Field(default_factory=dict, description=description)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileConditionSection(_Section):
    """Which fields a file has that aren't null.

    They are those of the document, with `[]` for the members of a list (`samples[].id`) and `*` for any key at its top;
    those of some line; or the members of the zip file.
    """

    all: Texts = _list("All of these.")
    any: Texts = _list("At least one of these.")
    none: Texts = _list("None of these.")


class RowConditionSection(_Section):
    """What must be so in a row."""

    all: Paths = _list("Fields that are all there and not null.")
    any: Paths = _list("Fields of which at least one is there and not null.")
    none: Paths = _list("Fields of which none is.")
    equal: Annotated[Mapping[PathText, Texts], LAID_OVER] = _map(
        "Field -> the values that it may have, if it is there and not null."
    )


class LayoutSection(_Section):
    """A form of file that the tool writes."""

    files: Texts = _list(
        "Patterns of the names that such files have where a folder is named (`*.eval`, `attempts/*.json`); none: any."
    )
    rows: Annotated[str, AfterValidator(_checked_rows)] = Field(
        default=LINES, description="`lines`, `document`, or the path of the list that holds the rows."
    )
    members: Texts = _list("Patterns of the members of a zip file that hold rows.")
    header: Texts = _list("The members that may hold what the file says of all its rows.")
    lists: Texts = _list("Fields of a document that list ids of rollouts; the first that holds an id counts.")
    when: Annotated[FileConditionSection, LAID_OVER] = Field(
        default_factory=FileConditionSection, description="Which fields such a file has."
    )
    aggregate: Text | None = Field(default=None, description="Why it holds no rows, and what to pass instead.")
    repeats: Text | None = Field(
        default=None, description="Which other file holds its rows as well: it isn't read where a folder is named."
    )


RowCondition = Annotated[RowConditionSection, LAID_OVER]


def _when(description: str) -> Any:
    return Field(default_factory=RowConditionSection, description=description)


class TargetSection(_Section):
    """What a value means."""

    kind: Label = Field(description="The failure kind.")
    stage: StageName | None = Field(default=None, description="The stage, if no field of the row says it.")
    policy: Flag | None = Field(default=None, description="Whether it was the evaluated model's request, likewise.")


class ImpliedSection(_Section):
    """What a kind implies, wherever it was named."""

    stage: StageName | None = Field(default=None, description="The stage, if no field of the row says it.")
    policy: Flag | None = Field(default=None, description="Whether it was the evaluated model's request, likewise.")


class KindSection(_Section):
    """Where a name of a failure may stand, and what it means."""

    field: PathText | None = Field(default=None, description="The field.")
    source: BundledSource | None = Field(
        default=None, description="The source whose rows the objects are, in place of a field: they are read by it."
    )
    within: Paths = _list("The objects whose field it is; `.` is the row itself.")
    when: RowCondition = _when("What must be so in the row.")
    match: Literal["exact", "class_name"] = Field(
        default="exact", description="`class_name`: by the last part of an exception's class, behind the last dot."
    )
    vocabulary: Flag = Field(default=False, description="Whether other values are names of the vocabulary.")
    values: Annotated[
        Mapping[Text, Annotated[TargetSection | None, _short_for("kind", TargetSection | None)]], LAID_OVER
    ] = _map("The tool's value -> what it means; null for one that says that nothing failed.")

    @model_validator(mode="after")
    def _says_what(self) -> "KindSection":
        if (self.field is None) == (self.source is None):
            raise refuse("a name is read from a `field`, or by the `source` that describes the objects; say one")
        if self.match == CLASS_NAME and (dotted := [value for value in self.values if "." in value]):
            raise refuse(f"{shown(dotted[0])} is never found: a class is looked up by its last part, without dots")
        if self.source is not None and not {"source", "within", "when"}.issuperset(self.model_fields_set):
            raise refuse(
                f"{self.source} itself says what its rows mean; say no more than `within` and `when` beside it"
            )
        return self


class PhaseSection(_Section):
    """A phase of a run, an object that says when it began in `started_at`."""

    field: PathText = Field(description="The object.")
    stage: StageName = Field(description="The stage that it is.")


class StageSection(_Section):
    """Where the stage may stand."""

    field: PathText | None = Field(default=None, description="The field; the time of the failure, if there are phases.")
    values: Annotated[Mapping[Text, StageName], LAID_OVER] = _map("The tool's value -> the stage.")
    phases: tuple[PhaseSection, ...] = _list("The phases of a run, in order.")
    when: RowCondition = _when("What must be so in the row.")
    stage: StageName | None = Field(default=None, description="The stage of all rows that have those fields.")

    @model_validator(mode="after")
    def _says_where(self) -> "StageSection":
        if (self.field is None) == (self.stage is None):
            raise refuse("a stage is read from a `field`, or is the `stage` of rows that have some fields; say one")
        return self


class FieldSection(_Section):
    """A field that says something."""

    field: PathText = Field(description="The field.")
    when: RowCondition = _when("What must be so beside it.")


class PolicySection(_Section):
    """Where it may stand whether a request was the evaluated model's."""

    field: PathText = Field(description="The field.")
    values: Annotated[Mapping[Text, Flag], LAID_OVER] = _map("The tool's value -> whether it was; otherwise a boolean.")


class ScoreSection(_Section):
    """Where the score may stand."""

    field: PathText = Field(description="The field.")
    values: Annotated[
        Mapping[Text, Annotated[float, BeforeValidator(_checked_score, json_schema_input_type=float | str)]], LAID_OVER
    ] = _map("The tool's value -> the score; otherwise a number.")


def _rules(section: type[BaseModel]) -> Any:
    rule: Any = Annotated[section, _short_for("field", section)]
    return Annotated[tuple[rule, ...], BeforeValidator(_as_rules, json_schema_input_type=rule | list[rule] | None)]


class SourceDocument(_Section):
    """How the failures that a tool records are read.

    Fields are named by paths: `info.status` is a key within an object, `steps[].error` is looked for in each member of
    a list, `steps[-1].error` in the last one, `events[current].error` in the member of an object that the row's field
    `current` names; `.` is the row itself.
    """

    schema_version: SchemaVersion = Field(description="The form of the file.")
    source: Name = Field(description="What the source is called.")
    title: Text = Field(description="The tool, as people write it.")
    about: Text | None = Field(default=None, description="Which of its files are read, in a sentence.")
    notes: Text | None = Field(default=None, description="What else somebody should know who reads them.")
    url: Text | None = Field(default=None, description="Where the tool defines what it records.")
    layouts: Annotated[Mapping[Name, Annotated[LayoutSection, LAID_OVER]], LAID_OVER] = _map(
        "The forms of its files; lines if nothing is said."
    )
    kind: _rules(KindSection) = _list("Where the name of a failure may stand, in order of preference.")  # type: ignore[valid-type]
    stage: _rules(StageSection) = _list("Where its stage may stand.")  # type: ignore[valid-type]
    http_status: _rules(FieldSection) = _list("Where the status of a model request may stand.")  # type: ignore[valid-type]
    policy: _rules(PolicySection) = _list("Where it may stand whose request it was.")  # type: ignore[valid-type]
    score: _rules(ScoreSection) = _list("Where the score may stand.")  # type: ignore[valid-type]
    failed: _rules(FieldSection) = _list(  # type: ignore[valid-type]
        "Fields that say that a rollout failed: they hold an object, or what is neither null, false, zero nor empty."
    )
    finished: _rules(FieldSection) = _list("Fields that say so by being missing, null or empty.")  # type: ignore[valid-type]
    omitted: _rules(FieldSection) = _list("Fields that say that a rollout was left out: as for `failed`.")  # type: ignore[valid-type]
    no_failure: Texts = _list("Values that say that nothing failed, beside null, false, zero and empty text.")
    implied: Annotated[Mapping[RuleKind, ImpliedSection], LAID_OVER] = _map("Kind -> what it implies.")
    carry: Annotated[Mapping[Name, FieldText], LAID_OVER] = _map("What is carried along: name -> field of the row.")
    carry_file: Annotated[Mapping[Name, FieldText], LAID_OVER] = _map(
        "The same for fields of a whole file, if they stand before its rows. What a row says itself comes first."
    )
    fallback: Flag = Field(default=False, description="Whether it reads files that no other source fits.")
    exceptions: Annotated[Mapping[Annotated[str, AfterValidator(_checked_exception)], Label | None], LAID_OVER] = _map(
        "Root package and name of a class of exceptions -> the kind; null for one that may mean anything."
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a source file, for editors and other tools."""
    return schema_of(SourceDocument, "failure-kinds source: how the failures that a tool records are read")

"""The report on a run's failures: its one description, for Python, for JSON and for the pages made from it."""

# No postponed annotations here, as in `document`: pydantic would have to compile each one again.
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from .failure_class import FailureClass

__all__ = [
    "Account",
    "ClassCounts",
    "FailureReport",
    "GroupCount",
    "LabelCount",
    "Move",
    "NameCount",
    "PassedOver",
    "SourceCount",
    "UnmappedValue",
    "UnreadableLine",
]

Count = Annotated[int, Field(ge=0)]


def __dir__() -> list[str]:
    return __all__


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UnreadableLine(_Part):
    """A line that couldn't be read as a row."""

    file: str = Field(description="The file, `-` for standard input.")
    line: Annotated[int, Field(ge=1)] = Field(description="The line, or the row, counted from 1.")
    reason: str = Field(description="Why it couldn't be read.")


class Account(_Part):
    """Where every line went. `lines` is the sum of the six counts from `failures` to `blank`."""

    lines: Count = Field(description="Lines read, or rows where these aren't lines.")
    failures: Count = Field(description="Rows that record a failure under a name or with an HTTP status.")
    without_failure: Count = Field(description="Rows that record none.")
    unlabelled: Count = Field(description="Rows that record a failure without a name or a status that is evidence.")
    omitted: Count = Field(description="Rows that stand for a rollout that was left out: no attempt, no failure.")
    unreadable: Count = Field(description="Lines, or rows, that aren't a JSON object.")
    blank: Count = Field(description="Lines with nothing on them.")
    expected: Count | None = Field(description="How many rows the run should have left, if that was said.")
    unaccounted: int | None = Field(
        description="`expected` less the lines that aren't blank; negative if there are more of these."
    )
    unreadable_lines: tuple[UnreadableLine, ...] = Field(description="The first unreadable lines.")
    passed_over: Count = Field(default=0, description="Files of folders and patterns that hold no rows to read.")
    passed_over_files: tuple["PassedOver", ...] = Field(default=(), description="The first of these.")


class PassedOver(_Part):
    """A file of a folder or a pattern that wasn't read."""

    file: str = Field(description="The file.")
    reason: str = Field(description="Why it wasn't read.")


class SourceCount(_Part):
    """What was read as one source's: a tool's logs."""

    source: str = Field(description="The name of the source.")
    title: str = Field(description="The tool.")
    digest: str = Field(description="The digest of the source: rows that share it were read alike.")
    layouts: tuple[str, ...] = Field(description="The forms of its files that were met.")
    files: Count = Field(description="How many files.")
    rows: Count = Field(description="How many rows, unreadable ones included.")
    failures: Count = Field(description="How many of them record a failure under a name or with an HTTP status.")


class UnmappedValue(_Part):
    """A value that a tool recorded, and that its source doesn't map to a kind: the failure is unknown."""

    source: str = Field(description="The name of the source.")
    value: str = Field(description="What was recorded, shortened if it is long.")
    count: Count = Field(description="How many rows have it.")


class ClassCounts(_Part):
    """How many failures lie on whose side."""

    evaluation: Count = 0
    model: Count = 0
    unknown: Count = 0

    @property
    def total(self) -> int:
        """How many there are in all."""
        return self.evaluation + self.model + self.unknown


class LabelCount(_Part):
    """Failures of one label and stage that one rule decided."""

    label: str | None = Field(description="What the failure is called; null where nothing names it.")
    unmapped_by: str | None = Field(
        default=None, description="The source that doesn't map the label, which is then what the tool recorded."
    )
    stage: str | None = Field(description="The stage as it was recorded.")
    failure_class: FailureClass = Field(description="The class.")
    rule: str = Field(description="The rule that decided.")
    origin: str | None = Field(description="Where the deciding rule is written.")
    count: Count = Field(description="How many.")
    share: float = Field(description="The share of all failures, from 0 to 1.")


class NameCount(_Part):
    """Something that was recorded and is worth a look."""

    name: str = Field(description="What was recorded, shortened if it is long; what isn't text as JSON.")
    count: Count = Field(description="How many rows have it.")
    instead: str | None = Field(default=None, description="The nearest known name, or what a retired name is read as.")


class Move(_Part):
    """Failures that the rules at hand class or call otherwise than the bundled vocabulary does."""

    name: str | None = Field(description="The recorded name.")
    stage: str | None = Field(description="The stage.")
    http_status: int | None = Field(description="The HTTP status, if it is evidence.")
    class_before: FailureClass = Field(description="The class by the bundled vocabulary.")
    class_after: FailureClass = Field(description="The class by the rules at hand.")
    label_before: str | None = Field(description="The label by the bundled vocabulary.")
    label_after: str | None = Field(description="The label by the rules at hand.")
    origin: str | None = Field(description="Where the rule that now decides is written.")
    count: Count = Field(description="How many.")


class GroupCount(_Part):
    """The failures of the rows that have one value in the field that the report is split by."""

    value: str | None = Field(description="The value; null where a row has none, `_OTHER` for those over the limit.")
    rows: Count = Field(description="Rows of the group, those without a failure included.")
    classes: ClassCounts = Field(description="How many failures lie on whose side.")


class FailureReport(_Part):
    """What went wrong in a run, on whose side it lies, and by which rules."""

    report_version: int = Field(default=1, description="The form of this report.")
    vocabulary_version: str = Field(description="The version of the vocabulary.")
    digest: str = Field(description="The digest of the vocabulary and its rules: reports that share it are comparable.")
    files: tuple[str, ...] = Field(description="What was read.")
    sources: tuple[SourceCount, ...] = Field(default=(), description="What it was read as, by source.")
    account: Account = Field(description="Where every line went.")
    classes: ClassCounts = Field(description="How many failures lie on whose side.")
    labels: tuple[LabelCount, ...] = Field(description="The failures by label and stage, largest first.")
    unmapped: tuple[UnmappedValue, ...] = Field(default=(), description="Recorded values that no kind stands for.")
    unknown_names: tuple[NameCount, ...] = Field(description="Names that nobody knows, with the nearest known one.")
    retired_names: tuple[NameCount, ...] = Field(description="Retired names, with what they are read as.")
    unknown_stages: tuple[NameCount, ...] = Field(description="Stages that nobody knows, with the nearest known one.")
    statuses_without_evidence: tuple[NameCount, ...] = Field(
        description="HTTP statuses that are no evidence: text, or outside 400 to 599."
    )
    failed_and_scored: Count = Field(description="Rows that carry both a failure and a score.")
    policy_assumed: Count = Field(
        description="Failures that would be classed or called otherwise, had the request not been the evaluated "
        "model's, and of which nobody recorded whose it was; they count as the evaluated model's."
    )
    moves: tuple[Move, ...] | None = Field(
        description="What rules of one's own move against the bundled vocabulary; null where there are none."
    )
    by: str | None = Field(description="The field that the report is split by.")
    groups: tuple[GroupCount, ...] = Field(description="The parts, largest first.")
    other: "FailureReport | None" = Field(default=None, description="The run that this one is compared with.")
    comparable: bool | None = Field(
        default=None, description="Whether the two have the same digest, and so have the sources of both."
    )

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return self.model_dump(mode="json")

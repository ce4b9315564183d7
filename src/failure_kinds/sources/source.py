"""A source: how the failures that a tool records are read, as plain values made from its YAML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ..frozen import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .paths import Path

__all__ = [
    "ALWAYS",
    "AUTO",
    "CLASS_NAME",
    "DOCUMENT",
    "LINES",
    "Condition",
    "FieldRule",
    "KindRule",
    "Layout",
    "PolicyRule",
    "ScoreRule",
    "Source",
    "StageRule",
    "Target",
    "file_patterns",
]

AUTO: Final = "auto"
"""What stands for every source of the package, where a source is named."""

LINES: Final = "lines"
"""The rows of a file that are its lines."""

DOCUMENT: Final = "document"
"""The rows of a file that is one row."""

CLASS_NAME: Final = "class_name"
"""How values are looked up that are names of classes: by the last part, behind the last dot."""


def __dir__() -> list[str]:
    return __all__


class Condition(NamedTuple):
    """What must be so.

    Attributes:
        all: Fields that are all there and not null.
        any: Fields of which at least one is.
        none: Fields of which none is.
        equal: Field -> the values that it may have, if it is there and not null.
    """

    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    equal: Mapping[str, frozenset[str]] = FrozenDict()


ALWAYS: Final = Condition()
"""The condition that always holds."""


class Layout(NamedTuple):
    """A form of file that a tool writes.

    Attributes:
        name: What it is called.
        files: Patterns of the names that such files have, such as `*.eval` or `attempts/*.json`; none if they may have
            any. They hold where a folder is named; whoever names a file knows what it is.
        rows: `LINES`, `DOCUMENT`, or the path of the list that holds the rows, `[]` for a file that is a list.
        members: Patterns of the members of a zip file that hold rows; none if it is no zip file.
        header: The members that may hold what the file says of all its rows; the first that is there does.
        lists: The fields of a document that list ids of rollouts, each of which is a row; the first that holds an id
            counts. Such a row has the fields `list` and `id`, and those of the document that aren't lists.
        when: Which fields a file has: those of the document, with `[]` for the members of a list and `*` for any key at
            its top; those of some line; or the members of the zip file.
        aggregate: Why a file holds no rows, and which one to pass instead; None if it does.
        repeats: Which other file holds its rows as well, so that it isn't read where a folder is named; None if none.
    """

    name: str
    files: tuple[str, ...]
    rows: str
    members: tuple[str, ...]
    header: tuple[str, ...]
    lists: tuple[str, ...]
    when: Condition
    aggregate: str | None
    repeats: str | None


class Target(NamedTuple):
    """What a value means.

    Attributes:
        kind: The failure kind.
        stage: The stage, if the value says which and no field of the row does.
        policy: Whether the request was the evaluated model's, likewise.
    """

    kind: str
    stage: str | None = None
    policy: bool | None = None


class KindRule(NamedTuple):
    """Where a name of a failure may stand, and what it means.

    Of several rules about one field, the first that lists a value says what it means.

    Attributes:
        field: The field.
        within: The objects whose field it is; the row itself is one. What stands beside it there describes the failure.
        when: What must be so in the row.
        class_name: Whether the value is the name of a class, looked up by its last part.
        vocabulary: Whether other values than those that are listed are names of the vocabulary.
        values: The tool's value -> what it means; None for one that says that nothing failed.
        nested: The source that describes the objects, if they are rows of it; then nothing else says what they mean.
    """

    field: Path
    within: tuple[Path, ...]
    when: Condition
    class_name: bool
    vocabulary: bool
    values: Mapping[str, Target | None]
    nested: Source | None = None


class StageRule(NamedTuple):
    """Where the stage may stand.

    Attributes:
        field: The field that holds it; or the time of the failure, if there are phases.
        values: The tool's value -> the stage; others are kept as they are.
        phases: The objects that say when a phase began (`started_at`), in order, each with the stage that it is.
        when: What must be so in the row.
        stage: The stage, whatever the field holds; None if that says it.
    """

    field: Path
    values: Mapping[str, str]
    phases: tuple[tuple[Path, str], ...]
    when: Condition
    stage: str | None


class ScoreRule(NamedTuple):
    """Where the score may stand: as a number, or as a value that stands for one."""

    field: Path
    values: Mapping[str, float]


class PolicyRule(NamedTuple):
    """Where it may stand whether a request was the evaluated model's: as a boolean, or as a value that says so."""

    field: Path
    values: Mapping[str, bool]


class FieldRule(NamedTuple):
    """A field that says something, if something else is so beside it."""

    field: Path
    when: Condition


class Source(NamedTuple):
    """How the failures that a tool records are read.

    Attributes:
        name: What it is called.
        title: The tool, as people write it.
        about: Which of its files are read, in a sentence.
        notes: What else somebody should know who reads them.
        url: Where the tool defines what it records.
        layouts: The forms of its files.
        kind: Where the name of a failure may stand, in order of preference.
        stage: Where its stage may stand, likewise.
        http_status: Where the status of a model request may stand, likewise.
        policy: Where it may stand whose request it was, likewise.
        score: Where the score may stand, likewise.
        failed: Fields that say that a rollout failed, without a name: they hold an object, or what is neither null,
            false, zero nor empty.
        finished: Fields that say so by being missing, null or empty.
        omitted: Fields that say that a rollout was left out: as for `failed`.
        no_failure: Values that say that nothing failed, beside null, false, zero and empty text.
        implied: Kind -> what it implies, wherever it was named.
        carry: What is carried along: name -> field of the row.
        carry_file: The same for the fields that a file has for all its rows.
        fallback: Whether files are read so that no other source fits.
        exceptions: Root package and name of a class of exceptions (`httpx.ReadTimeout`; the name alone for Python's
            own) -> the kind; None for a class that may mean anything, whatever its bases mean.
        digest: A short hash of all this, wording aside: sources that share it read the same out of every row.
    """

    name: str
    title: str
    about: str | None
    notes: str | None
    url: str | None
    layouts: tuple[Layout, ...]
    kind: tuple[KindRule, ...]
    stage: tuple[StageRule, ...]
    http_status: tuple[FieldRule, ...]
    policy: tuple[PolicyRule, ...]
    score: tuple[ScoreRule, ...]
    failed: tuple[FieldRule, ...]
    finished: tuple[FieldRule, ...]
    omitted: tuple[FieldRule, ...]
    no_failure: frozenset[str]
    implied: Mapping[str, Target]
    carry: Mapping[str, Path]
    carry_file: Mapping[str, Path]
    fallback: bool
    exceptions: Mapping[str, str | None]
    digest: str


def file_patterns(sources: Iterable[Source]) -> frozenset[str]:
    """Return the patterns of the names that the files of sources have."""
    return frozenset(pattern for source in sources for layout in source.layouts for pattern in layout.files)

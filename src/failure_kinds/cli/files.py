"""The commands for people who write vocabulary files: `check`, `schema` and `constants`."""

# No postponed annotations here: typer reads them.
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from ..errors import Problem, VocabularyError
from .console import write, write_json
from .options import LAYER, SOURCE, WHOLE, ConfigFiles, registry_of, sort_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..registry import FailureRegistry

__all__ = ["CheckFormat", "check", "constants", "schema"]

_MODELINE: Final = "# yaml-language-server: $schema=failure-kinds-override.schema.json"


def __dir__() -> list[str]:
    return __all__


class CheckFormat(enum.StrEnum):
    """What the findings of a check are written as."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


class _Result(NamedTuple):
    """What came of a file: the registry with it on top, or what is wrong; neither if it is a source that is right."""

    file: Path
    registry: "FailureRegistry | None"
    error: VocabularyError | None


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Teams' files, whole vocabularies, or sources.")],
    base: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Check against this file, not the bundled vocabulary alone; several in order."
        ),
    ] = None,
    format: Annotated[  # noqa: A002  # the option's name
        CheckFormat, typer.Option(help="What to print; github: annotations for a workflow.")
    ] = CheckFormat.TEXT,
    show_merged: Annotated[
        bool, typer.Option("--show-merged", help="Lay the files over each other, and print the resulting vocabulary.")
    ] = False,
) -> None:
    """Check vocabulary files and sources, and say everything that is wrong.

    Each file is checked by itself: as a whole vocabulary if it states a `version`, as a source if it says `source`,
    otherwise as laid over a vocabulary. The exit code is 1 if anything is wrong.

    Examples:
        failure-kinds check team.yaml
        failure-kinds check rules.yaml --base team.yaml
        failure-kinds check my_tool.yaml --base team.yaml
        failure-kinds check team.yaml --format github
        failure-kinds check team.yaml rules.yaml --show-merged
    """
    below = base or []
    results = [_load(below)] if below else []
    if not any(result.error for result in results):
        results = [_load([*below, *files])] if show_merged else [_check(file, below) for file in files]
    problems_found = any(result.error for result in results)
    if show_merged and results[0].registry is not None:
        _write_merged(results[0].registry)
    elif format is CheckFormat.JSON:
        write_json([_as_data(result) for result in results])
    else:
        for result in results:
            _write_result(result, as_annotations=format is CheckFormat.GITHUB)
    if problems_found:
        raise typer.Exit(1)


def schema(
    override: Annotated[
        bool, typer.Option("--override", help="That of a file that is laid over the vocabulary and knows its names.")
    ] = False,
    source: Annotated[
        bool, typer.Option("--source", help="That of a source, a file that says how a tool's failures are read.")
    ] = False,
    config: ConfigFiles = None,
) -> None:
    """Print the JSON Schema of a vocabulary file, or of a source.

    With --override, it is that of a team's file, and holds the names of the vocabulary and of the --config files, so
    that editors complete them. They look for it where the head of the file says so:

    # yaml-language-server: $schema=failure-kinds-override.schema.json

    Examples:
        failure-kinds schema
        failure-kinds schema --override > failure-kinds-override.schema.json
        failure-kinds schema --override --config team.yaml
        failure-kinds schema --source > failure-kinds-source.schema.json
    """
    if override and source:
        raise typer.BadParameter("a source is laid over nothing; ask for one of the two", param_hint="--override")
    if source:
        from ..sources.document import json_schema as source_schema

        write_json(source_schema())
    elif override:
        from ..override_schema import override_schema

        write_json(override_schema(registry_of(config)))
        write(
            f"put this at the head of a file, with the path to where you keep the schema:\n{_MODELINE}", to_stderr=True
        )
    else:
        from ..document import json_schema

        write_json(json_schema())


def constants(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="A team's files, in the order of their layers.")],
) -> None:
    """Print a typed Python module of a team's own names.

    It holds a constant for each kind that the files add and, if they add stages, a Literal of every stage.

    Examples:
        failure-kinds constants team.yaml > acme/failure_kinds.py
        failure-kinds constants team.yaml more.yaml
    """
    from ..constants_module import constants_module
    from ..loading import load_registry

    write(constants_module(_layered(files), beside=load_registry()).rstrip("\n"))


def _check(file: Path, below: list[Path]) -> _Result:
    """What comes of a file by itself, or laid over others if it is one that is."""
    sort = _sort_or_layer(file)
    if sort != SOURCE:
        return _load([file] if sort == WHOLE else [*below, file])
    from ..loading import load_registry
    from ..sources.loading import load_source

    try:
        load_source(file, _layered(below) if below else load_registry())
    except VocabularyError as error:
        return _Result(file, None, error)
    return _Result(file, None, None)


def _sort_or_layer(file: Path) -> str:
    try:
        return sort_of(file)
    except VocabularyError:
        return LAYER  # loading it says why it can't be read


def _layered(files: list[Path]) -> "FailureRegistry":
    """What files say together. The first may be a whole vocabulary; otherwise they are laid over the bundled one."""
    from ..loading import load_registry

    is_whole = _sort_or_layer(files[0]) == WHOLE
    return load_registry(*files[1:], base=files[0]) if is_whole else load_registry(*files)


def _load(files: list[Path]) -> _Result:
    try:
        return _Result(files[-1], _layered(files), None)
    except VocabularyError as error:
        return _Result(files[-1], None, error)


def _write_merged(registry: "FailureRegistry") -> None:
    from ..merged import merged_yaml

    write(merged_yaml(registry).rstrip("\n"))


def _write_result(result: _Result, *, as_annotations: bool) -> None:
    if result.error is None:
        write(f"{result.file}: fine ({_contents(result.file)})")
    elif as_annotations:
        for problem in result.error.problems:
            write(_annotation(problem))
    else:
        write(str(result.error))


def _as_data(result: _Result) -> dict[str, Any]:
    problems = result.error.problems if result.error else ()
    return {
        "file": str(result.file),
        "problems": [
            {"file": problem.file, "line": problem.line, "column": problem.column, "message": problem.message}
            for problem in problems
        ],
    }


def _annotation(problem: Problem) -> str:
    """A problem as an annotation of a GitHub workflow run, escaped as its toolkit does."""
    place = {"file": problem.file, "line": problem.line, "col": problem.column}
    properties = ",".join(
        f"{key}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in place.items()
        if value is not None
    )
    return f"::error {properties}::{_escaped(problem.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _contents(file: Path) -> str:
    """What a file that is right says, in numbers."""
    from ..reading import read_yaml

    data = read_yaml(file).data
    if SOURCE in data:
        return f"source {data[SOURCE]}"
    counts = {"rule": _count_rules(data.get("classification") or {})}
    counts |= {
        noun: len(data.get(section) or {})
        for section, noun in (
            ("kinds", "kind"),
            ("stages", "stage"),
            ("domains", "domain"),
            ("groups", "group"),
            ("retired", "retired name"),
        )
    }
    said = [f"vocabulary {data['version']}"] if "version" in data else []
    said += [f"{count} {noun}" if count == 1 else f"{count} {noun}s" for noun, count in counts.items() if count]
    return ", ".join(said) or "it says nothing"


def _count_rules(classification: "Mapping[str, Any]") -> int:
    stages = [stage for stage in (classification.get("by_stage") or {}).values() if stage]
    tables = [said for field, said in classification.items() if field not in ("by_stage", "default_class")]
    tables += [stage.get("by_failure_kind") for stage in stages]
    defaults = sum("default_class" in section for section in (classification, *stages))
    return defaults + sum(len(table or {}) for table in tables)

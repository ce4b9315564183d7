"""The command `diff`: what changed between two vocabularies, or between two files that are laid over one."""

# No postponed annotations here: typer reads them.
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from .console import write, write_json
from .options import LAYER, SOURCE, WHOLE, Json, sort_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..changes import Change
    from ..differences import Difference
    from ..registry import FailureRegistry

__all__ = ["diff"]

_BUNDLED: Final = "bundled"
_SORTS: Final = {
    LAYER: "laid over a vocabulary",
    WHOLE: "a whole vocabulary, with a `version`",
    SOURCE: "a source",
}
_TITLES: Final = {"rules": "classes and rules", "retired": "retirements"}


def __dir__() -> list[str]:
    return __all__


def diff(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", help="A file; `bundled` for the vocabulary of the package, a name for one of its sources."
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another one of the same sort.")],
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if the version of NEW isn't at least what the changes ask for.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what changed between two vocabularies, and which version that asks for.

    For two files without a `version`, such as a team's rules before and after, it says which failures get another
    class or label. A change of wording asks for a patch version, a new or retired name for a minor one, and all that
    can move a number for a major one. For two sources it says which values mean something else, and what else is read
    differently.

    Examples:
        failure-kinds diff bundled failure_kinds.yaml
        failure-kinds diff released.yaml failure_kinds.yaml --check
        failure-kinds diff rules.before.yaml rules.yaml
        failure-kinds diff rules.before.yaml rules.yaml --json
        failure-kinds diff harbor my_harbor.yaml
    """
    sorts = [_sort_of(file) for file in (old, new)]
    if sorts[0] != sorts[1]:
        sort, file = max(zip(sorts, (old, new), strict=True), key=lambda pair: list(_SORTS).index(pair[0]))
        message = f"{file} is {_SORTS[sort]}, and the other file isn't"
        raise typer.BadParameter(f"{message}; pass two of the same sort")
    if check and sorts[0] != WHOLE:
        raise typer.BadParameter("it looks at versions, and these files have none", param_hint="--check")
    if sorts[0] == WHOLE:
        _diff_vocabularies(_load(old, whole=True), _load(new, whole=True), check=check, as_json=as_json)
    elif sorts[0] == SOURCE:
        _diff_sources(old, new, as_json=as_json)
    else:
        _diff_overrides(_load(old, whole=False), _load(new, whole=False), as_json=as_json)


def _sort_of(file: str) -> str:
    from ..sources.bundled import source_resources

    if file == _BUNDLED:
        return WHOLE
    return SOURCE if file in source_resources() else sort_of(Path(file))


def _load(file: str, *, whole: bool) -> "FailureRegistry":
    from ..loading import load_registry

    if file == _BUNDLED:
        return load_registry()
    return load_registry(base=file) if whole else load_registry(file)


def _diff_vocabularies(old: "FailureRegistry", new: "FailureRegistry", *, check: bool, as_json: bool) -> None:
    from ..changes import allowed, compare, lowest_version, required_bump

    changes = compare(old, new)
    bump = required_bump(changes)
    is_allowed = allowed(old.version, new.version, bump)
    lowest = lowest_version(old.version, bump)
    if as_json:
        write_json(
            {
                "old": old.version,
                "new": new.version,
                "bump": bump and bump.name.lower(),
                "lowest_version": lowest,
                "allowed": is_allowed,
                "changes": [{**change._asdict(), "bump": change.bump.name.lower()} for change in changes],
            }
        )
    else:
        _write_changes(changes)
        asked = f"This asks for a {bump.name.lower()} version: " if bump else "The version may stay: "
        if bump or not is_allowed:
            write(f"{asked}{lowest} or later; NEW says {new.version}.")
    if check and not is_allowed:
        raise typer.Exit(1)


def _write_changes(changes: "Iterable[Change]") -> None:
    if not changes:
        write("No difference.")
    for section, members in groupby(changes, key=lambda change: change.section):
        write(f"{_TITLES.get(section, section).capitalize()}:")
        for change in members:
            write(f"  {change.text} ({change.bump.name.lower()})")
        write("")


def _diff_sources(old: str, new: str, *, as_json: bool) -> None:
    from ..sources.differences import source_differences
    from ..sources.loading import load_source

    differences = source_differences(load_source(old), load_source(new))
    if as_json:
        write_json([difference._asdict() for difference in differences])
        return
    if not differences:
        write("No difference.")
    for difference in differences:
        write(f"{difference.what}: {difference.before or 'nothing'} -> {difference.after or 'nothing'}")


def _diff_overrides(old: "FailureRegistry", new: "FailureRegistry", *, as_json: bool) -> None:
    from ..differences import effective_differences

    differences = effective_differences(old, new)
    if as_json:
        write_json([difference._asdict() for difference in differences])
        return
    if not differences:
        write("No difference.")
    stages = (*{**old.stages, **new.stages}, None)
    for difference in differences:
        write(_text(difference, stages))


def _text(difference: "Difference", every_stage: tuple[str | None, ...]) -> str:
    """A difference in one line, such as `agent_limit, stage agent, 429 5xx (policy): model -> evaluation`."""
    where = [" ".join(difference.names), _statuses(difference.statuses)]
    if difference.stages:
        where.insert(1, _stages(difference.stages, every_stage))
    request = {None: "", True: " (policy)", False: " (non-policy)"}[difference.policy]
    verb = "reported as " if difference.what == "label" else ""
    return f"{', '.join(where)}{request}: {verb}{difference.before} -> {difference.after}"


def _stages(stages: tuple[str | None, ...], every: tuple[str | None, ...]) -> str:
    named = [stage for stage in stages if stage is not None]
    others = [stage for stage in every if stage is not None and stage not in stages]
    if None not in stages:
        return f"stage {' '.join(named)}"
    if len(others) <= len(named):
        return f"every stage but {' '.join(others)}" if others else "every stage"
    return f"no stage or stage {' '.join(named)}" if named else "no stage"


def _statuses(statuses: tuple[int | None, ...]) -> str:
    from ..terms import status_ranges

    codes = [status for status in statuses if status is not None]
    if None not in statuses:
        return status_ranges(codes)
    if not codes:
        return "no status"
    return "every status" if len(codes) == 200 else f"no status or {status_ranges(codes)}"

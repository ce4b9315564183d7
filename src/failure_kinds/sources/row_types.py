"""The type that a row is decoded as: it holds the fields that are read; all else is passed over, and never built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Union

import msgspec

from .paths import EVERY, LAST, ROW, Path, Step, parse_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .source import Condition, Source

__all__ = ["paths_read", "row_type"]

# What msgspec takes beside a struct, or beside a list of them.
_Other = Union[list[Any], str, int, float, bool, None]  # noqa: UP007
_NoList = Union[dict[str, Any], str, int, float, bool, None]  # noqa: UP007
_OF_LISTS: Final = frozenset({EVERY, LAST})


def __dir__() -> list[str]:
    return __all__


def paths_read(source: Source, shown: Collection[Path] = ()) -> tuple[Path, ...]:
    """Return the paths to everything that evidence is taken from.

    Args:
        source: The source.
        shown: Paths to further values, which are shown as they are, and so nothing within them is passed over.
    """
    places = {within for rule in source.kind if not rule.nested for within in rule.within} | {parse_path(ROW)}
    beside = [rule.field for rule in source.stage]
    beside += [rule.field for rule in source.policy]
    beside += [rule.field for rule in source.http_status]
    beside += [path for rule in source.http_status for path in _named_in(rule.when)]
    beside += [(*phase, Step("started_at")) for rule in source.stage for phase, _ in rule.phases]
    paths = [(*within, *rule.field) for rule in source.kind if not rule.nested for within in rule.within]
    nested = ((within, rule.nested) for rule in source.kind if rule.nested for within in rule.within)
    paths += [(*within, *path) for within, inner in nested for path in paths_read(inner)]
    paths += [(*place, *path) for place in sorted(places, key=str) for path in beside]
    paths += [rule.field for rule in source.score]
    paths += [rule.field for rule in (*source.failed, *source.finished, *source.omitted)]
    conditions = [rule.when for rule in source.kind] + [rule.when for rule in source.stage]
    conditions += [rule.when for rule in (*source.failed, *source.finished, *source.omitted)]
    paths += [path for condition in conditions for path in _named_in(condition)]
    selectors = {step.selector for path in paths for step in path} - _OF_LISTS
    paths += [(Step(selector),) for selector in sorted(filter(None, selectors))]
    paths += shown
    return tuple(dict.fromkeys(path for path in paths if path and not any(_is_within(path, whole) for whole in shown)))


def _is_within(path: Path, whole: Path) -> bool:
    """Whether a path leads to something within a value."""
    return len(path) > len(whole) and [step.key for step in path[: len(whole)]] == [step.key for step in whole]


def _named_in(condition: Condition) -> list[Path]:
    return [parse_path(field) for fields in condition for field in fields]


def row_type(paths: Iterable[Path], leaf: Any = Any) -> type[msgspec.Struct]:
    """Return a type with the fields that paths lead to. Whatever stands in one of them, it is taken.

    Args:
        paths: The paths; of one that another leads through, the value itself is taken only if it is no object.
        leaf: What a value at the end of a path is decoded as.
    """
    below: dict[str, dict[str | None, list[Path]]] = {}
    for (key, selector), *rest in paths:
        below.setdefault(key, {}).setdefault(selector, [])
        if rest:
            below[key][selector].append(tuple(rest))
    fields = [
        (f"field_{number}", _type_of(reached, leaf), msgspec.UNSET) for number, reached in enumerate(below.values())
    ]
    names = {field: key for (field, _, _), key in zip(fields, below, strict=True)}
    return msgspec.defstruct("Row", fields, rename=names, gc=False)


def _type_of(reached: dict[str | None, list[Path]], leaf: Any) -> Any:
    """The type of a value, by how paths go on from it."""
    ways = {selector: paths for selector, paths in reached.items() if paths}
    if not ways:
        return leaf
    if set(ways) == {None}:
        return Union[row_type(ways[None], leaf), _Other]  # noqa: UP007
    member: Any = Union[row_type((path for paths in ways.values() for path in paths), leaf), _Other]  # noqa: UP007
    if ways.keys() <= _OF_LISTS:
        return Union[list[member], _NoList]  # noqa: UP007
    if ways.keys().isdisjoint({None, *_OF_LISTS}):
        return Union[dict[str, member], _Other]  # noqa: UP007
    return Any

"""Paths to the values of a row: `a.b`, `steps[].error` and `steps[-1]` in lists, `events[current]` by a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["EVERY", "LAST", "ROW", "Path", "Step", "is_key", "is_path", "parse_path", "path_text", "values_at"]

EVERY: Final = ""
"""The selector of a step to every member of a list."""

LAST: Final = "-1"
"""The selector of a step to the last member of a list."""

ROW: Final = "."
"""The path to the row itself."""

# Keys with quotation marks, backslashes or control characters can't be fields of the type that rows are decoded as.
_NO_KEY: Final = re.compile(r'["\\\x00-\x1f]')
_STEP: Final = re.compile(r'([^.\[\]"\\\x00-\x1f]+)(?:\[([^.\[\]"\\\x00-\x1f]*)\])?')


def __dir__() -> list[str]:
    return __all__


class Step(NamedTuple):
    """One step of a path.

    Attributes:
        key: The key in an object.
        selector: None where the value there is meant itself; `EVERY` or `LAST` for members of the list there; otherwise
            the field of the row that says which member of the object there is meant.
    """

    key: str
    selector: str | None = None


Path = tuple[Step, ...]
"""Steps from a row to a value; none lead to the row itself."""


def is_key(text: str) -> bool:
    """Whether a field of that name can be read."""
    return _NO_KEY.search(text) is None


def is_path(text: str) -> bool:
    """Whether a text is a path."""
    return text == ROW or all(_STEP.fullmatch(step) for step in text.split("."))


def parse_path(text: str) -> Path:
    """Return the steps of a path.

    >>> parse_path("steps[].error.type")
    (Step(key='steps', selector=''), Step(key='error', selector=None), Step(key='type', selector=None))
    """
    return () if text == ROW else tuple(Step(*match.groups()) for match in _STEP.finditer(text))


def values_at(value: Any, path: Path, row: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values that a path leads to; none where something on the way is missing or of another form.

    Args:
        value: Where the path begins, as plain JSON data.
        path: The steps.
        row: The row, whose fields selectors name.
    """
    for number, (key, selector) in enumerate(path, start=1):
        if not isinstance(value, dict) or key not in value:
            return
        value = value[key]
        if selector is not None:
            for member in _members(value, selector, row):
                yield from values_at(member, path[number:], row)
            return
    yield value


def _members(value: Any, selector: str, row: Mapping[str, Any]) -> list[Any]:
    if selector in (EVERY, LAST):
        members = value if isinstance(value, list) else []
        return members[-1:] if selector == LAST else members
    name = row.get(selector)
    return [value[name]] if isinstance(value, dict) and isinstance(name, str) and name in value else []


def path_text(path: Path) -> str:
    """Return a path as it is written.

    >>> path_text(parse_path("steps[].error.type"))
    'steps[].error.type'
    """
    steps = (key if selector is None else f"{key}[{selector}]" for key, selector in path)
    return ".".join(steps) or ROW

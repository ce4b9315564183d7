"""What two forms of a source read differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .meanings import condition_text, layout_text, meanings, readings, rule_text
from .source import ALWAYS

if TYPE_CHECKING:
    from .source import Source

__all__ = ["SourceDifference", "source_differences"]


def __dir__() -> list[str]:
    return __all__


class SourceDifference(NamedTuple):
    """Something that two forms of a source say differently; None where one says nothing of it.

    Attributes:
        what: The value, the field or the layout that it is about.
        before: What the first says.
        after: What the second says.
    """

    what: str
    before: str | None
    after: str | None


def source_differences(old: Source, new: Source) -> tuple[SourceDifference, ...]:
    """Return what two forms of a source say differently, in the order of the second."""
    before, after = _statements(old), _statements(new)
    found = tuple(
        SourceDifference(what, before.get(what), after.get(what))
        for what in dict.fromkeys([*after, *before])
        if before.get(what) != after.get(what)
    )
    return found or (() if old.digest == new.digest else (SourceDifference("digest", old.digest, new.digest),))


def _statements(source: Source) -> dict[str, str]:
    """What a source says, by what it is about."""
    said: dict[str, str] = {}
    for meaning in meanings(source):  # of several rules that list a value, the first counts
        said.setdefault(f"{meaning.where}: {meaning.value}", meaning.means)
    said["names, in the order of preference"] = "; ".join(map(rule_text, source.kind))
    rules: dict[str, list[str]] = {}
    for what, place in readings(source):
        rules.setdefault(what, []).append(place)
    said |= {what: "; ".join(places) for what, places in rules.items()}
    for layout in source.layouts:
        files = f", named {' or '.join(layout.files)}" if layout.files else ""
        condition = f", with {condition_text(layout.when)}" if layout.when != ALWAYS else ""
        said[f"files of the layout {layout.name}"] = f"{layout_text(layout)}{files}{condition}"
    return said

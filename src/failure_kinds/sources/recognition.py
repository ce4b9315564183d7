"""Recognising a file by its shape: which source describes it, and which of the forms that the tool writes it has."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final, NamedTuple

from ..errors import FailureKindsError
from ..spelling import printable
from .json_stream import BOM, CutOffError, JsonStream, JsonStreamError
from .source import ALWAYS, LINES, Condition, Layout, Source

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Iterator

__all__ = ["HEAD", "Recognised", "Shape", "UnrecognisedError", "recognise", "shape_of", "shape_of_zip"]

HEAD: Final = 1 << 20
"""How much of a file is looked at, in bytes."""

_ROWS: Final = 50
_DEPTH: Final = 4
_FIELDS_NAMED: Final = 12


def __dir__() -> list[str]:
    return __all__


class Shape(NamedTuple):
    """What a file looks like.

    Attributes:
        document: The fields of the JSON value that it begins with, as paths; None if it begins with none. `[]` stands
            for the members of a list, and `*` for any key at the top. A field that is null doesn't count.
        alone: Whether nothing follows that value.
        lines: The fields of each of the first lines that are objects.
        members: The names of the members, if it is a zip file.
        cut_off: Whether that value goes on behind what was looked at.
    """

    document: frozenset[str] | None = None
    alone: bool = False
    lines: tuple[frozenset[str], ...] = ()
    members: frozenset[str] | None = None
    cut_off: bool = False

    @property
    def fields(self) -> list[str]:
        """The fields at the top of its rows, in order: of a list, those of its members."""
        shown = self.lines or (() if self.document is None else (self.document,))
        names = {field.removeprefix("[].") for fields in shown for field in fields}
        return sorted(name for name in names - {"*"} if "." not in name and "[" not in name)


class Recognised(NamedTuple):
    """What a file was recognised as."""

    source: Source
    layout: Layout


class UnrecognisedError(FailureKindsError, ValueError):
    """It can't be told what a file holds, or it holds no rows; the message says why, and what to do.

    Attributes:
        reason: The message without the file.
        candidates: The sources that fit, if there are several.
        aggregate: Whether it was recognised, as a file of totals.
        damaged: Whether it can't be read, being damaged or cut off, so that it may have been one with rows.
    """

    def __init__(
        self, reason: str, candidates: tuple[str, ...] = (), aggregate: bool = False, damaged: bool = False
    ) -> None:
        super().__init__(reason, candidates, aggregate, damaged)
        self.reason = reason
        self.candidates = candidates
        self.aggregate = aggregate
        self.damaged = damaged

    def __str__(self) -> str:
        return self.reason


def recognise(shape: Shape, sources: Iterable[Source], *, named: bool = True) -> Recognised:
    """Return the source that fits a file, and the layout that it has.

    Args:
        shape: What the file looks like.
        sources: The sources that it may be of.
        named: As for `SourceFile`.

    Raises:
        UnrecognisedError: None fits, or several do; or it is a file of totals.
    """
    candidates = list(sources)
    fitting = [found for source in candidates for found in _layouts_that_fit(shape, source)]
    fitting = [found for found in fitting if not found.source.fallback] or fitting
    fitting = [found for found in fitting if _is_seen(shape, found.layout)] or fitting
    if not fitting and not (shape.members or shape.lines or shape.fields or "*" in (shape.document or ())):
        # There is nothing to go by, and there may be nothing in it.
        fallbacks = [source for source in candidates if source.fallback]
        fitting = [Recognised(source, layout) for source in fallbacks for layout in _of_nothing(shape, source)]
    if not fitting and named and len(candidates) == 1:
        # Whoever names the source and the file knows better than its conditions.
        possible = [layout for layout in _possible(shape, candidates[0]) if layout.aggregate is None]
        alike = {(layout.rows, layout.lists, layout.members) for layout in possible}
        fitting = [Recognised(candidates[0], layout) for layout in possible[:1] if len(alike) == 1]
    if not fitting:
        raise UnrecognisedError(_why_none(shape, candidates))
    names = tuple(dict.fromkeys(found.source.name for found in fitting))
    if len(names) > 1:
        raise UnrecognisedError(f"several sources fit: {', '.join(names)}; say which one it is", names)
    rows = [found for found in fitting if found.layout.aggregate is None]
    if not rows:
        raise UnrecognisedError(fitting[0].layout.aggregate or "", names, aggregate=True)
    # An object on one line is a file of lines too.
    return min(rows, key=lambda found: (named or found.layout.repeats is None, found.layout.rows != LINES))


def _is_seen(shape: Shape, layout: Layout) -> bool:
    """Whether something speaks for a layout: a condition, or its list, which may begin behind what was looked at."""
    return layout.when != ALWAYS or not layout.rows.endswith("[]") or layout.rows in (shape.document or ())


def _layouts_that_fit(shape: Shape, source: Source) -> Iterator[Recognised]:
    for layout in _possible(shape, source):
        if any(_holds(layout.when, fields) for fields in _looked_at(shape, layout)):
            yield Recognised(source, layout)


def _possible(shape: Shape, source: Source) -> list[Layout]:
    return [layout for layout in source.layouts if _is_possible(shape, layout)]


def _of_nothing(shape: Shape, source: Source) -> list[Layout]:
    """The layouts of a file with no row in it that has a field: those that are possible, or else lines."""
    return _possible(shape, source) or [layout for layout in source.layouts if layout.rows == LINES]


def _is_possible(shape: Shape, layout: Layout) -> bool:
    """Whether a file can have a layout, whatever its fields are."""
    if bool(layout.members) != (shape.members is not None):
        return False
    if layout.members:
        return True
    if layout.rows == LINES and not layout.lists:
        return bool(shape.lines)
    is_list = layout.rows.endswith("[]")
    return (
        shape.document is not None and shape.alone and (not is_list or shape.cut_off or layout.rows in shape.document)
    )


def _looked_at(shape: Shape, layout: Layout) -> tuple[frozenset[str], ...]:
    """What the conditions of a layout are about."""
    if shape.members is not None:
        return (shape.members,)
    if layout.rows == LINES and not layout.lists:
        return shape.lines
    return () if shape.document is None else (shape.document,)


def _holds(condition: Condition, fields: frozenset[str]) -> bool:
    return (
        fields.issuperset(condition.all)
        and (not condition.any or not fields.isdisjoint(condition.any))
        and fields.isdisjoint(condition.none)
    )


def _why_none(shape: Shape, candidates: list[Source]) -> str:
    what = f"{candidates[0].name} doesn't describe it" if len(candidates) == 1 else "no source fits"
    if shape.members is not None:
        return f"{what}; it is a zip file"
    if not shape.fields:
        return f"{what}; it begins with no JSON object"
    more = ", ..." if len(shape.fields) > _FIELDS_NAMED else ""
    return f"{what}; its rows have the fields {', '.join(map(printable, shape.fields[:_FIELDS_NAMED]))}{more}"


def shape_of(head: bytes) -> Shape:
    """Return the shape of a file that isn't a zip file, from its first bytes."""
    text = head.removeprefix(BOM).strip()
    document, following = _outline(text)
    lines = [_outline(line) for line in text.splitlines()[:_ROWS] if line.lstrip().startswith(b"{")]
    if document is not None and not following and b"\n" in text:  # it is one value that is spread over lines,
        is_damaged = following is None and len(head) < HEAD  # unless what it doesn't end in are rows themselves
        lines = [outline for outline in lines if is_damaged and outline[1] == b""]
    rows = tuple(fields for fields, _ in lines if fields)
    return Shape(document, not following, rows, cut_off=following is None)


def shape_of_zip(file: zipfile.ZipFile) -> Shape:
    """Return the shape of a zip file."""
    return Shape(members=frozenset(file.namelist()))


def _outline(text: bytes) -> tuple[frozenset[str] | None, bytes | None]:
    """The fields of the object or list that a text begins with, None if there is none; and the byte that follows it.

    Nothing follows it at the end of the text; it is None if that comes before the end of the value.
    """
    fields: set[str] = set()
    stream = JsonStream(io.BytesIO(text))
    try:
        if stream.peek() not in (b"{", b"["):
            return None, b"?"
        _walk(stream, ("",), fields, 0)
    except CutOffError:
        return frozenset(fields), None
    except JsonStreamError:
        return (frozenset(fields), None) if fields else (None, b"?")  # what is wrong with it is said when it is read
    return frozenset(fields), stream.peek()


def _walk(stream: JsonStream, paths: tuple[str, ...], fields: set[str], depth: int) -> None:
    """Note the fields of the value that comes next, on every path to it. Of a list, the first members tell enough."""
    first = stream.peek()
    if depth < _DEPTH and first == b"{":
        for key in stream.entries():
            below = tuple(f"{path}.{key}" for path in paths) if depth else (key, "*")
            if stream.peek() != b"n":  # null
                fields.update(below)
            _walk(stream, below, fields, depth + 1)
    elif depth < _DEPTH and first == b"[":
        below = tuple(f"{path}[]" for path in paths)
        fields.update(below)
        for _ in stream.members():
            _walk(stream, below, fields, depth + 1)
    else:
        stream.skip()

"""Counting the rows of a file by their evidence, with bounded memory whatever they hold."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import constants
from .sources.conditions import text_of
from .sources.evidence import Evidence
from .sources.paths import values_at
from .sources.reader import reader_of
from .sources.source import LINES
from .sources.source_file import SourceFile
from .spelling import is_namespaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

    from .sources.decoding import RowDecoder
    from .sources.reader import EvidenceReader
    from .sources.row_files import Rows
    from .sources.source import Source

    OnScannedRow = Callable[[int, str | None, tuple[Any, ...]], None]

__all__ = [
    "BUNDLED_NAMES",
    "OTHER",
    "OTHER_NAMESPACED",
    "UNREADABLE_LINES",
    "Scan",
    "bounded",
    "other_name",
    "scan_file",
    "scan_rows",
    "values_of",
]

OTHER: Final = "_OTHER"
"""What names, stages, statuses and groups are counted under where there are too many different ones."""

OTHER_NAMESPACED: Final = "other:other"
"""The same for namespaced names, which are classified in another way."""

_ROWS_AT_ONCE: Final = 5_000  # between two looks at how many different ones there are, and how far the reading has come
_MOST_KEYS: Final = 50_000
_MOST_VALUES: Final = 1_000  # of a field, if there are too many keys
UNREADABLE_LINES: Final = 20
"""How many unreadable lines are shown one by one."""

BUNDLED_NAMES: Final = frozenset(name for name in vars(constants).values() if isinstance(name, str))
"""The names of the bundled vocabulary."""


def __dir__() -> list[str]:
    return __all__


class Scan(NamedTuple):
    """What was found in a file or in a part of one.

    Attributes:
        counts: Evidence, as a plain tuple in the order of `Evidence`, -> how many rows have it.
        lines: How many lines there were, or how many rows where these aren't lines.
        blank: How many of them had nothing on them.
        unreadable: How many of them were no rows.
        unreadable_lines: The first of these, each with its number and the reason.
        source: The name of the source that they were read by.
        layout: The name of the file's layout.
    """

    counts: Counter[tuple[Any, ...]]
    lines: int
    blank: int
    unreadable: int
    unreadable_lines: list[tuple[int, str]]
    source: str = ""
    layout: str = ""

    def followed_by(self, other: Scan) -> Scan:
        """Return what was found in two parts of a file, one behind the other."""
        lines = [(self.lines + line, reason) for line, reason in other.unreadable_lines]
        return Scan(
            self.counts + other.counts,
            self.lines + other.lines,
            self.blank + other.blank,
            self.unreadable + other.unreadable,
            (self.unreadable_lines + lines)[:UNREADABLE_LINES],
            self.source,
            self.layout,
        )


def scan_file(
    path: str,
    sources: Iterable[Source],
    by: str | None = None,
    known: AbstractSet[str] = BUNDLED_NAMES,
    on_row: OnScannedRow | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
    *,
    named: bool = True,
) -> Scan:
    """Count the rows of a file.

    Args:
        path: The file, `-` for standard input.
        sources: The sources that it may be of.
        by: The field that a report is split by.
        known: Names that are never drawn together with others, however many there are.
        on_row: Called with the number, the place and the evidence of each row.
        on_progress: Called now and then with the bytes that were read, and the size of the file if it is known.
        named: As for `SourceFile`.

    Raises:
        OSError: It can't be opened.
        UnrecognisedError: No source fits, or several do, or it is a file of totals.
    """
    with SourceFile(path, sources, named=named) as file:
        source, layout = file.recognised

        def piece_read() -> None:
            if on_progress is not None:
                on_progress(file.position, file.size)

        has_header = layout.rows != LINES or bool(layout.members)
        of_file = has_header and by in source.carry_file and by not in source.carry
        reader = reader_of(source, None if of_file else by)
        scan = scan_rows(file.rows, reader, known, on_row, piece_read)._replace(source=source.name, layout=layout.name)
        if of_file:
            group = text_of(next(values_at(file.header, source.carry_file[str(by)], file.header), None))
            counts = Counter({tuple(Evidence(*key)._replace(group=group)): count for key, count in scan.counts.items()})
            scan = scan._replace(counts=counts)
        return scan


def scan_rows(
    rows_with: Callable[[RowDecoder, Callable[[int, str], None]], Rows],
    reader: EvidenceReader,
    known: AbstractSet[str],
    on_row: OnScannedRow | None = None,
    piece_read: Callable[[], None] = lambda: None,
) -> Scan:
    """Count rows.

    Args:
        rows_with: Makes the rows, from what decodes them and what is to be told of those that can't be read.
        reader: What takes the evidence out of them.
        known: As for `scan_file`.
        on_row: As for `scan_file`.
        piece_read: Called when some thousand rows have been read.
    """
    counts: Counter[tuple[Any, ...]] = Counter()
    unreadable: list[tuple[int, str]] = []
    unreadable_count = 0

    def on_unreadable(number: int, reason: str) -> None:
        nonlocal unreadable_count
        unreadable_count += 1
        if len(unreadable) < UNREADABLE_LINES:
            unreadable.append((number, reason))

    rows = rows_with(reader.decoder, on_unreadable)
    keys: Iterable[bytes] = map(reader.key, rows)
    if on_row is not None:
        keys = ((on_row(rows.number, rows.place, reader.evidence(key)), key)[1] for key in keys)
    read = -1
    while rows.number > read:
        read = rows.number
        alike = Counter(islice(keys, _ROWS_AT_ONCE))  # a loop in C
        for key, count in alike.items():
            counts[reader.evidence(key)] += count
        counts = bounded(counts, known)
        if rows.number > read:
            piece_read()
    return Scan(counts, rows.number, rows.blank, unreadable_count, unreadable)


def bounded(counts: Counter[tuple[Any, ...]], known: AbstractSet[str]) -> Counter[tuple[Any, ...]]:
    """Return counts with the rarest values drawn together if there are too many, so that memory stays bounded."""
    return _fewer(counts, known) if len(counts) > _MOST_KEYS else counts


def _fewer(counts: Counter[tuple[Any, ...]], known: AbstractSet[str]) -> Counter[tuple[Any, ...]]:
    """The same counts with the rarest values drawn together, so that memory stays bounded: groups first of all."""
    for fields in (("group",), ("failure_kind", "stage", "odd_status", "unmapped")):
        if len(counts) > _MOST_KEYS:
            kept = {}
            for field in fields:
                most_common = values_of(field, counts).most_common(_MOST_VALUES)
                kept[Evidence._fields.index(field)] = known | {value for value, _ in most_common}
            fewer: Counter[tuple[Any, ...]] = Counter()
            for evidence, count in counts.items():
                values = list(evidence)
                for place, names in kept.items():
                    if values[place] is not None and values[place] not in names:
                        values[place] = other_name(values[place])
                fewer[tuple(values)] += count
            counts = fewer
    return counts


def values_of(field: str, counts: Counter[tuple[Any, ...]]) -> Counter[str]:
    """Return how many rows have each value of a field of their evidence; those that have none don't count."""
    place = Evidence._fields.index(field)
    values: Counter[str] = Counter()
    for evidence, count in counts.items():
        if evidence[place] is not None:
            values[evidence[place]] += count
    return values


def other_name(text: str) -> str:
    """Return what a text is counted under that isn't told apart."""
    return OTHER_NAMESPACED if is_namespaced(text) else OTHER

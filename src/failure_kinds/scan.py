"""Counting the rows of a file by their evidence: in this process, or the parts of a large file in several at once.

Nothing of the vocabulary is needed for it, so that a command can start its processes before it loads any of that.
"""

from __future__ import annotations

import functools
import marshal
import mmap
import os
import select
import signal
import struct
import sys
import zlib
from collections import Counter
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from . import constants
from .files import is_plain, open_file, open_part
from .jsonlines import RowFile
from .rows import Evidence, evidence_reader
from .spelling import is_namespaced

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

__all__ = [
    "BUNDLED_NAMES",
    "OTHER",
    "OTHER_NAMESPACED",
    "UNREADABLE_LINES",
    "Scan",
    "ScanProcesses",
    "bounded",
    "other_name",
    "scan_file",
    "values_of",
]

OTHER: Final = "_OTHER"
"""What names, stages, statuses and groups are counted under where there are too many different ones."""

OTHER_NAMESPACED: Final = "other:other"
"""The same for namespaced names, which are classified in another way."""

LARGE: Final = 64 << 20
"""A plain file of as many bytes or more is read by several processes."""

_PROCESSES: Final = 4
_ROWS_AT_ONCE: Final = 5_000  # between two looks at how many different ones there are, and how far the reading has come
_MOST_KEYS: Final = 50_000
_MOST_VALUES: Final = 1_000  # of a field, if there are too many keys
UNREADABLE_LINES: Final = 20
"""How many unreadable lines are shown one by one."""

_SECONDS_BETWEEN_CALLS: Final = 0.1
_POSITION: Final = struct.Struct("Q")
BUNDLED_NAMES: Final = frozenset(name for name in vars(constants).values() if isinstance(name, str))
"""The names of the bundled vocabulary."""


def __dir__() -> list[str]:
    return __all__


class Scan(NamedTuple):
    """What was found in a file or in a part of one.

    Attributes:
        counts: Evidence, as a plain tuple in the order of `Evidence`, -> how many rows have it.
        lines: How many lines there were.
        blank: How many of them had nothing on them.
        unreadable: How many of them were no rows.
        unreadable_lines: The first of these, each with its number and the reason.
    """

    counts: Counter[tuple[Any, ...]]
    lines: int
    blank: int
    unreadable: int
    unreadable_lines: list[tuple[int, str]]

    def followed_by(self, other: Scan) -> Scan:
        """Return what was found in two parts of a file, one behind the other."""
        lines = [(self.lines + line, reason) for line, reason in other.unreadable_lines]
        return Scan(
            self.counts + other.counts,
            self.lines + other.lines,
            self.blank + other.blank,
            self.unreadable + other.unreadable,
            (self.unreadable_lines + lines)[:UNREADABLE_LINES],
        )


def scan_file(
    path: str,
    by: str | None = None,
    known: AbstractSet[str] = BUNDLED_NAMES,
    on_row: Callable[[int, tuple[Any, ...]], None] | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Scan:
    """Count the rows of a file.

    Args:
        path: The file, `-` for standard input.
        by: The field that a report is split by.
        known: Names that are never drawn together with others, however many there are.
        on_row: Called with the line and the evidence of each row.
        on_progress: Called now and then with the bytes that were read, and the size of the file if it is known.

    Raises:
        OSError: It can't be opened.
    """
    opened = open_file(path)
    with opened.source, opened.stream:

        def piece_read() -> None:
            if on_progress is not None:
                on_progress(opened.source.tell() if opened.size is not None else 0, opened.size)

        return _scan(opened.stream, by, known, on_row, piece_read)


def _scan(
    stream: io.BufferedReader,
    by: str | None,
    known: AbstractSet[str],
    on_row: Callable[[int, tuple[Any, ...]], None] | None = None,
    piece_read: Callable[[], None] = lambda: None,
    *,
    from_start: bool = True,
) -> Scan:
    row_type, evidence_of = evidence_reader(by)
    counts: Counter[tuple[Any, ...]] = Counter()
    unreadable: list[tuple[int, str]] = []
    unreadable_count = 0

    def on_unreadable(line: int, reason: str) -> None:
        nonlocal unreadable_count
        unreadable_count += 1
        if len(unreadable) < UNREADABLE_LINES:
            unreadable.append((line, reason))

    rows = RowFile(stream, row_type, on_unreadable, from_start=from_start)
    each: Iterable[tuple[Any, ...]] = map(evidence_of, rows)
    if on_row is not None:
        each = ((on_row(rows.line, evidence), evidence)[1] for evidence in each)
    read = -1
    try:
        while rows.line > read:
            read = rows.line
            counts.update(islice(each, _ROWS_AT_ONCE))  # a loop in C
            counts = bounded(counts, known)
            if rows.line > read:
                piece_read()
    except (OSError, EOFError, zlib.error) as error:  # the packed file is damaged; what came before that counts
        rows.line += 1
        on_unreadable(rows.line, f"the file can't be read on from here: {error}")
    return Scan(counts, rows.line, rows.blank, unreadable_count, unreadable)


def bounded(counts: Counter[tuple[Any, ...]], known: AbstractSet[str]) -> Counter[tuple[Any, ...]]:
    """Return counts with the rarest values drawn together if there are too many, so that memory stays bounded."""
    return _fewer(counts, known) if len(counts) > _MOST_KEYS else counts


def _fewer(counts: Counter[tuple[Any, ...]], known: AbstractSet[str]) -> Counter[tuple[Any, ...]]:
    """The same counts with the rarest values drawn together, so that memory stays bounded: groups first of all."""
    for fields in (("group",), ("failure_kind", "stage", "odd_status")):
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


class _Process(NamedTuple):
    """A process that scans a part of a file, the pipe that it writes what it found to, and how far it has come."""

    pid: int
    answer: int
    progress: mmap.mmap


class ScanProcesses:
    """Processes that scan the large files among some, from the moment that this is made; use it in a `with` block."""

    def __init__(self, paths: Iterable[str], by: str | None, known: AbstractSet[str] = BUNDLED_NAMES) -> None:
        """Start them.

        Args:
            paths: The files; those that aren't large and plain are left alone.
            by: As for `scan_file`.
            known: As for `scan_file`.
        """
        self._running: dict[str, list[_Process]] = {}
        try:
            for path in paths:
                if path not in self._running and sys.platform == "linux" and is_plain(path, LARGE):
                    processes = self._running[path] = []
                    processes.extend(_start(path, part, by, known) for part in _parts(path))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for processes in self._running.values():
            for process in processes:
                os.close(process.answer)
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
                os.waitpid(process.pid, 0)

    def scan_of(self, path: str, on_progress: Callable[[int, int | None], None] | None = None) -> Scan | None:
        """Return what was found in a file, once its processes are done; None if it isn't one of the large files.

        Args:
            path: The file.
            on_progress: Called now and then, while it isn't done, with the bytes that were read and the file's size.

        Raises:
            OSError: A process couldn't read its part.
        """
        processes = self._running.get(path)
        if processes is None:
            return None
        size = os.path.getsize(path)
        for process in processes:
            while not select.select([process.answer], [], [], _SECONDS_BETWEEN_CALLS)[0]:
                if on_progress is not None:
                    on_progress(sum(_POSITION.unpack(process.progress)[0] for process in processes), size)
        parts = [_answer(process) for process in processes]
        del self._running[path]
        failed = [part for part in parts if isinstance(part, int)]
        if failed:
            raise OSError(f"{path}: a process that was reading it ended with status {failed[0]}")
        return functools.reduce(Scan.followed_by, [part for part in parts if isinstance(part, Scan)])


def _answer(process: _Process) -> Scan | int:
    """What a process found, or the status that it ended with."""
    with open(process.answer, "rb") as answer:
        written = answer.read()
    _, status = os.waitpid(process.pid, 0)
    if status:
        return status
    counts, *rest = marshal.loads(written)  # noqa: S302  # our own child wrote it
    return Scan(Counter(counts), *rest)


def _parts(path: str) -> list[tuple[int, int]]:
    """Ranges of a file that begin and end where lines do, one for each process."""
    size = os.path.getsize(path)
    processes = min(_PROCESSES, len(os.sched_getaffinity(0)))
    with open(path, "rb") as file:
        starts = [0]
        for number in range(1, processes):
            file.seek(size * number // processes)
            while (piece := file.readline(1 << 17)) and not piece.endswith(b"\n"):
                pass  # a line may be longer than memory
            starts.append(max(file.tell(), starts[-1]))
    return list(zip(starts, [*starts[1:], size], strict=True))


def _start(path: str, part: tuple[int, int], by: str | None, known: AbstractSet[str]) -> _Process:
    """Start a process that scans a part of a file."""
    answer, pipe = os.pipe()
    progress = mmap.mmap(-1, _POSITION.size)  # shared with the child
    pid = os.fork()
    if pid == 0:  # pragma: no cover  # the child's lines aren't seen
        status = 1
        try:
            with open_part(path, *part) as stream:
                scan = _scan(
                    stream,
                    by,
                    known,
                    from_start=part[0] == 0,
                    piece_read=lambda: _POSITION.pack_into(progress, 0, stream.tell()),
                )
            with open(pipe, "wb") as writer:
                writer.write(marshal.dumps((dict(scan.counts), *scan[1:])))
            status = 0
        finally:
            os._exit(status)  # without a word: whoever started it says what happened
    os.close(pipe)
    return _Process(pid, answer, progress)

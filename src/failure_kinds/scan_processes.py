"""Scanning the parts of large files in several processes at once.

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
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from .files import is_plain, open_part
from .scan import BUNDLED_NAMES, Scan, scan_rows
from .sources.reader import EvidenceReader
from .sources.recognition import UnrecognisedError
from .sources.row_files import LineRows
from .sources.source import LINES
from .sources.source_file import recognise_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from collections.abc import Set as AbstractSet

    from .sources.recognition import Recognised
    from .sources.source import Source

__all__ = ["LARGE", "ScanProcesses"]

LARGE: Final = 64 << 20
"""A plain file of as many bytes or more is read by several processes."""

_PROCESSES: Final = 4
_SECONDS_BETWEEN_CALLS: Final = 0.1
_POSITION: Final = struct.Struct("Q")


def __dir__() -> list[str]:
    return __all__


class _Process(NamedTuple):
    """A process that scans a part of a file, the pipe that it writes what it found to, and how far it has come."""

    pid: int
    answer: int
    progress: mmap.mmap


class ScanProcesses:
    """Processes that scan the large files among some, from the moment that this is made; use it in a `with` block."""

    def __init__(
        self,
        paths: Iterable[str],
        sources: Iterable[Source],
        by: str | None,
        known: AbstractSet[str] = BUNDLED_NAMES,
        named: Collection[str] | None = None,
    ) -> None:
        """Start them.

        Args:
            paths: The files; those that aren't large and plain files of lines are left alone.
            sources: As for `scan_file`.
            by: As for `scan_file`.
            known: As for `scan_file`.
            named: Those of the files that were named themselves; all of them by default.
        """
        self._running: dict[str, list[_Process]] = {}
        try:
            for path in paths:
                is_named = named is None or path in named
                if path not in self._running and (found := _recognised(path, sources, named=is_named)) is not None:
                    processes = self._running[path] = []
                    processes.extend(_start(path, part, found, by, known) for part in _parts(path))
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


def _recognised(path: str, sources: Iterable[Source], *, named: bool) -> Recognised | None:
    """What a file is, if it is one that several processes can read."""
    if sys.platform != "linux" or not is_plain(path, LARGE):
        return None
    try:
        found = recognise_file(path, sources, named=named)
    except UnrecognisedError:
        return None  # whoever wants its rows says so
    return found if found.layout.rows == LINES and not (found.layout.members or found.layout.lists) else None


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


def _start(path: str, part: tuple[int, int], found: Recognised, by: str | None, known: AbstractSet[str]) -> _Process:
    """Start a process that scans a part of a file."""
    answer, pipe = os.pipe()
    progress = mmap.mmap(-1, _POSITION.size)  # shared with the child
    pid = os.fork()
    if pid == 0:  # pragma: no cover  # the child's lines aren't seen
        status = 1
        try:
            with open_part(path, *part) as stream:
                scan = scan_rows(
                    functools.partial(LineRows, stream, from_start=part[0] == 0),
                    EvidenceReader(found.source, by),
                    known,
                    piece_read=lambda: _POSITION.pack_into(progress, 0, stream.tell()),
                )._replace(source=found.source.name, layout=found.layout.name)
            with open(pipe, "wb") as writer:
                writer.write(marshal.dumps((dict(scan.counts), *scan[1:])))
            status = 0
        finally:
            os._exit(status)  # without a word: whoever started it says what happened
    os.close(pipe)
    return _Process(pid, answer, progress)

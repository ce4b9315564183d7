"""The rows of people's logs, one by one, as evidence of what went wrong."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ..files import expand_paths
from ..frozen import FrozenDict
from ..spelling import encodable
from .bundled import bundled_sources
from .decoding import RowDecoder
from .evidence import Evidence, Outcome, evidence_in, score_in
from .loading import load_source
from .paths import values_at
from .recognition import UnrecognisedError
from .row_types import paths_read
from .source import AUTO, Source, file_patterns
from .source_file import SourceFile

if TYPE_CHECKING:
    from ..registry import FailureRegistry

__all__ = ["FailureRow", "SourceName", "read_failures", "sources_named"]

SourceName = str | os.PathLike[str] | Source
"""A source, its name, the path of its YAML file, or `AUTO`."""

OnUnreadable = Callable[[str, int, str], None]

_DECODERS: Final = 32
_logger: Final = logging.getLogger("failure_kinds")


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class FailureRow:
    """A row of a log, and what it says of its rollout.

    Attributes:
        evidence: What there is for a classification: outcome, kind, stage, HTTP status, whose request it was.
        recorded: The name of the failure exactly as the tool wrote it; None if there is none.
        score: The score, if the row carries one.
        source: The name of the source that it was read by.
        file: The file, `-` for standard input.
        number: The number of the row in the file, counted from 1: of the line, if the rows are lines.
        place: Where else it stands, such as `samples[3]` or a member of a zip file.
        extras: What the source carries along, such as `task`, `agent` and `model`.
    """

    evidence: Evidence
    recorded: str | None
    score: float | None
    source: str
    file: str
    number: int
    place: str | None
    extras: Mapping[str, Any]

    @property
    def failed(self) -> bool:
        """Whether the row records a failure, under a name or without one."""
        return self.evidence.outcome in (Outcome.FAILURE, Outcome.UNLABELLED)


def read_failures(
    path: str | os.PathLike[str],
    source: SourceName | Sequence[SourceName] = AUTO,
    *,
    registry: FailureRegistry | None = None,
    on_unreadable: OnUnreadable | None = None,
) -> Iterator[FailureRow]:
    """Yield the rows of a log, one by one, those included that record no failure.

    No more is held in memory than a row, whatever the size of the file.

    Args:
        path: A file, a folder, a pattern, or `-` for standard input. Of a folder, files that no source fits and files
            of totals are passed over, and said through `logging`.
        source: The tool that wrote it: the name of a source, the path of a YAML file that describes one, or several
            to choose from; `auto` recognises each file by its shape.
        registry: The vocabulary that a source file is checked against; by default the active one.
        on_unreadable: Called with the file, the number and the reason for each row that can't be read; by default they
            are said through `logging`.

    Raises:
        OSError: There is no such file, or it can't be opened.
        UnrecognisedError: No source fits, or several do, or it is a file of totals.
        VocabularyError: There is no such source, or something is wrong with its file.
    """
    sources = sources_named(source, registry)
    tell = _warn if on_unreadable is None else on_unreadable
    path = os.fspath(path)
    for file in expand_paths([path], file_patterns(sources)):
        try:
            yield from _rows_of(file, sources, tell, named=file == path)
        except (OSError, UnrecognisedError) as error:
            if file == path:
                raise
            if isinstance(error, OSError) or error.damaged or len(error.candidates) > 1:
                tell(encodable(file), 1, str(error))
            else:
                _logger.warning("%s is passed over: %s", file, error.reason)


def sources_named(
    names: SourceName | Sequence[SourceName], registry: FailureRegistry | None = None
) -> tuple[Source, ...]:
    """Return the sources that are meant by a name, a path, or several.

    Raises:
        VocabularyError: There is no such source, or something is wrong with its file.
    """
    if isinstance(names, str | os.PathLike | Source):
        names = [names]
    sources: dict[str, Source] = {}
    for name in names:
        if name == AUTO:
            sources |= bundled_sources()
        else:
            source = name if isinstance(name, Source) else load_source(name, registry)
            sources[source.name] = source
    return tuple(sources.values())


def _rows_of(
    path: str, sources: tuple[Source, ...], on_unreadable: OnUnreadable, *, named: bool
) -> Iterator[FailureRow]:
    name = encodable(path)
    with SourceFile(path, sources, named=named) as file:
        source, _ = file.recognised
        decoder = _decoder_of(source)
        rows = file.rows(decoder, lambda number, reason: on_unreadable(name, number, reason))
        for decoded in rows:
            row = msgspec.to_builtins(decoded)
            evidence, recorded = evidence_in(row, source)
            extras: dict[str, Any] = {}
            for holder, paths in ((row, source.carry), (file.header, source.carry_file)):
                for field, place in paths.items():
                    if extras.get(field) is None:
                        extras[field] = next(values_at(holder, place, holder), None)
            yield FailureRow(
                evidence,
                recorded,
                score_in(row, source),
                source.name,
                name,
                rows.number,
                rows.place,
                FrozenDict(extras),
            )


@functools.lru_cache(_DECODERS)
def _decoder_of(source: Source) -> RowDecoder:
    return RowDecoder(paths_read(source, source.carry.values()))


def _warn(file: str, number: int, reason: str) -> None:
    _logger.warning("%s:%d can't be read: %s", file, number, reason)

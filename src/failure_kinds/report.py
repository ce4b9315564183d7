"""The report on a run: its rows counted, on whose side the failures lie, and which rules said so.

report = report_failures(["run/failures.jsonl"], by="agent")
report.classes.evaluation, report.account.unreadable
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .active import get_registry
from .files import expand_paths
from .parquet import ENDING as PARQUET
from .parquet import scan_parquet
from .report_model import FailureReport
from .scan import scan_file
from .sources.evidence import Evidence, Outcome
from .sources.failure_rows import sources_named
from .sources.recognition import UnrecognisedError
from .sources.source import AUTO, file_patterns
from .spelling import encodable
from .tally import Tally

if TYPE_CHECKING:
    from .classification import Explanation
    from .registry import FailureRegistry
    from .scan_processes import ScanProcesses
    from .sources.failure_rows import SourceName

__all__ = [
    "FailureReport",
    "OnProgress",
    "OnRow",
    "compare_reports",
    "is_saved_report",
    "known_names",
    "read_report",
    "report_failures",
]

OnRow = Callable[[str, int, "str | None", Evidence, "Explanation"], None]
OnProgress = Callable[[str, int, "int | None"], None]


def __dir__() -> list[str]:
    return __all__


def report_failures(
    paths: Iterable[str | os.PathLike[str]],
    *,
    source: SourceName | Sequence[SourceName] = AUTO,
    registry: FailureRegistry | None = None,
    expected: int | None = None,
    by: str | None = None,
    on_row: OnRow | None = None,
    on_progress: OnProgress | None = None,
    processes: ScanProcesses | None = None,
) -> FailureReport:
    """Read rows of failures and count them.

    Args:
        paths: Logs (plain, gzip, Zstandard or Parquet), folders of them, patterns, or `-` for standard input. Of
            folders and patterns, files that no source fits are passed over, and so are files of totals; one that is
            damaged, or that several sources fit, counts as a row that can't be read.
        source: The tool that wrote them: the name of a source, the path of a YAML file that describes one, or several
            to choose from; `auto` recognises each file by its shape.
        registry: The vocabulary and the rules; by default the active registry. Where it isn't the bundled vocabulary,
            the report says what it moves.
        expected: How many rows the run should have left.
        by: A field of the rows to split the counts by.
        on_row: Called for each row that records a failure or is unlabelled: file, number of the line or row, where
            else it stands, evidence, explanation.
        on_progress: Called now and then: file, bytes read of it, its size (None if that can't be known).
        processes: Processes that are scanning the large files among the paths, by the same sources and field.

    Raises:
        OSError: A path means no file, or a file can't be opened.
        ImportError: A Parquet file is to be read, and the extra `tables` isn't installed.
        ValueError: The field to split by is none that can be read.
        UnrecognisedError: Of a file that is named itself, no source fits, or several do, or it holds totals.
        VocabularyError: The active registry has to be loaded, and can't be; or a source can't.
    """
    rules = get_registry() if registry is None else registry
    sources = sources_named(source, rules)
    known = known_names(rules)
    tally = Tally(rules, {source.name: source for source in sources})
    asked = [os.fspath(path) for path in paths]
    named = frozenset(asked)
    names: list[str] = []
    for path in expand_paths(asked, file_patterns(sources)):
        name = encodable(path)
        show = None if on_progress is None else functools.partial(on_progress, name)
        scan = None if processes is None else processes.scan_of(path, show)
        try:
            if scan is None:
                tell = None if on_row is None else functools.partial(_tell, on_row, tally, name)
                if path.endswith(PARQUET):
                    scan = scan_parquet(path, sources, by, known, tell)
                else:
                    scan = scan_file(path, sources, by, known, tell, show, named=path in named)
        except UnrecognisedError as error:
            if path in named:
                reason = f"{name}: {error.reason}"
                raise UnrecognisedError(reason, error.candidates, error.aggregate, error.damaged) from None
            if error.damaged or len(error.candidates) > 1:
                tally.add_unreadable(name, error.reason)
            else:
                tally.pass_over(name, error.reason)
        except OSError as error:
            if path in named:
                raise
            tally.add_unreadable(name, (error.strerror or str(error)).lower())
        else:
            tally.add(name, scan)
            names.append(name)
    return tally.report(tuple(names), expected, by)


def known_names(registry: FailureRegistry) -> frozenset[str]:
    """Return the names that mean something to a registry: its kinds, and what is read as one."""
    return frozenset({*registry.kinds, *registry.retired, *registry.config.kind_aliases, *registry.stages})


def _tell(on_row: OnRow, tally: Tally, path: str, number: int, place: str | None, evidence: tuple[Any, ...]) -> None:
    """Tell of a row that failed."""
    if evidence[0] in (Outcome.FAILURE, Outcome.UNLABELLED):
        on_row(path, number, place, Evidence(*evidence), tally.explain(Evidence(*evidence)))


def compare_reports(report: FailureReport, other: FailureReport) -> FailureReport:
    """Return a report that holds another one beside it, and says whether the two were made by the same rules."""
    beside = other.model_copy(update={"other": None, "comparable": None})
    digests = {source.source: source.digest for source in report.sources}
    alike = all(digests.get(source.source, source.digest) == source.digest for source in other.sources)
    return report.model_copy(update={"other": beside, "comparable": alike and report.digest == other.digest})


def is_saved_report(path: str) -> bool:
    """Whether a file is a report that was saved as JSON, whatever its name; one that isn't there may have been."""
    if not os.path.isfile(path):
        return path.endswith(".json")
    with open(path, "rb") as file:
        return b'"report_version"' in file.read(100)


def read_report(path: str | os.PathLike[str]) -> FailureReport:
    """Read a report that was saved as JSON.

    Raises:
        OSError: The file can't be read.
        ValueError: It holds no report; the message says what is wrong.
    """
    with open(path, "rb") as file:
        return FailureReport.model_validate_json(file.read())

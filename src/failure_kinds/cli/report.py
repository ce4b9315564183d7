"""The command `failure-kinds report`: who is to blame for what in a run, and which rule said so."""

# No postponed annotations here: typer reads them.
import enum
import io
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from ..files import STANDARD_INPUT, expand_paths
from ..sources.paths import is_key
from ..sources.recognition import UnrecognisedError
from ..sources.source import AUTO, file_patterns
from .console import console, write
from .options import ConfigFiles, registry_of
from .writing import whole_file

if TYPE_CHECKING:
    from ..classification import Explanation
    from ..report import FailureReport, OnProgress, OnRow
    from ..sources.evidence import Evidence
    from ..sources.source import Source

__all__ = ["ReportFormat", "report"]

_LONG: Final = 4 << 20  # shorter files are read before anybody could look at a bar

STANDARD_OUTPUT: Final = "-"

UNREADABLE: Final = 3
"""The exit code where lines were unreadable; everything else is still reported."""


def __dir__() -> list[str]:
    return __all__


class ReportFormat(enum.StrEnum):
    """What a report is written as."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def report(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Files of rows, folders, patterns, or - for standard input.")
    ],
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            help="The tool that wrote them: a name that `sources` lists, or a YAML file; several to choose from. "
            "[default: auto]",
        ),
    ] = None,
    config: ConfigFiles = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Split by a field of the rows, or by what their source carries along: task, agent, model.",
        ),
    ] = None,
    expected: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="How many rows the run should have left.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="OTHER", help="Set another run beside it: rows, or a saved JSON report.")
    ] = None,
    format: Annotated[ReportFormat, typer.Option(help="What to write.")] = ReportFormat.TEXT,  # noqa: A002
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; standard output by default.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write each failed row's evidence, class, label and rule.")
    ] = None,
) -> None:
    """Read the logs of a run, and say on whose side its failures lie and which rule said so.

    Each file is recognised by its shape as one of the tools that `failure-kinds sources` lists. Files may be packed as
    .gz or .zst, or be .parquet. Exit code 3 means that some lines were unreadable; everything else is reported all the
    same.

    Examples:
        failure-kinds report run/failures.jsonl
        failure-kinds report jobs/ logs/2026-11-29.eval
        failure-kinds report out.json --source my_tool.yaml
        failure-kinds report runs/ --config team.yaml --by task_id
        failure-kinds report new.jsonl --compare old.jsonl --format markdown
        failure-kinds report run.jsonl.gz --format html -o report.html
    """
    try:
        with ExitStack() as stack:
            if by is not None and not is_key(by):
                message = "no field with a quotation mark, a backslash or a control character can be read"
                raise typer.BadParameter(message, param_hint="--by")
            asked = _Asked(_sources(source or [AUTO], config), config, by)
            read = list(expand_paths(files, file_patterns(asked.sources)))
            own = [*map(str, config or ()), *(name for name in source or () if os.path.isfile(name))]
            _refuse_to_overwrite([*read, *own, *([compare] if compare else ())], output, rows)
            result = _read(files, asked, expected, rows, stack)
            if compare:
                result = _compare(result, compare, asked, stack)
        _write(result, format, output)
    except BrokenPipeError:
        raise
    except UnrecognisedError as error:
        advice = "" if error.aggregate or error.damaged or source else "; --source says what it is"
        write(f"failure-kinds: {error}{advice}", to_stderr=True)
        raise typer.Exit(2) from None
    except OSError as error:
        write(f"failure-kinds: {_what_failed(error)}", to_stderr=True)
        raise typer.Exit(2) from None
    except ImportError as error:
        write(f"failure-kinds: {error}", to_stderr=True)
        raise typer.Exit(2) from None
    if result.account.unreadable or (result.other is not None and result.other.account.unreadable):
        raise typer.Exit(UNREADABLE)


def _refuse_to_overwrite(read: list[str], output: str | None, rows: str | None) -> None:
    """Refuse to write where something is read from, or twice to the same file."""
    written = {"--output": output, "--rows": rows}
    if rows == STANDARD_OUTPUT:
        raise typer.BadParameter("rows go to a file; name one", param_hint="--rows")
    if read.count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be read once", param_hint="-")
    taken = {os.path.realpath(path): path for path in read if os.path.isfile(path)}
    for option, path in written.items():
        if path is not None and path != STANDARD_OUTPUT:
            if (place := os.path.realpath(path)) in taken:
                raise typer.BadParameter(f"{path} is named twice, and would be overwritten", param_hint=option)
            taken[place] = path


class _Asked(NamedTuple):
    """How files are read: the sources that they may be of, the rules, and the field that a report is split by."""

    sources: "tuple[Source, ...]"
    config: list[Path] | None
    by: str | None


def _sources(names: list[str], config: list[Path] | None) -> "tuple[Source, ...]":
    if names == [AUTO]:  # which takes no validation, and so no waiting for its framework
        from ..sources.bundled import bundled_sources

        return tuple(bundled_sources().values())
    from ..sources.failure_rows import sources_named

    return sources_named(names, registry_of(config))


def _read(files: list[str], asked: _Asked, expected: int | None, rows: str | None, stack: ExitStack) -> "FailureReport":
    from ..scan import BUNDLED_NAMES
    from ..scan_processes import ScanProcesses

    # Reading starts before the vocabulary is loaded, which alone takes as long as a hundred megabytes; a team's own
    # names must be known before, though.
    registry, known = None, BUNDLED_NAMES
    if asked.config or os.environ.get("FAILURE_KINDS_FILES"):
        from ..report import known_names

        registry = registry_of(asked.config)
        known = known_names(registry)
    paths = [] if rows else expand_paths(files, file_patterns(asked.sources))
    processes = stack.enter_context(ScanProcesses(paths, asked.sources, asked.by, known, files))

    from ..report import report_failures

    return report_failures(
        files,
        source=asked.sources,
        registry=registry,
        expected=expected,
        by=asked.by,
        on_row=_row_writer(rows, stack) if rows else None,
        on_progress=_progress(stack) if sys.stderr.isatty() else None,
        processes=processes,
    )


def _compare(result: "FailureReport", path: str, asked: _Asked, stack: ExitStack) -> "FailureReport":
    from ..report import compare_reports, is_saved_report, read_report

    if not is_saved_report(path):
        return compare_reports(result, _read([path], asked, None, None, stack))
    try:
        return compare_reports(result, read_report(path))
    except ValueError:
        raise typer.BadParameter(
            f"{path} is no report that was saved with --format json", param_hint="--compare"
        ) from None


def _write(result: "FailureReport", written_as: ReportFormat, output: str | None) -> None:
    if output is not None and output != STANDARD_OUTPUT:
        with whole_file(output) as file:
            file.write(_rendered(result, written_as).encode("utf-8"))
    elif written_as is ReportFormat.TEXT:
        from .report_text import print_report

        print_report(result, console())
    else:
        # As UTF-8 whatever the locale: it is data, and says so itself.
        sys.stdout.flush()
        sys.stdout.buffer.write(_rendered(result, written_as).encode("utf-8"))
        sys.stdout.buffer.flush()


def _rendered(result: "FailureReport", written_as: ReportFormat) -> str:
    match written_as:
        case ReportFormat.JSON:
            return result.model_dump_json(indent=2) + "\n"
        case ReportFormat.MARKDOWN:
            from .report_markdown import markdown_report

            return markdown_report(result)
        case ReportFormat.HTML:
            from .report_html import html_report

            return html_report(result)
    return _text(result)


def _text(result: "FailureReport") -> str:
    from .report_text import print_report

    text = io.StringIO()
    print_report(result, console(text))
    return text.getvalue()


def _what_failed(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()


def _row_writer(path: str, stack: ExitStack) -> "OnRow":
    """A function that writes a row's evidence and answer as a line; the file is there when the stack is closed."""
    import msgspec

    file = stack.enter_context(whole_file(path))
    encode = msgspec.json.encode

    def write_row(source: str, number: int, place: str | None, evidence: "Evidence", found: "Explanation") -> None:
        row = {
            "file": source,
            "line": number,
            "place": place,
            "failure_kind": evidence.failure_kind,
            "unmapped": evidence.unmapped,
            "stage": evidence.stage,
            "http_status": evidence.http_status,
            "policy": evidence.policy,
            "failure_class": found.failure_class.value,
            "label": found.label,
            "rule": found.rule,
        }
        file.write(encode(row) + b"\n")

    return write_row


def _progress(stack: ExitStack) -> "OnProgress":
    """A progress bar on standard error, for files that are long or that nobody knows the length of."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, TaskID] = {}

    def show(path: str, position: int, size: int | None) -> None:
        if size is not None and size < _LONG:
            return
        if not tasks:
            stack.enter_context(bar)
        if path not in tasks:
            tasks[path] = bar.add_task(path, total=size)
        bar.update(tasks[path], completed=position)

    return show

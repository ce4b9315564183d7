"""The app: its commands, its help, and the one place where a bad vocabulary ends a command."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Final, NamedTuple

import typer

from ..errors import VocabularyError
from .console import write
from .diff import diff
from .files import check, constants, schema
from .report import report
from .sources import list_sources, show_source
from .sql import sql
from .vocabulary import explain, list_kinds, show

__all__ = ["app"]

_COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "list": list_kinds,
    "show": show,
    "explain": explain,
    "check": check,
    "diff": diff,
    "report": report,
    "sql": sql,
    "schema": schema,
    "constants": constants,
}

_EXAMPLES: Final = "Examples:"


def __dir__() -> list[str]:
    return __all__


# Without rich's markup, help is the same in a pipe as on a terminal, and nobody waits for rich to be imported.
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
"""The command `failure-kinds`."""


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from ..loading import load_registry

        write(f"failure-kinds {version('failure-kinds')}, vocabulary {load_registry().version}")
        raise typer.Exit


def _failure_kinds(
    version: Annotated[  # the callback answers
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the versions and exit."),
    ] = False,
) -> None:
    """What goes wrong in an LLM-agent evaluation or an RL rollout, and on whose side it lies.

    Examples:
        failure-kinds show agent_timeout
        failure-kinds explain provider_oom_killed --stage agent
        failure-kinds report failures.jsonl
    """


class _Help(NamedTuple):
    """The docstring of a command in parts: what lists of commands say, the text, and the examples, line for line."""

    summary: str
    text: str
    examples: str


def _help(command: Callable[..., None]) -> _Help:
    text, _, examples = (inspect.getdoc(command) or "").partition(_EXAMPLES)
    summary = text.partition("\n\n")[0]
    return _Help(summary, text.strip(), f"\b\n{_EXAMPLES}{examples.rstrip()}")


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """A command that says what is wrong with the vocabulary it was to work with, and exits with 2."""

    @functools.wraps(command)
    def guarded(*args: object, **options: object) -> None:
        try:
            command(*args, **options)
        except VocabularyError as error:
            write(str(error), to_stderr=True)
            raise typer.Exit(2) from None

    return guarded


def _add(to: typer.Typer, name: str, command: Callable[..., None]) -> None:
    about = _help(command)
    to.command(name, short_help=about.summary, help=about.text, epilog=about.examples)(_guarded(command))


_about = _help(_failure_kinds)
app.callback(help=_about.text, epilog=_about.examples)(_failure_kinds)
for _name, _command in _COMMANDS.items():
    _add(app, _name, _command)

_sources = typer.Typer(rich_markup_mode=None)
_about = _help(list_sources)
_sources.callback(invoke_without_command=True, short_help=_about.summary, help=_about.text, epilog=_about.examples)(
    _guarded(list_sources)
)
_add(_sources, "show", show_source)
app.add_typer(_sources, name="sources")

"""What the commands write with: right on a terminal and in a pipe, in every encoding."""

from __future__ import annotations

import codecs
import io
import sys
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.text import Text

__all__ = ["CLASS_STYLES", "console", "make_encodable", "write", "write_json", "write_table"]

CLASS_STYLES: Final = {"evaluation": "cyan", "model": "magenta", "unknown": "yellow"}
"""Failure class -> the style in which its name stands on a terminal."""

_UNENCODABLE: Final = "failure_kinds.ascii"

# One character for one, so that columns and carets stay where they are.
_LOOKALIKES: Final = str.maketrans("…─━│┃█▌▏■•→", "~--||###**>")

_NARROWEST: Final = 20  # in fewer columns, rich prints nothing in the end
_NO_LIMIT: Final = 1_000_000


def __dir__() -> list[str]:
    return __all__


def console() -> Console:
    """Return a rich console for standard output: plain text without markup, as wide in a pipe as what it prints."""
    from rich.console import Console

    plain = Console(markup=False, emoji=False, highlight=False)
    plain.width = max(plain.width, _NARROWEST) if sys.stdout.isatty() else _NO_LIMIT
    return plain


def make_encodable(*streams: TextIO) -> None:
    """Have streams write what their encoding can't carry as a lookalike or an escape, rather than raise."""
    codecs.register_error(_UNENCODABLE, _lookalike)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_UNENCODABLE)


def _lookalike(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_LOOKALIKES)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


def write(text: str, *, to_stderr: bool = False) -> None:
    """Write a line, or several, as they are.

    It is written at once, so that a closed pipe is noticed here, where it is dealt with, and not when Python exits.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    stream.write(f"{text}\n")
    stream.flush()


def write_json(value: Any) -> None:
    """Write plain data as JSON."""
    import json

    write(json.dumps(value, indent=2))  # ASCII only: it stays JSON in every encoding


def write_table(rows: Iterable[Sequence[str | Text]], indent: int = 0) -> None:
    """Write rows of equal length as aligned columns, with no lines around them and no spaces at the end of a line."""
    from rich.padding import Padding
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    for column in table.columns:
        column.overflow = "fold"
    target = console()
    with target.capture() as captured:
        target.print(Padding(table, (0, 0, 0, indent), expand=False))
    write("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))

"""What the commands write with: right on a terminal and in a pipe, in every encoding."""

from __future__ import annotations

import codecs
import io
import sys
from typing import IO, TYPE_CHECKING, Any, Final, TextIO

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
_GAP: Final = "  "
_HANGING: Final = 4  # how far the lines of a row that has several stand in


def __dir__() -> list[str]:
    return __all__


def console(file: IO[str] | None = None) -> Console:
    """Return a rich console: plain text without markup, as wide in a pipe or a file as what it prints.

    Args:
        file: Where it writes to; standard output by default.
    """
    from rich.console import Console

    plain = Console(file=file, markup=False, emoji=False, highlight=False)
    plain.width = max(plain.width, _NARROWEST) if (file or sys.stdout).isatty() else _NO_LIMIT
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
    """Write rows of equal length as aligned columns, with no lines around them and no spaces at the end of a line.

    On a terminal that is too narrow for the columns, the cells of a row follow each other, and break between words.
    """
    from rich.text import Text

    texts = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    widths = [max(text.cell_len for text in column) for column in zip(*texts, strict=True)]
    target = console()
    fits = not target.is_terminal or indent + sum(widths) + len(_GAP) * (len(widths) - 1) <= target.width
    lines: list[Text] = []
    for row in texts:
        if fits:
            for text, width in zip(row, widths, strict=True):
                text.align("left", width)
            lines.append(Text(" " * indent) + Text(_GAP).join(row))
        else:
            first, *rest = Text(_GAP).join(filter(len, row)).wrap(target, target.width - indent - _HANGING)
            lines += [Text(" " * indent) + first, *(Text(" " * (indent + _HANGING)) + line for line in rest)]
    with target.capture() as captured:
        for line in lines:
            line.rstrip()
            target.print(line, soft_wrap=True)
    write(captured.get().rstrip("\n"))

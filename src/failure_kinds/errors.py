"""What can be wrong with a vocabulary file, a name, a table or SQL, as values that carry all that a message needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from .spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ColumnClashError",
    "ColumnTypeError",
    "FailureKindsError",
    "MissingColumnError",
    "Problem",
    "SqlError",
    "TableError",
    "UnregisteredKindError",
    "VocabularyError",
    "excerpt",
]

_EXCERPT_WIDTH: Final = 100
_SHOWN_PROBLEMS: Final = 100


def __dir__() -> list[str]:
    return __all__


class FailureKindsError(Exception):
    """The base of every error that this package raises on purpose."""


class UnregisteredKindError(FailureKindsError, ValueError):
    """A name isn't one that a producer may emit.

    Attributes:
        name: The name as it was given, whatever its type.
    """

    def __init__(self, message: str, name: object) -> None:
        super().__init__(message, name)
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])


class TableError(FailureKindsError):
    """The base of what can be wrong with a table."""


class MissingColumnError(TableError, LookupError):
    """A table has no column of a name."""


class ColumnTypeError(TableError, TypeError):
    """A column is of a type that holds no evidence of its kind, or something is no table."""


class ColumnClashError(TableError, ValueError):
    """A column has the name of another, or a new one would."""


class SqlError(FailureKindsError, ValueError):
    """The rules can't be written in a dialect of SQL, or not over such columns.

    Attributes:
        argument: The argument of `rules_as_sql` that is wrong.
    """

    def __init__(self, message: str, argument: str) -> None:
        super().__init__(message, argument)
        self.argument = argument

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a vocabulary, and where.

    Attributes:
        file: The file as it was named by whoever asked for it, or `<mapping>` for a Python mapping.
        line: Its line, counted from 1; None where the file as a whole is meant.
        column: The column in characters, counted from 1; None where there is none.
        message: What is wrong and what to do about it, in one line.
        excerpt: The line, or the part of it around the column, with a caret below the spot; None where there is no
            line. It takes no part in comparisons.
    """

    file: str
    line: int | None
    column: int | None
    message: str
    excerpt: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}"

    def render(self) -> str:
        """Return the problem as text: place and message, and below them the excerpt."""
        return str(self) if self.excerpt is None else f"{self}\n{self.excerpt}"


class VocabularyError(FailureKindsError, ValueError):
    """A vocabulary can't be used; all that is wrong with it is said at once.

    Attributes:
        problems: Every problem, in the order of the files. The error's text shows the first hundred.
        loaded: The vocabulary that the files were to be laid over, such as `vocabulary 1.0.0 from failure_kinds.yaml`.
    """

    def __init__(self, problems: Iterable[Problem], loaded: str | None = None) -> None:
        self.problems = tuple(problems)
        self.loaded = loaded
        super().__init__(self.problems, loaded)

    def __str__(self) -> str:
        blocks = [problem.render() for problem in self.problems[:_SHOWN_PROBLEMS]]
        if len(self.problems) > _SHOWN_PROBLEMS:
            blocks.append(f"... and {len(self.problems) - _SHOWN_PROBLEMS} more")
        if self.loaded is not None:
            count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
            blocks.append(f"{count}; checked against {self.loaded}")
        return "\n".join(blocks)


def excerpt(text: str, start: int, end: int, spot: int) -> str:
    """Return a line of a text with a caret below a spot of it; of a long line, the part around the spot.

    Args:
        text: The whole text.
        start: Where the line starts in it.
        end: Where the line ends.
        spot: Where the spot is.
    """
    first, last = start, end
    if end - start > _EXCERPT_WIDTH:
        first = max(start, spot - _EXCERPT_WIDTH // 2)
        last = min(end, first + _EXCERPT_WIDTH)
    before = ("…" if first > start else "") + _one_line(text[first:spot])
    after = _one_line(text[spot:last]) + ("…" if last < end else "")
    return f"    {(before + after).rstrip()}\n    {' ' * sum(map(_cells, before))}^"


def _one_line(text: str) -> str:
    return printable(text.replace("\t", " "))


def _cells(character: str) -> int:
    """How many terminal cells a character takes."""
    import unicodedata

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

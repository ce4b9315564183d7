"""What can be wrong with a vocabulary file or with a name, as values that carry all that a message needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FailureKindsError", "Problem", "UnregisteredKindError", "VocabularyError"]

_EXCERPT_WIDTH = 100


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


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a vocabulary, and where.

    Attributes:
        file: The file as it was named by whoever asked for it, or `<mapping>` for a Python mapping.
        line: Its line, counted from 1; None where the file as a whole is meant.
        column: The column in characters, counted from 1; None where there is none.
        message: What is wrong and what to do about it, in one line.
        source_line: The text of the line, for the excerpt; it takes no part in comparisons.
    """

    file: str
    line: int | None
    column: int | None
    message: str
    source_line: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}"

    def render(self) -> str:
        """Return the problem as text: place and message, then the line with a caret under the spot."""
        if self.source_line is None or self.column is None:
            return str(self)
        excerpt, caret = _excerpt(self.source_line, self.column)
        return f"{self}\n    {excerpt}\n    {caret}"


class VocabularyError(FailureKindsError, ValueError):
    """A vocabulary can't be used; all that is wrong with it is said at once.

    Attributes:
        problems: Every problem, in the order of the files.
        loaded: The vocabulary that the files were to be laid over, such as `vocabulary 1.0.0 from failure_kinds.yaml`.
    """

    def __init__(self, problems: Iterable[Problem], loaded: str | None = None) -> None:
        self.problems = tuple(problems)
        self.loaded = loaded
        super().__init__(self.problems, loaded)

    def __str__(self) -> str:
        blocks = [problem.render() for problem in self.problems]
        if self.loaded is not None:
            count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
            blocks.append(f"{count}; checked against {self.loaded}")
        return "\n".join(blocks)


def _excerpt(line: str, column: int) -> tuple[str, str]:
    """The part of a line around a column, safe to print, and a caret that stands under the column."""
    start = max(0, column - 1 - _EXCERPT_WIDTH // 2) if len(line) > _EXCERPT_WIDTH else 0
    end = start + _EXCERPT_WIDTH
    before = ("…" if start else "") + "".join(map(_printable, line[start : column - 1]))
    after = "".join(map(_printable, line[column - 1 : end])) + ("…" if len(line) > end else "")
    return (before + after).rstrip(), " " * sum(map(_cells, before)) + "^"


def _printable(character: str) -> str:
    """A character that can't harm a terminal: tabs are one space, what doesn't print is shown by its escape."""
    if character == "\t":
        return " "
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def _cells(character: str) -> int:
    """How many terminal cells a character takes."""
    import unicodedata

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

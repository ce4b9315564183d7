"""One layer of a vocabulary, a YAML file or a Python mapping: what it says, and where each thing is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, Protocol

from .errors import Problem
from .failure_class import FailureClass
from .reading import MAX_DEPTH
from .spelling import plain_text, shown

if TYPE_CHECKING:
    from .findings import Finding
    from .reading import NodePath, YamlFile

__all__ = ["FileLayer", "Layer", "MappingLayer"]

MAPPING: Final = "<mapping>"
"""What a Python mapping is called where a file would be named."""


def __dir__() -> list[str]:
    return __all__


class Layer(Protocol):
    """What a layer says, and where."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What it says, as plain data."""

    @property
    def refused(self) -> Collection[NodePath]:
        """Where the nodes would be that were refused."""

    def origin(self, path: NodePath) -> str:
        """Return where a node is written, for people."""

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """Return what was found wrong with it as problems with a place, in order."""


class FileLayer:
    """A YAML file."""

    def __init__(self, file: YamlFile) -> None:
        self.file = file

    @property
    def refused(self) -> Collection[NodePath]:
        """Where the nodes would be that the reader refused."""
        return self.file.refused

    @property
    def name(self) -> str:
        """The file, as messages name it."""
        return self.file.name

    @property
    def data(self) -> Mapping[str, Any]:
        """What the file says."""
        return self.file.data

    def origin(self, path: NodePath) -> str:
        """Return where a node is written."""
        return f"{self.file.name}:{self.file.line(path)}"

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """Return what the reader refused and what was found elsewhere, in the order of the file."""
        found = [
            self.file.problem(finding.path, finding.message, at_key=finding.at_key)
            for finding in findings
            if not _is_below(finding.path, self.refused)
        ]
        return sorted([*self.file.problems, *found], key=lambda problem: (problem.line or 0, problem.column or 0))


class MappingLayer:
    """A Python mapping of the form that a file has."""

    name = MAPPING

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.refused: set[NodePath] = set()
        self._problems: list[Problem] = []
        self.data: dict[str, Any] = self._plain(data, ())

    def origin(self, path: NodePath) -> str:
        """Return where a node is written."""
        return f"{MAPPING}:{_dotted(path)}"

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """Return what was refused and what was found elsewhere, with the path in place of a line."""
        found = [finding for finding in findings if not _is_below(finding.path, self.refused)]
        return [*self._problems, *(self._problem(finding.path, finding.message) for finding in found)]

    def _problem(self, path: NodePath, message: str) -> Problem:
        return Problem(MAPPING, None, None, f"{_dotted(path)}: {message}")

    def _plain(self, value: Any, path: NodePath) -> Any:
        """A value as it could stand in a file, whatever classes it is made of; what couldn't is refused."""
        if value is None or isinstance(value, bool | float | FailureClass):
            return value
        if isinstance(value, str):
            return plain_text(value)
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Mapping | list | tuple) and len(path) < MAX_DEPTH:
            if not isinstance(value, Mapping):
                return [self._plain(member, (*path, position)) for position, member in enumerate(value)]
            return {key: self._plain(member, (*path, key)) for key, member in self._plain_keys(value, path)}
        self.refused.add(path)
        self._problems.append(self._problem(path, f"{shown(value)} can't stand in a vocabulary"))
        return None

    def _plain_keys(self, value: Mapping[Any, Any], path: NodePath) -> Iterator[tuple[str, Any]]:
        """The keys as text, as they would be written in a file: a number is a status."""
        seen = set()
        for key, member in value.items():
            is_number = isinstance(key, Integral) and not isinstance(key, bool)
            text = f"{int(key):d}" if is_number and 0 <= key < 1000 else plain_text(key)
            if text is None:
                message = f"{shown(key)} can't be a key; write text, or a number of three digits for a status"
                self._problems.append(self._problem((*path, shown(key)), message))
            elif text in seen:
                message = f"{shown(text)} is given twice, as a number and as text; keep one of them"
                self._problems.append(self._problem((*path, text), message))
            else:
                seen.add(text)
                yield text, member


def _is_below(path: NodePath, refused: Collection[NodePath]) -> bool:
    """Whether a node is one of those that were refused, or below one."""
    return any(path[:length] in refused for length in range(len(path) + 1))


def _dotted(path: NodePath) -> str:
    return ".".join(map(str, path))

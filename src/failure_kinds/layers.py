"""One layer of a vocabulary, a YAML file or a Python mapping: what it says, and where each thing is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .findings import Finding
    from .reading import NodePath, YamlFile

__all__ = ["FileLayer", "Layer", "MappingLayer"]

MAPPING = "<mapping>"
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

    def origin(self, path: NodePath) -> str:
        """Return where a node is written, for people."""

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """Return what was found wrong with it as problems with a place, in order."""


class FileLayer:
    """A YAML file."""

    def __init__(self, file: YamlFile) -> None:
        self.file = file

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
            if not self._below_refused(finding.path)
        ]
        return sorted([*self.file.problems, *found], key=lambda problem: (problem.line or 0, problem.column or 0))

    def _below_refused(self, path: NodePath) -> bool:
        return any(path[:length] in self.file.refused for length in range(len(path) + 1))


class MappingLayer:
    """A Python mapping of the form that a file has."""

    name = MAPPING

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    def origin(self, path: NodePath) -> str:
        """Return where a node is written."""
        return f"{MAPPING}:{_dotted(path)}"

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """Return what was found, with the path in place of a line."""
        return [
            Problem(MAPPING, None, None, f"{_dotted(finding.path)}: {finding.message}")  # no path is ever empty
            for finding in findings
        ]


def _dotted(path: NodePath) -> str:
    return ".".join(map(str, path))

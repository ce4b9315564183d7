"""Loading a source by its name or from a file of one's own, which is checked first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from ..active import get_registry
from ..errors import Problem, VocabularyError
from ..findings import Finding, findings_in
from ..layers import FileLayer
from ..reading import read_yaml
from ..spelling import did_you_mean, shown
from .bundled import bundled_source, source_resources
from .document import SourceDocument
from .parsing import source_from

if TYPE_CHECKING:
    from importlib_resources.abc import Traversable

    from ..reading import NodePath, YamlFile
    from ..registry import FailureRegistry
    from .source import Source

__all__ = ["check_source", "is_source", "load_source"]

_OF_VOCABULARIES: Final = ("classification", "domains", "groups", "kinds", "retired", "stages")
_ENDINGS: Final = (".yaml", ".yml")


def __dir__() -> list[str]:
    return __all__


def load_source(source: str | os.PathLike[str] | Traversable, registry: FailureRegistry | None = None) -> Source:
    """Load a source.

    Args:
        source: The name of one that comes with the package, or the path of a YAML file.
        registry: The vocabulary that its kinds and stages are names of; by default the active one.

    Raises:
        VocabularyError: There is no such source, or something is wrong with the file; it says everything that is.

    >>> load_source("harbor").title
    'Harbor'
    """
    if isinstance(source, str) and source in source_resources():
        return bundled_source(source)
    if isinstance(source, str) and not source.endswith(_ENDINGS) and not os.path.lexists(source):
        known = source_resources()
        advice = did_you_mean(source, known) or f"; it is one of {', '.join(known)}"
        message = f"there is no source of this name, and no such file{advice}"
        raise VocabularyError([Problem(shown(source), None, None, message)])
    return check_source(read_yaml(source), get_registry() if registry is None else registry)


def is_source(file: YamlFile) -> bool:
    """Whether a YAML file is meant to be a source, and no vocabulary."""
    return "source" in file.data


def check_source(file: YamlFile, registry: FailureRegistry) -> Source:
    """Return the source that a file describes.

    Raises:
        VocabularyError: Something is wrong with it.
    """
    findings: list[Finding] = []
    if not is_source(file) and not file.data.keys().isdisjoint(_OF_VOCABULARIES):
        findings = [Finding((), "this is a vocabulary, or laid over one, and no source; --config takes it")]
        raise VocabularyError(FileLayer(file).problems(findings))
    try:
        SourceDocument.model_validate(file.data, context=registry)
    except ValidationError as error:
        found = findings_in(error, SourceDocument)
        findings = [finding._replace(path=_as_written(finding.path, file.data)) for finding in found]
    if problems := FileLayer(file).problems(findings):
        raise VocabularyError(problems, f"vocabulary {registry.version}")
    return source_from(file.data, bundled_source)


def _as_written(path: NodePath, node: Any) -> NodePath:
    """A path as it leads through the file, where the one member of a list may be written alone."""
    written: NodePath = ()
    for step in path:
        if isinstance(node, list) and isinstance(step, int):
            written, node = (*written, step), node[step]
        elif isinstance(step, str):
            written, node = (*written, step), node.get(step) if isinstance(node, Mapping) else None
    return written

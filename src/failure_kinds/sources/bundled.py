"""The sources that come with the package. They are known to be right, so that reading them takes no validation."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import importlib_resources

from ..frozen import FrozenDict
from ..reading import read_yaml
from .parsing import source_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from importlib_resources.abc import Traversable

    from .source import Source

__all__ = ["bundled_source", "bundled_sources", "source_resources"]


def __dir__() -> list[str]:
    return __all__


@functools.cache
def source_resources() -> Mapping[str, Traversable]:
    """Return the files of the package's sources, by the name of the source."""
    folder = importlib_resources.files("failure_kinds.vocabulary") / "sources"
    files = {file.name.removesuffix(".yaml"): file for file in folder.iterdir() if file.name.endswith(".yaml")}
    return FrozenDict(sorted(files.items()))


@functools.cache
def bundled_source(name: str) -> Source:
    """Return a source of the package; a KeyError means that there is none of that name."""
    return source_from(read_yaml(source_resources()[name]).data, bundled_source)


def bundled_sources() -> Mapping[str, Source]:
    """Return the sources of the package, by name."""
    return FrozenDict({name: bundled_source(name) for name in source_resources()})

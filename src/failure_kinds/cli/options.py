"""Options that commands share, and how a shell completes names of the vocabulary."""

# No postponed annotations here: typer reads them.
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from ..registry import FailureRegistry

__all__ = ["LAYER", "SOURCE", "WHOLE", "ConfigFiles", "Json", "completing", "registry_of", "sort_of"]

WHOLE: Final = "whole"
"""A whole vocabulary: it states a `version`."""

SOURCE: Final = "source"
"""A file that says how a tool's failures are read."""

LAYER: Final = "layer"
"""A file that is laid over a vocabulary."""

ConfigFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Lay this file over the bundled vocabulary; several in the order given. [default: FAILURE_KINDS_FILES]",
    ),
]
"""Files to lay over the bundled vocabulary, for `registry_of`."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
"""Whether to print JSON."""


def __dir__() -> list[str]:
    return __all__


def registry_of(files: list[Path] | None) -> "FailureRegistry":
    """Return the bundled vocabulary with files laid over it; the active one if there are none.

    Raises:
        VocabularyError: Something is wrong with the files.
    """
    from ..active import get_registry
    from ..loading import load_registry

    return load_registry(*files) if files else get_registry()


def sort_of(file: Path) -> str:
    """Return what a file is meant to be: `WHOLE`, `SOURCE` or `LAYER`.

    Raises:
        VocabularyError: It can't be read.
    """
    from ..reading import read_yaml

    data = read_yaml(file).data
    return SOURCE if SOURCE in data else WHOLE if "version" in data else LAYER


def completing(*sections: str) -> Callable[[str], list[str]]:
    """Return a completion of names in sections of the active vocabulary, such as `"kinds"` or `"stages"`."""

    def complete(incomplete: str) -> list[str]:
        from ..errors import VocabularyError

        try:
            registry = registry_of(None)
        except VocabularyError:
            return []  # the command itself says what is wrong
        names = {name for section in sections for name in getattr(registry, section)}
        return sorted(name for name in names if name.startswith(incomplete))

    return complete

"""The active registry: the one that is asked when a call names no configuration."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from .errors import VocabularyError
from .loading import load_registry
from .registry import FailureRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FILES_VARIABLE", "get_registry", "reset_registry", "set_registry", "using_registry"]

FILES_VARIABLE = "FAILURE_KINDS_FILES"
"""The environment variable that names files to lay over the bundled vocabulary, separated as in `PATH`."""

_scoped: ContextVar[FailureRegistry | None] = ContextVar("failure_kinds_registry", default=None)
_active: FailureRegistry | None = None
_lock = threading.Lock()


def __dir__() -> list[str]:
    return __all__


def get_registry() -> FailureRegistry:
    """Return the active registry: of `using_registry`, else of `set_registry`, else loaded on first use.

    What is loaded is the bundled vocabulary, with the files named in `FAILURE_KINDS_FILES` laid over it.

    Raises:
        VocabularyError: It has to be loaded, and something is wrong with the files.
    """
    return _scoped.get() or _active or _load()


def _load() -> FailureRegistry:
    global _active
    with _lock:
        if _active is None:
            files = os.environ.get(FILES_VARIABLE, "").split(os.pathsep)
            try:
                _active = load_registry(*filter(None, files))
            except VocabularyError as error:
                hint = f"{error.loaded or 'nothing'}; the files are those that {FILES_VARIABLE} names"
                raise VocabularyError(error.problems, hint) from None
        return _active


def set_registry(registry: FailureRegistry) -> None:
    """Make a registry the active one, for the whole process.

    Args:
        registry: What `load_registry` returned.

    Raises:
        TypeError: It is something else, such as a file's name.
    """
    global _active
    if not isinstance(registry, FailureRegistry):
        raise TypeError(f"a FailureRegistry is needed, such as load_registry returns, not {registry!r}")
    with _lock:
        _active = registry


def reset_registry() -> None:
    """Forget the active registry, so that it is loaded again on next use; that reads the environment again."""
    global _active
    with _lock:
        _active = None


@contextmanager
def using_registry(registry: FailureRegistry) -> Iterator[FailureRegistry]:
    """Make a registry the active one within a `with` block; tasks started in it inherit it, threads don't.

    Args:
        registry: What `load_registry` returned.
    """
    token = _scoped.set(registry)
    try:
        yield registry
    finally:
        _scoped.reset(token)


def _replace_lock() -> None:  # pragma: no cover  # runs in the child of a fork
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # pragma: no branch
    # A fork while another thread is loading would leave the child with a lock that nobody holds and nobody releases.
    os.register_at_fork(after_in_child=_replace_lock)

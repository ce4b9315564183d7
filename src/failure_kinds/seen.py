"""A bounded memory of names, so that a producer that makes names up can't make the process grow."""

from __future__ import annotations

import os
import threading
from typing import Final, NamedTuple

__all__ = ["LABELLED", "WARNED", "Admission", "SeenNames"]


def __dir__() -> list[str]:
    return __all__


class Admission(NamedTuple):
    """What a memory makes of a name.

    Attributes:
        is_known: Whether the name is remembered.
        is_new: Whether it is since just now.
        is_last: Whether no further one will be.
    """

    is_known: bool
    is_new: bool = False
    is_last: bool = False


class SeenNames:
    """A set of names that takes no more than a given number; safe to use from many threads and in forks."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()  # not the names themselves, which may be of any length
        self._new_lock()
        if hasattr(os, "register_at_fork"):  # pragma: no branch
            os.register_at_fork(after_in_child=self._new_lock)  # another thread may have held it at the fork

    def _new_lock(self) -> None:
        self._lock = threading.Lock()

    def admit(self, name: str, limit: int) -> Admission:
        """Remember a name, unless as many as `limit` are remembered."""
        key = hash(name)
        with self._lock:
            if key in self._hashes:
                return Admission(is_known=True)
            if len(self._hashes) >= limit:
                return Admission(is_known=False)
            self._hashes.add(key)
            return Admission(is_known=True, is_new=True, is_last=len(self._hashes) == limit)

    def clear(self) -> None:
        """Forget every name."""
        with self._lock:
            self._hashes.clear()


WARNED: Final = SeenNames()
"""Names that this process has warned of."""

LABELLED: Final = SeenNames()
"""Namespaced names that this process has used as metric labels."""

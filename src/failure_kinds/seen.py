"""A bounded memory of names, so that a producer that makes names up can't make the process grow."""

from __future__ import annotations

import threading
from typing import Final

__all__ = ["LABELLED", "WARNED", "SeenNames"]


def __dir__() -> list[str]:
    return __all__


class SeenNames:
    """A set of names that takes no more than a given number; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hashes: set[int] = set()  # not the names themselves, which may be of any length

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, name: str) -> bool:
        return hash(name) in self._hashes

    def add(self, name: str, limit: int) -> bool:
        """Remember a name unless as many as `limit` are remembered; return whether it is remembered just now."""
        key = hash(name)
        with self._lock:
            if key in self._hashes or len(self._hashes) >= limit:
                return False
            self._hashes.add(key)
            return True

    def clear(self) -> None:
        """Forget every name."""
        with self._lock:
            self._hashes.clear()


WARNED: Final = SeenNames()
"""Names that this process has warned of."""

LABELLED: Final = SeenNames()
"""Namespaced names that this process has used as metric labels."""

"""A dictionary that can't be changed, for values that are hashed, pickled, compared and dumped to JSON."""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeVar

__all__ = ["FrozenDict"]

K = TypeVar("K")
V = TypeVar("V")


def __dir__() -> list[str]:
    return __all__


class FrozenDict(dict[K, V]):
    """A dict whose contents are set once. It equals a dict with the same items, and hashes if its values do.

    A subclass of dict, because pydantic, json and pickle know what to do with one; the standard library's read-only
    proxy can be neither pickled nor dumped.
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # dict sets it to None
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        # The inherited way sets the items one by one, through the blocked `__setitem__`.
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenDict[K, V]:
        return self

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping can't be changed; make a new one")

    __setitem__: Final = _refuse
    __delitem__: Final = _refuse
    __ior__: Final = _refuse
    clear: Final = _refuse
    pop: Final = _refuse
    popitem: Final = _refuse
    setdefault: Final = _refuse
    update: Final = _refuse

"""The kind that an exception's class stands for, by its name: nothing is imported, and no cause is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .bundled import bundled_source

if TYPE_CHECKING:
    from .source import Source

__all__ = ["failure_kind_of"]

_SOURCE: Final = "python"

# As `cls.__mro__`, whatever the class's own metaclass makes of that.
_mro: Final = type.__dict__["__mro__"].__get__


def __dir__() -> list[str]:
    return __all__


def failure_kind_of(exception: BaseException, source: Source | None = None) -> str | None:
    """Return the failure kind that an exception stands for, or None where its class may mean anything.

    The classes are those of `vocabulary/sources/python.yaml`: Python's own and those of aiohttp, httpx, requests,
    urllib3, openai, anthropic, litellm, docker and modal. The first listed class along the exception's MRO answers, by
    the root package that it belongs to and its name; a class that is listed as meaning anything ends the search. What
    an exception was raised from is its cause, not what happened here, and isn't looked at.

    Args:
        exception: An exception; anything else stands for nothing.
        source: A source that lists classes of exceptions; by default the package's own, `python`.

    >>> failure_kind_of(ConnectionRefusedError()), failure_kind_of(TimeoutError())
    ('transport_unreachable', None)
    """
    if not issubclass(type(exception), BaseException):  # isinstance asks the object, which may say anything
        return None
    known = (bundled_source(_SOURCE) if source is None else source).exceptions
    for base in _mro(type(exception)):
        name = _name_of(base)
        if name in known:
            return known[name]
    return None


def _name_of(base: type) -> str:
    """The name that a class is listed by; nothing if it can't be told, as a class may hold anything as its module."""
    try:
        root, name = f"{base.__module__}".partition(".")[0], f"{base.__name__}"
    except Exception:  # noqa: BLE001  # whatever a metaclass raises
        return ""
    return name if root == "builtins" else f"{root}.{name}"

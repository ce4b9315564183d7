"""The kind that an exception's class stands for, by its name: nothing is imported, and no cause is looked at."""

from __future__ import annotations

from typing import Final

from .bundled import bundled_source

__all__ = ["failure_kind_of"]

_SOURCE: Final = "python"


def __dir__() -> list[str]:
    return __all__


def failure_kind_of(exception: BaseException) -> str | None:
    """Return the failure kind that an exception stands for, or None where its class may mean anything.

    The classes are those of `vocabulary/sources/python.yaml`: Python's own and those of aiohttp, httpx, requests,
    urllib3, openai, anthropic, litellm, docker and modal. The first listed class along the exception's MRO answers, by
    the root package that it belongs to and its name; a class that is listed as meaning anything ends the search. What
    an exception was raised from is its cause, not what happened here, and isn't looked at.

    Args:
        exception: An exception; anything else stands for nothing.

    >>> failure_kind_of(ConnectionRefusedError()), failure_kind_of(TimeoutError())
    ('transport_unreachable', None)
    """
    known = bundled_source(_SOURCE).exceptions
    for base in type(exception).__mro__:
        root = base.__module__.partition(".")[0]
        name = base.__name__ if root == "builtins" else f"{root}.{base.__name__}"
        if name in known:
            return known[name]
    return None

"""How names are spelt, and which known name an unknown one may have been meant to be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean", "encodable", "is_name", "is_namespaced", "nearest", "plain_text", "printable", "shown"]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NAMESPACED = re.compile(r"[a-z][a-z0-9_]*:[a-z][a-z0-9_]*")

_LONGEST_SHOWN = 100


def __dir__() -> list[str]:
    return __all__


def is_name(value: object) -> bool:
    """Whether a value is text of the form that names have: `[a-z][a-z0-9_]*`, in full."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def is_namespaced(name: object) -> bool:
    """Whether a name is an environment's own: `<server>:<kind>`, both parts of the form that names have.

    Args:
        name: Anything that was recorded; what isn't text is no name.

    >>> is_namespaced("my_env:no_quota"), is_namespaced("agent_timeout"), is_namespaced(None)
    (True, False, False)
    """
    return isinstance(name, str) and _NAMESPACED.fullmatch(name) is not None


def shown(value: object) -> str:
    """A value as a message shows it: quoted, what isn't plain ASCII as its escapes, shortened if it is long."""
    if isinstance(value, str):
        return ascii(value) if len(value) <= _LONGEST_SHOWN else ascii(value[:_LONGEST_SHOWN]) + "..."
    if value is None or isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= 64):
        return repr(value)
    return f"a value of type {type(value).__name__}"


def printable(text: str) -> str:
    """Text with an escape in place of each character that doesn't print, so that it can't harm a terminal."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def encodable(text: str) -> str:
    """Text with an escape in place of each half of a character, so that it can be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_text(value: object) -> str | None:
    """A value as text of the built-in type, whatever its own class does to comparing and hashing; or None."""
    if type(value) is str:
        return value
    return str.__str__(value) if isinstance(value, str) else None


def nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one is closest to, or None if none is close."""
    if not isinstance(name, str) or len(name) > _LONGEST_SHOWN:
        return None
    import difflib  # where nothing is misspelt, nobody waits for it

    wanted = name.strip().casefold().replace("-", "_").replace(" ", "_")
    matches = difflib.get_close_matches(wanted, sorted(known), n=1)
    return matches[0] if matches else None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest known name, or nothing."""
    match = nearest(name, known)
    return f"; did you mean {match!r}?" if match else ""

"""What must be so in a row for a rule to be about it, and values as the texts that rules list."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..spelling import encodable
from .paths import parse_path, values_at
from .source import ALWAYS

if TYPE_CHECKING:
    from .source import Condition

__all__ = ["holds", "json_of", "shortened", "text_of"]

_LONGEST_NAME: Final = 200

_parsed: Final = lru_cache(parse_path)


def __dir__() -> list[str]:
    return __all__


def holds(condition: Condition, place: Any) -> bool:
    """Whether something is so in a row, or in an object within one."""
    if condition is ALWAYS:  # as nearly all are
        return True

    def values(field: str) -> list[Any]:
        return [value for value in values_at(place, _parsed(field), place) if value is not None]

    return (
        all(map(values, condition.all))
        and (not condition.any or any(map(values, condition.any)))
        and not any(map(values, condition.none))
        and all(text_of(value) in wanted for field, wanted in condition.equal.items() for value in values(field))
    )


def text_of(value: Any) -> str | None:
    """A value as text that is no longer than a name may be and can be written anywhere; what isn't text as JSON."""
    if value is None:
        return None
    return shortened(value if isinstance(value, str) else json_of(value))


def shortened(text: str) -> str:
    """A text that is no longer than a name may be, and can be written anywhere."""
    written = encodable(text)
    return written if len(written) <= _LONGEST_NAME else written[:_LONGEST_NAME] + "..."


def json_of(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

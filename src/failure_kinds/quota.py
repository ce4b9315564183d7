"""When a quota resets, from the one phrase that providers' messages say it with.

This is no classification: the time is for whoever decides when to try again, and no class depends on it.
"""

from __future__ import annotations

import calendar
import re
import time
from typing import Final

__all__ = ["QUOTA_RESET_REGEX", "quota_reset_text", "quota_reset_unix"]

QUOTA_RESET_REGEX: Final = r"resets at (\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC)"
"""The phrase; its group is the time."""

_PATTERN: Final = re.compile(QUOTA_RESET_REGEX, re.ASCII)


def __dir__() -> list[str]:
    return __all__


def quota_reset_text(reason: object) -> str | None:
    """Return the time in the phrase `resets at YYYY-MM-DD HH:MM UTC`, without `resets at`.

    Args:
        reason: A failure's reason; what isn't text says nothing.

    Returns:
        The first such time as it is written, or None.

    >>> quota_reset_text("Quota exceeded; resets at 2026-03-01 00:00 UTC.")
    '2026-03-01 00:00 UTC'
    """
    match = _PATTERN.search(reason) if isinstance(reason, str) else None
    return match.group(1) if match else None


def quota_reset_unix(reason: object) -> int | None:
    """Return the time of `quota_reset_text` in seconds since 1970-01-01 UTC, whatever the machine's time zone.

    Args:
        reason: A failure's reason; what isn't text says nothing.

    Returns:
        The time, or None where there is none or no such date exists.

    >>> quota_reset_unix("resets at 1970-01-02 00:00 UTC")
    86400
    """
    text = quota_reset_text(reason)
    if text is None:
        return None
    try:
        return calendar.timegm(time.strptime(text, "%Y-%m-%d %H:%M UTC"))
    except ValueError:
        return None

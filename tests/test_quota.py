"""When a quota resets."""

from __future__ import annotations

import re
import time

import pytest

from failure_kinds import QUOTA_RESET_REGEX, quota_reset_text, quota_reset_unix


def test_the_phrase_is_found_wherever_it_stands() -> None:
    assert quota_reset_text("429: quota exhausted, resets at 2026-03-01 12:30 UTC; try later") == "2026-03-01 12:30 UTC"
    assert quota_reset_unix("resets at 2026-03-01 12:30 UTC") == 1772368200
    match = re.search(QUOTA_RESET_REGEX, "resets at 2026-03-01 12:30 UTC")
    assert match is not None


@pytest.mark.parametrize(
    "reason",
    [
        None,
        5,
        ["resets at 2026-03-01 12:30 UTC"],
        "",
        "resets in 4h",
        "resets at 2026-03-01 12:30",
        "resets at 2026-3-1 12:30 UTC",
        "resets at ٢٠٢٦-٠٣-٠١ ١٢:٣٠ UTC",
    ],
)
def test_nothing_else_is_one(reason: object) -> None:
    assert quota_reset_text(reason) is None
    assert quota_reset_unix(reason) is None


@pytest.mark.parametrize("date", ["2026-02-30 00:00", "2026-13-01 00:00", "2026-01-01 24:00", "0000-01-01 00:00"])
def test_a_date_that_does_not_exist_has_a_text_and_no_time(date: str) -> None:
    assert quota_reset_text(f"resets at {date} UTC") == f"{date} UTC"
    assert quota_reset_unix(f"resets at {date} UTC") is None


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone can't be set here")
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_the_machines_time_zone_makes_no_difference(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert quota_reset_unix("resets at 1970-01-01 00:01 UTC") == 60
    finally:
        monkeypatch.undo()
        time.tzset()

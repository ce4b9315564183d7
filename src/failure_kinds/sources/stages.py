"""The stage in which a rollout failed, by the fields of its row: as it is written, or by when each phase began."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from .conditions import holds, text_of
from .paths import values_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .source import StageRule

__all__ = ["stage_in"]


def __dir__() -> list[str]:
    return __all__


def stage_in(places: tuple[Any, ...], rules: tuple[StageRule, ...], row: Mapping[str, Any]) -> str | None:
    """Return the stage that the first of some rules to know it says; None if none does.

    Args:
        places: The objects that describe the failure, the closest first.
        rules: Where the stage may stand, in order of preference.
        row: The row.
    """
    for place in places:
        for rule in (rule for rule in rules if holds(rule.when, row)):
            for value in values_at(place, rule.field, row):
                if stage := _stage_by(rule, value, place, row):
                    return stage
    return None


def _stage_by(rule: StageRule, value: Any, place: Any, row: Mapping[str, Any]) -> str | None:
    if rule.stage:
        return rule.stage
    if rule.phases:
        return _phase_at(value, place, rule, row)
    written = text_of(value)
    return rule.values.get(written or "", written)


def _phase_at(time: Any, place: Any, rule: StageRule, row: Mapping[str, Any]) -> str | None:
    """The stage of the phase that began last before a failure was recorded.

    A phase may have ended by then, because tools write down what failed when they have cleaned up behind it. Where the
    times can't be compared, as one without a time zone can't, a run that never came to its last phase stopped in the
    one that began last.
    """
    began: list[tuple[datetime, str]] = []
    for path, stage in rule.phases:
        for phase in values_at(place, path, row):
            start = _time(phase.get("started_at")) if isinstance(phase, dict) else None
            if start is not None:
                began.append((start, stage))
    failed = _time(time)
    if failed is not None:
        began = [phase for phase in began if phase[0] <= failed]
    if not began:
        return None
    _, stage = max(reversed(began), key=lambda phase: phase[0])  # the later one of two that began together
    return None if failed is None and stage == rule.phases[-1][1] else stage


def _time(value: Any) -> datetime | None:
    """A time with its zone; None for all else."""
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is not None else None

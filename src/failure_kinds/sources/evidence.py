"""What a row says of its rollout, by the source that describes such rows. Only typed fields are read, no message."""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .conditions import holds, json_of, shortened, text_of
from .paths import values_at
from .source import Target
from .stages import stage_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .paths import Path
    from .source import FieldRule, KindRule, Source

__all__ = ["Evidence", "Outcome", "evidence_in", "score_in"]

_LARGEST: Final = sys.float_info.max  # a whole number may be larger, and no float then

# A status, as JSON, that says nothing of a failure.
_SUCCESS: Final = re.compile('"?[123][0-9][0-9]"?')


def __dir__() -> list[str]:
    return __all__


class Outcome:
    """What a row says of its rollout."""

    FAILURE: Final = "failure"
    """It failed, under a name or with an HTTP status."""
    UNLABELLED: Final = "unlabelled"
    """It failed, and the row has neither."""
    WITHOUT_FAILURE: Final = "without failure"
    """Nothing says that it failed."""
    OMITTED: Final = "omitted"
    """It was left out: neither an attempt nor a failure."""


class Evidence(NamedTuple):
    """What a row holds for a classification. It can be a key: no two different ones are equal.

    Attributes:
        outcome: One of `Outcome`.
        failure_kind: The kind that the recorded name means, or the name itself where it is one of the vocabulary's; cut
            to 200 characters, what isn't text as JSON.
        stage: The stage, likewise.
        http_status: The status if it is evidence: an integer from 400 to 599, or a float that equals one, as pandas
            writes them.
        odd_status: The status if it is anything else, as JSON.
        policy: Whether the request was the evaluated model's; None if nobody said.
        scored: Whether the row carries a score.
        unmapped: What the tool recorded, if nothing says what it means in the vocabulary; then there is no
            `failure_kind`.
        group: The value of the field that a report is split by, as text.
    """

    outcome: str
    failure_kind: str | None
    stage: str | None
    http_status: int | None
    odd_status: str | None
    policy: bool | None
    scored: bool
    unmapped: str | None
    group: str | None = None


class _Name(NamedTuple):
    """The name that a row gives its failure.

    Attributes:
        recorded: The name as the tool wrote it; None if there is none.
        target: What it means; None if nobody says.
        beside: The objects that describe the failure, the closest first.
        hint: What another source says beside it, if the row of that one names the failure.
    """

    recorded: str | None
    target: Target | None
    beside: tuple[Any, ...]
    hint: Evidence | None = None


def evidence_in(row: Mapping[str, Any], source: Source) -> tuple[Evidence, str | None]:
    """Return the evidence that a row holds, and the name that the tool recorded, as it is written.

    Args:
        row: The row as plain JSON data.
        source: How such rows are read.
    """
    if _says_so(source.omitted, row, source):
        return Evidence(Outcome.OMITTED, None, None, None, None, None, False, None), None
    found = _name_in(row, source)
    kind = None if found.target is None else shortened(found.target.kind)
    unmapped = None if found.recorded is None or found.target else shortened(found.recorded)
    hints = [hint for hint in (found.hint, found.target, source.implied.get(kind or "")) if hint is not None]
    stage = stage_in(found.beside, source.stage, row) or next((hint.stage for hint in hints if hint.stage), None)
    policy = _policy(found.beside, source, row)
    if policy is None:
        policy = next((hint.policy for hint in hints if hint.policy is not None), None)
    status, odd_status = _status(found.beside, source, row)
    if kind is not None or unmapped is not None or status is not None:
        outcome = Outcome.FAILURE
    elif (
        (odd_status is not None and _SUCCESS.fullmatch(odd_status) is None)
        or _says_so(source.failed, row, source)
        or _is_unfinished(row, source)
    ):
        outcome = Outcome.UNLABELLED
    else:
        outcome = Outcome.WITHOUT_FAILURE
    scored = score_in(row, source) is not None
    return Evidence(outcome, kind, stage, status, odd_status, policy, scored, unmapped), found.recorded


def score_in(row: Mapping[str, Any], source: Source) -> float | None:
    """Return the score that a row carries, in the first of the fields for it that says one."""
    for rule in source.score:
        for value in values_at(row, rule.field, row):
            score = rule.values.get(text_of(value) or "") if rule.values else value
            if isinstance(score, int | float) and not isinstance(score, bool) and abs(score) <= _LARGEST:
                return float(score)
    return None


def _name_in(row: Mapping[str, Any], source: Source) -> _Name:
    """The first name of a failure, in the order of preference."""
    passed: list[Any] = []  # objects that describe the failure, and give it no name
    for rule in (rule for rule in source.kind if holds(rule.when, row)):
        places = [(place, path) for path in rule.within for place in values_at(row, path, row)]
        for place, within in places:
            if rule.nested is None:
                found = _name_at(place, rule, within, row, source)
            else:
                found = _nested_name(place, rule.nested)
            if found is not None:
                return found._replace(beside=(*(passed if place is row else found.beside), row))
            if place is not row and isinstance(place, dict):
                passed.append(place)
    return _Name(None, None, (*passed, row))


def _name_at(place: Any, rule: KindRule, within: Path, row: Mapping[str, Any], source: Source) -> _Name | None:
    same_field = [other for other in source.kind if other.field == rule.field and within in other.within]
    for value in values_at(place, rule.field, row):
        recorded = _recorded(value, rule, source)
        meaning = None if recorded is None else _meaning(recorded, same_field, row)
        if meaning is not None:
            return _Name(recorded, *meaning, (place,))
    return None


def _nested_name(place: Any, source: Source) -> _Name | None:
    evidence, recorded = evidence_in(place, source)
    if recorded is None:
        return None
    target = None if evidence.failure_kind is None else Target(evidence.failure_kind)
    return _Name(recorded, target, (), evidence)


def _recorded(value: Any, rule: KindRule, source: Source) -> str | None:
    """A value as the text that is looked up; None if it says that nothing failed, or isn't of the form."""
    if _is_nothing(value, source):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list) and not rule.vocabulary:
        return None  # another tool's field of the same name
    return json_of(value)


def _is_nothing(value: Any, source: Source) -> bool:
    return value is None or value in ("", 0) or (isinstance(value, str) and value in source.no_failure)


def _meaning(recorded: str, rules: list[KindRule], row: Mapping[str, Any]) -> tuple[Target | None] | None:
    """What a value of a field means by the rules about it, None within if none says; None if nothing failed."""
    rules = [rule for rule in rules if holds(rule.when, row)]
    for rule in rules:
        name = recorded.rpartition(".")[2] if rule.class_name else recorded
        if name in rule.values:
            target = rule.values[name]
            return None if target is None else (target,)
    return (Target(recorded) if any(rule.vocabulary for rule in rules) else None,)


def _policy(places: tuple[Any, ...], source: Source, row: Mapping[str, Any]) -> bool | None:
    for place in places:
        for rule in source.policy:
            for value in values_at(place, rule.field, row):
                policy = rule.values.get(value) if isinstance(value, str) else value
                if policy is True or policy is False:
                    return policy
    return None


def _status(places: tuple[Any, ...], source: Source, row: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """An HTTP status as evidence, or as the text of what is none."""
    for place in places:
        for value in _values_by(source.http_status, place, row):
            if value in ("", 0) or value is None or (isinstance(value, float) and not math.isfinite(value)):
                continue  # what stands where there was no request, as other formats write it
            if type(value) is float and value.is_integer():
                value = int(value)
            if type(value) is int and 400 <= value <= 599:
                return value, None
            return None, shortened(json_of(value))
    return None, None


def _values_by(rules: tuple[FieldRule, ...], place: Any, row: Mapping[str, Any]) -> Iterator[Any]:
    for rule in rules:
        if holds(rule.when, place):
            yield from values_at(place, rule.field, row)


def _says_so(rules: tuple[FieldRule, ...], row: Mapping[str, Any], source: Source) -> bool:
    """Whether one of some fields holds anything. An object does, as no more of it than is read comes here."""
    return any(not _is_nothing(value, source) and value != [] for value in _values_by(rules, row, row))


def _is_unfinished(row: Mapping[str, Any], source: Source) -> bool:
    finished = (rule.field for rule in source.finished if holds(rule.when, row))
    return any(all(value in (None, "") for value in values_at(row, path, row)) for path in finished)

"""The evidence in a row: plain rows (`failure_kind`, `stage`, `http_status`, `policy`), and NeMo Gym's collector's.

Which fields are read stands in the types, what their values mean in the tables; only typed fields are read, never a
message.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Union

import msgspec

from .spelling import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Evidence", "Outcome", "evidence_reader"]

_LONGEST_NAME: Final = 200

# Values that some tools write where there was no failure.
_NO_FAILURE: Final = frozenset({"", "none", "unset", "success"})

# What NeMo Gym's agents call the stages.
_STAGES: Final = {"seed_session": "seed", "rollout": "agent", "verify": "verification"}

# A status, as JSON, that says nothing of a failure.
_SUCCESS: Final = re.compile('"?[123][0-9][0-9]"?')

# What stands where there was no request, as other formats write it.
_NO_STATUS: Final = ("", 0, False)

_NUMBERS: Final = frozenset({int, float})

# A judge is called in verification, and isn't the evaluated model.
_JUDGE: Final = "judge_"


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
        failure_kind: The recorded name, cut to 200 characters; what isn't text as JSON.
        stage: The recorded stage, likewise, an alias replaced.
        http_status: The status if it is evidence: an integer from 400 to 599, or a float that equals one, as pandas
            writes them.
        odd_status: The status if it is anything else, as JSON.
        policy: Whether the request was the evaluated model's; None if nobody said.
        scored: Whether the row carries a score.
        group: The value of the field that the report is split by, as text.
    """

    outcome: str
    failure_kind: str | None
    stage: str | None
    http_status: int | None
    odd_status: str | None
    policy: bool | None
    scored: bool
    group: str | None


_Other = Union[list[Any], str, int, float, bool, None]  # noqa: UP007  # what msgspec takes beside a struct


class _Failure(msgspec.Struct, gc=False):
    """A failure as an object of its own."""

    failure_kind: Any = None
    stage: Any = None
    http_status: Any = None
    policy: Any = None


class _Row(_Failure, gc=False):
    """The fields of a row that are read; msgspec passes over all others. None of them has a wrong type."""

    error_stage: Any = None
    reward: Any = None
    score: Any = None
    mask_sample: Any = None
    failure: Union[_Failure, _Other] = None  # noqa: UP007
    gym_kind: Any = msgspec.field(name="_ng_failure_class", default=None)
    gym_event: Any = msgspec.field(name="_ng_failure_id", default=None)
    gym_events: Union[dict[str, Union[_Failure, _Other]], _Other] = msgspec.field(  # noqa: UP007
        name="_ng_failure_events", default=None
    )
    gym_omitted: Any = msgspec.field(name="_ng_omitted_rollout", default=None)


def evidence_reader(by: str | None = None) -> tuple[type[msgspec.Struct], Callable[[Any], tuple[Any, ...]]]:
    """Return the type that a row is decoded as, and the function that takes the evidence out of it.

    Args:
        by: The field that the report is split by.

    Returns:
        The evidence comes as a plain tuple in the order of `Evidence`, because one is made for every row.
    """
    known = {field.encode_name: field.name for field in msgspec.structs.fields(_Row)}
    if by is None:
        return _Row, _evidence
    if by in known:
        field = known[by]
        return _Row, lambda row: (*_evidence(row)[:-1], _text(getattr(row, field)))
    split = msgspec.defstruct("_SplitRow", [("group", Any, None)], bases=(_Row,), rename={"group": by}, gc=False)
    return split, lambda row: (*_evidence(row)[:-1], _text(row.group))


def _evidence(row: _Row) -> tuple[Any, ...]:
    # This runs for every row: what most rows are is looked for first.
    if row.gym_omitted is True:
        return Outcome.OMITTED, None, None, None, None, None, False, None
    failure: Any = row
    kind = row.failure_kind
    if _is_nothing(kind):
        failure = _nested_failure(row)
        kind = row.gym_kind if _is_nothing(failure.failure_kind) else failure.failure_kind
        if _is_nothing(kind):
            kind = None
    if kind is not None and (type(kind) is not str or len(kind) > _LONGEST_NAME or not kind.isascii()):
        kind = _text(kind)
    stage = failure.stage
    if stage is None:
        stage = row.error_stage if row.stage is None else row.stage
    if stage is not None:
        stage = _text(stage) or ""
        stage = _STAGES.get(stage, stage) or None
    policy = row.policy if failure.policy is None else failure.policy
    if policy is not True and policy is not False:
        policy = None
    if kind is not None and kind.startswith(_JUDGE):
        stage = stage or "verification"
        policy = False if policy is None else policy
    status = row.http_status if failure.http_status is None else failure.http_status
    odd_status = None
    if status is not None:
        status, odd_status = _status(status)
    if kind is not None or status is not None:
        outcome = Outcome.FAILURE
    elif row.mask_sample is True or (odd_status is not None and _SUCCESS.fullmatch(odd_status) is None):
        outcome = Outcome.UNLABELLED
    else:
        outcome = Outcome.WITHOUT_FAILURE
    scored = type(row.reward) in _NUMBERS or type(row.score) in _NUMBERS
    return outcome, kind, stage, status, odd_status, policy, scored, None


def _is_nothing(kind: Any) -> bool:
    return kind is None or (type(kind) is str and kind in _NO_FAILURE)


def _nested_failure(row: _Row) -> Any:
    """The object that holds the failure: the event that the row names, a record of its own, or the row itself."""
    if isinstance(row.gym_events, dict) and isinstance(row.gym_event, str):
        nested = row.gym_events.get(row.gym_event)
    else:
        nested = row.failure
    return nested if isinstance(nested, _Failure) else row


def _status(value: Any) -> tuple[int | None, str | None]:
    """An HTTP status as evidence, or as the text of what is none."""
    if value in _NO_STATUS or (isinstance(value, float) and math.isnan(value)):
        return None, None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is int and 400 <= value <= 599:
        return value, None
    return None, _cut(_json(value))


def _text(value: Any) -> str | None:
    """A value as text that is no longer than a name may be and can be written anywhere; what isn't text as JSON."""
    if value is None:
        return None
    return _cut(encodable(value if isinstance(value, str) else _json(value)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + "..."


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except UnicodeEncodeError:  # half a character
        return json.dumps(value)

"""The terms that a vocabulary file is written in, as pydantic field types: names, classes, flags, statuses, texts.

A value may be the text that the strict reader yields or Python's own (`True`, `429`, `FailureClass.MODEL`). Which
names a file may refer to is known from the validation context.
"""

# No postponed annotations here: pydantic would have to compile each one again, a fifth of the import's time.
import re
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Final, Literal, LiteralString, NamedTuple, Protocol, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from .failure_class import FailureClass
from .frozen import FrozenDict
from .spelling import did_you_mean, is_name, is_namespaced, shown

__all__ = [
    "LAID_OVER",
    "RESERVED_CONSTANTS",
    "SCHEMA_VERSION",
    "UNKNOWN_NAME",
    "Aliases",
    "Class",
    "Constant",
    "CurrentKind",
    "Declared",
    "DomainName",
    "Flag",
    "KindClasses",
    "KindFlags",
    "KindLabels",
    "Name",
    "Names",
    "RuleKind",
    "SchemaVersion",
    "StageName",
    "StatusClasses",
    "StatusLabels",
    "Text",
    "Version",
    "exact_last",
    "folded",
    "folded_runs",
    "refuse",
    "status_ranges",
    "statuses",
]

SCHEMA_VERSION: Final = 1
"""The form of file that this version of the package reads."""

UNKNOWN_NAME: Final = "unknown_name"
"""The type of error of a name that nobody declares."""

RESERVED_CONSTANTS: Final = frozenset(
    {
        "FAILURE_KINDS",
        "GATE_DERIVED_KINDS",
        "JUDGE_FAILURE_KINDS",
        "MODEL_FAULT_KINDS",
        "PROVIDER_FAILURE_KINDS",
        "QUOTA_RESET_REGEX",
        "SERVER_FAULT_KINDS",
    }
)
"""Upper-case names of the package's own, which no kind may take as its constant."""

_CLASSES: Final = tuple(failure_class.value for failure_class in FailureClass)
_STATUS_KEY: Final = re.compile(r"[45][0-9]{2}|[45]xx")
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_VERSION: Final = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}")


def __dir__() -> list[str]:
    return __all__


class Names(NamedTuple):
    """The names that a file may refer to: declared by it or by a file below.

    Attributes:
        registered: Kinds that a producer may emit.
        gate_derived: Kinds that are derived from saved rows, which no producer may emit.
        retired: Retired name -> its replacement.
        stages: Stages of an episode.
        domains: Domains of kinds.
    """

    registered: AbstractSet[str]
    gate_derived: AbstractSet[str]
    retired: Mapping[str, str]
    stages: Mapping[str, str]
    domains: Mapping[str, str]

    def why_no_rule_name(self, name: str) -> str | None:
        """Why a rule can't name this kind; None if it can."""
        if name in self.registered or name in self.gate_derived or name in self.retired or is_namespaced(name):
            return None
        known = {*self.registered, *self.gate_derived, *self.retired}
        advice = did_you_mean(name, known) or "; declare it under `kinds`, or write it as `<server>:<kind>`"
        return f"unknown failure kind {shown(name)}{advice}"

    def why_no_label(self, name: str) -> str | None:
        """Why a failure can't be read as, or reported as, this kind; None if it can."""
        if name in self.registered or is_namespaced(name):
            return None
        if name in self.retired:
            return f"{shown(name)} is retired; write its replacement {self.retired[name]!r}"
        if name in self.gate_derived:
            return f"{shown(name)} is derived from saved rows; nothing may be reported as it"
        return self.why_no_rule_name(name)


class Declared(Protocol):
    """The validation context: something that knows which names are declared."""

    @property
    def names(self) -> Names:
        """The names that the data at hand may refer to."""


def refuse(message: str, reason: LiteralString = "vocabulary") -> PydanticCustomError:
    """Return an error for a validator to raise, in the words of the file."""
    return PydanticCustomError(reason, "{message}", {"message": message})


def _names(info: ValidationInfo) -> Names:
    return cast("Declared", info.context).names


def _checked_name(value: str) -> str:
    if not is_name(value):
        raise refuse(f"{shown(value)} is no name; use lower-case letters, digits and underscores, a letter first")
    return value


def _known_domain(value: str, info: ValidationInfo) -> str:
    return _declared("domain", value, _names(info).domains)


def _known_stage(value: str, info: ValidationInfo) -> str:
    return _declared("stage", value, _names(info).stages)


def _declared(what: str, value: str, declared: Collection[str]) -> str:
    if value not in declared:
        message = f"unknown {what} {shown(value)}{did_you_mean(value, declared) or _one_of(declared)}"
        raise refuse(message, UNKNOWN_NAME)
    return value


def _one_of(names: Collection[str]) -> str:
    return f"; it is one of {', '.join(names)}" if names else ""


def validate_kinds(value: str, info: ValidationInfo) -> str:
    """Check that a rule may name a kind: registered, gate-derived, retired or namespaced."""
    if reason := _names(info).why_no_rule_name(value):
        raise refuse(reason, UNKNOWN_NAME)
    return value


def validate_reporting_kinds(value: str, info: ValidationInfo) -> str:
    """Check that a failure may be reported as, or read as, a kind: registered or namespaced."""
    names = _names(info)
    if reason := names.why_no_label(value):
        raise refuse(reason, "vocabulary" if value in names.retired or value in names.gate_derived else UNKNOWN_NAME)
    return value


def _current_kind(value: str, info: ValidationInfo) -> str:
    registered = _names(info).registered
    if value not in registered:
        message = f"{shown(value)} is no kind that a name could be read as{did_you_mean(value, registered)}"
        raise refuse(message, UNKNOWN_NAME)
    return value


def _failure_class(value: object) -> FailureClass:
    if isinstance(value, FailureClass):
        return value
    if isinstance(value, str) and value in _CLASSES:
        return FailureClass(value)
    if value is None:
        raise refuse("a class is needed here; write evaluation, model or unknown")
    raise refuse(f"{shown(value)} is no class; write evaluation, model or unknown{did_you_mean(value, _CLASSES)}")


def _flag(value: object) -> bool:
    if value is True or value == "true":
        return True
    if value is False or value == "false":
        return False
    raise refuse(f"{shown(value)} is no flag; write true or false")


def _schema_version(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if type(value) is int and value == SCHEMA_VERSION:
        return SCHEMA_VERSION
    if type(value) is int and value > SCHEMA_VERSION:
        raise refuse(
            f"schema {value} is newer than this version of failure-kinds reads ({SCHEMA_VERSION}); upgrade the package"
        )
    raise refuse(f"{shown(value)} is no schema version; write {SCHEMA_VERSION}")


def _status_key(value: object) -> str:
    text = str(value) if type(value) is int and 400 <= value <= 599 else value
    if isinstance(text, str) and _STATUS_KEY.fullmatch(text):
        return text
    raise refuse(f"{shown(value)} is no status of a failure; write three digits from 400 to 599, or 4xx or 5xx")


def _no_twins(value: object) -> object:
    # A Python mapping can hold 429 and "429"; in a file, the reader has refused the second.
    if isinstance(value, Mapping):
        for key in value:
            if type(key) is int and 400 <= key <= 599 and str(key) in value:
                raise refuse(f"{key} is given twice, as a number and as text; keep one of them")
    return value


def statuses(key: str | int) -> Collection[int]:
    """The statuses that a key of a status table stands for: a hundred for `4xx` or `5xx`, else one, if it is a key."""
    text = key if isinstance(key, str) else f"{key:d}"
    if not _STATUS_KEY.fullmatch(text):
        return ()
    return range(int(text[0]) * 100, int(text[0]) * 100 + 100) if text.endswith("xx") else (int(text),)


def exact_last(keys: Iterable[str]) -> list[str]:
    """The keys of a status table with the exact ones behind the ranges, because these are laid on top."""
    return sorted(keys, key=lambda key: not str(key).endswith("xx"))


def folded(numbers: Iterable[int]) -> str:
    """Return numbers in order, neighbours drawn together.

    >>> folded([406, 400, 411, 412, 413])
    '400, 406, 411-413'
    """
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in folded_runs(numbers))


def folded_runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of neighbours among numbers, in order.

    >>> folded_runs([406, 400, 411, 412, 413])
    [(400, 400), (406, 406), (411, 413)]
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [(run[0], run[-1]) for run in runs]


def status_ranges(codes: Iterable[int]) -> str:
    """Return statuses as ranges in order, such as `400 409 411-413 5xx`."""
    codes = set(codes)
    starts = sorted(code for code in codes if code - 1 not in codes or code % 100 == 0)
    ends = sorted(code for code in codes if code + 1 not in codes or code % 100 == 99)
    return " ".join(
        f"{start // 100}xx" if end - start == 99 else f"{start}-{end}" if start < end else str(start)
        for start, end in zip(starts, ends, strict=True)
    )


def _expanded(table: Mapping[str, Any]) -> FrozenDict[int, Any]:
    return FrozenDict({status: table[key] for key in exact_last(table) for status in statuses(key)})


def _empty_if_null(value: object) -> object:
    return {} if value is None else value


def _constant_name(value: str) -> str:
    if not _CONSTANT.fullmatch(value):
        raise refuse(f"{shown(value)} is no constant; use upper-case letters, digits and underscores, a letter first")
    if value in RESERVED_CONSTANTS:
        raise refuse(f"{value} is a name of the package's own; choose another constant")
    return value


def _version(value: str) -> str:
    if not _VERSION.fullmatch(value):
        raise refuse(f"{shown(value)} is no version; write three numbers, such as 1.0.0")
    return value


def _json(pattern: re.Pattern[str] | str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^({getattr(pattern, 'pattern', pattern)})$"})


_NAME_JSON: Final = _json("[a-z][a-z0-9_]*")
_KIND_JSON: Final = _json("[a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?")

Name = Annotated[str, AfterValidator(_checked_name), _NAME_JSON]
DomainName = Annotated[str, AfterValidator(_known_domain), _NAME_JSON]
StageName = Annotated[str, AfterValidator(_known_stage), _NAME_JSON]
CurrentKind = Annotated[str, AfterValidator(_current_kind), _NAME_JSON]
RuleKind = Annotated[str, AfterValidator(validate_kinds), _KIND_JSON]
Label = Annotated[str, AfterValidator(validate_reporting_kinds), _KIND_JSON]
Constant = Annotated[str, AfterValidator(_constant_name), _json(_CONSTANT)]
Version = Annotated[str, AfterValidator(_version), _json(_VERSION)]
Text = Annotated[str, StringConstraints(pattern=r"\S")]
Class = Annotated[FailureClass, BeforeValidator(_failure_class), WithJsonSchema({"enum": list(_CLASSES)})]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"enum": [True, False, "true", "false"]})]
StatusKey = Annotated[int, PlainValidator(_status_key), _json(_STATUS_KEY)]
SchemaVersion = Annotated[
    Literal[1], PlainValidator(_schema_version), WithJsonSchema({"enum": [SCHEMA_VERSION, str(SCHEMA_VERSION)]})
]

LAID_OVER: Final = BeforeValidator(_empty_if_null)
"""Marks a section that may be left empty: it is laid over others and then changes nothing."""
_FROZEN: Final = AfterValidator(FrozenDict)
_STATUS_TABLE: Final = (BeforeValidator(_no_twins), AfterValidator(_expanded), LAID_OVER)

KindClasses = Annotated[Mapping[RuleKind, Class | None], _FROZEN, LAID_OVER]
KindFlags = Annotated[Mapping[RuleKind, Flag | None], _FROZEN, LAID_OVER]
KindLabels = Annotated[Mapping[RuleKind, Label | None], _FROZEN, LAID_OVER]
Aliases = Annotated[Mapping[Text, Label | None], _FROZEN, LAID_OVER]
StatusClasses = Annotated[Mapping[StatusKey, Class | None], *_STATUS_TABLE]
StatusLabels = Annotated[Mapping[StatusKey, Label | None], *_STATUS_TABLE]

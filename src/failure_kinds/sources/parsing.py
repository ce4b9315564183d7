"""A source out of the data of its YAML file, in which much may be left out or be written in short."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..frozen import FrozenDict
from .paths import ROW, parse_path
from .source import (
    ALWAYS,
    CLASS_NAME,
    LINES,
    Condition,
    FieldRule,
    KindRule,
    Layout,
    PolicyRule,
    ScoreRule,
    Source,
    StageRule,
    Target,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .paths import Path

__all__ = ["source_from"]

_WORDING: Final = ("title", "about", "notes", "url")


def __dir__() -> list[str]:
    return __all__


def source_from(data: Mapping[str, Any], find: Callable[[str], Source]) -> Source:
    """Return a source from the data of a file that is known to be right.

    Args:
        data: The data, as text, mappings and lists.
        find: Returns the source of a name, for rows within rows.
    """
    kind = tuple(_kind_rule(said, find) for said in _list(data, "kind"))
    # Whoever says nothing of files means lines.
    layouts = _mapping(data, "layouts") or ({LINES: None} if kind else {})
    return Source(
        name=data["source"],
        title=data["title"],
        about=data.get("about"),
        notes=data.get("notes"),
        url=data.get("url"),
        layouts=tuple(_layout(name, said or {}) for name, said in layouts.items()),
        kind=kind,
        stage=tuple(map(_stage_rule, _list(data, "stage"))),
        http_status=_field_rules(data, "http_status"),
        policy=tuple(map(_policy_rule, _list(data, "policy"))),
        score=tuple(map(_score_rule, _list(data, "score"))),
        failed=_field_rules(data, "failed"),
        finished=_field_rules(data, "finished"),
        omitted=_field_rules(data, "omitted"),
        no_failure=frozenset(_list(data, "no_failure")),
        implied=FrozenDict(
            {
                kind: Target(kind, said.get("stage"), _flag(said.get("policy")))
                for kind, said in _mapping(data, "implied").items()
            }
        ),
        carry=_named_paths(data, "carry"),
        carry_file=_named_paths(data, "carry_file"),
        fallback=_flag(data.get("fallback")) or False,
        exceptions=FrozenDict(_mapping(data, "exceptions")),
        digest=_digest(data, [rule.nested.digest for rule in kind if rule.nested]),
    )


def _layout(name: str, said: Mapping[str, Any]) -> Layout:
    return Layout(
        name=name,
        files=tuple(_list(said, "files")),
        rows=said.get("rows") or LINES,
        members=tuple(_list(said, "members")),
        header=tuple(_list(said, "header")),
        lists=tuple(_list(said, "lists")),
        when=_condition(said.get("when")),
        aggregate=said.get("aggregate"),
        repeats=said.get("repeats"),
    )


def _kind_rule(said: str | Mapping[str, Any], find: Callable[[str], Source]) -> KindRule:
    said = _as_rule(said)
    return KindRule(
        field=parse_path(said.get("field") or ROW),
        within=_paths(said, "within") or (parse_path(ROW),),
        when=_condition(said.get("when")),
        class_name=said.get("match") == CLASS_NAME,
        vocabulary=_flag(said.get("vocabulary")) or False,
        values=FrozenDict({value: _target(target) for value, target in _mapping(said, "values").items()}),
        nested=find(said["source"]) if "source" in said else None,
    )


def _target(said: str | Mapping[str, Any] | None) -> Target | None:
    if not isinstance(said, Mapping):
        return None if said is None else Target(said)
    return Target(said["kind"], said.get("stage"), _flag(said.get("policy")))


def _stage_rule(said: str | Mapping[str, Any]) -> StageRule:
    said = _as_rule(said)
    return StageRule(
        field=parse_path(said.get("field") or ROW),
        values=FrozenDict(_mapping(said, "values")),
        phases=tuple((parse_path(phase["field"]), phase["stage"]) for phase in _list(said, "phases")),
        when=_condition(said.get("when")),
        stage=said.get("stage"),
    )


def _policy_rule(said: str | Mapping[str, Any]) -> PolicyRule:
    said = _as_rule(said)
    values = {value: _flag(policy) or False for value, policy in _mapping(said, "values").items()}
    return PolicyRule(field=parse_path(said["field"]), values=FrozenDict(values))


def _field_rules(data: Mapping[str, Any], section: str) -> tuple[FieldRule, ...]:
    rules = map(_as_rule, _list(data, section))
    return tuple(FieldRule(field=parse_path(rule["field"]), when=_condition(rule.get("when"))) for rule in rules)


def _score_rule(said: str | Mapping[str, Any]) -> ScoreRule:
    said = _as_rule(said)
    values = {value: float(score) for value, score in _mapping(said, "values").items()}
    return ScoreRule(field=parse_path(said["field"]), values=FrozenDict(values))


def _condition(said: Mapping[str, Any] | None) -> Condition:
    if not said:
        return ALWAYS
    equal = _mapping(said, "equal")
    return Condition(
        all=tuple(_list(said, "all")),
        any=tuple(_list(said, "any")),
        none=tuple(_list(said, "none")),
        equal=FrozenDict({field: frozenset(_list(equal, field)) for field in equal}),
    )


def _as_rule(said: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A rule that says no more than its field may be written as that alone."""
    return said if isinstance(said, Mapping) else {"field": said}


def _paths(said: Mapping[str, Any], field: str) -> tuple[Path, ...]:
    return tuple(map(parse_path, _list(said, field)))


def _named_paths(said: Mapping[str, Any], field: str) -> Mapping[str, Path]:
    return FrozenDict({name: parse_path(path) for name, path in _mapping(said, field).items()})


def _list(said: Mapping[str, Any], field: str) -> list[Any]:
    """A list, which may be missing, or be written as its one member alone."""
    found = said.get(field)
    return found if isinstance(found, list) else [] if found is None else [found]


def _mapping(said: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    return said.get(field) or {}


def _flag(said: str | None) -> bool | None:
    return None if said is None else said == "true"


def _digest(data: Mapping[str, Any], nested: list[str]) -> str:
    meaning = {section: said for section, said in data.items() if section not in _WORDING}
    return hashlib.sha256(json.dumps([meaning, nested], sort_keys=True).encode()).hexdigest()[:12]

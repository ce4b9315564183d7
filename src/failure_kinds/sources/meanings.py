"""What a source says in words: what each value of a tool means, for people and for comparing two sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .paths import path_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .source import Condition, KindRule, Layout, Source, StageRule, Target

__all__ = ["Meaning", "condition_text", "layout_text", "meanings", "readings"]

NO_FAILURE: Final = "no failure"
UNKNOWN: Final = "unknown"


def __dir__() -> list[str]:
    return __all__


class Meaning(NamedTuple):
    """What a value of a tool means.

    Attributes:
        where: The field that it stands in.
        value: The value, or what stands for several.
        means: The kind, with the stage and whose request it was, if the value says these; or that nothing failed.
    """

    where: str
    value: str
    means: str


def meanings(source: Source) -> Iterator[Meaning]:
    """Yield what the values of a tool mean, in the order of preference."""
    for number, rule in enumerate(source.kind):
        where = rule_text(rule)
        if rule.nested is not None:
            yield Meaning(where, f"a row of {rule.nested.name}", "what it says there")
            continue
        for value, target in rule.values.items():
            yield Meaning(where, value, _target_text(target))
        if not any(_is_asked_next(later, rule) for later in source.kind[number + 1 :]):
            yield Meaning(where, "any other", "the name itself" if rule.vocabulary else UNKNOWN)
    for value in sorted(source.no_failure):
        yield Meaning("any of these", value, NO_FAILURE)
    for name, kind in source.exceptions.items():
        yield Meaning("exception", name, kind or UNKNOWN)


def _is_asked_next(later: KindRule, rule: KindRule) -> bool:
    """Whether a later rule says what the values mean that this one doesn't list."""
    return later.field == rule.field and not set(later.within).isdisjoint(rule.within)


def readings(source: Source) -> Iterator[tuple[str, str]]:
    """Yield what else is read out of a row, and where it may stand, in the order of preference."""
    rules = {
        "stage": [place for rule in source.stage for place in _stage_texts(rule)],
        "HTTP status": [_where(path_text(rule.field), rule.when) for rule in source.http_status],
        "policy": [_with_values(path_text(rule.field), rule.values) for rule in source.policy],
        "score": [_with_values(path_text(rule.field), rule.values) for rule in source.score],
        "failed, without a name": [_where(path_text(rule.field), rule.when) for rule in source.failed],
        "unfinished if missing": [_where(path_text(rule.field), rule.when) for rule in source.finished],
        "left out": [_where(path_text(rule.field), rule.when) for rule in source.omitted],
        "implied": [_target_text(said) for said in source.implied.values()],
        "carried along": [
            f"{name}: {path_text(path)}" for paths in (source.carry, source.carry_file) for name, path in paths.items()
        ],
    }
    for what, places in rules.items():
        for place in places:
            yield what, place


def _stage_texts(rule: StageRule) -> Iterator[str]:
    if rule.stage:
        yield _where(rule.stage, rule.when)
    elif rule.phases:
        yield _where(f"that of the phase that began last before {path_text(rule.field)}", rule.when)
        yield from (f"{path_text(path)} is {stage}" for path, stage in rule.phases)
    else:
        yield _where(_with_values(path_text(rule.field), rule.values), rule.when)


def rule_text(rule: KindRule) -> str:
    """Return the field of a rule, with the objects that hold it and with its condition."""
    places = [path_text((*within, *rule.field)) for within in rule.within]
    if rule.class_name:
        places[-1] += " (a class, by its last part)"
    return _where(" or ".join(places), rule.when)


def layout_text(layout: Layout) -> str:
    """Return what a file of a layout holds."""
    if layout.aggregate is not None:
        return f"refused: {layout.aggregate}"
    rows = {"lines": "each line is a row", "document": "the file is a row"}
    text = rows.get(layout.rows, f"the members of {layout.rows} are rows")
    if layout.lists:
        text = f"each id in {', '.join(layout.lists)} is a row"
    if layout.header:
        text += f", {' or '.join(layout.header)} tells of them all"
    if layout.members:
        text = f"each member {', '.join(layout.members)}: {text.replace('the file', 'it')}"
    return text if layout.repeats is None else f"{text}; in a folder passed over: {layout.repeats}"


def condition_text(condition: Condition) -> str:
    """Return what must be so, in words; nothing if nothing must."""
    parts = [" and ".join(condition.all), " or ".join(condition.any)]
    parts += [f"no {' or '.join(condition.none)}"] if condition.none else []
    parts += [f"{field} {' or '.join(sorted(values))}" for field, values in condition.equal.items()]
    return ", ".join(filter(None, parts))


def _where(text: str, condition: Condition) -> str:
    said = condition_text(condition)
    return f"{text}, where {said}" if said else text


def _with_values(text: str, values: Mapping[str, object]) -> str:
    said = [f"{value} is {str(meant).lower()}" for value, meant in values.items()]
    return f"{text} ({', '.join(said)})" if said else text


def _target_text(target: Target | None) -> str:
    if target is None:
        return NO_FAILURE
    said = [target.kind, f"stage {target.stage}" if target.stage else ""]
    said.append("" if target.policy is None else f"policy {str(target.policy).lower()}")
    return ", ".join(filter(None, said))

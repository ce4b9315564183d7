"""What changes from one registry to another: the version that it asks for, and the answers that it moves."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from .spelling import printable
from .terms import status_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .registry import FailureRegistry

__all__ = ["Bump", "Change", "allowed", "compare", "lowest_version", "required_bump", "rules_of"]

_SECTIONS: Final = ("rules", "kinds", "groups", "stages", "domains", "retired", "wording")

# In the order in which people want to know of a change.
_RULE_FIELDS: Final = (
    "by_failure_kind",
    "by_stage",
    "by_status_code",
    "default_class",
    "reporting_kind_by_status_code",
    "non_policy_reporting_kind_by_status_code",
    "http_refinable_kinds",
    "kind_aliases",
    "non_policy_reporting_kind_by_failure_kind",
    "server_fault_kinds",
)
_LABEL_FIELDS: Final = frozenset(field for field in _RULE_FIELDS if "reporting" in field or field == "kind_aliases")


def __dir__() -> list[str]:
    return __all__


class Bump(enum.IntEnum):
    """The part of a version that a change raises: by wording, by a new or retired name, by what can move a number."""

    PATCH = 1
    MINOR = 2
    MAJOR = 3


class Change(NamedTuple):
    """One thing that differs between two vocabularies.

    Attributes:
        section: `rules`, `kinds`, `groups`, `stages`, `domains`, `retired` or `wording`.
        name: What is changed: a name, or where a rule stands.
        before: What the old vocabulary says; None if nothing.
        after: What the new one says; None if nothing.
        bump: The part of the version that the change raises.
        text: The change in one line, for people.
    """

    section: str
    name: str
    before: str | None
    after: str | None
    bump: Bump
    text: str


def required_bump(changes: Iterable[Change]) -> Bump | None:
    """Return the largest bump that any of the changes asks for, None without changes."""
    return max((change.bump for change in changes), default=None)


def lowest_version(old_version: str, bump: Bump | None) -> str:
    """Return the lowest version that may follow another, three numbers; without a bump, that is the same one.

    >>> lowest_version("1.2.3", Bump.MINOR), lowest_version("1.2.3", None)
    ('1.3.0', '1.2.3')
    """
    numbers = _numbers(old_version)
    if bump is not None:
        raised = Bump.MAJOR - bump
        numbers = [*numbers[:raised], numbers[raised] + 1, *[0] * (bump - 1)]
    return ".".join(map(str, numbers))


def allowed(old_version: str, new_version: str, bump: Bump | None) -> bool:
    """Whether a version is at least the lowest one that may follow another, as `lowest_version` says."""
    return _numbers(new_version) >= _numbers(lowest_version(old_version, bump))


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def compare(old: FailureRegistry, new: FailureRegistry) -> tuple[Change, ...]:
    """Return what differs between two vocabularies: rules first, then names, then wording.

    The rules that a new name brings along belong to its addition, those that go with a retired one to its retirement.
    """
    changes = (*_rules(old, new), *_names(old, new), *_declarations(old, new), *_retired(old, new), *_wording(old, new))
    return tuple(sorted(changes, key=lambda change: _SECTIONS.index(change.section)))


class _Place(NamedTuple):
    """Where a rule stands: `key` is a kind, an alias or a status, None for a default class."""

    field: str
    stage: str | None
    key: str | int | None

    def name(self, key: str) -> str:
        """What people call it, with its key, or all its statuses, as they can read them."""
        of_kind = self.field in ("by_failure_kind", "by_stage")
        name = "default_class" if self.key is None else key if of_kind else f"{self.field} {key}"
        return name if self.stage is None else f"{name}, stage {self.stage}"


def rules_of(registry: FailureRegistry) -> dict[_Place, str | None]:
    """Return every rule of a registry by its place, what it says as text; None where it was taken away."""
    rules: dict[_Place, str | None] = {}
    for field in _RULE_FIELDS:
        said = getattr(registry.config, field)
        if field == "by_stage":
            for stage, of_stage in said.items():
                rules[_Place(field, stage, None)] = _text(of_stage.default_class)
                rules |= {_Place(field, stage, kind): _text(rule) for kind, rule in of_stage.by_failure_kind.items()}
        elif field == "default_class":
            rules[_Place(field, None, None)] = _text(said)
        else:
            rules |= {_Place(field, None, key): _text(rule) for key, rule in said.items()}
    return rules


def _text(rule: object) -> str | None:
    if isinstance(rule, bool):
        return "true" if rule else "false"
    return None if rule is None else str(getattr(rule, "value", rule))


def _rules(old: FailureRegistry, new: FailureRegistry) -> Iterator[Change]:
    before, after = rules_of(old), rules_of(new)
    keys: dict[tuple[_Place, str | None, str | None], list[str | int | None]] = defaultdict(list)
    for place in sorted({**before, **after}, key=lambda place: _RULE_FIELDS.index(place.field)):
        said, says = before.get(place), after.get(place)
        if said != says and not _belongs_to_a_name(place, said, says, old, new):
            # Statuses of which the same is said are one change.
            shared = place._replace(key=0) if isinstance(place.key, int) else place
            keys[shared, said, says].append(place.key)
    for (place, said, says), changed in keys.items():
        codes = [key for key in changed if isinstance(key, int)]
        name = place.name(status_ranges(codes) if codes else printable(str(place.key)))
        text = f"{name}: {said or 'no rule'} -> {says or 'no rule'}"
        yield Change("rules", name, said, says, _rule_bump(place, said, says, new), text)


def _belongs_to_a_name(
    place: _Place, said: str | None, says: str | None, old: FailureRegistry, new: FailureRegistry
) -> bool:
    """Whether a rule comes with a new name, goes with one that is gone, or follows from a retirement."""
    key = str(place.key)
    if place.field == "kind_aliases" and (said, says) == (old.retired.get(key), new.retired.get(key)):
        return True
    if said is None:
        return key in new.kinds.keys() - old.kinds.keys() or place.stage in new.stages.keys() - old.stages.keys()
    if says is None and key in old.kinds.keys() - new.kinds.keys():
        return new.config.kind_aliases.get(key) == new.retired.get(key)
    return says is None and place.stage in old.stages.keys() - new.stages.keys()


def _rule_bump(place: _Place, said: str | None, says: str | None, new: FailureRegistry) -> Bump:
    if {said, says} == {None, "false"}:
        return Bump.PATCH  # a flag that isn't set is false
    if place.field in _LABEL_FIELDS and None not in (said, says) and new.retired.get(str(said)) == says:
        return Bump.MINOR  # it was retired, and would be read as this
    return Bump.MAJOR


def _names(old: FailureRegistry, new: FailureRegistry) -> Iterator[Change]:
    """Names that are added, and names that are gone without being retired."""
    before, after = _described(old, new), _described(new, old)
    for (section, said), says in zip(before.items(), after.values(), strict=True):
        for name in {**said, **says}:
            if name not in said:
                yield Change(section, name, None, says[name], Bump.MINOR, f"{name}: added ({says[name]})")
            elif name not in says:
                text = f"{name}: removed; a name is never removed: {'retire' if section == 'kinds' else 'keep'} it"
                yield Change(section, name, said[name], None, Bump.MAJOR, text)


def _described(registry: FailureRegistry, other: FailureRegistry) -> dict[str, dict[str, str]]:
    """What a vocabulary says of each name, by section, but for kinds that are retired in the other one."""
    kinds, stages = defaultdict(list), defaultdict(list)
    for place, says in rules_of(registry).items():
        if says is not None and place.stage is not None:
            kinds[place.key].append(f"{says} in stage {place.stage}")
            stages[place.stage].append(f"{place.key or 'default_class'} {says}")
        elif says is not None:
            kinds[place.key].append(says if place.field == "by_failure_kind" else f"{place.field} {says}")
    return {
        "kinds": {
            name: ", ".join([f"domain {kind.domain}", *kinds[name]])
            for name, kind in registry.kinds.items()
            if name not in other.retired
        },
        "groups": {name: " ".join(members) or "empty" for name, members in registry.groups.items()},
        "stages": {name: ", ".join(stages[name]) or text for name, text in registry.stages.items()},
        "domains": dict(registry.domains),
    }


def _declarations(old: FailureRegistry, new: FailureRegistry) -> Iterator[Change]:
    """Kinds and groups that stay, and are declared differently."""
    for name in filter(new.kinds.__contains__, old.kinds):
        for field in ("domain", "constant", "gate_derived"):
            before, after = (_text(getattr(registry.kinds[name], field)) for registry in (old, new))
            if before != after:
                yield Change("kinds", name, before, after, Bump.MAJOR, f"{name}: {field} {before} -> {after}")
    for name in filter(new.groups.__contains__, old.groups):
        said, says = old.groups[name], new.groups[name]
        if said != says:
            # What is new or retired comes and goes by itself, where a group holds the kinds of a domain.
            stay = [kind for kind in said if kind not in old.kinds or kind not in new.retired]
            stayed = [kind for kind in says if kind in old.kinds or kind not in new.kinds]
            gone = [f"without {kind}" for kind in said if kind not in says]
            came = [f"with {kind}" for kind in says if kind not in said]
            text = f"{name}: {', '.join(gone + came) or 'in another order'}"
            yield Change(
                "groups", name, " ".join(said), " ".join(says), Bump.MINOR if stay == stayed else Bump.MAJOR, text
            )


def _retired(old: FailureRegistry, new: FailureRegistry) -> Iterator[Change]:
    for name in {**old.retired, **new.retired}:
        said, says = old.retired.get(name), new.retired.get(name)
        if said is None:
            yield Change("retired", name, None, says, Bump.MINOR, f"{name}: retired, and read as {says}")
        elif says is None:
            text = f"{name}: {'used again' if name in new.kinds else 'removed'}; a retired name stays retired"
            yield Change("retired", name, said, None, Bump.MAJOR, text)
        elif said != says:
            bump = Bump.MINOR if new.retired.get(said) == says else Bump.MAJOR
            yield Change("retired", name, said, says, bump, f"{name}: read as {said} -> {says}")


def _wording(old: FailureRegistry, new: FailureRegistry) -> Iterator[Change]:
    before, after = (
        {name: kind.summary for name, kind in registry.kinds.items()}
        | {f"domain {name}": text for name, text in registry.domains.items()}
        | {f"stage {name}": text for name, text in registry.stages.items()}
        for registry in (old, new)
    )
    for name, said in before.items():
        if said != (says := after.get(name, said)):
            yield Change("wording", name, said, says, Bump.PATCH, f"{name}: {said!r} -> {says!r}")

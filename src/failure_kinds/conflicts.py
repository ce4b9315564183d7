"""What a layer may not say because of the layers below it.

It is looked for in plain data rather than by the models' validators, so that it is found beside mistakes of form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from .document import STATUS_TABLES, KindSection
from .findings import Finding
from .spelling import shown
from .terms import RESERVED_CONSTANTS, Names, statuses

if TYPE_CHECKING:
    from .document import ClassificationSection
    from .reading import NodePath

__all__ = ["Below", "conflicts_in", "constant_of", "entries"]


# What two declarations of a kind must agree in.
_DECLARED: Final = ("domain", "failure_class", "server_fault", "gate_derived")


def __dir__() -> list[str]:
    return __all__


class Below(Protocol):
    """What the layers below say. `names` holds those of the layer at hand as well."""

    version: str
    names: Names
    domains: dict[str, str]
    stages: dict[str, str]
    kinds: dict[str, KindSection]
    retired: dict[str, str]
    config: ClassificationSection
    origins: dict[NodePath, str]


def entries(data: Mapping[str, Any], *path: str | int) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a section of plain data, none where there is no mapping."""
    node: Any = data
    for key in path:
        node = node.get(key) if isinstance(node, Mapping) else None
    if isinstance(node, Mapping):
        yield from node.items()


def constant_of(name: str, kind: KindSection) -> str:
    """Return the name of a kind's constant."""
    return kind.constant or name.upper()


def conflicts_in(data: Mapping[str, Any], kinds: Mapping[str, KindSection], below: Below) -> Iterator[Finding]:
    """Yield what a layer says against the layers below it.

    Args:
        data: The layer as plain data.
        kinds: The kinds that it declares, as far as their declarations are right by themselves.
        below: The layers below it.
    """
    yield from _changed_texts("domains", data, below.domains, below)
    yield from _changed_texts("stages", data, below.stages, below)
    yield from _kinds(kinds, below)
    yield from _retired(data, below)
    yield from _nulls(data, below)


def _changed_texts(section: str, data: Mapping[str, Any], known: Mapping[str, str], below: Below) -> Iterator[Finding]:
    for name, text in entries(data, section):
        if name in known and known[name] != text:
            where = below.origins[section, name]
            yield Finding((section, name), f"{name} is declared already ({where}) and can't be changed", at_key=True)


def _kinds(kinds: Mapping[str, KindSection], below: Below) -> Iterator[Finding]:
    constants = {constant_of(name, kind): name for name, kind in below.kinds.items()}
    for name, kind in kinds.items():
        path = ("kinds", name)
        if name in below.names.retired:
            replacement = below.names.retired[name]
            yield Finding(path, f"{name} is retired and read as {replacement}; no name is used again", at_key=True)
        elif name not in below.kinds:
            yield from _constant(name, kind, constants)
        elif changed := [part for part in _DECLARED if getattr(kind, part) != getattr(below.kinds[name], part)]:
            parts = " and ".join(KindSection.model_fields[part].alias or part for part in changed)
            message = f"{name} is declared already ({below.origins[path]}), with another {parts}"
            advice = "; to change its class, write a rule under `classification: by_failure_kind:`"
            yield Finding(path, message + (advice if "failure_class" in changed else ""), at_key=True)


def _constant(name: str, kind: KindSection, constants: dict[str, str]) -> Iterator[Finding]:
    constant = constant_of(name, kind)
    owner = constants.setdefault(constant, name)
    if owner != name:
        yield Finding(("kinds", name, "constant"), f"the constant {constant} is {owner}'s already; choose another")
    elif constant in RESERVED_CONSTANTS:
        message = f"its constant would be {constant}, a name of the package's own; give it another as `constant`"
        yield Finding(("kinds", name), message, at_key=True)


def _retired(data: Mapping[str, Any], below: Below) -> Iterator[Finding]:
    for name, replacement in entries(data, "retired"):
        path = ("retired", name)
        if name in below.kinds:
            message = f"{name} is a kind ({below.origins['kinds', name]}); to read it as another, use `kind_aliases`"
            yield Finding(path, message, at_key=True)
        elif name in below.retired and below.retired[name] != replacement:
            message = f"{name} is retired already ({below.origins[path]}) and can't be changed; use `kind_aliases`"
            yield Finding(path, message, at_key=True)


def _nulls(data: Mapping[str, Any], below: Below) -> Iterator[Finding]:
    """Nulls that take no rule away: most likely `{kind:class}`, where a space is missing.

    A whole vocabulary, with nothing below it, may say that there is no rule, if the key doesn't look like that.
    """
    declared = {*below.names.registered, *below.names.gate_derived}
    # What a layer declares has its key before its rules are laid over that.
    own = {"by_failure_kind": declared, "server_fault_kinds": declared, "kind_aliases": below.names.retired}
    for field, _ in entries(data, "classification"):
        path: NodePath = ("classification", field)
        known = getattr(below.config, field, None)
        if field == "by_stage":
            for stage, _ in entries(data, *path):
                rules = below.config.by_stage.get(stage)
                kinds = rules.by_failure_kind if rules else {}
                yield from _nulls_of(data, (*path, stage, "by_failure_kind"), kinds, below)
        elif isinstance(known, Mapping):
            yield from _nulls_of(data, path, {*known, *own.get(field, ())}, below)


def _nulls_of(data: Mapping[str, Any], path: NodePath, known: Collection[str | int], below: Below) -> Iterator[Finding]:
    for key, value in entries(data, *path):
        keys = statuses(key) if path[-1] in STATUS_TABLES else (key,)
        if value is not None or any(key in known for key in keys):
            continue
        if below.version or ":" in key:
            message = f"there is no rule for {shown(key)} that null could take away; is a space missing after a colon?"
            yield Finding((*path, key), message, at_key=True)

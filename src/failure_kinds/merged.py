"""A registry written out as one vocabulary file: what all its layers say together, and where each thing was said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import yaml

from .document import STATUS_TABLES
from .failure_class import FailureClass
from .spelling import printable
from .terms import SCHEMA_VERSION, statuses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .reading import NodePath
    from .registry import FailureRegistry, Kind

__all__ = ["merged_yaml"]

_LONGEST_KEY: Final = 1000
"""YAML takes a longer key only behind a question mark."""


def __dir__() -> list[str]:
    return __all__


def merged_yaml(registry: FailureRegistry) -> str:
    """Return a registry as the YAML text of a whole vocabulary, with the origin of each entry behind it.

    As the `base` of `load_registry` the text gives an equal registry. There is one thing that a whole vocabulary can't
    say: that a rule was taken away from a name with a colon in it, because that looks like a missing space. Such a
    null becomes a comment; the registry is then equal but for it, and has the same digest.

    Args:
        registry: What `load_registry` returned.

    >>> from failure_kinds import load_registry
    >>> load_registry(base=yaml.safe_load(merged_yaml(load_registry()))) == load_registry()
    True
    """
    lines = [f"# vocabulary {registry.version}, all files laid over it"]
    for section, said in _document(registry).items():
        lines += [""] if isinstance(said, Mapping) else []
        lines += _lines(registry, {section: said})
    return "\n".join(lines) + "\n"


# --- what the file says ----------------------------------------------------------------------------------------------


def _document(registry: FailureRegistry) -> dict[str, Any]:
    """The registry as plain data of the file's form; without sections that say nothing."""
    sections = {
        "domains": registry.domains,
        "stages": registry.stages,
        "kinds": {name: _declaration(kind) for name, kind in registry.kinds.items()},
        "groups": {name: _group(registry, members) for name, members in registry.groups.items()},
        "retired": registry.retired,
        "classification": _classification(registry),
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "version": registry.version,
        **{section: said for section, said in sections.items() if said},
    }


def _declaration(kind: Kind) -> dict[str, Any]:
    stated = {
        "domain": kind.domain,
        "class": kind.failure_class,
        "server_fault": kind.server_fault,
        "gate_derived": kind.gate_derived,
        "constant": kind.constant if kind.constant != kind.name.upper() else None,
        "summary": kind.summary,
    }
    return {key: value for key, value in stated.items() if value}


def _group(registry: FailureRegistry, members: tuple[str, ...]) -> Mapping[str, str] | tuple[str, ...]:
    """A group as its list, or as the domain whose kinds it holds."""
    domain = registry.kinds[members[0]].domain if members and members[0] in registry.kinds else None
    of_domain = tuple(sorted(kind.name for kind in registry.kinds.values() if kind.domain == domain))
    return {"domain": domain} if domain and members == of_domain else members


def _classification(registry: FailureRegistry) -> dict[str, Any]:
    """The rules, without those that follow from the declarations."""
    kinds = registry.kinds.values()
    follows: dict[str, Mapping[str, Any]] = {
        "by_failure_kind": {kind.name: kind.failure_class for kind in kinds},
        "server_fault_kinds": {kind.name: True for kind in kinds if kind.server_fault},
        "kind_aliases": registry.retired,
    }
    section: dict[str, Any] = {}
    for field in type(registry.config).model_fields:
        said = getattr(registry.config, field)
        if field == "by_stage":
            said = {stage: {name: rule for name, rule in vars(rules).items() if rule} for stage, rules in said.items()}
        elif field in STATUS_TABLES:
            said = _folded(said)
        elif field in follows:
            declared = follows[field]
            said = {key: value for key, value in said.items() if key not in declared or value != declared[key]}
        if said:
            section[field] = said
    return section


def _folded(table: Mapping[int, Any]) -> dict[str | int, Any]:
    """A table of statuses with a hundred codes written as `4xx` and the exceptions, where all of them stand in it."""
    folded: dict[str | int, Any] = {}
    for hundred in ("4xx", "5xx"):
        said: dict[str | int, Any] = {status: table[status] for status in statuses(hundred) if status in table}
        if len(said) == len(statuses(hundred)):
            [(common, _)] = Counter(said.values()).most_common(1)
            folded[hundred] = common
            said = {status: value for status, value in said.items() if value != common}
        folded |= said
    return folded


# --- how it is written -----------------------------------------------------------------------------------------------


def _lines(registry: FailureRegistry, node: Mapping[Any, Any], path: NodePath = ()) -> Iterator[str]:
    indent = "  " * len(path)
    for key, value in node.items():
        place = (*path, key)
        origin = _origin(registry, place, node)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_key(key, indent)}:{origin}"
            yield from _lines(registry, value, place)
        elif value is None and not _may_be_null(place):
            yield f"{indent}# {_scalar(key)}: null{origin}"
        else:
            yield f"{indent}{_key(key, indent)}: {_value(value)}{origin}"


def _may_be_null(place: NodePath) -> bool:
    """Whether a whole vocabulary may say that there is no such rule."""
    return ":" not in str(place[-1])


def _origin(registry: FailureRegistry, place: NodePath, beside: Mapping[Any, Any]) -> str:
    """A comment that says where an entry was written, or nothing. Folded codes may stem from several places."""
    *section, key = place
    entries: list[NodePath] = [place]
    if key in ("4xx", "5xx") and section[-1] in STATUS_TABLES:
        entries = [(*section, status) for status in statuses(key) if status not in beside]
    origins = dict.fromkeys(filter(None, (registry.origin(*entry) for entry in entries)))
    return f"  # {printable(', '.join(origins))}" if origins else ""


def _key(key: str | int, indent: str) -> str:
    text = _scalar(key)
    return text if len(text) <= _LONGEST_KEY else f"? {text}\n{indent}"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_scalar, value))}]"
    return "{}" if isinstance(value, Mapping) else _scalar(value)


def _scalar(value: Any) -> str:
    """A value as YAML; a text is quoted only where it would be read as something else."""
    if isinstance(value, FailureClass):
        value = value.value
    plain = yaml.safe_dump(value, allow_unicode=True, width=math.inf).removesuffix("\n").removesuffix("\n...")
    if plain == value or not isinstance(value, str):
        return plain
    return yaml.safe_dump(value, default_style='"', allow_unicode=True, width=math.inf).removesuffix("\n")

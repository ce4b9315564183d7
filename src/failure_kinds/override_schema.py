"""The JSON Schema of a file that is laid over a vocabulary, with its names in it for editors to complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .document import json_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .registry import FailureRegistry

    Schema = dict[str, Any]

__all__ = ["override_schema"]


def __dir__() -> list[str]:
    return __all__


def override_schema(registry: FailureRegistry) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file that is laid over a vocabulary.

    It has no `version`. It offers the vocabulary's kinds, stages and domains, and takes others as well, which the file
    may declare. Only a kind rule for all stages is refused if the file declares no kinds and the vocabulary doesn't
    know its name.

    Args:
        registry: The vocabulary.
    """
    schema = json_schema()
    schema["title"] = f"failure-kinds: a file that is laid over vocabulary {registry.version}"
    schema["type"] = ["object", "null"]
    schema["anyOf"] = [{"required": schema.pop("required")}, {"maxProperties": 0}]  # a file may say nothing
    del schema["properties"]["version"]

    definitions = schema["$defs"]
    rules = definitions["ClassificationSection"]["properties"]
    (any_kind,) = rules["by_failure_kind"]["patternProperties"]
    meanings = {name: kind.summary for name, kind in registry.kinds.items()}
    meanings |= {name: f"Retired; read as {kind}." for name, kind in registry.retired.items()}

    for label in list(_texts_like(any_kind, schema)):
        label.clear()
        label["$ref"] = "#/$defs/Label"
    for table in (*rules.values(), definitions["StageSection"]["properties"]["by_failure_kind"]):
        if any_kind in table.get("patternProperties", {}):
            table["$ref"] = "#/$defs/KindRules"
    rules["by_stage"]["properties"] = _described(registry.stages)
    for section in ("KindSection", "DomainGroup"):
        domain = definitions[section]["properties"]["domain"]
        domain["anyOf"] = _offered(registry.domains, domain.pop("pattern"))
    definitions["Label"] = {"type": "string", "anyOf": _offered(registry.failure_kinds, any_kind)}
    definitions["KindRules"] = {"properties": _described(meanings)}
    definitions["KnownKind"] = {"anyOf": _offered(meanings, ":")}

    known_only = {"properties": {"by_failure_kind": {"propertyNames": {"$ref": "#/$defs/KnownKind"}}}}
    schema["if"] = {"required": ["kinds"]}
    schema["else"] = {"properties": {"classification": known_only}}
    return schema


def _described(meanings: Mapping[str, str]) -> Schema:
    return {name: {"description": meaning} for name, meaning in meanings.items()}


def _offered(names: Iterable[str], pattern: str) -> list[Schema]:
    return [{"enum": sorted(names)}, {"pattern": pattern}]


def _texts_like(pattern: str, node: Any) -> Iterator[Schema]:
    """Every schema of a text of a pattern."""
    if isinstance(node, dict) and node.get("pattern") == pattern:
        yield node
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for part in parts:
        yield from _texts_like(pattern, part)

"""Field types for the pydantic models of records that carry a failure kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator

from .active import get_registry
from .names import canonical_failure_kind, require_failure_kind, validate_failure_kind

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

__all__ = ["CanonicalFailureKind", "FailureKind"]


def __dir__() -> list[str]:
    return __all__


class _AnyName:
    """The JSON Schema of a name that may be unknown: the registered ones are there to be chosen from."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "description": "A failure kind.", "examples": sorted(get_registry().failure_kinds)}


class _EmittedName:
    """The JSON Schema of a name that a producer may emit."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        registry = get_registry()
        accepted: list[dict[str, Any]] = [
            {"enum": sorted({*registry.failure_kinds, *registry.retired})},
            {"pattern": "^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$"},
        ]
        return {**handler(schema), "description": "A registered or namespaced failure kind.", "anyOf": accepted}


def _emitted(name: str) -> str:
    return require_failure_kind(canonical_failure_kind(name))


FailureKind = Annotated[str, AfterValidator(validate_failure_kind), _AnyName()]
"""A failure kind as it was recorded. As `validate_failure_kind`: an unregistered one is kept, and warned of once."""

CanonicalFailureKind = Annotated[str, AfterValidator(_emitted), _EmittedName()]
"""A failure kind that a producer may emit. As `require_failure_kind`, after a retired name has been replaced."""

"""What pydantic found wrong with a vocabulary file, as places in the file and messages in its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args, get_origin

from .document import Document
from .spelling import did_you_mean, shown
from .terms import SCHEMA_VERSION, UNKNOWN_NAME

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

__all__ = ["Finding", "findings_in"]


def __dir__() -> list[str]:
    return __all__


class Finding(NamedTuple):
    """Something wrong in plain data.

    Attributes:
        path: The keys and list positions that lead to the node.
        message: What is wrong with it.
        at_key: Whether its key is meant rather than its value.
        unknown_name: Whether it is a name that nobody declares, as far as that is known.
    """

    path: tuple[str | int, ...]
    message: str
    at_key: bool = False
    unknown_name: bool = False


def findings_in(error: ValidationError, model: type[BaseModel] = Document) -> Iterator[Finding]:
    """Yield what the validation of a file found, in pydantic's order.

    Args:
        error: What pydantic raised.
        model: The model of the file.
    """
    for details in error.errors(include_url=False):
        path, at_key = details["loc"], False
        if details["type"] in ("extra_forbidden", "missing"):
            at_key = True
        elif path[-1] == "[key]":
            path, at_key = path[:-1], True
        if path[0] == "groups" and len(path) > 2:
            path = path[:2] + path[3:]  # without the name of the form that was tried, which isn't in the file
        yield Finding(path, _message(details, path, model), at_key, details["type"] == UNKNOWN_NAME)


def _message(details: ErrorDetails, path: tuple[str | int, ...], model: type[BaseModel]) -> str:
    match details["type"]:
        case "extra_forbidden":
            known = _keys_beside(path, model)
            advice = did_you_mean(path[-1], known) or f"; it is one of {', '.join(known)}"
            return f"unknown key {shown(path[-1])}{advice}"
        case "missing" if path == ("schema_version",):
            return f"schema_version is missing; write `schema_version: {SCHEMA_VERSION}` at the top"
        case "missing":
            return f"{path[-1]} is missing"
        case "mapping_type" | "dict_type" | "model_type":
            return f"a mapping (`key: value`) is needed here, not {_what(details['input'])}"
        case "tuple_type":
            return f"a list (`[a, b]`) is needed here, not {_what(details['input'])}"
        case "literal_error":
            return f"{shown(details['input'])} is none of {details['ctx']['expected'].replace(' or ', ', ')}"
        case "string_type" | "string_pattern_mismatch":
            return f"text is needed here, not {_what(details['input'])}"
        case _:
            return details["msg"]


def _what(given: object) -> str:
    if given is None or (isinstance(given, str) and not given.strip()):
        return "nothing"
    if isinstance(given, Mapping):
        return "a mapping"
    return "a list" if isinstance(given, list | tuple) else shown(given)


def _keys_beside(path: tuple[str | int, ...], model: type[BaseModel]) -> list[str]:
    """The keys that may stand where an unknown one stands."""
    here: Any = model
    for step in path[:-1]:
        here = _below(here, step)
    return [key for part in _parts(here) if isinstance(part, type) for key in _fields(part)]


def _below(annotation: Any, step: str | int) -> Any:
    """What a key or a position leads to, from what a field holds."""
    part = _parts(annotation)[0]
    if isinstance(part, type):
        return _fields(part)[str(step)]
    inner = get_args(part)
    return inner[1] if get_origin(part) is Mapping else inner[0]


def _parts(annotation: Any) -> list[Any]:
    """The models, mappings and tuples that a field may hold."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return [part for argument in get_args(annotation) for part in _parts(argument)]
    is_model = isinstance(annotation, type) and hasattr(annotation, "model_fields")
    return [annotation] if is_model or get_origin(annotation) in (Mapping, tuple) else []


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}

"""The rows of files that aren't lines: documents, members of lists, members of zip files, ids in lists."""

from __future__ import annotations

import json
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from .decoding import UnreadableError
from .json_stream import LONGEST_ITEM, JsonStream, JsonStreamError
from .source import DOCUMENT, LINES
from .zip_members import DAMAGES, member_names, open_member

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from .row_files import Item
    from .source import Layout

__all__ = ["Header", "items_in", "items_in_zip"]

Header = dict[str, Any]
"""What a file says of all its rows; filled before the first of them."""


def __dir__() -> list[str]:
    return __all__


def items_in(stream: IO[bytes], layout: Layout, wanted: AbstractSet[str], header: Header) -> Iterator[Item]:
    """Yield the rows of a JSON file.

    Args:
        stream: The file.
        layout: Its layout.
        wanted: The keys at its top that hold something of interest for all rows, if they stand before these.
        header: Where that goes.

    Raises:
        JsonStreamError: The file isn't JSON to its end.
    """
    if layout.lists:
        yield from _listed_ids(JsonStream(stream).value(), layout)
    elif layout.rows == LINES:
        lines = enumerate(iter(partial(stream.readline, LONGEST_ITEM), b""), start=1)
        yield from ((f"{number}", line) for number, line in lines if line.strip())
    elif layout.rows == DOCUMENT:
        json_stream = JsonStream(stream)
        yield None, json_stream.value()
        if json_stream.peek():
            raise JsonStreamError("more than one JSON value")
    else:
        yield from _members(JsonStream(stream), layout.rows, wanted, header)


def items_in_zip(file: zipfile.ZipFile, layout: Layout, wanted: AbstractSet[str], header: Header) -> Iterator[Item]:
    """Yield the rows of a zip file; the arguments are those of `items_in`."""
    for name in layout.header if wanted else ():
        if name in file.namelist():
            header.update(_header_member(file, name, wanted))
            break
    for name in member_names(file, layout.members):
        try:
            with open_member(file, name) as stream:
                for place, text in items_in(stream, layout, frozenset(), {}):
                    yield (name if place is None else f"{name}:{place}"), text
        except (*DAMAGES, JsonStreamError) as error:
            yield name, UnreadableError(str(error))


def _header_member(file: zipfile.ZipFile, name: str, wanted: AbstractSet[str]) -> Header:
    try:
        with open_member(file, name) as stream:
            json_stream = JsonStream(stream)
            return {key: _plain(json_stream.value()) for key in _keys(json_stream, wanted)}
    except (*DAMAGES, JsonStreamError):
        return {}  # its rows can be read without it


def _members(stream: JsonStream, rows: str, wanted: AbstractSet[str], header: Header) -> Iterator[Item]:
    """The members of a list, as in `results.runs[]`."""
    path = rows.removesuffix("[]")
    found = False
    for _ in _steps_to(stream, path.split(".") if path else [], wanted, header):
        found = True
        yield from ((f"{path}[{number}]", stream.value()) for number, _ in enumerate(stream.members()))
    if not found:
        raise JsonStreamError(f"there is no list {path}")


def _steps_to(stream: JsonStream, keys: list[str], wanted: AbstractSet[str], header: Header) -> Iterator[None]:
    """Step to a value within objects."""
    if not keys:
        yield
        return
    for key in _keys(stream, {keys[0], *wanted}):
        if key == keys[0]:
            yield from _steps_to(stream, keys[1:], frozenset(), header)
        else:
            header[key] = _plain(stream.value())


def _keys(stream: JsonStream, wanted: AbstractSet[str]) -> Iterator[str]:
    """Step to the values of some keys, and pass over the others."""
    for key in stream.entries():
        if key in wanted:
            yield key
        else:
            stream.skip()


def _listed_ids(text: bytes, layout: Layout) -> Iterator[Item]:
    document = _plain(text)
    if not isinstance(document, dict):
        raise JsonStreamError("it isn't a JSON object")
    beside = {key: value for key, value in document.items() if not isinstance(value, list)}
    met = set()
    for name in layout.lists:
        ids = document.get(name)
        for number, rollout in enumerate(ids if isinstance(ids, list) else ()):
            if isinstance(rollout, str) and rollout not in met:
                met.add(rollout)
                yield f"{name}[{number}]", json.dumps({**beside, "list": name, "id": rollout}).encode()


def _plain(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise JsonStreamError("it isn't JSON") from None

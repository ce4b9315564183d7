"""Sources of one's own, for the tests: written as text, and checked as a file would be."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING, Any

from failure_kinds.sources import Source, load_source

if TYPE_CHECKING:
    from failure_kinds import FailureRegistry


class Written:
    """A file that is nowhere but in memory."""

    name = "own.yaml"

    def __init__(self, text: str) -> None:
        self.text = text

    def open(self, *_: Any) -> IO[bytes]:
        return io.BytesIO(self.text.encode("utf-8", "surrogatepass"))


def own_source(text: str, registry: FailureRegistry | None = None) -> Source:
    """The source that a file describes, from all that is in it but its head."""
    file: Any = Written(f"schema_version: 1\nsource: own\ntitle: Own\n{text}")
    return load_source(file, registry)

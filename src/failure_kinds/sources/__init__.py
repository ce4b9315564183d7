"""Reading the failures that tools record: each tool is described by a YAML file, a source.

>>> from failure_kinds.sources import failure_kind_of
>>> failure_kind_of(ConnectionRefusedError())
'transport_unreachable'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

# What is imported is what is used: to ask for an exception's kind takes no reader of rows.
if TYPE_CHECKING:
    from .bundled import bundled_sources
    from .evidence import Evidence, Outcome
    from .exceptions import failure_kind_of
    from .failure_rows import FailureRow, read_failures
    from .loading import load_source
    from .recognition import UnrecognisedError
    from .source import AUTO, Source
else:
    _WHERE: Final = {
        "AUTO": "source",
        "Evidence": "evidence",
        "FailureRow": "failure_rows",
        "Outcome": "evidence",
        "Source": "source",
        "UnrecognisedError": "recognition",
        "bundled_sources": "bundled",
        "failure_kind_of": "exceptions",
        "load_source": "loading",
        "read_failures": "failure_rows",
    }

    def __getattr__(name: str) -> object:
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)


__all__ = [
    "AUTO",
    "Evidence",
    "FailureRow",
    "Outcome",
    "Source",
    "UnrecognisedError",
    "bundled_sources",
    "failure_kind_of",
    "load_source",
    "read_failures",
]


def __dir__() -> list[str]:
    return __all__

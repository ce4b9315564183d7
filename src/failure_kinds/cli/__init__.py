"""The command `failure-kinds`. It needs the extra `cli`; nothing else of the package imports it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Final

__all__ = ["main"]

_EXTRA: Final = ("msgspec", "rich", "typer", "zstandard")


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code.

    Raises:
        SystemExit: 0 fine, 1 problems found, 2 wrong usage, 3 unreadable lines in a report, 130 interrupted.
    """
    if any(find_spec(name) is None for name in _EXTRA):
        sys.stderr.write("failure-kinds: the command needs the extra: pip install 'failure-kinds[cli]'\n")
        sys.exit(2)
    try:
        from .app import app
        from .console import make_encodable

        make_encodable(sys.stdout, sys.stderr)
        app(prog_name="failure-kinds")
    except KeyboardInterrupt:
        sys.exit(130)

"""The command `failure-kinds`. It needs the extra `cli`; nothing else of the package imports it."""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec
from typing import Final

__all__ = ["main"]

_EXTRA: Final = ("msgspec", "rich", "sqlglot", "typer", "zstandard")


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code.

    Raises:
        SystemExit: 0 fine, 1 problems found, 2 wrong usage, 3 unreadable lines in a report, 130 interrupted,
            143 terminated.
    """
    if any(find_spec(name) is None for name in _EXTRA):
        sys.stderr.write("failure-kinds: the command needs the extra: pip install 'failure-kinds[cli]'\n")
        sys.exit(2)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed when we were started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # as long as the process
    # What is half-written is taken away, as at Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        from .app import app
        from .console import make_encodable

        make_encodable(sys.stdout, sys.stderr)
        app(prog_name="failure-kinds")
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.stderr.write(f"failure-kinds: {(error.strerror or str(error)).lower()}\n")
        sys.exit(2)
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # what is left would fail once more when Python exits
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

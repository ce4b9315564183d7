"""`python -m failure_kinds`: the command `failure-kinds`."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":  # pragma: no cover  # the tests run it as a process
    main()

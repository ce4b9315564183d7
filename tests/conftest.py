"""What every test may rely on: the bundled vocabulary is active, and no name has been seen yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from failure_kinds import load_registry, reset_registry
from failure_kinds.active import FILES_VARIABLE
from failure_kinds.names import forget_seen_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from failure_kinds import FailureRegistry

# No test is timed: machines differ.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")
# For the same tests once more, on another Python or with other dependencies: what differs there fails on few examples.
hypothesis.settings.register_profile("brief", hypothesis.settings.get_profile("untimed"), max_examples=15)

DATA = Path(__file__).parent / "data"


@pytest.fixture(autouse=True)
def fresh_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(FILES_VARIABLE, raising=False)
    reset_registry()
    forget_seen_names()
    yield
    reset_registry()
    forget_seen_names()


@pytest.fixture(scope="session")
def registry() -> FailureRegistry:
    """The bundled vocabulary."""
    return load_registry()

#!/usr/bin/env python3
"""Measure what the package promises about its speed, as ratios taken in one run: a machine's own speed falls out.

    python scripts/bench.py

Each line is what was measured, the ratio, and what it may be at most.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import timeit
from typing import TYPE_CHECKING

import importlib_resources
import yaml

from failure_kinds import FailureClassificationConfig, classify_failure, load_registry

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 25

BARE = "pass"
CONSTANT = "from failure_kinds import AGENT_TIMEOUT"
FRAMEWORKS = """
from pydantic import BaseModel
import yaml, importlib_resources
class Model(BaseModel):
    number: int
Model(number=1)
"""
FIRST_ANSWER = """
from failure_kinds import classify_failure
classify_failure("agent_timeout", "agent")
"""

# Every way through the rules, as rows have it.
FAILURES: list[tuple[str | None, str | None, int | None, bool]] = [
    ("agent_timeout", "agent", None, True),
    ("provider_oom_killed", "agent", None, True),
    ("session_lost", "seed", None, True),
    ("model_context_limit", "verification", 400, False),
    ("model_request_error", "agent", 429, True),
    (None, "agent", 503, True),
    ("my_env:quota", None, None, True),
    ("nobody_knows_this", "agent", None, True),
]


def main() -> None:
    processes()
    loading()
    classifying()


def processes() -> None:
    medians = in_turn({"bare": BARE, "constant": CONSTANT, "frameworks": FRAMEWORKS, "first answer": FIRST_ANSWER})
    added = 1000 * (medians["constant"] - medians["bare"])
    print(f"{'a constant, over a bare interpreter':58} {added:5.1f} ms  (at most 5)")
    show("a cold first answer : the frameworks' import", medians["first answer"] / medians["frameworks"], 1.25)


def in_turn(programs: dict[str, str]) -> dict[str, float]:
    """The median time of each program as a whole process, in seconds; they take turns, so that all see one machine."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(ROUNDS + 1):
        for name, program in programs.items():
            start = timeit.default_timer()
            subprocess.run([sys.executable, "-c", program], env=environment, check=True)
            if turn:  # the first one fills the caches
                times[name].append(timeit.default_timer() - start)
    return {name: statistics.median(measured) for name, measured in times.items()}


def loading() -> None:
    text = (importlib_resources.files("failure_kinds.vocabulary") / "failure_kinds.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    ratio = seconds(load_registry, 10) / seconds(lambda: yaml.load(text, loader), 10)  # noqa: S506  # a safe one
    show("loading the vocabulary : yaml.load of its text", ratio, 4)


def classifying() -> None:
    config = FailureClassificationConfig()
    for label, constant, classify, limit in (
        (
            "with a config",
            "constant(kind, stage, status, policy, config)",
            "classify_failure(kind, stage, status, policy, config)",
            6,
        ),
        (
            "with the active registry",
            "constant(kind, stage, status, policy)",
            "classify_failure(kind, stage, status, policy)",
            8,
        ),
    ):
        ratios = []
        for kind, stage, status, policy in FAILURES:
            names = {"constant": constant_function, "classify_failure": classify_failure, "config": config}
            names |= {"kind": kind, "stage": stage, "status": status, "policy": policy}
            ratios.append(seconds(classify, 100_000, names) / seconds(constant, 100_000, names))
        show(f"classify_failure {label} : a constant function, median", statistics.median(ratios), limit)
        show(f"classify_failure {label} : a constant function, worst", max(ratios), limit)


def constant_function(
    failure_kind: str | None,  # noqa: ARG001
    stage: str | None = None,  # noqa: ARG001
    http_status: object = None,  # noqa: ARG001
    policy: bool = True,  # noqa: ARG001
    config: object = None,  # noqa: ARG001
) -> None:
    return None


def seconds(code: str | Callable[[], object], number: int, names: dict[str, object] | None = None) -> float:
    return min(timeit.repeat(code, globals=names, number=number, repeat=ROUNDS))


def show(what: str, ratio: float, limit: float) -> None:
    print(f"{what:58} {ratio:5.2f} x   (at most {limit})")


if __name__ == "__main__":
    main()

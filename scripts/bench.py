#!/usr/bin/env python3
"""Measure what the package promises about its speed, as ratios taken in one run: a machine's own speed falls out.

    python scripts/bench.py             everything
    python scripts/bench.py core        what needs no extra
    python scripts/bench.py report      the command, on 500 MB of rows in a temporary folder
    python scripts/bench.py tables      whole tables, on ten million rows

Each line is what was measured, the ratio, and the target. The medians of whole processes are taken in turn, so that all
of them see the same machine.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path
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


# What DuckDB is asked: the same fields of the same file, grouped.
DUCKDB = """
import duckdb, sys
event = "_ng_failure_events[_ng_failure_id]"
duckdb.sql(f'''
    SELECT _ng_failure_class, {event}.failure_kind k, {event}.stage s, {event}.http_status h, count(*)
    FROM read_json('{sys.argv[1]}', format='newline_delimited', columns={{
        failure_kind: 'VARCHAR', stage: 'VARCHAR', http_status: 'BIGINT', policy: 'BOOLEAN', reward: 'DOUBLE',
        _ng_failure_class: 'VARCHAR', _ng_failure_id: 'VARCHAR',
        _ng_failure_events: 'MAP(VARCHAR, STRUCT(failure_kind VARCHAR, stage VARCHAR, http_status BIGINT))'}})
    GROUP BY ALL''').fetchall()
"""
JSON_LOADS = """
import json, sys
counts = {}
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        row = json.loads(line)
        event = row.get("_ng_failure_events", {}).get(row.get("_ng_failure_id"), row)
        key = event.get("failure_kind") or row.get("_ng_failure_class"), event.get("stage"), event.get("http_status")
        counts[key] = counts.get(key, 0) + 1
"""
REPORT = "import sys; sys.argv[1:] = ['report', sys.argv[1]]; from failure_kinds.cli import main; main()"
HELP = "import sys; sys.argv[1:] = ['--help']; from failure_kinds.cli import main; main()"


def main() -> None:
    parts = {"core": (processes, loading, classifying), "report": (helping, reporting), "tables": (tables,)}
    for part in sys.argv[1:] or parts:
        for measure in parts[part]:
            measure()


def processes() -> None:
    medians = in_turn({"bare": BARE, "constant": CONSTANT, "frameworks": FRAMEWORKS, "first answer": FIRST_ANSWER})
    added = 1000 * (medians["constant"] - medians["bare"])
    print(f"{'a constant, over a bare interpreter':58} {added:5.1f} ms  (at most 5)")
    show("a cold first answer : the frameworks' import", medians["first answer"] / medians["frameworks"], 1.25)


def in_turn(programs: dict[str, str], *arguments: str, rounds: int = ROUNDS) -> dict[str, float]:
    """The median time of each program as a whole process, in seconds; they take turns, so that all see one machine."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, program in programs.items():
            command = [sys.executable, "-c", program, *arguments]
            start = timeit.default_timer()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
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


def helping() -> None:
    medians = in_turn({"help": HELP, "typer": "import typer"})
    show("failure-kinds --help : import typer", medians["help"] / medians["typer"], 2.5)


def reporting() -> None:
    programs = {"report": REPORT, "duckdb": DUCKDB, "json": JSON_LOADS}
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, length in (("100,000 long rows", 100_000, 3_400), ("1,000,000 short rows", 1_000_000, 0)):
            path = write_rows(Path(folder) / "rows.jsonl", rows, length)
            medians = in_turn(programs, str(path), rounds=7)
            report = medians["report"]
            if length:
                print(f"{name}: report at DuckDB's speed x {medians['duckdb'] / report:.2f}   (at least 0.7)")
            print(f"{name}: report at json.loads' speed x {medians['json'] / report:.2f}   (at least 2)")
            peak = peak_memory([sys.executable, "-c", REPORT, str(path)])
            print(f"{name}: {path.stat().st_size >> 20} MiB, peak memory of report {peak:.0f} MB   (at most 150)")


def tables() -> None:
    from bench_tables import measure

    measure()


def write_rows(path: Path, rows: int, length: int) -> Path:
    """A file of rows as Gym's collector writes them, each with about so many bytes of `response`."""
    chance = random.Random(0)  # noqa: S311  # the same file each time
    words = [
        "the",
        "agent",
        "ran",
        '"config.json"',
        "then\n\tfailed",
        "café",
        "日本語",
        "path\\to",
        "result",
        "token",
        "output",
        "12345",
    ]
    kinds = ["agent_timeout", "session_lost", "model_request_error", "judge_failed", "provider_oom_killed"]
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            row = {"_ng_task_index": number, "reward": 0.0, "failure_kind": chance.choice(kinds), "stage": "agent"}
            row["http_status"] = chance.choice([None, 400, 429, 503])
            if length:
                texts = [" ".join(chance.choices(words, k=60)) for _ in range(length // 450)]
                row["response"] = {"output": [{"role": "assistant", "content": text} for text in texts]}
                event = {"failure_kind": row.pop("failure_kind"), "stage": row.pop("stage"), "http_status": 429}
                row |= {"_ng_failure_id": "e1", "_ng_failure_events": {"e1": event}} if number % 3 else event
            file.write(json.dumps(row, ensure_ascii=bool(number % 2)) + "\n")
    return path


def peak_memory(command: list[str]) -> float:
    """The peak memory of a process, in megabytes, as the operating system counts it."""
    measure = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
    measure += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    result = subprocess.run([sys.executable, "-c", measure, *command], capture_output=True, check=True, text=True)
    return int(result.stdout) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


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

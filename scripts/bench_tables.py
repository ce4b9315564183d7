"""Whole tables beside what people write by hand, on ten million rows: run by `python scripts/bench.py tables`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import timeit
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl

from failure_kinds import classify_failure, explain_failure, load_registry, reporting_failure_kind
from failure_kinds.sql import rules_as_sql
from failure_kinds.tables import class_expr, classify_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ROWS = 10_000_000
ROWS_OF_LOOP = 200_000
ROUNDS = 5

REGISTRY = load_registry()
ADDED = ["failure_class", "reporting_kind", "rule"]

# The default rules, as somebody would write them down who has read the table of the rules.
SANDBOX = ["provider_oom_killed", "provider_command_timeout"]
OF_MODELS = ["model_request_error", "model_context_limit", "model_policy_response_timeout"]
REFINABLE = [*OF_MODELS[::2], "agent_run_error", "model_server_error", "model_transport_error"]
ACCESS = [401, 402, 403, 404, 405, 407, 408, 410, 415, 425, 429, 499]
BY_CLASS: dict[str, list[str]] = {name: [] for name in ("evaluation", "model", "unknown")}
for _kind in REGISTRY.kinds:
    BY_CLASS[REGISTRY.classify_failure(_kind).value].append(_kind)
BY_CLASS["evaluation"] += REGISTRY.retired
KEEPING = [*(kind for kind in REGISTRY.kinds if kind not in REFINABLE), *REGISTRY.retired]
NAMESPACED = "[a-z][a-z0-9_]*:[a-z][a-z0-9_]*"

# Test in Polars, in SQL; class; rule.
KIND, STAGE, STATUS = pl.col("failure_kind"), pl.col("stage"), pl.col("http_status")
OTHER = (pl.col("policy").not_().fill_null(value=False), "policy = false")


def listed(names: Iterable[object]) -> str:
    return f"({', '.join(map(repr, names))})"


GIVES_WAY = (
    ~(KIND.is_in(KEEPING) | KIND.str.contains(f"^{NAMESPACED}$")).fill_null(value=False),
    f"NOT coalesce(failure_kind IN {listed(KEEPING)} OR regexp_full_match(failure_kind, '{NAMESPACED}'), false)",
)
EVIDENCE = (STATUS.is_between(400, 599) & GIVES_WAY[0], f"http_status BETWEEN 400 AND 599 AND {GIVES_WAY[1]}")
IS_ACCESS = (STATUS.is_in(ACCESS), f"http_status IN {listed(ACCESS)}")
RULES: list[tuple[pl.Expr, str, str, str]] = [
    (
        STAGE.is_in(["admission", "seed", "cleanup"]) & KIND.is_in(SANDBOX),
        f"stage IN ('admission', 'seed', 'cleanup') AND failure_kind IN {listed(SANDBOX)}",
        "evaluation",
        "stage_kind",
    ),
    (
        STAGE.is_in(["agent"]) & KIND.is_in(SANDBOX),
        f"stage = 'agent' AND failure_kind IN {listed(SANDBOX)}",
        "model",
        "stage_kind",
    ),
    (
        STAGE.is_in(["verification"]) & KIND.is_in(OF_MODELS),
        f"stage = 'verification' AND failure_kind IN {listed(OF_MODELS)}",
        "evaluation",
        "stage_kind",
    ),
    (
        EVIDENCE[0] & (OTHER[0] | (STATUS >= 500) | IS_ACCESS[0]),
        f"{EVIDENCE[1]} AND ({OTHER[1]} OR http_status >= 500 OR {IS_ACCESS[1]})",
        "evaluation",
        "http_evidence",
    ),
    (*EVIDENCE, "unknown", "http_evidence"),
    (
        OTHER[0] & KIND.is_in(OF_MODELS),
        f"{OTHER[1]} AND failure_kind IN {listed(OF_MODELS)}",
        "evaluation",
        "non_policy_kind",
    ),
    *(
        (KIND.is_in(kinds), f"failure_kind IN {listed(kinds)}", failure_class, "kind")
        for failure_class, kinds in BY_CLASS.items()
    ),
]
RENAMED: list[tuple[pl.Expr, str, str]] = [
    (KIND.is_in([old]), f"failure_kind = '{old}'", new) for old, new in REGISTRY.retired.items()
]
LABELS: list[tuple[pl.Expr, str, str]] = [
    (EVIDENCE[0] & IS_ACCESS[0], f"{EVIDENCE[1]} AND {IS_ACCESS[1]}", "infrastructure_error"),
    (EVIDENCE[0] & (STATUS >= 500), f"{EVIDENCE[1]} AND http_status >= 500", "model_server_error"),
    (EVIDENCE[0] & OTHER[0], f"{EVIDENCE[1]} AND {OTHER[1]}", "non_policy_model_rejection"),
    (*EVIDENCE, "model_request_error"),
    (
        OTHER[0] & KIND.is_in(OF_MODELS[:2]),
        f"{OTHER[1]} AND failure_kind IN {listed(OF_MODELS[:2])}",
        "non_policy_model_rejection",
    ),
    (OTHER[0] & KIND.is_in(OF_MODELS[2:]), f"{OTHER[1]} AND failure_kind = '{OF_MODELS[2]}'", "transport_timeout"),
    *RENAMED,
]


def in_polars(tests: list[tuple[pl.Expr, str]], otherwise: pl.Expr) -> pl.Expr:
    chain: Any = pl
    for test, answer in tests:
        chain = chain.when(test).then(pl.lit(answer))
    return chain.otherwise(otherwise)  # type: ignore[no-any-return]


def in_sql(tests: list[tuple[str, str]], otherwise: str) -> str:
    cases = " ".join(f"WHEN {test} THEN '{answer}'" for test, answer in tests)
    return f"CASE {cases} ELSE {otherwise} END"


BY_HAND = {
    "failure_class": in_polars([(test, answer) for test, _, answer, _ in RULES], pl.lit("unknown")),
    "reporting_kind": in_polars([(test, answer) for test, _, answer in LABELS], KIND),
    "rule": in_polars([(test, rule) for test, _, _, rule in RULES], pl.lit("default")),
}
SQL_BY_HAND = {
    "failure_class": in_sql([(test, answer) for _, test, answer, _ in RULES], "'unknown'"),
    "reporting_kind": in_sql([(test, answer) for _, test, answer in LABELS], "failure_kind"),
    "rule": in_sql([(test, rule) for _, test, _, rule in RULES], "'default'"),
}

PEAK = """
import sys, polars
from failure_kinds.tables import classify_table
def kilobytes(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))
frame = polars.read_parquet(sys.argv[1])
open("/proc/self/clear_refs", "w").write("5")  # the peak from here on
before = kilobytes("VmRSS")
classified = classify_table(frame)
# Polars' own estimate counts less than 16 bytes for a text, which is what each one takes.
size = frame.to_arrow(compat_level=polars.CompatLevel.newest()).get_total_buffer_size()
print(1 + 1024 * (kilobytes("VmHWM") - before) / size)
"""


def measure() -> None:
    frame = table()
    if not classify_table(frame).equals(frame.lazy().with_columns(**BY_HAND).collect()):
        sys.exit("what is written by hand isn't what the rules say")
    on_polars(frame)
    on_duckdb(frame)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        frame.write_parquet(path)
        result = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, check=True, text=True)
        show("Polars: peak memory, the frame included : the frame", float(result.stdout), "at most 2")


def table() -> pl.DataFrame:
    """A table of rollouts: each with an identifier and a reward beside what is evidence."""
    chance = np.random.default_rng(0)

    def column(values: list[Any], dtype: Any) -> pl.Series:
        return pl.Series(values, dtype=dtype).gather(chance.integers(0, len(values), ROWS))

    kinds = [*sorted(REGISTRY.kinds), "judge_invalid", "acme:quota", "nobody_knows_this", None]
    numbers = pl.Series(chance.integers(0, 1 << 62, ROWS)).cast(pl.String)
    return pl.DataFrame(
        {
            "rollout": pl.select("rollout-" + numbers).to_series(),
            "reward": chance.random(ROWS),
            "failure_kind": column(kinds, pl.String),
            "stage": column([*REGISTRY.stages, None], pl.String),
            "http_status": column([None, None, 200, 400, 429, 503], pl.Int64),
            "policy": column([True, None, False], pl.Boolean),
        }
    )


def on_polars(frame: pl.DataFrame) -> None:
    table = nw.from_native(frame.lazy())
    times = in_turn(
        {
            "table": lambda: classify_table(frame),
            "table by hand": lambda: frame.lazy().with_columns(**BY_HAND).collect(),
            "class": lambda: table.with_columns(failure_class=class_expr()).collect(),
            "class by hand": lambda: frame.lazy().with_columns(failure_class=BY_HAND["failure_class"]).collect(),
        }
    )
    show("Polars: classify_table : the same by hand", times["table"] / times["table by hand"], "at most 2")
    show("Polars: class_expr : the same by hand", times["class"] / times["class by hand"], "at most 2")
    rows = frame[:ROWS_OF_LOOP].select("failure_kind", "stage", "http_status", "policy")
    share = ROWS / ROWS_OF_LOOP
    loops = in_turn({"class": lambda: loop(rows), "table": lambda: loop_for_all(rows)})
    show("Polars: a loop over classify_failure : class_expr", share * loops["class"] / times["class"], "at least 30")
    ratio = share * loops["table"] / times["table"]
    show("Polars: a loop over all three functions : classify_table", ratio, "at least 30")


def loop(rows: pl.DataFrame) -> pl.Series:
    return pl.Series([classify_failure(*row).value for row in rows.iter_rows()])


def loop_for_all(rows: pl.DataFrame) -> pl.DataFrame:
    answers = (
        (classify_failure(*row).value, reporting_failure_kind(row[0], *row[2:]), explain_failure(*row).rule)
        for row in rows.iter_rows()
    )
    return pl.DataFrame(list(answers), schema=ADDED, orient="row")


def on_duckdb(frame: pl.DataFrame) -> None:
    connection = duckdb.connect()
    connection.register("frame", frame)
    connection.execute("CREATE TABLE rows AS FROM frame")

    def selected(columns: dict[str, str]) -> str:
        return f"SELECT *, {', '.join(f'{sql} AS {name}' for name, sql in columns.items())} FROM rows"  # noqa: S608

    queries = {
        "table": classify_table(connection.query("FROM rows")).sql_query(),
        "sql": selected(rules_as_sql("duckdb")._asdict()),
        "by hand": selected(SQL_BY_HAND),
    }
    sums = {name: f"SELECT sum(hash({', '.join(ADDED)})) FROM ({query})" for name, query in queries.items()}  # noqa: S608
    if len({connection.execute(query).fetchone() for query in sums.values()}) != 1:
        sys.exit("what is written by hand in SQL isn't what the rules say")
    work = {
        name: partial(connection.execute, f"CREATE OR REPLACE TEMP TABLE answered AS {query}")
        for name, query in queries.items()
    }
    times = in_turn(work, rounds=3)
    show("DuckDB: classify_table : the CASE by hand", times["table"] / times["by hand"], "at most 2")
    show("DuckDB: failure-kinds sql : the CASE by hand", times["sql"] / times["by hand"], "at most 2")


def in_turn(work: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The median time of each piece of work, in seconds; they take turns, so that all see one machine."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, piece in work.items():
            seconds = timeit.timeit(piece, number=1)
            if turn:  # the first one fills the caches
                times[name].append(seconds)
    return {name: statistics.median(measured) for name, measured in times.items()}


def show(what: str, ratio: float, limit: str) -> None:
    print(f"{what:58} {ratio:5.2f} x   ({limit})")

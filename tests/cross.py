"""Every kind of name crossed with every stage, status and policy, and what the rules say of each, as Arrow tables."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import pyarrow as pa
from strategies import ALL_NAMES, ALL_STAGES, ALL_STATUSES

from failure_kinds.classification import explain
from failure_kinds.sql import rules_as_sql

if TYPE_CHECKING:
    from collections.abc import Iterable

    from failure_kinds import FailureClassificationConfig

POLICIES = [True, False, None]

# Names that are nearly known, or nearly namespaced: for a pattern's end, ends of lines differ from engine to engine.
ODD_NAMES: list[Any] = [
    "a:b\n", "a:b\r\n", "a:b\r", "a:b\u2028", "a:b\u0085", "a:b\n\n", "a:b:c", "a:", ":b", "A:b", "a:B", "1a:b", "a:é",
    " a:b", "x\na:b", "agent_timeout\n", "Agent_Timeout", "ＡＧＥＮＴ", "é",
]  # fmt: skip

DUCKDB = duckdb.connect()  # a relation doesn't keep its connection open

NAMES = [*ALL_NAMES, *ODD_NAMES]

ADDED = pa.schema({name: pa.string() for name in ("failure_class", "reporting_kind", "rule")})
SCHEMA = pa.schema({"failure_kind": pa.string(), "stage": pa.string(), "http_status": pa.int64(), "policy": pa.bool_()})


@functools.cache
def every() -> pa.Table:
    """A row for each combination there is."""
    return evidence(NAMES, ALL_STAGES, ALL_STATUSES)


def evidence(
    names: Iterable[Any], stages: Iterable[Any], statuses: Iterable[Any], policies: Iterable[Any] = POLICIES
) -> pa.Table:
    """A row for each combination, numbered, since some engines keep no order."""
    columns = zip(*itertools.product(names, stages, statuses, policies), strict=True)
    table = pa.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA)
    return table.append_column("row", pa.array(range(len(table))))


def answers(config: FailureClassificationConfig, table: pa.Table) -> pa.Table:
    """What the rules say, one after the other, of a table's rows."""
    explained = functools.cache(functools.partial(explain, config))  # a missing policy counts as true
    *columns, policies = (table[name].to_pylist() for name in SCHEMA.names)
    rows = zip(*columns, (policy is not False for policy in policies), strict=True)
    found = [explained(*row) for row in rows]
    columns = [
        [each.failure_class.value for each in found],
        [each.label for each in found],
        [each.rule for each in found],
    ]
    return pa.table(dict(zip(ADDED.names, columns, strict=True)), schema=ADDED)


def added(result: Any) -> pa.Table:
    """The columns that were added to a table of any engine, in the order of its rows."""
    frame: Any = nw.from_native(result).lazy()
    rows = [name for name in frame.collect_schema().names() if name == "row"]
    table = frame.select(*rows, *ADDED.names).collect("pyarrow").to_native()
    table = table.sort_by("row") if rows else table
    return table.select(ADDED.names).cast(ADDED).combine_chunks()


def by_sql(table: pa.Table, config: FailureClassificationConfig) -> Any:
    """The same columns, by the rules as DuckDB's SQL."""
    expressions = rules_as_sql("duckdb", config=config)._asdict()
    columns = ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())
    return DUCKDB.from_arrow(table).project(f"row, {columns}")

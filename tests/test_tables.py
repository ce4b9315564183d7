"""Whole tables: on every engine, the answers are those of the rules, whatever the columns hold."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import cross
import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cross import added
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_NAMES, ALL_STAGES, CONFIGS, SOME_STATUSES, configs

from failure_kinds import FailureClassificationConfig, classify_failure, load_registry, reporting_failure_kind
from failure_kinds.errors import ColumnClashError, ColumnTypeError, FailureKindsError, MissingColumnError
from failure_kinds.tables import class_expr, classify_table, reporting_kind_expr, rule_expr

if TYPE_CHECKING:
    from collections.abc import Callable


def duck(table: pa.Table) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(table)


def categories(table: pa.Table) -> pd.DataFrame:
    return pandas_objects(table).astype({"failure_kind": "category", "stage": "category"})


def pandas_objects(table: pa.Table) -> pd.DataFrame:
    """As people's own frames are: floats where a status is missing, objects where a flag is."""
    return table.to_pandas().astype({"policy": object})


def pandas_nullable(table: pa.Table) -> pd.DataFrame:
    return pandas_objects(table).astype({"failure_kind": "string", "http_status": "Int16", "policy": "boolean"})


def pandas_arrow(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def polars_enums(table: pa.Table) -> pl.DataFrame:
    frame = polars(table)
    names = pl.Enum(frame["failure_kind"].unique().drop_nulls())
    return frame.with_columns(pl.col("failure_kind").cast(names), pl.col("stage").cast(pl.Categorical))


def polars(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def dictionaries(table: pa.Table) -> pa.Table:
    return table.set_column(0, "failure_kind", table["failure_kind"].dictionary_encode())


def large_strings(table: pa.Table) -> pa.Table:
    return table.set_column(0, "failure_kind", table["failure_kind"].cast(pa.large_string()))


ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "Polars": polars,
    "Polars, lazily": lambda table: polars(table).lazy(),
    "pandas": pandas_objects,
    "PyArrow": lambda table: table,
    "DuckDB": duck,
}
FORMS: dict[str, Callable[[pa.Table], Any]] = {
    **ENGINES,
    "pandas with nullable types": pandas_nullable,
    "pandas on Arrow": pandas_arrow,
    "pandas with categories": categories,
    "Polars with an enum": polars_enums,
    "PyArrow with dictionaries": dictionaries,
    "PyArrow with large strings": large_strings,
    "Narwhals": lambda table: nw.from_native(table, eager_only=True),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_answers_are_those_of_the_rules_on_every_engine(name: str) -> None:
    config = FailureClassificationConfig(**CONFIGS[name])
    expected = cross.answers(config, cross.every())
    for engine, made in ENGINES.items():
        assert added(classify_table(made(cross.every()), config=config)).equals(expected), engine


@given(configs, st.sampled_from(sorted(ENGINES)))
@settings(max_examples=30)
def test_so_they_are_with_any_configuration(config: FailureClassificationConfig, engine: str) -> None:
    table = cross.evidence(ALL_NAMES, ALL_STAGES, SOME_STATUSES[::2])
    assert added(classify_table(ENGINES[engine](table), config=config)).equals(cross.answers(config, table))


@pytest.mark.parametrize("form", FORMS)
class TestWhateverTheColumnsAreMadeOf:
    def test_the_answers_are_the_same(self, form: str) -> None:
        table = cross.evidence(cross.NAMES, ["agent", "warmup", None], SOME_STATUSES)
        assert added(classify_table(FORMS[form](table))).equals(cross.answers(load_registry().config, table))

    def test_so_are_those_of_expressions(self, form: str) -> None:
        if form in ("pandas", "pandas with categories", "Polars with an enum", "PyArrow with dictionaries"):
            pytest.skip("an expression can't know that it has to cast a column")
        table = cross.evidence(cross.NAMES, ["agent", "warmup", None], SOME_STATUSES)
        frame: Any = nw.from_native(FORMS[form](table))
        query = frame.with_columns(failure_class=class_expr(), reporting_kind=reporting_kind_expr(), rule=rule_expr())
        assert added(query).equals(cross.answers(load_registry().config, table))

    def test_an_empty_table_stays_empty(self, form: str) -> None:
        empty = cross.evidence(["agent_timeout"], ["agent"], [503])[:0]
        assert len(added(classify_table(FORMS[form](empty)))) == 0

    def test_the_type_stays_and_the_columns_come_last(self, form: str) -> None:
        frame = FORMS[form](cross.evidence(["agent_timeout"], ["agent"], [503]))
        result = classify_table(frame)
        assert type(result) is type(frame)
        columns: Any = nw.from_native(result)
        assert columns.collect_schema().names() == [
            "failure_kind",
            "stage",
            "http_status",
            "policy",
            "row",
            *cross.ADDED.names,
        ]

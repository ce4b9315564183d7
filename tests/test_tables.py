"""Whole tables: on every engine, the answers are those of the rules, whatever the columns hold."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import cross
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pytest
from cross import DUCKDB, added
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_NAMES, ALL_STAGES, ALL_STATUSES, CONFIGS, SOME_STATUSES, configs

from failure_kinds import FailureClass, FailureClassificationConfig, load_registry, using_registry
from failure_kinds.errors import ColumnClashError, ColumnTypeError, FailureKindsError, MissingColumnError
from failure_kinds.report import report_failures
from failure_kinds.sources.bundled import bundled_source
from failure_kinds.tables import class_expr, classify_table, reporting_kind_expr, rule_expr, summarize_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import duckdb


def duck(table: pa.Table) -> duckdb.DuckDBPyRelation:
    return DUCKDB.from_arrow(table)


def categories(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas().astype({"failure_kind": "category", "stage": "category"})


def pandas_objects(table: pa.Table) -> pd.DataFrame:
    """As people's own frames are: floats where a status is missing, objects where a flag is."""
    return table.to_pandas().astype({name: object for name in ("policy",) if name in table.column_names})


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


@pytest.mark.parametrize(
    "statuses",
    [SOME_STATUSES, pytest.param(ALL_STATUSES, marks=pytest.mark.engines)],
    ids=["some statuses", "every one"],
)
@pytest.mark.parametrize("name", CONFIGS)
def test_the_answers_are_those_of_the_rules_on_every_engine(name: str, statuses: list[Any]) -> None:
    config = FailureClassificationConfig(**CONFIGS[name])
    table = cross.evidence(cross.NAMES, ALL_STAGES, statuses)
    expected = cross.answers(config, table)
    for engine, made in ENGINES.items():
        assert added(classify_table(made(table), config=config)).equals(expected), engine
    assert added(cross.by_sql(table, config)).equals(expected), "SQL on DuckDB"


@pytest.mark.parametrize("failure_class", FailureClass)
def test_what_the_last_rules_say_may_be_the_default(failure_class: FailureClass) -> None:
    config = FailureClassificationConfig(default_class=failure_class)
    table = cross.evidence(cross.NAMES, ["agent", None], [None, 503])
    assert added(classify_table(table, config=config)).equals(cross.answers(config, table))


@given(configs, st.sampled_from(sorted(ENGINES)))
@settings(max_examples=30)
def test_so_they_are_with_any_configuration(config: FailureClassificationConfig, engine: str) -> None:
    table = cross.evidence(ALL_NAMES, ALL_STAGES, SOME_STATUSES[::2])
    assert added(classify_table(ENGINES[engine](table), config=config)).equals(cross.answers(config, table))


# An expression can't know that it has to cast a column.
NEEDS_A_CAST = {"pandas", "pandas with categories", "Polars with an enum", "PyArrow with dictionaries"}


@pytest.mark.parametrize("form", sorted(FORMS.keys() - NEEDS_A_CAST))
def test_expressions_answer_as_the_tables_do(form: str) -> None:
    table = cross.evidence(cross.NAMES, ["agent", "warmup", None], SOME_STATUSES)
    frame: Any = nw.from_native(FORMS[form](table))
    query = frame.with_columns(failure_class=class_expr(), reporting_kind=reporting_kind_expr(), rule=rule_expr())
    assert added(query).equals(cross.answers(load_registry().config, table))


class TestExpressionsInAQuery:
    """They have names of their own, and stand wherever an expression can."""

    FRAME = pl.DataFrame({"failure_kind": ["session_lost", "agent_limit", None], "task": ["a", "a", "b"]})

    @pytest.mark.parametrize("expression", [class_expr, reporting_kind_expr, rule_expr])
    def test_are_named_as_the_columns_of_a_table_are(self, expression: Callable[..., nw.Expr]) -> None:
        stage = {} if expression is reporting_kind_expr else {"stage": None}
        named = expression(http_status=None, policy=None, **stage)
        found = nw.from_native(self.FRAME).select(named, named.alias("mine"))
        assert found.columns == [expression.__name__.replace("class", "failure_class").removesuffix("_expr"), "mine"]
        table = classify_table(self.FRAME, **NOTHING_ELSE)
        assert found["mine"].to_list() == found[:, 0].to_list() == table[found.columns[0]].to_list()

    def test_group(self) -> None:
        counts = nw.from_native(self.FRAME).group_by(class_expr(**NOTHING_ELSE)).agg(nw.len()).sort("failure_class")
        assert counts.rows() == [("evaluation", 1), ("model", 1), ("unknown", 1)]

    def test_compare_over_groups(self) -> None:
        is_model: nw.Expr = class_expr(**NOTHING_ELSE) == "model"
        counts = nw.from_native(self.FRAME).select(is_model.cast(nw.Int64).sum().over("task").alias("models"))
        assert counts["models"].to_list() == [1, 1, 0]

    def test_filter(self) -> None:
        labels = reporting_kind_expr(http_status=None, policy=None)
        assert nw.from_native(self.FRAME).filter(labels == "agent_limit").rows() == [("agent_limit", "a")]


@pytest.mark.parametrize("engine", ENGINES)
def test_there_may_be_hundreds_of_answers(engine: str) -> None:
    aliases: dict[str, Any] = {f"old {number}": f"acme:n{number}" for number in range(250)}
    classes: dict[str, Any] = {f"acme:n{number}": FailureClass.MODEL for number in range(0, 250, 2)}
    labels: dict[Any, Any] = {status: f"acme:s{status}" for status in range(400, 600)}
    config = FailureClassificationConfig(
        kind_aliases=aliases, by_failure_kind=classes, reporting_kind_by_status_code=labels
    )
    table = cross.evidence([*aliases, "acme:n7", "agent_timeout", None], ["agent"], [None, 400, 503, 599], [True, None])
    assert added(classify_table(ENGINES[engine](table), config=config)).equals(cross.answers(config, table))


@pytest.mark.parametrize("form", FORMS)
class TestWhateverTheColumnsAreMadeOf:
    def test_the_answers_are_the_same(self, form: str) -> None:
        table = cross.evidence(cross.NAMES, ["agent", "warmup", None], SOME_STATUSES)
        assert added(classify_table(FORMS[form](table))).equals(cross.answers(load_registry().config, table))

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


def one(frame: Any, **options: Any) -> tuple[Any, ...]:
    """The answers for a table's only row."""
    return tuple(column[0] for column in added(classify_table(frame, **options)).to_pydict().values())


SERVER_ERROR = ("evaluation", "model_server_error", "http_evidence")
NAMED = ("unknown", "agent_run_error", "kind")


class TestStatuses:
    WIDTHS = [pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64]

    @pytest.mark.parametrize("dtype", [*WIDTHS, pl.Decimal(10, 2)], ids=str)
    def test_of_any_width_are_evidence(self, dtype: Any) -> None:
        frame = pl.DataFrame({"kind": ["agent_run_error"], "status": pl.Series([503]).cast(dtype)})
        assert one(frame, kind="kind", stage=None, http_status="status", policy=None) == SERVER_ERROR

    @pytest.mark.parametrize("engine", ["PyArrow", "pandas on Arrow"])
    @pytest.mark.parametrize(
        "dtype", [pa.decimal128(3), pa.decimal128(4, 1), pa.decimal32(3), pa.decimal64(5, 2), pa.float16()], ids=str
    )
    def test_may_be_decimals_that_hold_nothing_longer_or_short_floats(self, dtype: Any, engine: str) -> None:
        number = np.float16 if dtype == pa.float16() else Decimal
        statuses = pa.array([number(503), number(9), None], dtype)
        table = pa.table({"failure_kind": ["agent_run_error"] * 3, "http_status": statuses})
        found = added(classify_table(FORMS[engine](table), stage=None, policy=None))["reporting_kind"].to_pylist()
        assert found == ["model_server_error", "agent_run_error", "agent_run_error"]

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (pa.array([503.0]), SERVER_ERROR),
            (pa.array([503.5]), NAMED),
            (pa.array([float("nan")]), NAMED),
            (pa.array([float("inf")]), NAMED),
            (pa.array([-503]), NAMED),
            (pa.array([10**18]), NAMED),
            (pa.array([2**64 - 1], pa.uint64()), NAMED),
            (pa.array([100], pa.int8()), NAMED),
            (pa.array([True]), NAMED),
            (pa.array([None], pa.null()), NAMED),
            (pa.array([None], pa.int64()), NAMED),
        ],
        ids=str,
    )
    def test_are_integers_whatever_they_are_stored_as(self, engine: str, status: Any, answer: tuple[str, ...]) -> None:
        frame = ENGINES[engine](pa.table({"failure_kind": ["agent_run_error"], "http_status": status}))
        assert one(frame, stage=None, policy=None) == answer


class TestPolicies:
    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize(
        ("policy", "says_no"),
        [
            (pa.array([False]), True),
            (pa.array([True]), False),
            (pa.array([None], pa.bool_()), False),
            (pa.array([None], pa.null()), False),
            (pa.array([0]), True),
            (pa.array([2]), False),
            (pa.array([0.0]), True),
            (pa.array([0], pa.uint64()), True),
            (pa.array([2**64 - 1], pa.uint64()), False),
            (pa.array([float("nan")]), False),
        ],
        ids=str,
    )
    def test_may_be_numbers(self, engine: str, policy: Any, says_no: bool) -> None:
        frame = ENGINES[engine](pa.table({"failure_kind": ["model_context_limit"], "policy": policy}))
        failure_class = one(frame, stage=None, http_status=None)[0]
        assert failure_class == ("evaluation" if says_no else "model")

    @pytest.mark.parametrize("engine", ["PyArrow", "pandas on Arrow"])
    def test_may_be_floats_of_two_bytes(self, engine: str) -> None:
        policy = pa.array([np.float16(0), np.float16(1), None], pa.float16())
        table = pa.table({"failure_kind": ["model_context_limit"] * 3, "policy": policy})
        found = added(classify_table(FORMS[engine](table), stage=None, http_status=None))["failure_class"].to_pylist()
        assert found == ["evaluation", "model", "model"]

    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
    def test_may_be_objects_of_pandas(self, missing: object) -> None:
        policy = pd.Series([missing, False, True], dtype=object)
        frame = pd.DataFrame({"failure_kind": ["model_context_limit"] * 3, "policy": policy})
        classified = classify_table(frame, stage=None, http_status=None)
        assert classified["failure_class"].tolist() == ["model", "evaluation", "model"]


class TestNames:
    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
    def test_that_are_missing_in_pandas_are_none(self, missing: object) -> None:
        frame = pd.DataFrame({"failure_kind": pd.Series(["agent_timeout", missing], dtype=object), "http_status": 503})
        found = added(classify_table(frame, stage=None, policy=None)).to_pydict()
        assert found["reporting_kind"] == ["agent_timeout", "model_server_error"]

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("kinds", [pa.array([7]), pa.array([None], pa.null()), pa.array([1.5])])
    def test_of_no_text_are_none(self, engine: str, kinds: Any) -> None:
        frame = ENGINES[engine](pa.table({"failure_kind": kinds, "stage": kinds, "http_status": [503]}))
        assert one(frame, policy=None) == SERVER_ERROR
        assert one(frame, http_status=None, policy=None) == ("unknown", None, "default")

    def test_may_be_views_of_text(self) -> None:
        names = pa.array(["session_lost", None], pa.string_view())
        found = added(
            classify_table(pa.table({"k": names, "s": names}), kind="k", stage="s", http_status=None, policy=None)
        )
        assert found["reporting_kind"].to_pylist() == ["session_lost", None]

    def test_may_be_a_million_categories(self) -> None:
        names = pl.Series([f"kind_{number}" for number in range(1_000_000)], dtype=pl.Categorical)
        classified = classify_table(pl.DataFrame({"failure_kind": names}), stage=None, http_status=None, policy=None)
        assert classified["failure_class"].unique().to_list() == ["unknown"]
        assert classified["reporting_kind"].n_unique() == 1_000_000

    def test_are_read_as_their_alias_in_one_step(self) -> None:
        aliases = {"a": "agent_limit", "agent_limit": "session_lost"}
        config = FailureClassificationConfig(kind_aliases=aliases)
        frame = pl.DataFrame({"failure_kind": ["a", "agent_limit"]})
        found = classify_table(frame, stage=None, http_status=None, policy=None, config=config)
        assert found["reporting_kind"].to_list() == ["agent_limit", "session_lost"]


class TestColumnNames:
    def test_of_what_is_added_can_be_chosen(self) -> None:
        frame = pl.DataFrame({"k": ["session_lost"], "rule": [1]})
        names: dict[str, Any] = {"class_name": "side", "reporting_kind_name": "label", "rule_name": "why"}
        found = classify_table(frame, kind="k", stage=None, http_status=None, policy=None, **names)
        assert found.row(0, named=True) == {
            "k": "session_lost", "rule": 1, "side": "evaluation", "label": "session_lost", "why": "kind",
        }  # fmt: skip

    def test_of_our_own_do_not_get_in_the_way(self) -> None:
        frame = pl.DataFrame({"failure_kind": ["session_lost"], "_failure_kinds_number": [1]})
        found = classify_table(frame, stage=None, http_status=None, policy=None)
        assert found.columns == ["failure_kind", "_failure_kinds_number", *cross.ADDED.names]

    def test_of_our_own_do_not_get_in_the_way_of_another_case(self) -> None:
        frame = duck(pa.table({"failure_kind": ["session_lost"], "_FAILURE_KINDS_number": ["x"]}))
        assert one(frame, **NOTHING_ELSE) == ("evaluation", "session_lost", "kind")

    def test_may_be_numbers_in_pandas(self) -> None:
        frame = pd.DataFrame({"failure_kind": ["session_lost"], 0: [1]})
        assert classify_table(frame, **NOTHING_ELSE).columns.tolist() == ["failure_kind", 0, *cross.ADDED.names]

    @pytest.mark.parametrize("engine", ["pandas", "Polars", "Polars, lazily", "PyArrow"])
    def test_differ_by_case_alone_where_the_engine_tells_them_apart(self, engine: str) -> None:
        table = pa.table({"failure_kind": ["session_lost"], "Rule": ["mine"], "Stage": ["x"]})
        assert one(ENGINES[engine](table), **NOTHING_ELSE)[2] == "kind"
        summary: Any = nw.from_native(summarize_table(ENGINES[engine](table), by="Stage", **NOTHING_ELSE))
        assert summary.collect_schema().names()[:4] == ["Stage", "failure_class", "reporting_kind", "stage"]

    def test_clash_where_it_does_not(self) -> None:
        frame = duck(pa.table({"failure_kind": ["session_lost"], "Rule": ["mine"], "Stage": ["x"]}))
        with pytest.raises(ColumnClashError) as raised:
            classify_table(frame, **NOTHING_ELSE)
        assert str(raised.value) == (
            "there would be two columns 'rule', as 'Rule' is the same here; choose another name for one of them"
        )
        with pytest.raises(ColumnClashError, match=r"^a summary has a column 'Stage' of its own"):
            summarize_table(frame, by="Stage", **NOTHING_ELSE)

    @pytest.mark.parametrize("function", [classify_table, summarize_table])
    def test_that_several_columns_have_are_said(self, function: Callable[..., Any]) -> None:
        names = ["failure_kind", "x", "y", "x", "y"]
        table = pa.table([pa.array(["a"])] * 5, names=names)
        for frame in (table, pd.DataFrame([["a"] * 5], columns=names)):
            with pytest.raises(ColumnClashError) as raised:
                function(frame, **NOTHING_ELSE)
            assert str(raised.value) == "there are several columns 'x', 'y'; give each a name of its own"


NOTHING_ELSE: dict[str, Any] = {"stage": None, "http_status": None, "policy": None}


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        (
            {"failure_kind": ["a"], "phase": ["agent"]},
            {},
            MissingColumnError,
            "there is no column 'stage'; if there is none, say stage=None; there are 'failure_kind', 'phase'",
        ),
        (
            {"failure_knd": ["a"]},
            NOTHING_ELSE,
            MissingColumnError,
            "there is no column 'failure_kind'; did you mean 'failure_knd'?; there are 'failure_knd'",
        ),
        ({}, NOTHING_ELSE, MissingColumnError, "there is no column 'failure_kind'; there are none at all"),
        (
            {f"c{number:02}": [1] for number in range(21)},
            NOTHING_ELSE,
            MissingColumnError,
            "there is no column 'failure_kind'; there are "
            + "".join(f"'c{number:02}', " for number in range(20))
            + "...",
        ),
        (
            {"failure_kind": ["a"], "rule": [1]},
            NOTHING_ELSE,
            ColumnClashError,
            "there would be two columns 'rule'; choose another name for one of them",
        ),
        (
            {"failure_kind": ["a"]},
            {**NOTHING_ELSE, "rule_name": "x", "class_name": "x"},
            ColumnClashError,
            "there would be two columns 'x'; choose another name for one of them",
        ),
    ],
)
def test_columns_that_are_missing_or_clash_are_named(
    frame: dict[str, Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    for made in (pl.DataFrame, pl.LazyFrame, pd.DataFrame):
        with pytest.raises(error) as raised:
            classify_table(made(frame), **options)
        assert str(raised.value) == message
        assert isinstance(raised.value, FailureKindsError)


ROW = pa.table({"failure_kind": ["a"], "http_status": ["503"], "policy": ["true"]})
TO_NUMBERS: dict[str, str] = {
    "Polars": "pl.col('http_status').cast(pl.Int64, strict=False)",
    "pandas": "pandas.to_numeric(frame['http_status'], errors='coerce')",
    "PyArrow": "pyarrow.compute.cast(table['http_status'], 'int64')",
    "DuckDB": "TRY_CAST(http_status AS BIGINT)",
}
TO_BOOLEANS: dict[str, str] = {
    "Polars, lazily": "pl.col('policy') == 'true'",
    "pandas": "frame['policy'].map({'true': True, 'false': False})",
    "PyArrow": "pyarrow.compute.equal(table['policy'], 'true')",
    "DuckDB": "policy = 'true'",
}


class TestAColumnOfAnotherType:
    """It is an error that says how to cast, in the words of the engine."""

    @pytest.mark.parametrize("engine", TO_NUMBERS)
    def test_of_statuses(self, engine: str) -> None:
        with pytest.raises(ColumnTypeError) as raised:
            classify_table(ENGINES[engine](ROW), stage=None, policy=None)
        message = "column 'http_status' is of the type String, where numbers are needed; cast it: "
        assert str(raised.value) == message + TO_NUMBERS[engine]
        assert isinstance(raised.value, TypeError)

    @pytest.mark.parametrize("engine", TO_BOOLEANS)
    def test_of_policies(self, engine: str) -> None:
        with pytest.raises(ColumnTypeError) as raised:
            classify_table(ENGINES[engine](ROW), stage=None, http_status=None)
        message = "column 'policy' is of the type String, where booleans are needed; cast it: "
        assert str(raised.value) == message + TO_BOOLEANS[engine]

    @pytest.mark.parametrize(
        ("frame", "advice"),
        [
            (pd.DataFrame({"k": ["a", 5]}), "frame['k'].where(frame['k'].map(type) == str)"),
            (pl.DataFrame({"k": pl.Series(["a", 5], dtype=pl.Object)}), "pl.col('k').cast(pl.String)"),
        ],
    )
    def test_of_names(self, frame: Any, advice: str) -> None:
        with pytest.raises(ColumnTypeError) as raised:
            classify_table(frame, kind="k", stage=None, http_status=None, policy=None)
        message = "column 'k' is of the type Object, where text is needed; keep nothing else: "
        assert str(raised.value) == message + advice

    def test_of_views_of_text_that_pandas_cannot_use(self) -> None:
        frame = pandas_arrow(pa.table({"k": pa.array(["session_lost", None], pa.string_view())}))
        with pytest.raises(ColumnTypeError) as raised:
            classify_table(frame, kind="k", **NOTHING_ELSE)
        message, cast = str(raised.value).split("; cast it: ")
        assert message == "column 'k' is of the type String, where text of another form is needed"
        assert cast == "pandas.array(pyarrow.array(frame['k']).cast('string'), dtype='string')"
        names = pd.array(pa.array(frame["k"]).cast("string"), dtype="string")
        assert classify_table(frame.assign(k=names), kind="k", **NOTHING_ELSE)["rule"].tolist() == ["kind", "default"]

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            (
                pa.table({"k": pa.array([b"agent"], pa.binary(5))}),
                "fixed_size_binary[5], where text is needed; cast it: pyarrow.compute.cast(table['k'], 'string')",
            ),
            (
                pd.DataFrame({"k": pd.period_range("2020", periods=1)}),
                "period[D], where text is needed; cast it: frame['k'].astype('string')",
            ),
        ],
    )
    def test_that_nobody_knows(self, frame: Any, message: str) -> None:
        with pytest.raises(ColumnTypeError) as raised:
            classify_table(frame, kind="k", **NOTHING_ELSE)
        assert str(raised.value) == f"column 'k' is of the type {message}"
        named = nw.from_native(frame).with_columns(nw.lit("a").alias("failure_kind"))
        for argument in NOTHING_ELSE:
            with pytest.raises(ColumnTypeError, match="column 'k' is of the type"):
                classify_table(named, **{**NOTHING_ELSE, argument: "k"})

    def test_counts_as_missing_where_all_its_values_are(self) -> None:
        frame = pa.table({"failure_kind": pa.array([None], pa.binary(5))})
        assert one(frame, **NOTHING_ELSE) == ("unknown", None, "default")


@pytest.mark.parametrize(
    ("value", "shown"), [([1], "a value of type list"), (None, "None"), (pd.Series(["a"]), "a value of type Series")]
)
def test_what_is_no_table_is_an_error(value: Any, shown: str) -> None:
    with pytest.raises(ColumnTypeError) as raised:
        classify_table(value)
    assert str(raised.value) == f"a table is needed, of pandas, Polars, DuckDB and the like, not {shown}"


def test_the_rules_are_the_active_ones_a_registrys_or_a_configs() -> None:
    frame = pl.DataFrame({"failure_kind": ["cancelled"]})
    layer = {"schema_version": 1, "classification": {"by_failure_kind": {"cancelled": "model"}}}
    registry, config = load_registry(layer), FailureClassificationConfig(by_failure_kind={"cancelled": "unknown"})
    assert one(frame, **NOTHING_ELSE)[0] == "evaluation"
    assert one(frame, **NOTHING_ELSE, registry=registry)[0] == "model"
    assert one(frame, **NOTHING_ELSE, registry=registry, config=config)[0] == "unknown"
    with using_registry(registry):
        assert one(frame, **NOTHING_ELSE)[0] == "model"


class TestSummaries:
    ROWS = {
        "failure_kind": ["session_lost", "session_lost", "agent_run_error", None, None, "none", "agent_limit"],
        "stage": ["seed", "seed", "agent", None, "agent", None, "agent"],
        "http_status": [None, None, 503, 429, None, None, None],
        "policy": [True, None, True, False, True, True, True],
        "task": ["a", "b", "a", "a", "a", "a", "a"],
    }

    @pytest.mark.parametrize("form", FORMS)
    def test_count_the_failures_the_most_frequent_first(self, form: str) -> None:
        counts: Any = nw.from_native(summarize_table(FORMS[form](pa.table(self.ROWS))))
        assert counts.lazy().collect("pyarrow").rows() == [
            ("evaluation", "session_lost", "seed", "kind", 2),
            ("evaluation", "infrastructure_error", None, "http_evidence", 1),
            ("evaluation", "model_server_error", "agent", "http_evidence", 1),
            ("model", "agent_limit", "agent", "kind", 1),
        ]

    def test_count_no_value_by_which_plain_rows_say_that_nothing_failed(self) -> None:
        nothing = sorted({*bundled_source("plain").no_failure, ""})
        assert len(nothing) > 1
        frame = pl.DataFrame({"failure_kind": [*nothing, "no_such_kind"]})
        assert summarize_table(frame, **NOTHING_ELSE)["reporting_kind"].to_list() == ["no_such_kind"]

    def test_split_by_other_columns(self) -> None:
        counts = summarize_table(polars(pa.table(self.ROWS)), by="task")
        assert counts.columns == ["task", "failure_class", "reporting_kind", "stage", "rule", "count"]
        assert counts.select("task", "reporting_kind", "count").rows()[-1] == ("b", "session_lost", 1)
        assert counts["count"].sum() == 5
        both = summarize_table(polars(pa.table(self.ROWS)), by=["task", "policy"])
        assert both.columns[:2] == ["task", "policy"]

    @pytest.mark.parametrize("form", FORMS)
    def test_of_a_table_without_failures_hold_nothing(self, form: str) -> None:
        rows = pa.table(self.ROWS).slice(4, 2)
        counts: Any = nw.from_native(summarize_table(FORMS[form](rows), stage=None, http_status=None))
        assert counts.lazy().collect("pyarrow").rows() == []

    def test_of_a_table_that_is_classified_already(self) -> None:
        frame = polars(pa.table(self.ROWS))
        assert summarize_table(classify_table(frame)).equals(summarize_table(frame))

    def test_are_the_counts_of_the_report(self, tmp_path: Path) -> None:
        table = cross.evidence([*ALL_NAMES, "none", "success"], [*load_registry().stages, None], [None, 200, 400, 503])
        path = tmp_path / "rows.jsonl"
        polars(table.filter(pa.compute.invert(pa.compute.starts_with(table["failure_kind"], "judge_")))).write_ndjson(
            path
        )
        counts = summarize_table(pl.read_ndjson(path))
        reported: Counter[Any] = Counter()
        for label in report_failures([path]).labels:  # several, if there are several origins
            reported[label.failure_class.value, label.label, label.stage, label.rule] += label.count
        assert {row[:4]: row[4] for row in counts.rows()} == reported

    def test_refuse_columns_that_are_missing_or_clash(self) -> None:
        frame = polars(pa.table(self.ROWS))
        with pytest.raises(MissingColumnError, match="there is no column 'tsk'; did you mean 'task'"):
            summarize_table(frame, by=["tsk"])
        with pytest.raises(ColumnClashError, match="there would be two columns 'task'"):
            summarize_table(frame, by=["task", "policy", "task"])

    @pytest.mark.parametrize("name", ["failure_class", "reporting_kind", "stage", "rule", "count"])
    def test_cannot_be_split_by_a_column_that_they_have_themselves(self, name: str) -> None:
        frame = pl.DataFrame({"failure_kind": ["a"], name: ["b"]})
        with pytest.raises(ColumnClashError) as raised:
            summarize_table(frame, by=name, **NOTHING_ELSE)
        assert str(raised.value) == (
            f"a summary has a column '{name}' of its own; to split it by yours, give that another name first"
        )

    @pytest.mark.parametrize("by", [None, 3])
    def test_cannot_be_split_by_what_is_no_name(self, by: Any) -> None:
        with pytest.raises(ColumnTypeError) as raised:
            summarize_table(polars(pa.table(self.ROWS)), by=by)
        assert str(raised.value) == f"by takes the name of a column, or several, not {by}; by=() splits by none"


def test_without_the_extra_its_name_is_said() -> None:
    code = "import sys; sys.modules['narwhals'] = None; import failure_kinds.report, failure_kinds.tables"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1] == (
        "ImportError: whole tables need the extra: pip install 'failure-kinds[tables]'"
    )

"""Whole tables: on every engine, the answers are those of the rules, whatever the columns hold."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import cross
import narwhals as nw
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
            (pa.array([float("nan")]), False),
        ],
        ids=str,
    )
    def test_may_be_numbers(self, engine: str, policy: Any, says_no: bool) -> None:
        frame = ENGINES[engine](pa.table({"failure_kind": ["model_context_limit"], "policy": policy}))
        failure_class = one(frame, stage=None, http_status=None)[0]
        assert failure_class == ("evaluation" if says_no else "model")

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
        with pytest.raises(ColumnClashError, match="there would be two columns 'stage'"):
            summarize_table(frame, by="stage")


def test_without_the_extra_its_name_is_said() -> None:
    code = "import sys; sys.modules['narwhals'] = None; import failure_kinds.report, failure_kinds.tables"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1] == (
        "ImportError: whole tables need the extra: pip install 'failure-kinds[tables]'"
    )

"""Whole tables on the engines that come in a dependency group of their own: PySpark, which needs Java, Ibis and Dask.

`scripts/test --engines` installs them and runs these tests.
"""

from __future__ import annotations

import importlib
import shutil
from typing import TYPE_CHECKING, Any

import cross
import narwhals as nw
import pyarrow as pa
import pyarrow.parquet
import pytest
from cross import added
from strategies import CONFIGS, SOME_STATUSES

from failure_kinds import FailureClassificationConfig, load_registry
from failure_kinds.errors import ColumnClashError, ColumnTypeError
from failure_kinds.sql import rules_as_sql
from failure_kinds.tables import class_expr, classify_table, reporting_kind_expr, rule_expr, summarize_table

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engines

FAILURES = {
    "failure_kind": ["session_lost", "session_lost", "agent_run_error", None, "none"],
    "stage": ["seed", "seed", "agent", None, None],
    "http_status": [None, None, 503, 429, None],
    "policy": [True, None, True, False, True],
}
COUNTS = [
    ("evaluation", "session_lost", "seed", "kind", 2),
    ("evaluation", "infrastructure_error", None, "http_evidence", 1),
    ("evaluation", "model_server_error", "agent", "http_evidence", 1),
]


def counted(summary: Any) -> list[tuple[Any, ...]]:
    frame: Any = nw.from_native(summary)
    columns = "failure_class", "reporting_kind", "stage", "rule", "count"
    return frame.lazy().collect("pyarrow").select(*columns).rows()  # type: ignore[no-any-return]


ODD_COLUMNS = {"failure_kind": "session_lost", "Rule": "a", "_FAILURE_KINDS_number": "b"}


def assert_case_does_not_tell_apart(frame: Any) -> None:
    missing: dict[str, Any] = {"stage": None, "http_status": None, "policy": None}
    with pytest.raises(ColumnClashError, match="there would be two columns 'rule', as 'Rule' is the same here"):
        classify_table(frame, **missing)
    with pytest.raises(ColumnClashError, match="a summary has a column 'Rule' of its own"):
        summarize_table(frame, by="Rule", **missing)
    rules = nw.from_native(classify_table(frame, rule_name="why", **missing)).collect("pyarrow")["why"]
    assert rules.to_list() == ["kind"]


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    assert shutil.which("java"), "PySpark needs Java 17, and there is no `java` on the path"
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def every_row(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("spark") / "rows.parquet"
    pa.parquet.write_table(cross.every(), path)
    return spark.read.parquet(str(path)).cache()


class TestSpark:
    @pytest.mark.parametrize("name", CONFIGS)
    def test_the_answers_are_those_of_the_rules_in_a_table_and_in_sql(self, name: str, every_row: Any) -> None:
        config = FailureClassificationConfig(**CONFIGS[name])
        expected = cross.answers(config, cross.every())
        assert added(classify_table(every_row, config=config)).equals(expected)
        columns = [f"{sql} AS {column}" for column, sql in rules_as_sql("spark", config=config)._asdict().items()]
        assert added(every_row.selectExpr("row", *columns)).equals(expected)

    def test_so_are_those_of_expressions(self, every_row: Any) -> None:
        query: Any = nw.from_native(every_row.where("http_status IS NULL OR http_status % 50 = 0"))
        query = query.with_columns(failure_class=class_expr(), reporting_kind=reporting_kind_expr(), rule=rule_expr())
        rows = pa.table({name: query.collect("pyarrow").to_native()[name] for name in ["row", *cross.SCHEMA.names]})
        assert added(query).equals(cross.answers(load_registry().config, rows.sort_by("row")))

    @pytest.mark.parametrize(
        ("status", "label"),
        [
            ("503S", "model_server_error"),
            ("503.0D", "model_server_error"),
            ("503.5D", "agent_run_error"),
            ("CAST('NaN' AS DOUBLE)", "agent_run_error"),
            ("CAST(503 AS DECIMAL(20, 2))", "model_server_error"),
            ("true", "agent_run_error"),
            ("NULL", "agent_run_error"),
        ],
    )
    def test_statuses_are_integers_whatever_they_are_stored_as(self, status: str, label: str, spark: Any) -> None:
        frame = spark.sql(f"SELECT 'agent_run_error' AS failure_kind, {status} AS http_status")
        found = added(classify_table(frame, stage=None, policy=None)).to_pydict()
        assert found["reporting_kind"] == [label]

    def test_a_column_of_text_is_an_error_that_says_how_to_cast(self, spark: Any) -> None:
        frame = spark.sql("SELECT 'agent_run_error' AS failure_kind, '503' AS http_status")
        with pytest.raises(ColumnTypeError) as raised:
            classify_table(frame, stage=None, policy=None)
        message = "column 'http_status' is of the type String, where numbers are needed; cast it: "
        assert str(raised.value) == message + "TRY_CAST(http_status AS BIGINT)"

    def test_a_summary_counts_the_failures(self, spark: Any) -> None:
        rows = list(zip(*FAILURES.values(), strict=True))
        frame = spark.createDataFrame(rows, "failure_kind string, stage string, http_status int, policy boolean")
        assert counted(summarize_table(frame)) == COUNTS

    def test_names_that_differ_by_case_alone_clash(self, spark: Any) -> None:
        assert_case_does_not_tell_apart(spark.createDataFrame([tuple(ODD_COLUMNS.values())], list(ODD_COLUMNS)))


class TestIbis:
    def test_the_answers_are_those_of_the_rules(self) -> None:
        import ibis

        table = cross.evidence(cross.NAMES, ["agent", "warmup", None], SOME_STATUSES)
        result = classify_table(ibis.memtable(table))
        assert isinstance(result, ibis.Table)
        assert added(result).equals(cross.answers(load_registry().config, table))

    def test_a_summary_counts_the_failures(self) -> None:
        import ibis

        assert counted(summarize_table(ibis.memtable(pa.table(FAILURES)))) == COUNTS

    def test_names_that_differ_by_case_alone_clash(self) -> None:
        import ibis

        assert_case_does_not_tell_apart(ibis.memtable(pa.table({name: [value] for name, value in ODD_COLUMNS.items()})))

    def test_a_column_of_text_is_an_error_that_says_how_to_cast(self) -> None:
        import ibis

        frame = ibis.memtable(pa.table({"failure_kind": ["a"], "http_status": ["503"]}))
        with pytest.raises(ColumnTypeError, match=r"cast it: table\['http_status'\].try_cast\('int64'\)$"):
            classify_table(frame, stage=None, policy=None)


@pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning")  # to a package that isn't there yet
class TestDask:
    @pytest.fixture
    def in_parts(self) -> Any:
        dataframe: Any = importlib.import_module("dask.dataframe")
        return lambda table: dataframe.from_pandas(table.to_pandas().astype({"policy": "boolean"}), npartitions=2)

    def test_the_answers_are_those_of_the_rules(self, in_parts: Any) -> None:
        table = cross.evidence(cross.NAMES, ["agent", "warmup", None], SOME_STATUSES)
        frame = in_parts(table)
        result = classify_table(frame)
        assert type(result) is type(frame)
        assert added(result).equals(cross.answers(load_registry().config, table))

    def test_a_summary_counts_the_failures(self, in_parts: Any) -> None:
        assert counted(summarize_table(in_parts(pa.table(FAILURES)))) == COUNTS

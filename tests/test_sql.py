"""The rules as SQL: on the engine itself, they answer as the functions do."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import cross
import pytest
import sqlglot
from cross import DUCKDB, added
from hypothesis import given, settings
from strategies import ALL_NAMES, ALL_STAGES, SOME_STATUSES, configs
from typer.testing import CliRunner

from failure_kinds import FailureClassificationConfig, load_registry, using_registry
from failure_kinds.cli.app import app
from failure_kinds.errors import FailureKindsError, SqlError
from failure_kinds.sql import DIALECTS, rules_as_sql


@given(configs)
@settings(max_examples=15)
def test_the_answers_are_those_of_the_rules(config: FailureClassificationConfig) -> None:
    table = cross.evidence(ALL_NAMES, ALL_STAGES, SOME_STATUSES[::2])
    assert added(cross.by_sql(table, config)).equals(cross.answers(config, table))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_reads_what_is_written_in_it(dialect: str) -> None:
    for expression in rules_as_sql(dialect):
        assert sqlglot.parse_one(expression, dialect=dialect).sql(dialect=dialect, pretty=True, max_text_width=100)


def test_a_name_that_has_quotes_in_it_stays_one() -> None:
    aliases: dict[str, Any] = {"it's": "agent_timeout", "a\\": "agent_limit", "); DROP TABLE x; --": "session_lost"}
    config = FailureClassificationConfig(kind_aliases=aliases)
    table = cross.evidence([*aliases, "a"], ["agent"], [None])
    assert added(cross.by_sql(table, config)).equals(cross.answers(config, table))


def test_columns_may_be_expressions_and_may_be_missing() -> None:
    row = DUCKDB.query("SELECT {'name': 'agent_run_error', 'code': '503'} AS failure")
    label = rules_as_sql(
        "duckdb", kind="failure.name", stage=None, http_status="TRY_CAST(failure.code AS INT)", policy=None
    ).reporting_kind
    assert row.project(label).fetchall() == [("model_server_error",)]
    without = rules_as_sql("duckdb", kind="failure.name", stage=None, http_status=None, policy=None)
    assert row.project(", ".join(without)).fetchall() == [("unknown", "agent_run_error", "kind")]


def test_the_active_rules_are_written() -> None:
    layer = {"schema_version": 1, "classification": {"by_failure_kind": dict.fromkeys(load_registry().kinds)}}
    with using_registry(load_registry(layer)):
        assert rules_as_sql("duckdb", stage=None, http_status=None, policy=None).failure_class == "'unknown'"


def test_so_are_those_of_a_registry_or_of_a_config() -> None:
    layer = {"schema_version": 1, "classification": {"default_class": "model"}}
    registry, config = load_registry(layer), FailureClassificationConfig(default_class="evaluation")
    row = DUCKDB.query("SELECT 'nobody knows' AS failure_kind, 'x' AS stage, 0 AS http_status, true AS policy")
    of_registry = rules_as_sql("duckdb", registry=registry).failure_class
    of_config = rules_as_sql("duckdb", registry=registry, config=config).failure_class
    assert row.project(f"{of_registry}, {of_config}").fetchall() == [("model", "evaluation")]


def test_there_may_be_a_thousand_answers_without_a_long_wait() -> None:
    aliases: dict[str, Any] = {f"old {number}": f"acme:n{number}" for number in range(1000)}
    started = time.process_time()
    label = rules_as_sql("duckdb", config=FailureClassificationConfig(kind_aliases=aliases)).reporting_kind
    assert time.process_time() - started < 5  # it was 20 when each answer copied those before it
    row = DUCKDB.query("SELECT 'old 7' AS failure_kind, 0 AS http_status, true AS policy")
    assert row.project(label).fetchall() == [("acme:n7",)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mysql",), f"'mysql' is no dialect that the rules can be written in; take one of {', '.join(DIALECTS)}"),
        (("duckbd",), "'duckbd' is no dialect that the rules can be written in; did you mean 'duckdb'?"),
        (("duckdb", "a b"), "'a b' is no expression of duckdb"),
        (("duckdb", "x; DROP TABLE y"), "'x; DROP TABLE y' is no expression of duckdb"),
    ],
)
def test_what_cannot_be_written_is_said(arguments: tuple[str, ...], message: str) -> None:
    dialect, *kind = arguments
    with pytest.raises(SqlError) as raised:
        rules_as_sql(dialect, **dict(zip(["kind"], kind, strict=False)))  # type: ignore[arg-type]
    assert str(raised.value) == message
    assert raised.value.argument == ("kind" if kind else "dialect")
    assert isinstance(raised.value, FailureKindsError)
    assert isinstance(raised.value, ValueError)


class TestTheCommand:
    def test_writes_three_columns_of_a_select(self) -> None:

        result = CliRunner().invoke(app, ["sql", "--dialect", "duckdb", "--stage", "-", "--policy", "-"])
        assert result.exit_code == 0
        row = DUCKDB.query("SELECT 'agent_run_error' AS failure_kind, 503 AS http_status")
        answers = row.project(result.stdout)
        assert answers.columns == ["failure_class", "reporting_kind", "rule"]
        assert answers.fetchall() == [("evaluation", "model_server_error", "http_evidence")]

    @pytest.mark.parametrize("option", ["--kind", "--stage", "--http-status", "--policy"])
    def test_says_which_option_is_wrong(self, option: str) -> None:
        result = CliRunner().invoke(app, ["sql", "--dialect", "duckdb", option, "a b"])
        assert result.exit_code == 2
        assert f"Invalid value for {option}: 'a b' is no expression of duckdb" in result.stderr

    def test_says_what_is_wrong(self) -> None:
        result = CliRunner().invoke(app, ["sql", "--dialect", "duckbd"])
        assert result.exit_code == 2
        message = "'duckbd' is no dialect that the rules can be written in; did you mean 'duckdb'?"
        assert f"Invalid value for --dialect: {message}" in result.stderr


def test_without_the_extra_its_name_is_said() -> None:
    code = "import sys; sys.modules['sqlglot'] = None; import failure_kinds.sql"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1] == "ImportError: SQL needs the extra: pip install 'failure-kinds[cli]'"

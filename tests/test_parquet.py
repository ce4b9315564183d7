"""Reports on Parquet files: what is counted is what a file of lines with the same rows would count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from cross import DUCKDB
from own_sources import own_source

from failure_kinds import scan, scan_processes
from failure_kinds.parquet import scan_parquet
from failure_kinds.report import report_failures
from failure_kinds.scan import OTHER, Scan, scan_file
from failure_kinds.scan_processes import ScanProcesses
from failure_kinds.sources import Outcome, UnrecognisedError, bundled_sources, read_failures

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = tuple(bundled_sources().values())

ROWS: list[dict[str, Any]] = [
    {"failure_kind": "session_lost", "stage": "seed", "http_status": None, "policy": None, "reward": None, "task": "a"},
    {"failure_kind": "session_lost", "stage": "seed", "http_status": None, "policy": None, "reward": 1.0, "task": "a"},
    {"failure_kind": "agent_limit", "stage": "rollout", "http_status": 503, "policy": True, "reward": 0.5, "task": "b"},
    {"failure_kind": None, "stage": None, "http_status": 200, "policy": None, "reward": 1.0, "task": None},
    {"failure_kind": "judge_failed", "stage": None, "http_status": None, "policy": None, "reward": 0.25, "task": "b"},
    {"failure_kind": "none", "stage": None, "http_status": None, "policy": None, "reward": 0.75, "task": "b"},
]  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]], schema: Any = None) -> str:
    pa.parquet.write_table(pa.Table.from_pylist(rows, schema), path)
    return str(path)


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def both(folder: Path, rows: list[dict[str, Any]], by: str | None = None) -> None:
    """Both files count the same."""
    expected = scan_file(lines(folder / "rows.jsonl", rows), SOURCES, by)
    assert scan_parquet(write(folder / "rows.parquet", rows), SOURCES, by) == expected


@pytest.mark.parametrize("by", [None, "task", "reward", "http_status", "it isn't there"])
def test_rows_are_counted_by_their_evidence(by: str | None, tmp_path: Path) -> None:
    both(tmp_path, ROWS, by)


def test_a_failure_may_be_an_object_of_its_own(tmp_path: Path) -> None:
    failures = [{"failure_kind": "agent_limit", "stage": "agent", "message": f"{number}"} for number in range(3)]
    both(tmp_path, [{"failure": failure} for failure in [*failures, None]])
    both(tmp_path, [{"failure": {"message": "no field that is read"}}])


@pytest.mark.parametrize("dtype", ["SMALLINT", "UBIGINT", "FLOAT", "DECIMAL(10, 2)"])
def test_numbers_are_read_whatever_they_are_stored_as(dtype: str, tmp_path: Path) -> None:
    path = str(tmp_path / "rows.parquet")
    DUCKDB.query(f"SELECT 503::{dtype} AS http_status, 1::{dtype} AS reward, 'x' AS score").write_parquet(path)
    assert scan_parquet(path, SOURCES).counts == {(Outcome.FAILURE, None, None, 503, None, None, True, None, None): 1}


def test_the_names_of_folders_are_no_columns(tmp_path: Path) -> None:
    rows = [{"failure_kind": "session_lost", "stage": "seed"}]
    folder = tmp_path / "stage=agent" / "http_status=503"
    folder.mkdir(parents=True)
    both(folder, rows)
    both(folder, rows, "http_status")


@pytest.mark.parametrize("dtype", ["DECIMAL(10, 2)", "DECIMAL(30, 10)"])
def test_so_are_numbers_within_objects(dtype: str, tmp_path: Path) -> None:
    path = str(tmp_path / "rows.parquet")
    number = f"0.5::{dtype}"
    DUCKDB.query(
        f"SELECT {{'failure_kind': 'a', 'http_status': 503::{dtype}}} AS failure,"
        f" {{'x\"y': {number}, 'list': [{{'z': {number}}}], 'map': MAP{{'m': {number}}}}} AS task"
    ).write_parquet(path)
    rows = [{"failure": {"failure_kind": "a", "http_status": 503.0},
             "task": {'x"y': 0.5, "list": [{"z": 0.5}], "map": {"m": 0.5}}}]  # fmt: skip
    assert scan_parquet(path, SOURCES, "task") == scan_file(lines(tmp_path / "rows.jsonl", rows), SOURCES, "task")


def test_text_may_be_stored_as_bytes(tmp_path: Path) -> None:
    schema = pa.schema({"failure_kind": pa.binary(), "failure": pa.struct({"stage": pa.binary()})})
    path = write(tmp_path / "rows.parquet", [{"failure_kind": b"agent_limit", "failure": {"stage": b"seed"}}], schema)
    rows = [{"failure_kind": "agent_limit", "failure": {"stage": "seed"}}]
    assert scan_parquet(path, SOURCES) == scan_file(lines(tmp_path / "rows.jsonl", rows), SOURCES)


def test_an_object_whose_keys_are_no_text_says_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.parquet")
    DUCKDB.query(
        "SELECT 'a' AS failure_kind, MAP{1: 'b'} AS failure, MAP{2: 'c'} AS stage, {'name': MAP{3: 'd'}} AS agent_ref"
    ).write_parquet(path)
    for by in (None, "failure"):
        counts = scan_parquet(path, SOURCES, by).counts
        assert counts == {(Outcome.FAILURE, "a", None, None, None, None, False, None, None): 1}


def test_a_file_that_holds_what_no_row_can_is_said(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.parquet")
    DUCKDB.query("SELECT {'b': {'events': MAP{1: {'kind': 'x'}}}} AS a, '1' AS id").write_parquet(path)
    source = own_source("kind: [{field: 'a.b.events[id].kind'}]")
    with pytest.raises(OSError, match=r"rows\.parquet: Expected `str`, got `int`"):
        scan_parquet(path, [source])


def test_what_is_put_aside_is_not_left_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {}
    connect = duckdb.connect

    def recorded(config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        settings.update(config)
        assert os.listdir(config["temp_directory"]) == []
        return connect(config=config)

    monkeypatch.setattr(duckdb, "connect", recorded)
    assert scan_parquet(write(tmp_path / "rows.parquet", ROWS), SOURCES).lines == len(ROWS)
    assert settings["memory_limit"] == "1GB"
    assert 1 <= settings["threads"] <= 4
    assert not os.path.exists(settings["temp_directory"])


def test_a_reward_that_is_missing_may_be_nan(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", [{"failure_kind": "a", "reward": float("nan")}])
    assert scan_parquet(path, SOURCES).counts == {(Outcome.FAILURE, "a", None, None, None, None, False, None, None): 1}


def test_each_row_is_told_if_somebody_asks(tmp_path: Path) -> None:
    told: dict[str, list[Any]] = {"rows.jsonl": [], "rows.parquet": []}
    for path in (lines(tmp_path / "rows.jsonl", ROWS), write(tmp_path / "rows.parquet", ROWS)):
        name = path.rpartition("/")[2]
        report_failures([path], on_row=lambda _, line, *rest, name=name: told[name].append((line, *rest)))
    assert told["rows.parquet"] == told["rows.jsonl"]
    assert len(told["rows.parquet"]) == 4


@pytest.mark.parametrize("name", ["rows[1].parquet", "a*b?.parquet", "it's.parquet"])
def test_a_files_name_is_no_pattern(name: str, tmp_path: Path) -> None:
    write(tmp_path / "rows1.parquet", ROWS)
    write(tmp_path / "aabb.parquet", ROWS)
    assert scan_parquet(write(tmp_path / name, ROWS[:2]), SOURCES).lines == 2


def test_a_file_may_hold_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", [], pa.schema({"failure_kind": pa.string()}))
    assert scan_parquet(path, SOURCES) == Scan(Counter(), 0, 0, 0, [], "plain", "lines")


def test_its_columns_tell_which_tool_wrote_it(tmp_path: Path) -> None:
    events = {"e1": {"boundary": "model", "failure_kind": "model_request_error", "http_status": 429}}
    rows = [{"_ng_task_index": index, "_ng_failure_id": "e1", "_ng_failure_events": events} for index in range(3)]
    both(tmp_path, rows)
    assert scan_parquet(write(tmp_path / "rows.parquet", rows), SOURCES).source == "nemo_gym"


def test_a_report_can_be_split_by_what_the_source_carries_along(tmp_path: Path) -> None:
    rows = [{"_ng_task_index": index, "_ng_failure_class": "session_lost", "agent_ref": {"name": "a", "x": index}}
            for index in range(3)]  # fmt: skip
    both(tmp_path, rows, "agent")
    both(tmp_path, rows, "task")
    both(tmp_path, rows, "agent_ref")


def test_a_file_without_a_field_that_is_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", [{"x": 1, "y": {"z": 1}}])
    with pytest.raises(UnrecognisedError, match=r"^no source fits; its rows have the fields x, y$"):
        scan_parquet(path, SOURCES)
    with pytest.raises(UnrecognisedError, match=r"rows\.parquet: no source fits"):
        report_failures([path])


def test_memory_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_MOST_KEYS", 30)
    monkeypatch.setattr(scan, "_MOST_VALUES", 2)
    rows = [{"failure_kind": f"kind {number}"} for number in range(100)]
    counts = scan_parquet(write(tmp_path / "rows.parquet", rows), SOURCES).counts
    assert sum(count for key, count in counts.items() if key[1] == OTHER) == 98


def test_reports_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "rows.parquet", ROWS)
    report = report_failures([tmp_path / "folder"], by="task")
    expected = report_failures([lines(tmp_path / "rows.jsonl", ROWS)], by="task")
    assert report.model_copy(update={"files": expected.files}) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="processes are used on Linux alone")
def test_processes_leave_such_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_processes, "LARGE", 1)
    path = write(tmp_path / "rows.parquet", ROWS)
    with ScanProcesses([path], SOURCES, None) as running:
        assert running.scan_of(path) is None


def test_its_rows_are_not_read_one_by_one(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", ROWS)
    with pytest.raises(
        UnrecognisedError, match=r"^it is a Parquet file; a report reads it whole, and `tables` as a frame$"
    ):
        list(read_failures(path))


def test_a_file_that_is_no_parquet_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"no parquet at all")
    result = command("report", str(path))
    assert result.returncode == 2
    assert result.stderr.startswith(f"failure-kinds: {path}: ")
    assert len(result.stderr.splitlines()) == 1


def test_without_the_extra_its_name_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", ROWS)
    result = command("report", path, before="sys.modules['duckdb'] = None")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"failure-kinds: {path}: this needs the extra: pip install 'failure-kinds[tables]'\n"


def command(*arguments: str, before: str = "pass") -> subprocess.CompletedProcess[str]:
    code = f"import sys; {before}; sys.argv[1:] = {list(arguments)}; from failure_kinds.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

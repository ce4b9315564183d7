"""`sources`, and what `check`, `diff` and `schema` know of sources."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml
from conftest import DATA
from typer.testing import CliRunner

from failure_kinds import files
from failure_kinds.cli.app import app
from failure_kinds.reading import read_yaml
from failure_kinds.sources import bundled_sources, load_source, read_failures
from failure_kinds.sources.differences import SourceDifference, source_differences

if TYPE_CHECKING:
    from typer.testing import Result

MY_TOOL = DATA / "my_tool.yaml"
TEXT = MY_TOOL.read_text(encoding="utf-8")
SOURCES = Path(__file__).parent.parent / "vocabulary" / "sources"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), prog_name="failure-kinds")


def output(*arguments: str | Path, exit_code: int = 0) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (exit_code, "")
    return result.stdout


def changed(folder: Path, old: str, new: str) -> Path:
    assert old in TEXT
    path = folder / "changed.yaml"
    path.write_text(TEXT.replace(old, new), encoding="utf-8")
    return path


class TestSources:
    def test_each_source_is_listed_with_its_tool(self) -> None:
        lines = output("sources").splitlines()
        assert [line.split()[0] for line in lines] == list(bundled_sources())
        assert all(source.title in line for source, line in zip(bundled_sources().values(), lines, strict=True))

    def test_as_json(self) -> None:
        listed = json.loads(output("sources", "--json"))
        assert {each["name"]: each["digest"] for each in listed} == {
            name: source.digest for name, source in bundled_sources().items()
        }

    def test_a_source_is_shown_as_tables(self) -> None:
        assert output("sources", "show", MY_TOOL) == (DATA / "my_tool.txt").read_text(encoding="utf-8")

    def test_a_source_is_shown_as_json(self) -> None:
        shown = json.loads(output("sources", "show", MY_TOOL, "--json"))
        assert shown["name"] == "my_tool"
        assert [layout["name"] for layout in shown["layouts"]] == ["results", "log", "ids", "totals"]
        assert shown["values"][0] == {
            "where": "outcome, where final true", "value": "TIMEOUT", "means": "agent_timeout, stage agent",
        }  # fmt: skip
        assert {"what": "policy", "where": "caller (judge is false)"} in shown["fields"]

    def test_its_file_is_printed_to_make_another_from_it(self) -> None:
        assert output("sources", "show", MY_TOOL, "--yaml") == TEXT
        assert output("sources", "show", "harbor", "--yaml") == (SOURCES / "harbor.yaml").read_text(encoding="utf-8")

    @pytest.mark.parametrize("name", bundled_sources())
    def test_every_source_can_be_shown(self, name: str) -> None:
        assert output("sources", "show", name).startswith(f"{name}: {bundled_sources()[name].title}\n")

    def test_a_name_that_nobody_knows_is_said_with_the_nearest(self) -> None:
        result = run("sources", "show", "harbour")
        assert result.exit_code == 2
        assert result.stderr == (
            "'harbour': there is no source of this name, and no such file; did you mean 'harbor'?\n"
        )


class TestReport:
    def test_a_folder_that_mixes_tools_names_each_of_them(self, tmp_path: Path) -> None:
        cases = {
            "harbor": "agent_timeout",
            "inspect": "eval_finished",
            "swe_bench": "older_versions",
            "tau2": "ends_that_are_mapped",
            "nemo_gym": "collector_rows",
            "openhands": "standardized",
        }
        for source, case in cases.items():
            without = shutil.ignore_patterns("expected.json")
            shutil.copytree(DATA / "sources" / source / case, tmp_path / source, ignore=without)
        (tmp_path / "notes.json").write_text('{"written": "by hand"}', encoding="utf-8")
        report = json.loads(output("report", tmp_path, "--format", "json"))
        assert {read["source"] for read in report["sources"]} == set(cases)
        passed_over = {Path(file["file"]).name: file["reason"] for file in report["account"]["passed_over_files"]}
        assert passed_over["notes.json"] == "no source fits; its rows have the fields written"
        assert report["classes"]["evaluation"] > 0

    def test_a_file_that_no_source_fits_is_refused_with_its_fields(self, tmp_path: Path) -> None:
        (tmp_path / "notes.json").write_text('{"written": "by hand"}', encoding="utf-8")
        result = run("report", tmp_path / "notes.json")
        assert result.exit_code == 2
        assert result.stderr == (
            f"failure-kinds: {tmp_path}/notes.json: no source fits; its rows have the fields written; --source says "
            "what it is\n"
        )

    def test_what_a_source_does_not_map_is_counted_under_its_name(self) -> None:
        case = DATA / "sources" / "tau2" / "ends_that_are_unmapped"
        report = json.loads(output("report", case / "results.json", "--format", "json"))
        assert {value["source"] for value in report["unmapped"]} == {"tau2"}
        assert {(label["label"], label["failure_class"]) for label in report["labels"]} >= {
            ("too_many_errors", "unknown"), ("unexpected_error", "unknown"),
        }  # fmt: skip

    def test_a_source_of_ones_own(self, tmp_path: Path) -> None:
        runs = [{"outcome": "TIMEOUT", "final": True, "ended": 1}, {"outcome": "OK", "final": True, "ended": 1}]
        (tmp_path / "out.json").write_text(json.dumps({"tool_version": 1, "runs": runs}), encoding="utf-8")
        own = ("--source", str(MY_TOOL))
        for sources in (own, ("--source", "auto", *own)):
            report = json.loads(output("report", tmp_path / "out.json", *sources, "--format", "json"))
            assert report["sources"][0]["title"] == "My tool"
            assert report["classes"] == {"evaluation": 0, "model": 1, "unknown": 0}


class TestFolders:
    """What stands in a folder never stops a report, and is never lost without a word."""

    ROW = '{"failure_kind": "session_lost"}\n'

    def report(self, folder: Path, exit_code: int) -> dict[str, Any]:
        result = run("report", folder, "--format", "json")
        assert result.exit_code == exit_code, result.output
        report: dict[str, Any] = json.loads(result.stdout)
        return report

    def test_other_things_than_files_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text(self.ROW, encoding="utf-8")
        (tmp_path / "spark.jsonl").mkdir()
        (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nothing")
        os.mkfifo(tmp_path / "pipe.jsonl")
        assert self.report(tmp_path, 0)["account"]["lines"] == 1

    def test_packed_files_are_named_as_what_they_hold(self, tmp_path: Path) -> None:
        log = (DATA / "sources" / "swe_agent" / "submitted").rglob("*.traj")
        (tmp_path / "a.traj.gz").write_bytes(gzip.compress(next(log).read_bytes()))
        assert self.report(tmp_path, 0)["sources"][0]["source"] == "swe_agent"

    def test_a_file_that_is_damaged_counts_as_a_row_that_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text(self.ROW, encoding="utf-8")
        trial = next((DATA / "sources" / "harbor" / "agent_timeout").glob("result.json")).read_bytes()
        (tmp_path / "result.json").write_bytes(trial[:60])
        (tmp_path / "log.eval").write_bytes(b"PK\x03\x04 and no more")
        account = self.report(tmp_path, 3)["account"]
        assert (account["failures"], account["unreadable"], account["passed_over"]) == (1, 2, 0)
        assert [line["reason"].split(":")[0].split(",")[0] for line in account["unreadable_lines"]] == [
            "it is no zip file that can be read", "it is damaged or cut off",
        ]  # fmt: skip

    def test_so_does_one_that_cannot_be_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "rows.jsonl").write_text(self.ROW, encoding="utf-8")
        (tmp_path / "secret.jsonl").write_text(self.ROW, encoding="utf-8")
        opened = files.open_file

        def refusing(path: str) -> Any:
            if path.endswith("secret.jsonl"):
                raise PermissionError(13, "Permission denied", path)
            return opened(path)

        monkeypatch.setattr("failure_kinds.sources.source_file.open_file", refusing)
        account = self.report(tmp_path, 3)["account"]
        assert (account["failures"], account["unreadable_lines"][0]["reason"]) == (1, "permission denied")
        told: list[Any] = []
        assert len(list(read_failures(tmp_path, on_unreadable=lambda *about: told.append(about)))) == 1
        assert [about[:2] for about in told] == [(f"{tmp_path}/secret.jsonl", 1)]
        assert run("report", tmp_path / "secret.jsonl").exit_code == 2

    def test_where_no_file_holds_rows_that_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "notes.json").write_text('{"written": "by hand"}', encoding="utf-8")
        assert "Nothing to report: no file holds rows that are read.\n" in output("report", tmp_path)


def test_a_first_row_of_several_mebibytes_is_recognised(tmp_path: Path) -> None:
    row = {"response": {"output": "x" * 3_000_000}, "_ng_failure_class": "session_lost"}
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n" * 2, encoding="utf-8")
    report = json.loads(output("report", tmp_path / "rows.jsonl", "--format", "json"))
    assert (report["sources"][0]["source"], report["account"]["failures"]) == ("nemo_gym", 2)


def test_a_source_without_conditions_takes_no_file_whose_list_nobody_has_seen(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        'schema_version: 1\nsource: own\ntitle: Own\nlayouts: {it: {rows: "runs[]"}}\nkind: outcome\n', encoding="utf-8"
    )
    results = DATA / "sources" / "tau2" / "ends_that_are_mapped" / "results.json"
    document = json.loads(results.read_text(encoding="utf-8"))
    document = {"info": document["info"], "tasks": ["x" * 1000] * 2000, **document}
    document["tasks"] = ["x" * 1000] * 2000
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    sources = ("--source", "auto", "--source", str(own))
    report = json.loads(output("report", tmp_path / "results.json", *sources, "--format", "json"))
    assert report["sources"][0]["source"] == "tau2"


class TestMixedUp:
    def test_a_source_is_no_layer_of_a_vocabulary(self) -> None:
        result = run("list", "--config", MY_TOOL)
        assert result.exit_code == 2
        assert (
            "this is a source, which says how a tool's failures are read; `report` takes it as --source"
            in result.stderr
        )

    def test_a_vocabulary_is_no_source(self) -> None:
        result = run("sources", "show", DATA / "team.yaml")
        assert result.exit_code == 2
        assert "this is a vocabulary, or laid over one, and no source; --config takes it" in result.stderr


class TestCheck:
    def test_a_source_that_is_right(self) -> None:
        assert output("check", MY_TOOL) == f"{MY_TOOL}: fine (source my_tool)\n"

    def test_every_problem_is_said_with_its_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        bad = """\
schema_version: 1
source: my_tool
layouts:
  results: {rows: runs, wen: {}}
kind:
  - field: a..b
    values: {TIMEOUT: agent_timout}
stage: [{field: phase, stage: seed}, {values: {prepare: sed}}]
score: {field: passed, values: {"true": good}}
exceptions: {a.b.C: session_lost}
"""
        (tmp_path / "bad.yaml").write_text(bad, encoding="utf-8")
        problems = [line for line in output("check", "bad.yaml", exit_code=1).splitlines() if line.startswith("bad.")]
        one_of_two = "a stage is read from a `field`, or is the `stage` of rows that have some fields; say one"
        assert problems == [
            "bad.yaml:1:1: title is missing",
            "bad.yaml:4:19: 'runs' is no place of rows; write lines, document, or a list such as `samples[]`",
            "bad.yaml:4:25: unknown key 'wen'; did you mean 'when'?",
            "bad.yaml:6:12: 'a..b' is no path; write keys with dots between them, such as `info.exit_status`",
            "bad.yaml:7:23: unknown failure kind 'agent_timout'; did you mean 'agent_timeout'?",
            f"bad.yaml:8:9: {one_of_two}",
            "bad.yaml:8:57: unknown stage 'sed'; did you mean 'seed'?",
            "bad.yaml:9:41: 'good' is no score; write a number",
            "bad.yaml:10:14: 'a.b.C' is no class of exceptions; write `<root package>.<class>`, or Python's own",
        ]

    def test_its_kinds_may_be_a_teams(self, tmp_path: Path) -> None:
        source = changed(tmp_path, "kind: agent_timeout", "kind: acme_tests_missing")
        assert "unknown failure kind 'acme_tests_missing'" in output("check", source, exit_code=1)
        assert output("check", source, "--base", DATA / "team.yaml") == f"{source}: fine (source my_tool)\n"


class TestDiff:
    def test_the_same_source_twice(self) -> None:
        assert output("diff", MY_TOOL, MY_TOOL) == "No difference.\n"
        assert output("diff", "harbor", "harbor") == "No difference.\n"

    def test_values_that_mean_something_else(self, tmp_path: Path) -> None:
        new = changed(tmp_path, "JUDGE: {kind: judge_failed, policy: false}", "JUDGED: verifier_error")
        assert output("diff", MY_TOOL, new) == (
            "outcome, where final true: JUDGED: nothing -> verifier_error\n"
            "outcome, where final true: JUDGE: judge_failed, policy false -> nothing\n"
        )
        assert json.loads(output("diff", MY_TOOL, new, "--json"))[0] == {
            "what": "outcome, where final true: JUDGED", "before": None, "after": "verifier_error",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("old", "new", "difference"),
        [
            ("broken", "crashed", ("failed, without a name", "broken", "crashed")),
            (
                "files: results.json",
                "files: r.json",
                ("files of the layout results", "named results.json", "named r.json"),
            ),
            ("[started]", "[began]", ("stage", "no started", "no began")),
            ("title: My tool", "title: Our tool", None),
        ],
    )
    def test_what_else_is_read_differently(
        self, tmp_path: Path, old: str, new: str, difference: tuple[str, str, str] | None
    ) -> None:
        found = source_differences(load_source(MY_TOOL), load_source(changed(tmp_path, old, new)))
        if difference is None:
            assert found == ()
        else:
            (only,) = found
            assert only.what == difference[0]
            assert difference[1] in str(only.before)
            assert difference[2] in str(only.after)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("within: [., error]", "match: class_name\n    within: [., error]"),
            ("header: run.json", "header: start.json"),
            ("score: [score, {field: passed", "score: [result, {field: passed"),
            ("schema_version: 1", "schema_version: 1\nfallback: true"),
        ],
    )
    def test_nothing_that_is_read_differently_is_passed_over(self, tmp_path: Path, old: str, new: str) -> None:
        assert source_differences(load_source(MY_TOOL), load_source(changed(tmp_path, old, new)))

    def test_a_source_and_something_else_cannot_be_compared(self) -> None:
        result = run("diff", MY_TOOL, DATA / "team.yaml")
        assert result.exit_code == 2
        assert result.stderr.endswith(
            f"Error: Invalid value: {MY_TOOL} is a source, and the other file isn't; pass two of the same sort\n"
        )

    def test_everything_is_different_between_two_tools(self) -> None:
        found = source_differences(load_source("plain"), load_source("python"))
        assert SourceDifference("exception: ConnectionRefusedError", None, "transport_unreachable") in found


class TestSchema:
    @pytest.mark.parametrize("path", [MY_TOOL, *sorted(SOURCES.glob("*.yaml"))], ids=lambda path: path.stem)
    def test_an_editor_takes_what_the_reader_takes(self, path: Path) -> None:
        validator = jsonschema.Draft202012Validator(json.loads(output("schema", "--source")))
        for data in (read_yaml(path).data, yaml.safe_load(path.read_text(encoding="utf-8"))):
            assert list(validator.iter_errors(data)) == []

    def test_an_unknown_key_is_none_of_the_schema(self) -> None:
        validator = jsonschema.Draft202012Validator(json.loads(output("schema", "--source")))
        assert not validator.is_valid({"schema_version": 1, "source": "x", "title": "x", "kinds": []})

    def test_a_source_is_laid_over_nothing(self) -> None:
        result = run("schema", "--source", "--override")
        assert result.exit_code == 2
        assert result.stderr.endswith("a source is laid over nothing; ask for one of the two\n")

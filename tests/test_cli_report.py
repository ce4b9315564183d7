"""The command `report` as people meet it: in a terminal, in a pipe, interrupted, and on bad input."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import DATA
from typer.testing import CliRunner

from failure_kinds.cli import report as report_command
from failure_kinds.cli.app import app
from failure_kinds.report import FailureReport, report_failures

if TYPE_CHECKING:
    from typer.testing import Result

SAMPLE = str(DATA / "gym_failures.jsonl")
TEAM = str(DATA / "team.yaml")
COMMAND = [sys.executable, "-m", "failure_kinds", "report"]


def run(*arguments: str | Path, **options: Any) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)], **options)


def process(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, check=False, **options)


class TestFormats:
    def test_text_is_the_default(self) -> None:
        result = run(SAMPLE)
        assert result.exit_code == 0
        assert "43 failures in 43 rows." in result.stdout
        assert "session_lost" in result.stdout

    def test_json_is_a_report(self) -> None:
        result = process(SAMPLE, "--format", "json", "--by", "_ng_task_index", "--expected", "50")
        report = FailureReport.model_validate_json(result.stdout)
        assert (report.classes.total, report.account.unaccounted, report.by) == (43, 7, "_ng_task_index")

    @pytest.mark.parametrize(("format_", "start"), [("markdown", "#"), ("html", "<!doctype html>")])
    def test_pages(self, format_: str, start: str) -> None:
        result = process(SAMPLE, "--format", format_)
        assert result.returncode == 0
        assert result.stdout.decode("utf-8").lower().startswith(start)

    @pytest.mark.parametrize("format_", ["text", "json", "markdown", "html"])
    def test_a_file_holds_what_would_be_printed(self, format_: str, tmp_path: Path) -> None:
        written = tmp_path / "report"
        assert process(SAMPLE, "--format", format_, "-o", written).returncode == 0
        assert written.read_bytes() == process(SAMPLE, "--format", format_).stdout
        assert os.listdir(tmp_path) == ["report"]

    def test_the_plainest_locale_loses_nothing_and_breaks_nothing(self, tmp_path: Path) -> None:
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"failure_kind": "störung \u2028 │"}\n', encoding="utf-8")
        plainest = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        result = process(rows, env=plainest)
        assert (result.returncode, result.stderr) == (0, b"")
        assert b"st\\xf6rung" in result.stdout
        page = process(rows, "--format", "html", env=plainest).stdout.decode("utf-8")
        assert "störung" in page


class TestOptions:
    def test_rules_of_ones_own_and_what_they_move(self) -> None:
        result = run(SAMPLE, "--config", TEAM, "--format", "json")
        assert len(json.loads(result.stdout)["moves"]) == 5

    def test_the_files_of_the_environment(self) -> None:
        result = process(SAMPLE, "--format", "json", env={**os.environ, "FAILURE_KINDS_FILES": TEAM})
        assert len(json.loads(result.stdout)["moves"]) == 5

    def test_standard_input(self) -> None:
        result = process("-", "--format", "json", input=Path(SAMPLE).read_bytes())
        assert json.loads(result.stdout)["classes"] == {"evaluation": 25, "model": 6, "unknown": 12}
        assert json.loads(result.stdout)["files"] == ["-"]

    def test_another_run_beside_it_as_rows_or_as_a_saved_report(self, tmp_path: Path) -> None:
        saved = tmp_path / "old.json"
        assert run(SAMPLE, "--config", TEAM, "--format", "json", "-o", saved).exit_code == 0
        beside_rows = json.loads(run(SAMPLE, "--compare", SAMPLE, "--format", "json").stdout)
        assert (beside_rows["comparable"], beside_rows["other"]["files"]) == (True, [SAMPLE])
        beside_saved = json.loads(run(SAMPLE, "--compare", saved, "--format", "json").stdout)
        assert beside_saved["comparable"] is False
        assert "made with different rules" in run(SAMPLE, "--compare", saved).stdout.lower()

    def test_a_saved_report_is_known_by_what_it_holds(self, tmp_path: Path) -> None:
        saved = tmp_path / "old.txt"
        assert run(SAMPLE, "--format", "json", "-o", saved).exit_code == 0
        assert json.loads(run(SAMPLE, "--compare", saved, "--format", "json").stdout)["other"]["files"] == [SAMPLE]
        assert run(SAMPLE, "--compare", "no.json").exit_code == 2

    def test_a_log_whose_name_ends_as_a_saved_reports_is_read_as_a_log(self, tmp_path: Path) -> None:
        (tmp_path / "old.json").write_text('[{"failure_kind": "cancelled"}]', encoding="utf-8")
        result = run(SAMPLE, "--compare", tmp_path / "old.json", "--format", "json")
        assert json.loads(result.stdout)["other"]["sources"][0]["layouts"] == ["list"]

    def test_unreadable_lines_of_the_other_run_count_too(self, tmp_path: Path) -> None:
        (tmp_path / "other.jsonl").write_bytes(b"x\n")
        assert run(SAMPLE, "--compare", tmp_path / "other.jsonl").exit_code == 3

    def test_a_dash_is_standard_output(self, tmp_path: Path) -> None:
        assert process(SAMPLE, "-o", "-", cwd=tmp_path).stdout == process(SAMPLE).stdout
        assert os.listdir(tmp_path) == []

    def test_a_link_stays_one(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "report")
        assert run(SAMPLE, "-o", tmp_path / "link").exit_code == 0
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "report").read_bytes() == process(SAMPLE).stdout

    def test_large_files_are_read_by_several_processes_with_a_teams_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("failure_kinds.scan_processes.LARGE", 1)
        plain = json.loads(run(SAMPLE, "--config", TEAM, "--format", "json").stdout)
        assert plain == json.loads(run(SAMPLE, "--config", TEAM, "--format", "json", "--rows", tmp_path / "r").stdout)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--rows", "copy.jsonl"], "copy.jsonl is named twice, and would be overwritten"),
            (["-o", "copy.jsonl"], "copy.jsonl is named twice, and would be overwritten"),
            (["-o", "./copy.jsonl"], "./copy.jsonl is named twice, and would be overwritten"),
            (["-o", "new", "--rows", "new"], "new is named twice, and would be overwritten"),
            (["--rows", "-"], "rows go to a file; name one"),
            (["-", "--compare", "-"], "standard input can be read once"),
        ],
    )
    def test_nothing_that_is_read_is_overwritten(
        self, options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "copy.jsonl").write_bytes(Path(SAMPLE).read_bytes())
        result = run("copy.jsonl", *options)
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())
        assert (tmp_path / "copy.jsonl").read_bytes() == Path(SAMPLE).read_bytes()

    def test_nor_is_what_stands_in_a_folder_that_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "run.jsonl").write_bytes(Path(SAMPLE).read_bytes())
        assert run(tmp_path, "--rows", tmp_path / "run.jsonl").exit_code == 2
        assert (tmp_path / "run.jsonl").read_bytes() == Path(SAMPLE).read_bytes()

    def test_a_saved_report_that_is_damaged_is_said_to_be_none(self, tmp_path: Path) -> None:
        (tmp_path / "old.json").write_text('{"report_version": 1', encoding="utf-8")
        result = run(SAMPLE, "--compare", tmp_path / "old.json")
        assert result.exit_code == 2
        assert "is no report that was saved with --format json" in " ".join(result.output.split())

    def test_a_field_that_cannot_be_read_is_said(self) -> None:
        result = run(SAMPLE, "--by", 'a"b')
        assert result.exit_code == 2
        said = "no field with a quotation mark, a backslash or a control character can be read"
        assert said in " ".join(result.output.split())
        with pytest.raises(ValueError, match=said):
            report_failures([SAMPLE], by='a"b')

    def test_each_failed_rows_evidence_and_answer(self, tmp_path: Path) -> None:
        rows = tmp_path / "rows.jsonl"
        assert run(SAMPLE, "--rows", rows).exit_code == 0
        written = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
        assert len(written) == 43
        assert written[10] == {
            "file": SAMPLE,
            "line": 11,
            "place": None,
            "failure_kind": "acme:tests_dir_missing",
            "unmapped": None,
            "stage": None,
            "http_status": None,
            "policy": None,
            "failure_class": "unknown",
            "label": "acme:tests_dir_missing",
            "rule": "default",
        }


OWN = """
schema_version: 1
source: own
title: Own
layouts:
  log: {files: "*.log", when: {all: [status]}}
  list: {rows: "rows[]"}
  totals: {rows: document, when: {all: [sum]}, aggregate: these are totals; pass the logs}
kind: [{field: status, values: {ok: null, lost: session_lost}}]
carry: {task: id}
"""


class TestSources:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder to work in, with a source file in it and a run."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "a.log").write_text('{"status": "lost", "id": 1}\n{"status": "odd"}\n', encoding="utf-8")
        (tmp_path / "run" / "b.json").write_text('{"rows": [{"status": "lost"}, {}]}', encoding="utf-8")
        (tmp_path / "run" / "sum.json").write_text('{"sum": 1}', encoding="utf-8")
        return tmp_path

    @pytest.mark.usefixtures("folder")
    def test_a_tool_of_ones_own_is_read_as_its_file_says(self) -> None:
        result = run("run", "--source", "own.yaml", "--by", "task", "--rows", "rows.jsonl", "--format", "json")
        assert result.exit_code == 0
        report = json.loads(result.stdout)
        assert [(source["title"], source["files"], source["rows"]) for source in report["sources"]] == [("Own", 2, 4)]
        assert report["account"]["passed_over_files"] == [
            {"file": "run/sum.json", "reason": "these are totals; pass the logs"}
        ]
        assert [(group["value"], group["rows"]) for group in report["groups"]] == [(None, 3), ("1", 1)]
        written = [json.loads(line) for line in Path("rows.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [(row["file"], row["line"], row["place"], row["failure_kind"], row["unmapped"]) for row in written] == [
            ("run/a.log", 1, None, "session_lost", None),
            ("run/a.log", 2, None, None, "odd"),
            ("run/b.json", 1, "rows[0]", "session_lost", None),
        ]

    @pytest.mark.usefixtures("folder")
    def test_several_to_choose_from(self) -> None:
        result = run("run/a.log", SAMPLE, "--source", "own.yaml", "--source", "auto")
        assert result.exit_code == 0
        assert re.search(r"\nOwn +own +1 +2 +2\n", result.stdout)
        assert re.search(r"\nNVIDIA NeMo Gym +nemo_gym +1 +43 +43\n", result.stdout)

    @pytest.mark.usefixtures("folder")
    def test_its_kinds_may_be_a_teams(self) -> None:
        Path("own.yaml").write_text(OWN.replace("session_lost", "new_kind"), encoding="utf-8")
        Path("team.yaml").write_text(
            "schema_version: 1\nkinds: {new_kind: {domain: agent, summary: It is new.}}\n", encoding="utf-8"
        )
        assert run("run", "--source", "own.yaml").exit_code != 0
        result = run("run", "--source", "own.yaml", "--config", "team.yaml")
        assert result.exit_code == 0
        assert "new_kind" in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (
                ["run/a.log"],
                "run/a.log: no source fits; its rows have the fields id, status; --source says what it is\n",
            ),
            (
                ["run/sum.json", "--source", "own.yaml"],
                "failure-kinds: run/sum.json: these are totals; pass the logs\n",
            ),
            (
                ["run/a.log", "--source", "harbour"],
                "'harbour': there is no source of this name, and no such file; did you mean 'harbor'?\n",
            ),
            (["run/a.log", "--source", "run/a.log"], "run/a.log:2:1: not valid YAML"),
        ],
    )
    def test_what_is_refused_is_said_without_a_traceback(self, arguments: list[str], said: str, folder: Path) -> None:
        result = process(*arguments, cwd=folder)
        assert result.returncode in (1, 2)
        assert said in result.stderr.decode()
        assert b"Traceback" not in result.stderr

    @pytest.mark.usefixtures("folder")
    def test_large_files_are_read_by_several_processes_as_by_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        arguments = "run", "--source", "own.yaml", "--by", "task", "--format", "json"
        plain = run(*arguments).stdout
        monkeypatch.setattr("failure_kinds.scan_processes.LARGE", 1)
        assert run(*arguments).stdout == plain

    @pytest.mark.usefixtures("folder")
    def test_its_file_is_not_overwritten(self) -> None:
        assert run("run", "--source", "own.yaml", "-o", "own.yaml").exit_code == 2
        assert Path("own.yaml").read_text(encoding="utf-8") == OWN


class TestBadInput:
    def test_unreadable_lines_end_with_3_and_everything_else_is_reported(self, tmp_path: Path) -> None:
        rows = tmp_path / "rows.jsonl"
        rows.write_bytes(b'{"failure_kind": "agent_timeout"}\n{"failure_kind": \n')
        result = run(rows)
        assert result.exit_code == 3
        assert "agent_timeout" in result.stdout
        assert "it isn't JSON" in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["no.jsonl"], "failure-kinds: no.jsonl: no such file or folder, and no file matches it as a pattern\n"),
            ([SAMPLE, "-o", "no/report"], "no/report"),
            ([SAMPLE, "--rows", "no/rows"], "no/rows"),
            ([SAMPLE, "--compare", "no.json"], "failure-kinds: no.json: no such file or directory\n"),
            ([SAMPLE, "--config", "no.yaml"], "no.yaml: can't be read: no such file or directory"),
        ],
    )
    def test_what_cannot_be_read_or_written_is_said_without_a_traceback(
        self, arguments: list[str], said: str, tmp_path: Path
    ) -> None:
        result = process(*arguments, cwd=tmp_path)
        assert result.returncode == 2
        assert said in result.stderr.decode()
        assert b"Traceback" not in result.stderr
        assert os.listdir(tmp_path) == []

    def test_an_error_without_a_file_is_said_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(report_command, "_write", full)
        result = run(SAMPLE)
        assert (result.exit_code, result.stderr) == (2, "failure-kinds: no space left on device\n")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize("arguments", [["report", SAMPLE], ["list"]], ids=["report", "list"])
    def test_a_full_disk_behind_standard_output_is_said(self, arguments: list[str], unbuffered: str) -> None:
        command = [sys.executable, "-m", "failure_kinds", *arguments]
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        with open("/dev/full", "wb") as full:
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
        assert (result.returncode, result.stderr) == (2, b"failure-kinds: no space left on device\n")

    def test_a_standard_output_that_was_closed_is_no_matter(self) -> None:
        command = ["sh", "-c", '"$0" -m failure_kinds list >&-', sys.executable]
        result = subprocess.run(command, stderr=subprocess.PIPE, check=False)
        assert (result.returncode, result.stderr) == (0, b"")

    def test_a_disk_that_is_full_is_said(self) -> None:
        if not Path("/dev/full").exists():
            pytest.skip("there is no full device here")
        result = process(SAMPLE, "--format", "json", "-o", "/dev/full")
        assert result.returncode == 2
        assert b"no space left on device" in result.stderr

    def test_what_is_no_regular_file_is_written_to_directly(self) -> None:
        assert run(SAMPLE, "-o", "/dev/null").exit_code == 0
        assert not Path("/dev/null").is_file()

    def test_a_pipe_that_closes_while_it_is_written_to_is_quiet_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def closed(*_: object) -> None:
            raise BrokenPipeError(32, "Broken pipe")

        monkeypatch.setattr(report_command, "_write", closed)
        assert (run(SAMPLE).exit_code, run(SAMPLE).output) == (1, "")

    def test_a_closed_pipe_is_quiet(self) -> None:
        with subprocess.Popen([*COMMAND, SAMPLE], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.close()
            assert running.stderr.read() == b""

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no FIFOs there")
    @pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_interrupting_it_leaves_no_half_written_file(self, sent: int, code: int, tmp_path: Path) -> None:
        fifo, rows, page = tmp_path / "fifo", tmp_path / "rows.jsonl", tmp_path / "report.html"
        os.mkfifo(fifo)
        rows.write_text("what was there before", encoding="utf-8")
        command = [*COMMAND, str(fifo), "--rows", str(rows), "--format", "html", "-o", str(page)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as running, fifo.open("wb", buffering=0) as feed:
            feed.write(Path(SAMPLE).read_bytes())
            while not list(tmp_path.glob("*.part")):
                time.sleep(0.01)
            running.send_signal(sent)
            assert running.wait(30) == code
            assert running.stderr is not None
            assert b"Traceback" not in running.stderr.read()
        assert rows.read_text(encoding="utf-8") == "what was there before"
        assert sorted(os.listdir(tmp_path)) == ["fifo", "rows.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals there")
class TestTheTerminal:
    @staticmethod
    def on_a_terminal(*arguments: str, columns: int = 100, **environment: str) -> tuple[bytes, bytes]:
        """What a command writes to a terminal that is its standard output and error, and to a pipe, if one is it."""
        import fcntl
        import pty
        import struct
        import termios

        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        to_pipe = environment.pop("STDOUT", "") == "pipe"
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "CI")}
        with subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE if to_pipe else follower,
            stderr=follower,
            stdin=follower,
            env={**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment},
        ) as running:
            os.close(follower)
            written = b""
            try:
                while piece := os.read(leader, 65536):
                    written += piece
            except OSError:  # the other end is closed
                pass
            piped = running.stdout.read() if running.stdout else b""
        os.close(leader)
        return written, piped

    @pytest.fixture
    def long_file(self, tmp_path: Path) -> str:
        path = tmp_path / "long.jsonl"
        path.write_bytes(b'{"failure_kind": "agent_timeout", "stage": "agent"}\n' * 300_000)
        return str(path)

    def test_a_long_file_shows_how_far_it_is(self, long_file: str) -> None:
        written, _ = self.on_a_terminal(long_file)
        assert b"long.jsonl" in written.partition(b"Where every row went")[0]
        assert b"\x1b[?25h" in written  # the cursor is there again
        assert b"300000" in written or b"300,000" in written

    def test_a_short_file_shows_nothing_of_the_sort(self) -> None:
        written, _ = self.on_a_terminal(SAMPLE)
        assert b"gym_failures.jsonl" not in written.partition(b"Where every row went")[0]

    def test_nothing_of_it_reaches_a_pipe(self, long_file: str) -> None:
        _, piped = self.on_a_terminal(long_file, STDOUT="pipe")
        assert b"\x1b" not in piped
        assert b"long.jsonl" not in piped.partition(b"Files:")[0]

    def test_colour_is_left_out_where_it_is_not_wanted(self) -> None:
        coloured, _ = self.on_a_terminal(SAMPLE)
        plain, _ = self.on_a_terminal(SAMPLE, NO_COLOR="1")
        assert re.search(rb"\x1b\[3[0-7]m", coloured)
        assert not re.search(rb"\x1b\[[0-9;]*3[0-7]m", plain)

    def test_a_narrow_terminal_loses_no_name(self) -> None:
        written, _ = self.on_a_terminal(SAMPLE, columns=40, NO_COLOR="1")
        lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", written.decode("utf-8")).split("\n")
        assert max(map(len, lines)) <= 40
        assert "environment_prepare_failed"[:10] in "".join(lines)

"""The frame of the command: its help, its exit codes, and how it behaves in pipes, locales and half an installation."""

from __future__ import annotations

import ast
import importlib
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import DATA
from typer.testing import CliRunner

from failure_kinds import cli
from failure_kinds.active import FILES_VARIABLE
from failure_kinds.cli import app as frame
from failure_kinds.cli import console

if TYPE_CHECKING:
    from typer.testing import Result

COMMANDS = ["list", "show", "explain", "check", "diff", "report", "sql", "schema", "constants", "sources"]
MODULES = ["cli", *(f"cli.{name}" for name in ("app", "console", "descriptions", "files", "options", "vocabulary"))]


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(frame.app, arguments, prog_name="failure-kinds", env=environment)


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "failure_kinds", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=False)


class TestHelp:
    def test_no_arguments_are_answered_with_the_commands_in_order(self) -> None:
        result = run()
        assert result.exit_code == 2
        commands = result.output.partition("Commands:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (\w+)", commands, flags=re.MULTILINE) == COMMANDS

    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_summary_of_a_command_is_said_in_full(self, command: str) -> None:
        summary = run(command, "--help").output.split("\n\n")[1]
        assert f" {command} {' '.join(summary.split())}" in " ".join(run("--help").output.split())

    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_help_of_a_command_ends_with_examples_line_for_line(self, command: str) -> None:
        result = run(command, "-h")
        assert result.exit_code == 0
        examples = result.output.partition("  Examples:\n")[2].splitlines()
        assert examples
        assert all(line.startswith(f"      failure-kinds {command}") for line in examples)

    def test_help_is_plain_ascii(self) -> None:
        assert all(run(*command, "--help").output.isascii() for command in ([], *([name] for name in COMMANDS)))

    def test_the_version_names_the_vocabularys_as_well(self) -> None:
        result = run("--version")
        assert (result.exit_code, result.output) == (0, "failure-kinds 0.1.0, vocabulary 1.0.0\n")

    def test_a_misspelt_command_is_a_usage_error(self) -> None:
        result = run("explian")
        assert result.exit_code == 2
        assert "Did you mean 'explain'?" in result.output

    def test_nobody_waits_for_what_help_has_no_need_of(self) -> None:
        code = (
            "import sys; sys.argv = ['failure-kinds', '--help']\n"
            "from failure_kinds.cli import main\n"
            "try: main()\n"
            "finally: print(sorted({'msgspec', 'pydantic', 'rich', 'yaml', 'zstandard'} & set(sys.modules)))"
        )
        assert subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1] == "[]"


class TestABadVocabulary:
    @pytest.mark.parametrize(
        "arguments", [["list"], ["show", "agent"], ["explain", "cancelled"], ["schema", "--override"]], ids=" ".join
    )
    def test_is_said_on_stderr_and_ends_with_2(self, arguments: list[str]) -> None:
        result = run(*arguments, **{FILES_VARIABLE: "missing.yaml"})
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("missing.yaml: can't be read: no such file or directory\n1 problem; ")

    def test_is_said_with_its_places(self) -> None:
        result = run("list", "--config", str(DATA / "yaml" / "misspelt_kind.yaml"))
        assert result.exit_code == 2
        assert result.stderr == (
            f"{DATA}/yaml/misspelt_kind.yaml:4:5: unknown failure kind 'agent_timout'; did you mean 'agent_timeout'?\n"
            "        agent_timout: evaluation\n"
            "        ^\n"
            "1 problem; checked against vocabulary 1.0.0 from failure_kinds.yaml\n"
        )

    def test_completes_nothing(self) -> None:
        assert run(**completion("failure-kinds explain agent_t"), **{FILES_VARIABLE: "missing.yaml"}).output == "\n"


def completion(words: str) -> dict[str, str]:
    """The environment in which bash asks how words go on."""
    position = str(len(words.split(" ")) - 1)
    return {"_FAILURE_KINDS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("failure-kinds ex", ["explain"]),
        ("failure-kinds explain agent_t", ["agent_timeout", "agent_timeout_infrastructure"]),
        ("failure-kinds explain cancelled --stage ver", ["verification"]),
        ("failure-kinds list --domain s", ["server", "session"]),
        ("failure-kinds show judge_i", ["judge_invalid"]),
        ("failure-kinds check team.yaml --format g", ["github"]),
    ],
)
def test_the_shell_completes(words: str, completions: list[str]) -> None:
    assert run(**completion(words)).stdout.split() == completions


def test_the_shell_completes_by_starting_the_command() -> None:
    assert start(**completion("failure-kinds explain kill")).stdout == "kill_shaped\n"


class TestTheProcess:
    def test_without_the_extra_it_says_what_to_install(self) -> None:
        for name in ("typer", "rich", "msgspec", "sqlglot", "zstandard"):
            code = f"import sys; sys.modules[{name!r}] = None\nfrom failure_kinds.cli import main\nmain()"
            result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            assert (result.returncode, result.stdout) == (2, "")
            assert result.stderr == "failure-kinds: the command needs the extra: pip install 'failure-kinds[cli]'\n"

    def test_a_closed_pipe_is_quiet(self) -> None:
        for arguments in (["list"], ["explain", "cancelled"], ["schema"], ["--help"]):
            reading, writing = os.pipe()
            os.close(reading)
            command = [sys.executable, "-m", "failure_kinds", *arguments]
            result = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
            os.close(writing)
            assert result.stderr == b""

    def test_a_locale_that_cannot_carry_a_character_gets_its_escape(self) -> None:
        path = str(DATA / "yaml" / "wide_characters.yaml")
        result = start("check", path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="")
        assert result.returncode == 1
        assert '{"\\u30bf\\u30a4\\u30e0\\u30a2\\u30a6\\u30c8": agent_timout}' in result.stdout
        assert result.stderr == ""

    @pytest.mark.parametrize(("environment", "is_styled"), [({}, True), ({"NO_COLOR": "1"}, False)])
    def test_a_terminal_has_colours_unless_it_wants_none(self, environment: dict[str, str], is_styled: bool) -> None:
        output = on_a_terminal("explain", "cancelled", **environment)
        assert ("\x1b[36mevaluation\x1b[0m" in output) is is_styled
        assert "evaluation" in output

    @pytest.mark.parametrize("columns", ["0", "40", "80"])
    def test_a_narrow_terminal_folds_and_cuts_nothing(self, columns: str) -> None:
        output = re.sub(r"\x1b\[\d*m", "", on_a_terminal("show", "cancelled", "429", COLUMNS=columns))
        assert max(map(len, output.splitlines())) <= max(int(columns), 20)
        assert output.count("cancelled") == 2
        assert "…" not in output
        assert output.count("e") == run("show", "cancelled", "429").output.count("e")  # all of it is there

    def test_a_pipe_is_as_wide_as_what_is_written(self) -> None:
        assert start("list", COLUMNS="20").stdout == run("list").stdout


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command writes on a terminal."""
    ours, its = pty.openpty()
    env = {**os.environ, "TERM": "xterm", **environment}
    with subprocess.Popen([sys.executable, "-m", "failure_kinds", *arguments], stdout=its, env=env):
        os.close(its)
        output = b""
        # Linux reports the end of what a terminal holds as an error.
        try:
            while chunk := os.read(ours, 4096):
                output += chunk
        except OSError:
            pass
    os.close(ours)
    return output.decode("utf-8").replace("\r\n", "\n")


class TestMain:
    def test_runs_the_app(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(sys, "argv", ["failure-kinds", "--version"])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 0
        assert capsys.readouterr().out == "failure-kinds 0.1.0, vocabulary 1.0.0\n"

    def test_importing_the_module_runs_nothing(self) -> None:
        assert importlib.import_module("failure_kinds.__main__").main is cli.main

    def test_ctrl_c_ends_it_quietly_with_130(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(**_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(frame, "app", interrupted)
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 130

    def test_a_missing_extra_ends_it_with_2(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "rich", None)
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


class TestTheConsole:
    @pytest.mark.parametrize(
        ("encoding", "written"),
        [("ascii", "a~--\\xe9\\u0416"), ("latin-1", "a~--\xe9\\u0416"), ("utf-8", "a…──éЖ")],
    )
    def test_what_an_encoding_cannot_carry_gets_a_lookalike_or_an_escape(self, encoding: str, written: str) -> None:
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        console.make_encodable(stream, io.StringIO())  # what isn't encoded is left alone
        stream.write("a…──éЖ")
        stream.flush()
        assert stream.buffer.getvalue().decode(encoding) == written

    def test_reading_is_as_strict_as_it_was(self) -> None:
        stream = io.TextIOWrapper(io.BytesIO(b"\xff"), encoding="ascii")
        console.make_encodable(stream)
        with pytest.raises(UnicodeDecodeError):
            stream.read()

    def test_markup_and_emoji_codes_are_data(self, capsys: pytest.CaptureFixture[str]) -> None:
        console.console().print("[bold]x[/] :smile:")
        assert capsys.readouterr().out == "[bold]x[/] :smile:\n"

    def test_a_table_is_aligned_and_never_cut(self, capsys: pytest.CaptureFixture[str]) -> None:
        console.write_table([("a", "bb", ""), ("ccc", "d" * 500, "[e]")], indent=1)
        assert capsys.readouterr().out == f" a    bb\n ccc  {'d' * 500}  [e]\n"

    def test_json_is_ascii(self, capsys: pytest.CaptureFixture[str]) -> None:
        console.write_json({"key": "\U0001f600"})
        assert capsys.readouterr().out == '{\n  "key": "\\ud83d\\ude00"\n}\n'


@pytest.mark.parametrize("name", MODULES)
def test_a_module_names_what_it_offers(name: str) -> None:
    module = importlib.import_module(f"failure_kinds.{name}")
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("name", ["app", "files", "options", "vocabulary"])
def test_a_module_of_commands_imports_little_at_its_top(name: str) -> None:
    tree = ast.parse((Path(cli.__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    top = {node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 0}
    assert top <= {"collections.abc", "pathlib", "typing"}


def test_a_narrow_terminal_breaks_a_table_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.console import Console

    from failure_kinds.cli import console

    monkeypatch.setattr(console, "console", lambda: Console(width=24, force_terminal=True, color_system=None))
    console.write_table([("stage_kind", "", "model of an agent"), ("kind", "x", "y")], indent=1)
    assert capsys.readouterr().out == " stage_kind  model\n     of an agent\n kind  x  y\n"
    console.write_table([("a", "b"), ("cc", "")])
    assert capsys.readouterr().out == "a   b\ncc\n"

"""`check`, `schema` and `constants`: for people who write vocabulary files."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml
from conftest import DATA
from typer.testing import CliRunner

from failure_kinds import Problem, get_registry, load_registry
from failure_kinds.active import FILES_VARIABLE
from failure_kinds.cli import files
from failure_kinds.cli.app import app
from failure_kinds.constants_module import constants_module
from failure_kinds.document import json_schema
from failure_kinds.override_schema import override_schema
from failure_kinds.reading import read_yaml

if TYPE_CHECKING:
    from typer.testing import Result

    from failure_kinds import FailureRegistry

ROOT = Path(__file__).parent.parent
CASES = DATA / "yaml"
REFUSED = sorted(path for path in CASES.glob("*.yaml") if path.with_suffix(".txt").exists())
ACCEPTED = [DATA / "team.yaml", *sorted(CASES.glob("ok_*.yaml"))]

VOCABULARY = """\
schema_version: 1
version: 2.5.0
domains: {agent: Agents.}
kinds:
  tired: {domain: agent, class: model, summary: The agent was tired.}
"""


def run(*arguments: str | Path, **environment: str) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), prog_name="failure-kinds", env=environment)


def output(*arguments: str | Path, exit_code: int = 0, **environment: str) -> str:
    result = run(*arguments, **environment)
    assert (result.exit_code, result.stderr) == (exit_code, "")
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestCheck:
    @pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
    def test_says_all_that_loading_says(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(path.parent)
        if path.stem == "version_in_override":
            assert output("check", path.name).startswith(f"{path.name}: fine (vocabulary ")
        elif path.stem not in ("not_yaml", "tab"):  # there, each parser has words of its own
            assert output("check", path.name, exit_code=1) == path.with_suffix(".txt").read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("name", "contents"),
        [
            ("team.yaml", "4 rules, 1 kind"),
            ("yaml/ok_adopted_kind.yaml", "1 kind, 1 domain, 1 retired name"),
            ("yaml/ok_comment_only.yaml", "it says nothing"),
            ("yaml/ok_empty_section.yaml", "it says nothing"),
            ("yaml/ok_namespaced_rule.yaml", "1 rule"),
            ("yaml/ok_new_kind.yaml", "1 rule, 1 kind"),
            ("yaml/ok_null_rules.yaml", "6 rules"),
            ("yaml/ok_null_sections.yaml", "it says nothing"),
            ("yaml/ok_order_of_codes.yaml", "2 rules"),
        ],
    )
    def test_a_file_that_is_fine_is_said_to_be_so(self, name: str, contents: str) -> None:
        assert output("check", DATA / name) == f"{DATA / name}: fine ({contents})\n"

    def test_a_file_with_a_version_is_a_whole_vocabulary(self, folder: Path) -> None:
        (folder / "own.yaml").write_text(VOCABULARY, encoding="utf-8")
        assert output("check", "own.yaml") == "own.yaml: fine (vocabulary 2.5.0, 1 kind, 1 domain)\n"
        (folder / "own.yaml").write_text(VOCABULARY.replace("domain: agent", "domain: agnt"), encoding="utf-8")
        assert output("check", "own.yaml", exit_code=1) == (
            "own.yaml:5:19: unknown domain 'agnt'; did you mean 'agent'?\n"
            "      tired: {domain: agnt, class: model, summary: The agent was tired.}\n"
            "                      ^\n"
        )

    def test_each_file_is_checked_by_itself(self, folder: Path) -> None:
        kind = "schema_version: 1\nkinds: {mine: {domain: agent, summary: It is mine.}}\n"
        (folder / "kinds.yaml").write_text(kind, encoding="utf-8")
        rule = "schema_version: 1\nclassification: {by_failure_kind: {mine: model}, default_class: unknown}\n"
        (folder / "rules.yaml").write_text(rule, encoding="utf-8")
        lines = output("check", "kinds.yaml", "rules.yaml", exit_code=1).splitlines()
        assert lines[0] == "kinds.yaml: fine (1 kind)"
        assert lines[1].startswith("rules.yaml:2:36: unknown failure kind 'mine'")
        assert output("check", "rules.yaml", "--base", "kinds.yaml") == "rules.yaml: fine (2 rules)\n"

    def test_a_base_may_be_a_vocabulary_with_files_laid_over_it(self, folder: Path) -> None:
        (folder / "own.yaml").write_text(VOCABULARY, encoding="utf-8")
        more = "schema_version: 1\nstages: {warmup: Warming up.}\n"
        (folder / "more.yaml").write_text(more, encoding="utf-8")
        rule = "schema_version: 1\nclassification: {by_stage: {warmup: {default_class: model}}}\n"
        (folder / "rules.yaml").write_text(rule, encoding="utf-8")
        base = ("--base", "own.yaml", "--base", "more.yaml")
        assert output("check", "rules.yaml", "own.yaml", *base) == (
            "rules.yaml: fine (1 rule)\nown.yaml: fine (vocabulary 2.5.0, 1 kind, 1 domain)\n"
        )
        assert output("check", DATA / "team.yaml", *base, exit_code=1).endswith(
            "checked against vocabulary 2.5.0 from own.yaml\n"
        )

    def test_a_base_that_is_wrong_is_said_once(self) -> None:
        assert output("check", DATA / "team.yaml", DATA / "team.yaml", "--base", "missing.yaml", exit_code=1) == (
            "missing.yaml: can't be read: no such file or directory\n"
            "1 problem; checked against vocabulary 1.0.0 from failure_kinds.yaml\n"
        )

    def test_the_environments_files_take_no_part(self) -> None:
        assert run("check", DATA / "team.yaml", **{FILES_VARIABLE: "missing.yaml"}).exit_code == 0

    def test_no_file_is_a_usage_error(self) -> None:
        assert run("check").exit_code == 2
        assert run("check", "team.yaml", "--format", "xml").exit_code == 2


class TestFormats:
    def test_json(self) -> None:
        bad = CASES / "two_problems.yaml"
        assert json.loads(output("check", DATA / "team.yaml", bad, "gone.yaml", "--format", "json", exit_code=1)) == [
            {"file": str(DATA / "team.yaml"), "problems": []},
            {
                "file": str(bad),
                "problems": [
                    {
                        "file": str(bad),
                        "line": 4,
                        "column": 5,
                        "message": "unknown failure kind 'agent_timout'; did you mean 'agent_timeout'?",
                    },
                    {
                        "file": str(bad),
                        "line": 6,
                        "column": 5,
                        "message": "'200' is no status of a failure; write three digits from 400 to 599, or 4xx or 5xx",
                    },
                ],
            },
            {
                "file": "gone.yaml",
                "problems": [
                    {
                        "file": "gone.yaml",
                        "line": None,
                        "column": None,
                        "message": "can't be read: no such file or directory",
                    }
                ],
            },
        ]

    def test_annotations_of_a_github_workflow(self, folder: Path) -> None:
        odd = folder / "100%,a:b.yaml"
        odd.write_text("schema_version: 1\nclassification: {by_failure_kind: {'50%': model}}\n", encoding="utf-8")
        fine = folder / "fine.yaml"
        fine.write_text("schema_version: 1\n", encoding="utf-8")
        assert output("check", "gone.yaml", odd.name, "fine.yaml", "--format", "github", exit_code=1) == (
            "::error file=gone.yaml::can't be read: no such file or directory\n"
            "::error file=100%25%2Ca%3Ab.yaml,line=2,col=36::unknown failure kind '50%25'; declare it under"
            " `kinds`, or write it as `<server>:<kind>`\n"
            "fine.yaml: fine (it says nothing)\n"
        )

    def test_an_annotation_stays_on_its_line(self) -> None:
        problem = Problem("a\r\nb", None, None, "c\r\nd::e, f")
        assert files._annotation(problem) == "::error file=a%0D%0Ab::c%0D%0Ad::e, f"


class TestShowMerged:
    def test_what_is_printed_loads_back_to_an_equal_registry(self, folder: Path) -> None:
        layers = [DATA / "team.yaml", CASES / "ok_new_kind.yaml"]
        (folder / "merged.yaml").write_text(output("check", *layers, "--show-merged"), encoding="utf-8")
        assert load_registry(base="merged.yaml") == load_registry(*layers)

    def test_a_vocabulary_may_come_first(self, folder: Path) -> None:
        (folder / "own.yaml").write_text(VOCABULARY, encoding="utf-8")
        merged = output("check", "own.yaml", CASES / "ok_comment_only.yaml", "--show-merged")
        assert yaml.safe_load(merged)["version"] == "2.5.0"

    def test_files_that_do_not_fit_are_said_not_to(self, folder: Path) -> None:
        for name, failure_class in (("a.yaml", "model"), ("b.yaml", "unknown")):
            kind = f"schema_version: 1\nkinds: {{mine: {{domain: agent, class: {failure_class}, summary: Mine.}}}}\n"
            (folder / name).write_text(kind, encoding="utf-8")
        assert output("check", "a.yaml", "b.yaml") == "a.yaml: fine (1 kind)\nb.yaml: fine (1 kind)\n"
        assert output("check", "a.yaml", "b.yaml", "--show-merged", exit_code=1).startswith(
            "b.yaml:2:9: mine is declared already (a.yaml:2)"
        )


class TestSchema:
    def test_is_that_of_the_package(self) -> None:
        assert json.loads(output("schema")) == json_schema()

    def test_of_an_override_comes_with_the_line_for_the_head_of_the_file(self) -> None:
        result = run("schema", "--override")
        assert result.exit_code == 0
        assert json.loads(result.stdout) == override_schema(get_registry())
        assert result.stderr == (
            "put this at the head of a file, with the path to where you keep the schema:\n"
            "# yaml-language-server: $schema=failure-kinds-override.schema.json\n"
        )

    def test_knows_the_names_of_a_teams_files(self) -> None:
        rule = {"schema_version": "1", "classification": {"by_failure_kind": {"acme_tests_missing": "model"}}}
        assert not is_valid(rule)
        assert is_valid(rule, load_registry(DATA / "team.yaml"))
        named = run("schema", "--override", "--config", DATA / "team.yaml").stdout
        assert run("schema", "--override", **{FILES_VARIABLE: str(DATA / "team.yaml")}).stdout == named
        assert json.loads(named) == override_schema(load_registry(DATA / "team.yaml"))

    @pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
    def test_takes_what_is_accepted(self, path: Path) -> None:
        assert is_valid(read_yaml(path).data)

    @pytest.mark.parametrize(
        "data",
        [
            {"classification": {}},
            {"schema_version": "1", "version": "1.0.0"},
            {"schema_version": "1", "clasification": {}},
            {"schema_version": "1", "classification": {"by_failure_kind": {"agent_timout": "model"}}},
            {"schema_version": "1", "classification": {"by_failure_kind": {"agent_timeout": "MODEL"}}},
            {"schema_version": "1", "classification": {"by_status_code": {"200": "model"}}},
            {"schema_version": "1", "classification": {"kind_aliases": {"x": "Agent Timeout"}}},
            {"schema_version": "1", "kinds": {"new": {"domain": "A domain", "summary": "It is new."}}},
        ],
        ids=repr,
    )
    def test_refuses_what_is_refused(self, data: dict[str, Any]) -> None:
        assert not is_valid(data)

    def test_offers_names_where_they_can_stand(self, registry: FailureRegistry) -> None:
        schema = override_schema(registry)
        definitions = schema["$defs"]
        rules = definitions["ClassificationSection"]["properties"]
        assert definitions["KindRules"]["properties"].keys() == registry.kinds.keys() | registry.retired.keys()
        assert definitions["KindRules"]["properties"]["judge_invalid"] == {
            "description": "Retired; read as judge_unparseable."
        }
        assert definitions["Label"]["anyOf"][0] == {"enum": sorted(registry.failure_kinds)}
        assert rules["by_stage"]["properties"].keys() == registry.stages.keys()
        for section in ("KindSection", "DomainGroup"):
            domain = definitions[section]["properties"]["domain"]
            assert domain["anyOf"][0] == {"enum": sorted(registry.domains)}
        assert [name for name, rule in rules.items() if rule.get("$ref") == "#/$defs/KindRules"] == [
            "by_failure_kind",
            "http_refinable_kinds",
            "non_policy_reporting_kind_by_failure_kind",
            "server_fault_kinds",
        ]
        assert definitions["StageSection"]["properties"]["by_failure_kind"]["$ref"] == "#/$defs/KindRules"


def is_valid(data: dict[str, Any], registry: FailureRegistry | None = None) -> bool:
    schema = override_schema(registry or load_registry())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(data)


STAGES_ADDED = """\
schema_version: 1
stages: {warmup: The model is being warmed up.}
kinds:
  zebra: {domain: agent, summary: 'A "zebra" ran by.'}
  lion: {domain: agent, constant: BIG_CAT, summary: A lion ran by.}
"""


class TestConstants:
    def test_a_module_of_the_names_that_a_team_adds(self, folder: Path) -> None:
        (folder / "team.yaml").write_text(STAGES_ADDED, encoding="utf-8")
        assert output("constants", "team.yaml") == (
            '"""Failure kinds of our own, beside vocabulary 1.0.0.\n'
            "\n"
            "Generated by `failure-kinds constants`; not to be edited.\n"
            '"""\n'
            "\n"
            "from typing import Final, Literal\n"
            "\n"
            "__all__ = [\n"
            '    "BIG_CAT",\n'
            '    "ZEBRA",\n'
            '    "Stage",\n'
            "]\n"
            "\n"
            'BIG_CAT: Final = "lion"\n'
            'ZEBRA: Final = "zebra"\n'
            "\n"
            "Stage = Literal[\n"
            '    "admission",\n'
            '    "seed",\n'
            '    "agent",\n'
            '    "verification",\n'
            '    "cleanup",\n'
            '    "warmup",\n'
            "]\n"
            '"""A stage of an episode."""\n'
        )

    @pytest.mark.parametrize("text", [STAGES_ADDED, STAGES_ADDED.partition("kinds:")[0], "", VOCABULARY])
    def test_pleases_type_checker_linter_and_formatter(self, folder: Path, text: str) -> None:
        (folder / "team.yaml").write_text(text, encoding="utf-8")
        (folder / "names.py").write_text(output("constants", "team.yaml"), encoding="utf-8")
        for tool in (
            ["mypy", "--strict"],
            ["ruff", "check", "--isolated", "--select", "D,E,F,I,RUF,PYI"],
            ["ruff", "format", "--isolated", "--check"],
        ):
            command = [sys.executable, "-m", *tool, "names.py"]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stdout + result.stderr

    def test_files_are_laid_over_each_other(self) -> None:
        layers = [DATA / "team.yaml", CASES / "ok_new_kind.yaml"]
        expected = constants_module(load_registry(*layers), beside=load_registry())
        assert output("constants", *layers) == expected
        assert 'ACME_TESTS_MISSING: Final = "acme_tests_missing"\nBROWSER_CRASHED: Final =' in expected

    def test_a_file_that_cannot_be_read_ends_with_2(self) -> None:
        result = run("constants", "gone.yaml")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("gone.yaml: can't be read: no such file or directory\n")


class TestPreCommit:
    HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]

    def test_runs_the_check_with_its_extra(self) -> None:
        assert self.HOOK["entry"] == "failure-kinds check"
        assert self.HOOK["additional_dependencies"] == [".[cli]"]

    @pytest.mark.parametrize(
        ("path", "is_checked"),
        [
            ("failure-kinds.yaml", True),
            ("conf/failure_kinds.team.yml", True),
            ("failure-kinds-override.yaml", True),
            ("vocabulary/failure_kinds.yaml", True),
            ("team.yaml", False),
            ("failure-kinds/team.yaml", False),
            ("failure_kinds.schema.json", False),
            ("my-failure-kinds.yaml", False),
        ],
    )
    def test_is_for_files_that_are_named_so(self, path: str, is_checked: bool) -> None:
        assert bool(re.search(self.HOOK["files"], path)) is is_checked


@pytest.mark.parametrize("name", ["constants_module", "override_schema"])
def test_a_module_names_what_it_offers(name: str) -> None:
    assert dir(importlib.import_module(f"failure_kinds.{name}")) == [name]

"""What changed between two vocabularies or two files over one: `data/diff/CASE` holds old, new and what is printed."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from conftest import DATA
from hypothesis import given
from strategies import ALL_STAGES, KINDS, NAMESPACED, RETIRED, SOME_STATUSES, configs
from typer.testing import CliRunner

from failure_kinds import FailureClassificationConfig, changes, load_registry
from failure_kinds.changes import Bump, Change, allowed, compare, lowest_version, required_bump
from failure_kinds.cli import diff as diff_module
from failure_kinds.cli.app import app
from failure_kinds.differences import AS_RECORDED, Difference, effective_differences
from failure_kinds.terms import status_ranges

if TYPE_CHECKING:
    from pathlib import Path

    from failure_kinds import FailureRegistry

CASES = sorted(path for path in (DATA / "diff").iterdir() if path.is_dir())


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["diff", *map(str, arguments)])


def ruling(**classification: Any) -> dict[str, Any]:
    return {"schema_version": 1, "classification": classification}


def vocabulary(**sections: Any) -> FailureRegistry:
    kind = {"domain": "agent", "class": "model", "summary": "It took too long."}
    base: dict[str, Any] = {
        "schema_version": 1,
        "version": "1.0.0",
        "domains": {"agent": "The agent."},
        "stages": {"agent": "Running."},
        "kinds": {"slow": kind, "late": kind},
    }
    return load_registry(base=base | sections)


def said(old: FailureRegistry, new: FailureRegistry) -> list[tuple[str, str]]:
    return [(change.bump.name, change.text) for change in compare(old, new)]


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_prints_what_is_expected(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case)
    result = run("old.yaml", "new.yaml")
    assert (result.output, result.exit_code) == ((case / "expected.txt").read_text(encoding="utf-8"), 0)


class TestVersions:
    @pytest.mark.parametrize(
        ("bump", "lowest"), [(None, "1.2.3"), (Bump.PATCH, "1.2.4"), (Bump.MINOR, "1.3.0"), (Bump.MAJOR, "2.0.0")]
    )
    def test_the_lowest_that_may_follow(self, bump: Bump | None, lowest: str) -> None:
        assert lowest_version("1.2.3", bump) == lowest
        assert allowed("1.2.3", lowest, bump)

    @pytest.mark.parametrize(
        ("new", "bump", "answer"),
        [
            ("1.2.3", None, True),
            ("1.2.2", None, False),
            ("1.2.3", Bump.PATCH, False),
            ("1.10.0", Bump.PATCH, True),
            ("1.2.9", Bump.MINOR, False),
            ("2.0.0", Bump.MINOR, True),
            ("1.99.99", Bump.MAJOR, False),
            ("10.0.0", Bump.MAJOR, True),
        ],
    )
    def test_are_compared_as_numbers(self, new: str, bump: Bump | None, answer: bool) -> None:
        assert allowed("1.2.3", new, bump) is answer

    def test_the_largest_bump_counts(self) -> None:
        small, large = (Change("rules", "x", None, None, bump, "x") for bump in (Bump.PATCH, Bump.MAJOR))
        assert [required_bump(found) for found in ([], [small], [small, large, small])] == [
            None,
            Bump.PATCH,
            Bump.MAJOR,
        ]


class TestComparing:
    def test_a_vocabulary_with_itself(self) -> None:
        assert compare(load_registry(), load_registry()) == ()

    def test_a_change_says_what_and_how(self) -> None:
        new = vocabulary(classification={"by_stage": {"agent": {"by_failure_kind": {"slow": "unknown"}}}})
        text = "slow, stage agent: no rule -> unknown"
        assert compare(vocabulary(), new) == (Change("rules", "slow, stage agent", None, "unknown", Bump.MAJOR, text),)

    def test_a_retired_kind_takes_its_rules_along(self) -> None:
        new_kind = {"domain": "agent", "class": "evaluation", "summary": "It took too long."}
        rules = {
            "by_stage": {"agent": {"by_failure_kind": {"late": "unknown"}}},
            "http_refinable_kinds": {"late": True},
            "by_failure_kind": {"acme:x": "model"},
        }
        new = {"kinds": {"slow": new_kind | {"class": "model"}}, "retired": {"late": "slow"}}
        assert said(vocabulary(classification=rules), vocabulary(**new, classification={})) == [
            ("MAJOR", "acme:x: model -> no rule"),
            ("MINOR", "late: retired, and read as slow"),
        ]

    def test_a_kind_retired_without_its_alias_is_no_mere_retirement(self) -> None:
        slow = {"domain": "agent", "class": "model", "summary": "It took too long."}
        new = vocabulary(
            kinds={"slow": slow}, retired={"late": "slow"}, classification={"kind_aliases": {"late": None}}
        )
        assert said(vocabulary(), new) == [
            ("MAJOR", "late: model -> no rule"),
            ("MINOR", "late: retired, and read as slow"),
        ]

    def test_a_kind_under_a_name_that_was_read_as_another_moves_numbers(self) -> None:
        alias = vocabulary(classification={"kind_aliases": {"over": "slow"}})
        kind = {"domain": "agent", "summary": "It took too long."}
        new = vocabulary(kinds={"slow": {**kind, "class": "model"}, "late": {**kind, "class": "model"}, "over": kind})
        assert said(alias, new) == [
            ("MAJOR", "kind_aliases over: slow -> no rule"),
            ("MINOR", "over: added (domain agent)"),
        ]

    def test_a_retired_name_may_follow_its_replacement_and_not_another_one(self) -> None:
        kind = {"domain": "agent", "class": "model", "summary": "It took too long."}
        old = vocabulary(retired={"x": "late"})
        assert said(old, vocabulary(kinds={"slow": kind}, retired={"x": "slow", "late": "slow"})) == [
            ("MINOR", "x: read as late -> slow"),
            ("MINOR", "late: retired, and read as slow"),
        ]
        assert said(old, vocabulary(retired={"x": "slow"})) == [("MAJOR", "x: read as late -> slow")]
        assert said(old, vocabulary()) == [("MAJOR", "x: removed; a retired name stays retired")]

    def test_a_flag_that_is_down_says_no_more_than_none(self) -> None:
        down = vocabulary(classification={"server_fault_kinds": {"slow": False}})
        assert said(vocabulary(), down) == [("PATCH", "server_fault_kinds slow: no rule -> false")]

    def test_a_stage_takes_its_rules_along(self) -> None:
        old = vocabulary(
            stages={"agent": "Running.", "seed": "Preparing."},
            classification={"by_stage": {"seed": {"default_class": "model", "by_failure_kind": {"slow": "model"}}}},
        )
        assert said(old, vocabulary()) == [("MAJOR", "seed: removed; a name is never removed: keep it")]
        assert said(vocabulary(), old) == [("MINOR", "seed: added (default_class model, slow model)")]


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([], ""),
        ([400], "400"),
        ([401, 400], "400-401"),
        ([499, 500], "499 500"),
        (range(400, 600), "4xx 5xx"),
        ([*range(400, 499), 503], "400-498 503"),
    ],
)
def test_statuses_as_ranges(codes: Any, text: str) -> None:
    assert status_ranges(codes) == text


class TestEffectiveDifferences:
    def test_of_a_registry_with_itself(self) -> None:
        assert effective_differences(load_registry(), load_registry()) == ()

    def test_a_difference_says_where_and_what(self) -> None:
        new = load_registry(ruling(http_refinable_kinds={"cancelled": True}, default_class="model"))
        assert [found for found in effective_differences(load_registry(), new) if "cancelled" in found.names] == [
            Difference(
                "class",
                ("cancelled",),
                (*load_registry().stages, None),
                (400, 406, 409, *range(411, 415), *range(416, 425), 426, 427, 428, *range(430, 499)),
                True,
                "evaluation",
                "unknown",
            ),
            *(
                Difference("label", ("cancelled",), (), codes, policy, AS_RECORDED, label)
                for codes, policy, label in (
                    (
                        (400, 406, 409, *range(411, 415), *range(416, 425), 426, 427, 428, *range(430, 499)),
                        True,
                        "model_request_error",
                    ),
                    ((401, 402, 403, 404, 405, 407, 408, 410, 415, 425, 429, 499), None, "infrastructure_error"),
                    (tuple(range(500, 600)), None, "model_server_error"),
                    (
                        (400, 406, 409, *range(411, 415), *range(416, 425), 426, 427, 428, *range(430, 499)),
                        False,
                        "non_policy_model_rejection",
                    ),
                )
            ),
        ]
        assert [(found.names, found.statuses) for found in effective_differences(load_registry(), new)[1:3]] == [
            (("(unknown name)", "(no kind)"), (None,)),
            (("(other namespaced name)",), (None, *range(400, 600))),
        ]

    # A retired name beside the kind that it is read as: only one of them is called as recorded.
    @hypothesis.example(
        FailureClassificationConfig(),
        FailureClassificationConfig(
            non_policy_reporting_kind_by_failure_kind={
                "agent_command_not_allowed": "judge_unparseable",
                "judge_unparseable": "agent_command_not_allowed",
            }
        ),
    )
    @hypothesis.settings(max_examples=30)
    @given(configs, configs)
    def test_are_all_that_answers_differ_in_and_nothing_else(
        self, old: FailureClassificationConfig, new: FailureClassificationConfig
    ) -> None:
        registry = load_registry()
        before, after = (dataclasses.replace(registry, config=config) for config in (old, new))
        found: dict[tuple[object, ...], tuple[str, str]] = {}
        for difference in effective_differences(before, after):
            policies = (True, False) if difference.policy is None else (difference.policy,)
            for name in difference.names:
                for stage in difference.stages or (None,):
                    for status in difference.statuses:
                        for policy in policies:
                            place = (difference.what, name, stage, status, policy)
                            assert place not in found
                            found[place] = difference.before, difference.after
        met = {*KINDS, *RETIRED, *old.kind_aliases, *new.kind_aliases}
        met |= {name for name in NAMESPACED if f"'{name}':" in f"{old!r} {new!r}"}
        names: dict[str, Any] = {name: name for name in met}
        names |= {"(no kind)": None, "(unknown name)": "no such name", "(other namespaced name)": "no:such_name"}
        expected: dict[tuple[object, ...], tuple[str, str]] = {}
        for shown, name in names.items():
            for status in SOME_STATUSES[:1] + SOME_STATUSES[2:-1]:
                for policy in (True, False):
                    labels = [config.rules.reporting_kind(name, status, policy) for config in (old, new)]
                    if labels[0] != labels[1]:
                        first, second = (AS_RECORDED if label == name else str(label) for label in labels)
                        expected["label", shown, None, status, policy] = first, second
                    for stage in ALL_STAGES:
                        if stage != "warmup":
                            classes = [config.rules.classify(name, stage, status, policy) for config in (old, new)]
                            if classes[0] is not classes[1]:
                                expected["class", shown, stage, status, policy] = classes[0].value, classes[1].value
        assert {place: answers for place, answers in found.items() if place[3] in SOME_STATUSES} == expected


class TestTheCommand:
    def test_the_word_bundled_stands_for_the_bundled_vocabulary(self) -> None:
        result = run("bundled", "bundled", "--check")
        assert (result.output, result.exit_code) == ("No difference.\n", 0)

    def test_two_files_that_say_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "empty.yaml").write_text("# nothing yet\n", encoding="utf-8")
        (tmp_path / "same.yaml").write_text("schema_version: 1\n", encoding="utf-8")
        result = run(tmp_path / "empty.yaml", tmp_path / "same.yaml")
        assert (result.output, result.exit_code) == ("No difference.\n", 0)

    @pytest.mark.parametrize(
        ("case", "exit_code"), [("wording", 0), ("new_names", 1), ("retirement", 0), ("moved_rules", 0)]
    )
    def test_check_fails_where_the_version_is_too_low(self, case: str, exit_code: int) -> None:
        folder = DATA / "diff" / case
        result = run(folder / "old.yaml", folder / "new.yaml", "--check")
        assert (result.output, result.exit_code) == (
            (folder / "expected.txt").read_text(encoding="utf-8"),
            exit_code,
        )

    def test_check_fails_where_the_version_goes_back(self, tmp_path: Path) -> None:
        text = (DATA / "diff" / "wording" / "old.yaml").read_text(encoding="utf-8")
        (tmp_path / "old.yaml").write_text(text, encoding="utf-8")
        (tmp_path / "new.yaml").write_text(text.replace("1.0.0", "0.9.0"), encoding="utf-8")
        result = run(tmp_path / "old.yaml", tmp_path / "new.yaml", "--check")
        assert (result.output, result.exit_code) == (
            "No difference.\nThe version may stay: 1.0.0 or later; NEW says 0.9.0.\n",
            1,
        )

    def test_json_of_two_vocabularies(self) -> None:
        folder = DATA / "diff" / "retirement"
        result = run(folder / "old.yaml", folder / "new.yaml", "--json")
        found = json.loads(result.output)
        assert found.pop("changes")[-1] == {
            "section": "retired",
            "name": "agent_lost",
            "before": None,
            "after": "agent_gone",
            "bump": "minor",
            "text": "agent_lost: retired, and read as agent_gone",
        }
        assert found == {"old": "1.0.0", "new": "1.1.0", "bump": "minor", "lowest_version": "1.1.0", "allowed": True}

    def test_json_without_a_difference(self) -> None:
        result = run("bundled", "bundled", "--json", "--check")
        assert (json.loads(result.output), result.exit_code) == (
            {
                "old": "1.0.0",
                "new": "1.0.0",
                "bump": None,
                "lowest_version": "1.0.0",
                "allowed": True,
                "changes": [],
            },
            0,
        )

    def test_json_of_two_files_over_a_vocabulary(self) -> None:
        folder = DATA / "diff" / "overrides"
        first, *_ = json.loads(run(folder / "old.yaml", folder / "new.yaml", "--json").output)
        assert first == {
            "what": "class",
            "names": ["agent_timeout"],
            "stages": ["admission", "seed", "agent", "verification", "cleanup", None],
            "statuses": [None, *range(400, 600)],
            "policy": None,
            "before": "model",
            "after": "evaluation",
        }

    def test_one_of_each_sort_is_wrong_usage(self) -> None:
        team = DATA / "team.yaml"
        for arguments in (("bundled", team), (team, "bundled")):
            result = run(*arguments)
            assert result.exit_code == 2
            assert result.stderr.endswith(
                "Error: Invalid value: bundled is a whole vocabulary, with a `version`, and the other file isn't; pass "
                "two of the same sort\n"
            )

    def test_files_without_a_version_cannot_be_checked_for_theirs(self) -> None:
        result = run(DATA / "team.yaml", DATA / "team.yaml", "--check")
        assert result.exit_code == 2
        assert result.stderr.endswith(
            "Error: Invalid value for --check: it looks at versions, and these files have none\n"
        )

    def test_a_file_with_problems_says_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "bad.yaml").write_text("schema_version: 1\nkind: {}\n", encoding="utf-8")
        result = run("bad.yaml", "bad.yaml")
        assert (result.stdout, result.stderr, result.exit_code) == (
            "",
            (
                "bad.yaml:2:1: unknown key 'kind'; did you mean 'kinds'?\n    kind: {}\n    ^\n"
                "1 problem; checked against vocabulary 1.0.0 from failure_kinds.yaml\n"
            ),
            2,
        )
        result = run("bundled", "none.yaml")
        assert (result.stdout, result.stderr, result.exit_code) == (
            "",
            "none.yaml: can't be read: no such file or directory\n",
            2,
        )

    def test_writes_what_the_locale_cannot_say_as_escapes(self) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "failure_kinds", "diff", "old.yaml", "new.yaml"],
            cwd=DATA / "diff" / "wording",
            env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""},
            capture_output=True,
            check=True,
        )
        assert b"  stage agent: 'Running.' -> 'The agent runs \\u2014 caf\\xe9.' (patch)\n" in result.stdout

    @pytest.mark.parametrize(
        ("stages", "text"),
        [
            ((None,), "no stage"),
            (("seed", None), "no stage or stage seed"),
            (("seed", "agent"), "stage seed agent"),
            (("admission", "seed", "agent", None), "every stage but verification cleanup"),
            (("admission", "seed", "agent", "verification", "cleanup", None), "every stage"),
        ],
    )
    def test_says_stages_in_few_words(self, stages: tuple[str | None, ...], text: str) -> None:
        found = Difference("class", ("cancelled",), stages, (None,), False, "model", "unknown")
        assert diff_module._text(found, (*load_registry().stages, None)) == (
            f"cancelled, {text}, no status (non-policy): model -> unknown"
        )


def test_modules_list_what_they_offer() -> None:
    for module in (changes, diff_module):
        assert dir(module) == module.__all__ == sorted(module.__all__)

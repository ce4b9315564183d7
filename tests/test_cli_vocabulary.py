"""`list`, `show` and `explain`: what is said of a vocabulary, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from conftest import DATA
from typer.testing import CliRunner

from failure_kinds import load_registry, using_registry
from failure_kinds.active import FILES_VARIABLE
from failure_kinds.cli.app import app
from failure_kinds.terms import folded

if TYPE_CHECKING:
    from typer.testing import Result

    from failure_kinds import FailureRegistry

TEAM = str(DATA / "team.yaml")


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="failure-kinds", env=environment)


def output(*arguments: str, **environment: str) -> str:
    result = run(*arguments, **environment)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def data(*arguments: str) -> Any:
    return json.loads(output(*arguments, "--json"))


def usage_error(*arguments: str) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()[-1]


def line_of(text: str) -> int:
    """The line of the bundled vocabulary that reads like this."""
    import importlib_resources

    file = importlib_resources.files("failure_kinds.vocabulary") / "failure_kinds.yaml"
    return file.read_text(encoding="utf-8").splitlines().index(text) + 1


def declared(kind: str) -> int:
    return line_of(f"  {kind}:")


class TestList:
    def test_says_name_class_meaning_and_flags_under_each_domain(self) -> None:
        assert output("list", "--domain", "grading") == (
            "grading: Judges and verifiers, which turn an answer into a score.\n"
            "  judge_failed             evaluation  The call to the judge failed.\n"
            "  judge_skipped            evaluation  The call to the judge was never made.\n"
            "  judge_unparseable        evaluation  The judge answered, and no verdict could be parsed from its"
            " answer.\n"
            "  verifier_error           evaluation  The verifier itself broke before it reached a verdict.\n"
            "  grading_without_verdict  evaluation  The saved row records that grading took place, but holds no"
            " verdict. [gate-derived]\n"
        )

    def test_a_server_fault_is_a_flag(self) -> None:
        assert output("list", "--domain", "session", "--class", "evaluation").splitlines()[1] == (
            "  session_lost            evaluation  The server no longer knows the resources session that the episode"
            " was using. [server]"
        )

    def test_lists_every_kind_once(self, registry: FailureRegistry) -> None:
        kinds = [line.split()[0] for line in output("list").splitlines() if line.startswith("  ")]
        assert sorted(kinds) == sorted(registry.kinds)

    def test_filters_by_the_class_that_the_rules_give(self, registry: FailureRegistry) -> None:
        kinds = [kind["name"] for kind in data("list", "--class", "model")]
        assert kinds == [kind for kind in registry.kinds if kind in registry.model_fault_kinds]
        headings = [line for line in output("list", "--class", "unknown").splitlines() if not line.startswith("  ")]
        assert [heading.partition(":")[0] for heading in headings] == ["agent", "model", "provider"]

    def test_knows_a_teams_kinds(self) -> None:
        expected = "  acme_tests_missing              evaluation  The task's image holds no tests to run.\n"
        assert expected in output("list", "--domain", "environment", "--config", TEAM)
        assert expected in output("list", "--domain", "environment", **{FILES_VARIABLE: TEAM})

    def test_a_file_that_is_named_replaces_those_of_the_environment(self) -> None:
        fine = str(DATA / "yaml" / "ok_new_kind.yaml")
        result = run("list", "--config", fine, **{FILES_VARIABLE: TEAM})
        assert "browser_crashed" in result.stdout
        assert "acme_tests_missing" not in result.stdout

    def test_an_unknown_class_or_domain_is_a_usage_error(self) -> None:
        assert usage_error("list", "--class", "modle") == (
            "Error: Invalid value for --class: 'modle' isn't known; did you mean 'model'?"
        )
        assert usage_error("list", "--class", "zzz") == (
            "Error: Invalid value for --class: 'zzz' isn't known; it is one of evaluation, model, unknown"
        )
        assert usage_error("list", "--domain", "Agents") == (
            "Error: Invalid value for --domain: 'Agents' isn't known; did you mean 'agent'?"
        )

    def test_nothing_in_common_is_an_empty_list(self) -> None:
        assert output("list", "--class", "model", "--domain", "harness") == ""
        assert data("list", "--class", "model", "--domain", "harness") == []


class TestShowKind:
    def test_says_all_that_hangs_on_it(self) -> None:
        kind, agent = declared("provider_oom_killed"), line_of("        provider_oom_killed: model")
        seed = line_of("    seed:") + 2
        cleanup = line_of("    cleanup:") + 2
        assert output("show", "provider_oom_killed") == (
            "provider_oom_killed (kind): The sandbox was killed because it ran out of memory; whose process filled it"
            " depends on the stage.\n"
            f"  class                  unknown (kind, failure_kinds.yaml:{kind + 2})\n"
            f"  class at admission     evaluation (stage_kind, failure_kinds.yaml:{line_of('    admission:') + 2})\n"
            f"  class at seed          evaluation (stage_kind, failure_kinds.yaml:{seed})\n"
            f"  class at agent         model (stage_kind, failure_kinds.yaml:{agent})\n"
            f"  class at verification  unknown (kind, failure_kinds.yaml:{kind + 2})\n"
            f"  class at cleanup       evaluation (stage_kind, failure_kinds.yaml:{cleanup})\n"
            "  server fault           yes\n"
            "  groups                 provider_failure\n"
            "  domain                 provider\n"
            "  constant               PROVIDER_OOM_KILLED\n"
            f"  declared               failure_kinds.yaml:{kind}\n"
        )

    def test_says_which_statuses_lead_to_it(self) -> None:
        rows = output("show", "model_request_error").splitlines()
        assert "  gives way to a status  yes" in rows
        assert "  statuses               400, 406, 409, 411-414, 416-424, 426-428, 430-498" in rows
        other = declared("non_policy_model_rejection") + 2
        assert (
            "  from another model     evaluation as non_policy_model_rejection"
            f" (non_policy_kind, failure_kinds.yaml:{other})" in rows
        )
        assert "  statuses from another model  401-405, 407-408, 410, 415, 425, 429, 499" in output(
            "show", "infrastructure_error"
        )

    def test_as_data(self) -> None:
        (kind,) = data("show", "judge_unparseable")
        place = declared("judge_unparseable")
        by_kind = {
            "class": "evaluation",
            "label": "judge_unparseable",
            "rule": "kind",
            "origin": f"failure_kinds.yaml:{place + 2}",
        }
        assert kind == {
            "type": "kind",
            "name": "judge_unparseable",
            "summary": "The judge answered, and no verdict could be parsed from its answer.",
            "class": by_kind,
            "class_by_stage": dict.fromkeys(["admission", "seed", "agent", "verification", "cleanup"], by_kind),
            "of_another_model": None,
            "gives_way_to_a_status": False,
            "statuses": None,
            "statuses_of_another_model": None,
            "server_fault": False,
            "gate_derived": False,
            "read_as_it": ["judge_invalid"],
            "groups": ["judge_failure"],
            "domain": "grading",
            "constant": "JUDGE_UNPARSEABLE",
            "declared": f"failure_kinds.yaml:{place}",
        }

    def test_one_of_an_environments_own_has_no_declaration(self) -> None:
        config = str(DATA / "yaml" / "ok_namespaced_rule.yaml")
        (kind,) = data("show", "my_env:quota", "--config", config)
        assert kind["class"]["origin"] == f"{config}:4"
        assert (kind["summary"], kind["domain"], kind["constant"], kind["declared"]) == (None, None, None, None)


class TestShowOthers:
    def test_a_retired_name_and_what_it_is_read_as(self) -> None:
        rows = output("show", "protocol_violation").splitlines()
        assert rows[:4] == [
            "protocol_violation (retired name)",
            "  read as   environment_protocol_violation",
            f"  declared  failure_kinds.yaml:{line_of('  protocol_violation: environment_protocol_violation')}",
            "",
        ]
        assert rows[4].startswith("environment_protocol_violation (kind): ")

    def test_an_alias_of_a_teams_own(self) -> None:
        alias, kind = data("show", "timeout_exceeded", "--config", TEAM)
        assert alias == {
            "type": "alias",
            "name": "timeout_exceeded",
            "read_as": "agent_timeout",
            "declared": f"{TEAM}:10",
        }
        assert kind["read_as_it"] == ["timeout_exceeded"]

    def test_a_retired_name_whose_alias_is_taken_away_is_read_as_itself(self) -> None:
        (name,) = data("show", "judge_invalid", "--config", str(DATA / "yaml" / "ok_null_rules.yaml"))
        assert (name["type"], name["read_as"]) == ("retired name", None)

    def test_an_alias_that_is_taken_away_is_no_name(self) -> None:
        aliases = [{"old_label": "agent_timeout"}, {"old_label": None}]
        layers = [{"schema_version": 1, "classification": {"kind_aliases": said}} for said in aliases]
        with using_registry(load_registry(*layers)):
            assert "'old_label' is no name of the vocabulary" in usage_error("show", "old_label")

    def test_a_status(self) -> None:
        by = f"(http_evidence, failure_kinds.yaml:{declared('infrastructure_error') + 2})"
        assert output("show", "429") == (
            "429 (HTTP status): Too Many Requests.\n"
            f"  from the evaluated model  evaluation as infrastructure_error {by}\n"
            f"  from another model        evaluation as infrastructure_error {by}\n"
            "  relabels                  model_request_error, model_server_error, model_transport_error,"
            " model_policy_response_timeout, agent_run_error\n"
        )

    def test_a_status_that_no_standard_names_and_a_teams_rule_for_one(self) -> None:
        assert data("show", "499")[0]["summary"] is None
        (status,) = data("show", "400", "--config", TEAM)
        assert status["of_the_evaluated_model"] == {
            "class": "evaluation",
            "label": "model_request_error",
            "rule": "status_override",
            "origin": f"{TEAM}:17",
        }

    def test_a_stage_and_a_domain_that_share_a_name(self) -> None:
        assert output("show", "agent") == (
            "agent (stage): The agent is running.\n"
            f"  provider_oom_killed       model (stage_kind, failure_kinds.yaml:"
            f"{line_of('        provider_oom_killed: model')})\n"
            f"  provider_command_timeout  model (stage_kind, failure_kinds.yaml:"
            f"{line_of('        provider_command_timeout: model')})\n"
            f"  declared                  failure_kinds.yaml:{line_of('  agent: The agent is running.')}\n"
            "\n"
            "agent (domain): The agent under evaluation and the server that runs it.\n"
            "  kinds     agent_run_error, agent_request_failed, agent_route_failed, agent_timeout,"
            " agent_timeout_infrastructure, agent_limit, agent_invalid_output, agent_command_not_allowed\n"
            f"  declared  failure_kinds.yaml:"
            f"{line_of('  agent: The agent under evaluation and the server that runs it.')}\n"
        )

    def test_a_stage_with_a_default_class_and_one_without_rules(self) -> None:
        stages = {"warmup": "The model is being warmed up.", "teardown": "All is being torn down."}
        rules = {"warmup": {"default_class": "evaluation"}}
        layer = {"schema_version": 1, "stages": stages, "classification": {"by_stage": rules}}
        with using_registry(load_registry(layer)):
            assert output("show", "warmup", "teardown") == (
                "warmup (stage): The model is being warmed up.\n"
                "  default class  evaluation\n"
                "  declared       <mapping>:stages.warmup\n"
                "\n"
                "teardown (stage): All is being torn down.\n"
                "  declared  <mapping>:stages.teardown\n"
            )

    def test_a_group(self) -> None:
        assert data("show", "judge_failure") == [
            {
                "type": "group",
                "name": "judge_failure",
                "kinds": ["judge_failed", "judge_invalid", "judge_unparseable"],
                "declared": f"failure_kinds.yaml:{line_of('groups:') + 3}",
            }
        ]

    def test_a_class_with_its_kinds_and_those_that_have_it_at_a_stage_only(self, registry: FailureRegistry) -> None:
        failure_class, domain = data("show", "model")
        assert domain["type"] == "domain"
        assert failure_class["summary"] == "The evaluated model or agent did it itself."
        assert failure_class["kinds"] == [kind for kind in registry.kinds if kind in registry.model_fault_kinds]
        assert failure_class["kinds_by_stage"] == {"agent": ["provider_oom_killed", "provider_command_timeout"]}
        assert "  also at agent  provider_oom_killed, provider_command_timeout\n" in output("show", "model")


class TestSpelling:
    @pytest.mark.parametrize(
        ("name", "taken_for"),
        [
            ("AGENT_TIMEOUT", "agent_timeout"),
            ("agent-timout", "agent_timeout"),
            ("EPISODE_FAILED", "environment_episode_failed"),
            ("Verification", "verification"),
            ("judge failures", "judge_failure"),
            ("EVALUATION", "evaluation"),
        ],
    )
    def test_the_nearest_name_is_taken_and_said(self, name: str, taken_for: str) -> None:
        result = run("show", name, "--json")
        assert (result.exit_code, result.stderr) == (0, f"{name!r} is taken for {taken_for!r}\n")
        assert json.loads(result.stdout)[0]["name"] == taken_for

    @pytest.mark.parametrize("name", ["zzz", "", "200", "4290", "٤٢٩", "a" * 1000])
    def test_what_is_near_nothing_is_a_usage_error(self, name: str) -> None:
        error = usage_error("show", "agent_timeout", name)
        assert error.startswith("Error: Invalid value for NAME: ")
        assert error.endswith(
            " is no name of the vocabulary, nor near one, nor a status from 400 to 599; `failure-kinds list` lists the"
            " kinds"
        )

    def test_every_name_is_found_as_itself(self, registry: FailureRegistry) -> None:
        names = [*registry.kinds, *registry.retired, *registry.stages, *registry.domains, *registry.groups]
        shown = {description["name"] for description in data("show", *names)}
        assert set(names) <= shown


class TestExplain:
    def test_says_what_every_rule_says_and_marks_the_one_that_decides(self) -> None:
        kind = declared("provider_oom_killed") + 2
        stage = line_of("        provider_oom_killed: model")
        assert output("explain", "provider_oom_killed", "--stage", "agent", "--http-status", "503") == (
            "model: provider_oom_killed\n"
            "   status_override  nothing  by_status_code.503\n"
            f">  stage_kind       model    by_stage.agent.by_failure_kind.provider_oom_killed"
            f"  failure_kinds.yaml:{stage}\n"
            "   stage_default    nothing  by_stage.agent.default_class\n"
            "   http_evidence    -        doesn't apply\n"
            "   non_policy_kind  -        doesn't apply\n"
            f"   kind             unknown  by_failure_kind.provider_oom_killed"
            f"                 failure_kinds.yaml:{kind}\n"
            f"   default          unknown  default_class"
            f"                                       failure_kinds.yaml:{line_of('  default_class: unknown')}\n"
        )

    def test_no_kind_is_a_dash(self) -> None:
        assert output("explain", "-").splitlines()[0] == "unknown"
        assert output("explain", "-", "--http-status", "503").splitlines()[0] == "evaluation: model_server_error"

    def test_another_models_request(self) -> None:
        explanation = data("explain", "model_context_limit", "--non-policy")
        assert (explanation["class"], explanation["label"]) == ("evaluation", "non_policy_model_rejection")
        assert explanation["rule"] == "non_policy_kind"

    @pytest.mark.parametrize(
        ("status", "shown"),
        [("5x3", "'5x3'"), ("503.0", "'503.0'"), ("200", "200"), ("-1", "-1"), ("", "''"), ("٥٠٣", ascii("٥٠٣"))],
    )
    def test_a_status_may_be_anything(self, status: str, shown: str) -> None:
        explanation = data("explain", "cancelled", "--http-status", status)
        assert explanation["notes"] == [f"{shown} isn't an integer from 400 to 599, so it counts as no HTTP status"]

    def test_digits_without_end_are_text(self) -> None:
        (note,) = data("explain", "cancelled", "--http-status", "5" * 5000)["notes"]
        assert note.endswith("... isn't an integer from 400 to 599, so it counts as no HTTP status")

    def test_notes_stand_below(self) -> None:
        assert output("explain", "agent_timout", "--stage", "agnt").splitlines()[-2:] == [
            "failure kind 'agent_timout' isn't registered; did you mean 'agent_timeout'?",
            "'agnt' isn't a stage of the vocabulary, so it has no rule; did you mean 'agent'?",
        ]

    def test_a_teams_rule_with_its_place(self) -> None:
        explanation = data("explain", "timeout_exceeded", "--http-status", "400", "--config", TEAM)
        assert explanation["notes"] == ["'timeout_exceeded' is read as 'agent_timeout'"]
        assert explanation["origin"] == f"{TEAM}:17"

    def test_as_data(self) -> None:
        explanation = data("explain", "cancelled")
        place = f"failure_kinds.yaml:{declared('cancelled') + 2}"
        assert list(explanation) == ["class", "label", "rule", "origin", "steps", "notes"]
        assert explanation["origin"] == place
        assert explanation["steps"][5:] == [
            {
                "rule": "kind",
                "entry": ["by_failure_kind", "cancelled"],
                "says": "evaluation",
                "origin": place,
                "decides": True,
            },
            {
                "rule": "default",
                "entry": ["default_class"],
                "says": "unknown",
                "origin": f"failure_kinds.yaml:{line_of('  default_class: unknown')}",
                "decides": False,
            },
        ]
        assert not any(step["decides"] for step in explanation["steps"][:5])


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([429], "429"), ([402, 401, 404], "401-402, 404"), (range(400, 600), "400-599")],
)
def test_numbers_are_folded(numbers: list[int], text: str) -> None:
    assert folded(numbers) == text

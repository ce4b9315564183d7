"""The data: what the bundled vocabulary says, kind by kind and rule by rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import importlib_resources
import jsonschema
import pytest

import failure_kinds
from failure_kinds import FailureClass, load_registry
from failure_kinds.document import json_schema
from failure_kinds.reading import read_yaml
from failure_kinds.terms import RESERVED_CONSTANTS

VOCABULARY = importlib_resources.files("failure_kinds.vocabulary")
REGISTRY = load_registry()

# One line a domain: kind, E(valuation) M(odel) U(nknown), S where an evaluation failure is a server's, G where a gate
# derives it from saved rows. Written down a second time on purpose: a changed class moves people's numbers.
DECIDED = """
transport: transport_unreachable ES, transport_peer_drop ES, transport_timeout ES, transport_local_resource E
agent: agent_run_error U, agent_request_failed ES, agent_route_failed E, agent_timeout M, agent_timeout_infrastructure E
agent: agent_limit M, agent_invalid_output M, agent_command_not_allowed M
model: model_context_limit M, model_policy_response_timeout M, model_request_error U, model_server_error ES
model: model_transport_error ES, non_policy_model_rejection E, invalid_output_budget E, invalid_request_parameter E
grading: judge_failed E, judge_skipped E, judge_unparseable E, verifier_error E, grading_without_verdict EG
answer: truncated_answer MG, empty_answer MG, malformed_answer MG
environment: environment_server_failed ES, environment_episode_failed E, environment_prepare_failed E
environment: environment_protocol_violation E
harness: driver_install_failed E, harbor_failed E, harness_termination_unconfirmed E, infrastructure_error E
provider: provider_unavailable ES, provider_internal_error ES, provider_status_unavailable ES, provider_oom_killed US
provider: provider_command_timeout U, provider_command_outcome_unknown E, provider_create_pending E
provider: provider_create_timeout E, provider_credentials_rejected E, provider_io_timeout E, provider_not_ready E
provider: provider_protocol_error E, provider_pty_busy E, provider_pty_unavailable E, provider_quota_exhausted E
provider: provider_request_failed E, provider_setup_failed E
session: session_lost ES, session_expired E, session_release_failed E
server: server_start_failed ES, server_spinup_timeout ES
lifecycle: cancelled E, kill_shaped E, shutdown E, rollout_allocation_ended E
collection: collection_dispatch_failed E, collection_resume_refused E, persistence_failed E, cohort_incomplete E
"""
CLASSES = {"E": FailureClass.EVALUATION, "M": FailureClass.MODEL, "U": FailureClass.UNKNOWN}


def decided() -> dict[str, tuple[str, FailureClass, bool, bool]]:
    kinds = {}
    for line in DECIDED.strip().splitlines():
        domain, _, listed = line.partition(": ")
        for entry in listed.split(", "):
            name, marks = entry.split()
            kinds[name] = (domain, CLASSES[marks[0]], "S" in marks, "G" in marks)
    return kinds


def test_the_kinds_are_those_that_were_decided() -> None:
    assert {
        kind.name: (kind.domain, kind.failure_class, kind.server_fault, kind.gate_derived)
        for kind in REGISTRY.kinds.values()
    } == decided()
    assert (len(REGISTRY.failure_kinds), len(REGISTRY.gate_derived_kinds)) == (62, 4)


@pytest.mark.parametrize("name", decided())
class TestEachKind:
    def test_is_classified_by_its_own_rule_where_nothing_else_is_known(self, name: str) -> None:
        explanation = REGISTRY.explain_failure(name)
        assert (explanation.failure_class, explanation.rule) == (decided()[name][1], "kind")

    def test_has_a_constant_that_is_its_name_in_upper_case_but_for_one(self, name: str) -> None:
        constant = "EPISODE_FAILED" if name == "environment_episode_failed" else name.upper()
        assert REGISTRY.kinds[name].constant == constant
        assert getattr(failure_kinds, constant) == name

    def test_is_summed_up_in_one_sentence(self, name: str) -> None:
        assert re.fullmatch(r"[A-Z][^\n]{15,130}\.", REGISTRY.kinds[name].summary)

    def test_says_where_it_is_declared(self, name: str) -> None:
        file, _, line = str(REGISTRY.origin(name)).partition(":")
        text = (VOCABULARY / file).read_text(encoding="utf-8").splitlines()
        assert text[int(line) - 1] == f"  {name}:"


def test_no_two_kinds_are_summed_up_alike() -> None:
    summaries = [kind.summary for kind in REGISTRY.kinds.values()]
    assert len(set(summaries)) == len(summaries)


def test_the_stages_are_those_of_an_episode_in_order() -> None:
    assert list(REGISTRY.stages) == ["admission", "seed", "agent", "verification", "cleanup"]


def test_every_domain_has_kinds() -> None:
    assert set(REGISTRY.domains) == {kind.domain for kind in REGISTRY.kinds.values()}


def test_the_groups() -> None:
    assert REGISTRY.judge_failure_kinds == ("judge_failed", "judge_invalid", "judge_unparseable")
    assert REGISTRY.provider_failure_kinds == {name for name in REGISTRY.kinds if name.startswith("provider_")}
    assert set(REGISTRY.groups) == {"provider_failure", "judge_failure"}


def test_the_retired_names_are_read_as_their_replacements() -> None:
    replacements = {
        "judge_invalid": "judge_unparseable",
        "protocol_violation": "environment_protocol_violation",
    }
    assert REGISTRY.retired == REGISTRY.config.kind_aliases == replacements


def test_the_rules_of_the_stages() -> None:
    own = {"provider_oom_killed", "provider_command_timeout"}
    judged = {"model_request_error", "model_context_limit", "model_policy_response_timeout"}
    assert {stage: dict(rules.by_failure_kind) for stage, rules in REGISTRY.config.by_stage.items()} == {
        "admission": dict.fromkeys(own, FailureClass.EVALUATION),
        "seed": dict.fromkeys(own, FailureClass.EVALUATION),
        "agent": dict.fromkeys(own, FailureClass.MODEL),
        "verification": dict.fromkeys(judged, FailureClass.EVALUATION),
        "cleanup": dict.fromkeys(own, FailureClass.EVALUATION),
    }
    assert {rules.default_class for rules in REGISTRY.config.by_stage.values()} == {None}
    assert REGISTRY.config.default_class is FailureClass.UNKNOWN


def test_the_rules_of_the_statuses() -> None:
    access = {401, 402, 403, 404, 405, 407, 408, 410, 415, 425, 429, 499}

    def expected(rejected: str) -> dict[int, str]:
        client = {status: "infrastructure_error" if status in access else rejected for status in range(400, 500)}
        return client | dict.fromkeys(range(500, 600), "model_server_error")

    assert REGISTRY.config.by_status_code == {}
    assert REGISTRY.config.reporting_kind_by_status_code == expected("model_request_error")
    assert REGISTRY.config.non_policy_reporting_kind_by_status_code == expected("non_policy_model_rejection")


def test_no_status_alone_means_the_model() -> None:
    for status in range(400, 600):
        assert REGISTRY.classify_failure(None, None, status) is not FailureClass.MODEL


def test_the_other_rules() -> None:
    refinable = {"model_request_error", "model_server_error", "model_transport_error", "agent_run_error"}
    assert REGISTRY.config.http_refinable_kinds == dict.fromkeys(refinable | {"model_policy_response_timeout"}, True)
    assert REGISTRY.config.non_policy_reporting_kind_by_failure_kind == {
        "model_request_error": "non_policy_model_rejection",
        "model_context_limit": "non_policy_model_rejection",
        "model_policy_response_timeout": "transport_timeout",
    }


def test_the_sets_follow_from_the_kinds() -> None:
    kinds = decided()
    assert failure_kinds.FAILURE_KINDS == {name for name, kind in kinds.items() if not kind[3]}
    assert failure_kinds.GATE_DERIVED_KINDS == {name for name, kind in kinds.items() if kind[3]}
    assert failure_kinds.MODEL_FAULT_KINDS == {name for name, kind in kinds.items() if kind[1] is FailureClass.MODEL}
    assert failure_kinds.SERVER_FAULT_KINDS == {name for name, kind in kinds.items() if kind[2]}
    assert failure_kinds.PROVIDER_FAILURE_KINDS == {name for name, kind in kinds.items() if kind[0] == "provider"}
    assert failure_kinds.JUDGE_FAILURE_KINDS == ("judge_failed", "judge_invalid", "judge_unparseable")


def test_every_rule_says_where_it_is_written() -> None:
    config = REGISTRY.config.model_dump(exclude={"default_class", "by_stage"})
    entries: list[tuple[str | int, ...]] = [(field, key) for field, table in config.items() for key in table]
    entries += [
        ("by_stage", stage, "by_failure_kind", kind)
        for stage, rules in REGISTRY.config.by_stage.items()
        for kind in rules.by_failure_kind
    ]
    text = (VOCABULARY / "failure_kinds.yaml").read_text(encoding="utf-8").splitlines()
    for entry in (*entries, ("default_class",)):
        line = text[int(str(REGISTRY.origin(*entry)).partition(":")[2]) - 1].split(":")[0].strip()
        assert line in (str(entry[-1]), f"{str(entry[-1])[0]}xx", "class", "server_fault")


def test_the_file_fits_the_schema_that_editors_use() -> None:
    schema = json.loads((VOCABULARY / "failure_kinds.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert schema == json_schema()
    validator.validate(read_yaml(VOCABULARY / "failure_kinds.yaml").data)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "data" / "yaml").glob("ok_*.yaml")), ids=lambda p: p.stem
)
def test_what_is_accepted_fits_the_schema(path: Path) -> None:
    schema = json.loads((VOCABULARY / "failure_kinds.schema.json").read_text(encoding="utf-8"))
    data = read_yaml(path).data
    if data:  # a file that says nothing has no schema version either
        jsonschema.Draft202012Validator(schema).validate(data)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"schema_version": "2"},
        {"schema_version": "1", "clasification": {}},
        {"schema_version": "1", "classification": {"by_failure_kind": {"agent_timeout": "MODEL"}}},
        {"schema_version": "1", "classification": {"by_status_code": {"200": "model"}}},
        {"schema_version": "1", "kinds": {"new": {"domain": "agent"}}},
        {"schema_version": "1", "kinds": {"new": None}},
        {"schema_version": "1", "kinds": {"New": {"domain": "agent", "summary": "It is new."}}},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(data: dict[str, object]) -> None:
    schema = json.loads((VOCABULARY / "failure_kinds.schema.json").read_text(encoding="utf-8"))
    assert not jsonschema.Draft202012Validator(schema).is_valid(data)


def test_no_kind_can_take_a_name_of_the_package() -> None:
    kinds = {kind.constant for kind in REGISTRY.kinds.values()}
    assert {name for name in failure_kinds.__all__ if name.isupper()} - kinds == RESERVED_CONSTANTS

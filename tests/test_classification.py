"""What is answered: the cases that people met, and the order of the rules over everything that can be recorded."""

from __future__ import annotations

import http
import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from conftest import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_NAMES, ALL_STAGES, ALL_STATUSES, CONFIGS, SOME_STATUSES, configs, json_values

import failure_kinds
from failure_kinds import (
    FailureClass,
    FailureClassificationConfig,
    FailureRegistry,
    classify_failure,
    explain_failure,
    load_registry,
    reporting_failure_kind,
    using_registry,
)
from failure_kinds.classification import RULES

CASES = [json.loads(line) for line in (DATA / "classification.jsonl").read_text(encoding="utf-8").splitlines()]

EVALUATION, MODEL, UNKNOWN = FailureClass.EVALUATION, FailureClass.MODEL, FailureClass.UNKNOWN


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_the_cases_that_people_met(case: dict[str, Any]) -> None:
    rules = load_registry({"schema_version": 1, "classification": case.get("config", {})}).config
    kind, stage, status, policy = (case[name] for name in ("failure_kind", "stage", "http_status", "policy"))
    explanation = explain_failure(kind, stage, status, policy, rules)
    assert classify_failure(kind, stage, status, policy, rules) is FailureClass(case["class"])
    assert reporting_failure_kind(kind, status, policy, rules) == case["label"]
    assert (explanation.failure_class.value, explanation.label, explanation.rule) == (
        case["class"],
        case["label"],
        case["rule"],
    )


@pytest.mark.parametrize("name", CONFIGS)
def test_the_tables_answer_what_the_rules_say(name: str) -> None:
    """Every kind of name, stage, status and policy: the fast answers are those of the rules, one after the other."""
    config = FailureClassificationConfig(**CONFIGS[name])
    every = itertools.product(ALL_NAMES, ALL_STAGES, SOME_STATUSES, (True, False, None))
    every_status = itertools.product(ALL_NAMES, ("agent",), ALL_STATUSES, (True, False))
    for kind, stage, status, policy in itertools.chain(every, every_status):
        label = config.rules.reporting_kind(kind, status, policy)
        explanation = failure_kinds.classification.explain(config, kind, stage, status, policy)
        assert config.rules.classify(kind, stage, status, policy) is explanation.failure_class
        assert label == explanation.label


@given(configs, st.sampled_from(ALL_NAMES), st.sampled_from(ALL_STAGES), st.sampled_from(ALL_STATUSES), st.booleans())
@settings(max_examples=300)
def test_so_do_the_tables_of_any_configuration(
    config: FailureClassificationConfig, kind: Any, stage: Any, status: Any, policy: bool
) -> None:
    explanation = explain_failure(kind, stage, status, policy, config)
    assert classify_failure(kind, stage, status, policy, config) is explanation.failure_class
    assert reporting_failure_kind(kind, status, policy, config) == explanation.label


def ruled(rule: str, said: str) -> dict[str, Any]:
    """A layer in which a rule says something of an `agent_run_error` in the agent stage with a 503."""
    classification: dict[str, dict[str, Any]] = {
        "status_override": {"by_status_code": {503: said}},
        "stage_kind": {"by_stage": {"agent": {"by_failure_kind": {"agent_run_error": said}}}},
        "stage_default": {"by_stage": {"agent": {"default_class": said}}},
        "http_evidence": {"by_failure_kind": {"model_server_error": said}},
        "kind": {"by_failure_kind": {"agent_run_error": said}},
        "default": {"default_class": said},
        "none": {"by_failure_kind": {"model_server_error": None, "agent_run_error": None}},
    }
    return {"schema_version": 1, "classification": classification[rule]}


class TestPrecedence:
    """Each rule outranks those below it, and gives way to them where it says nothing."""

    RULED = [rule for rule in RULES if rule != "non_policy_kind"]

    @pytest.mark.parametrize(("higher", "lower"), list(itertools.combinations(RULED, 2)))
    def test_the_higher_of_two_rules_decides(self, higher: str, lower: str) -> None:
        registry = load_registry(ruled("none", ""), ruled(higher, "model"), ruled(lower, "evaluation"))
        explanation = registry.explain_failure("agent_run_error", "agent", 503)
        assert (explanation.rule, explanation.failure_class) == (higher, MODEL)

    @pytest.mark.parametrize("rule", RULED)
    def test_a_rule_decides_where_those_above_say_nothing(self, rule: str) -> None:
        registry = load_registry(ruled("none", ""), ruled(rule, "model"))
        assert registry.explain_failure("agent_run_error", "agent", 503).rule == rule

    def test_whose_request_it_was_comes_before_the_kind_and_after_the_status(self) -> None:
        assert explain_failure("model_context_limit", "agent", 500, False).rule == "non_policy_kind"
        assert explain_failure("model_request_error", "agent", 500, False).rule == "http_evidence"
        assert explain_failure("model_context_limit", "agent", 500, True).rule == "kind"

    def test_a_status_says_nothing_of_a_kind_that_names_its_layer(self) -> None:
        assert reporting_failure_kind("provider_request_failed", 400) == "provider_request_failed"
        assert reporting_failure_kind("daytona:create_failed", 400) == "daytona:create_failed"

    def test_the_other_order_is_a_matter_of_configuration(self) -> None:
        config = FailureClassificationConfig(http_refinable_kinds={"provider_request_failed": True})
        assert reporting_failure_kind("provider_request_failed", 400, config=config) == "model_request_error"


class TestEvidence:
    @pytest.mark.parametrize("status", [503, np.int64(503), np.uint16(503), http.HTTPStatus.SERVICE_UNAVAILABLE])
    def test_an_integer_is(self, status: object) -> None:
        assert reporting_failure_kind(None, status) == "model_server_error"
        assert classify_failure(None, None, status) is EVALUATION

    @pytest.mark.parametrize(
        "status",
        [None, True, np.bool_(True), 503.0, np.float64(503), "503", "", b"503", 399, 600, -503, 10**400, [503]],
    )
    def test_nothing_else_is(self, status: object) -> None:
        assert reporting_failure_kind("agent_run_error", status) == "agent_run_error"
        assert classify_failure(None, None, status) is UNKNOWN

    @pytest.mark.parametrize("policy", [True, None, 1, "no", math.nan, np.bool_(True), np.array([1, 0])])
    def test_a_request_is_the_policys_unless_something_says_no(self, policy: Any) -> None:
        assert classify_failure("model_context_limit", "agent", policy=policy) is MODEL
        assert reporting_failure_kind("model_context_limit", None, policy) == "model_context_limit"

    @pytest.mark.parametrize("policy", [False, 0, np.bool_(False)])
    def test_false_says_no(self, policy: Any) -> None:
        assert classify_failure("model_context_limit", "agent", policy=policy) is EVALUATION

    def test_no_text_is_searched(self) -> None:
        for text in ("HTTP 503", "agent_timeout: it took too long", "timeout", "OOM"):
            assert classify_failure(text, "agent") is UNKNOWN

    def test_absence_is_unknown(self) -> None:
        assert classify_failure(None) is UNKNOWN

    @given(json_values, json_values, json_values, json_values)
    def test_whatever_was_recorded_is_answered(self, kind: Any, stage: Any, status: Any, policy: Any) -> None:
        explanation = explain_failure(kind, stage, status, policy)
        assert classify_failure(kind, stage, status, policy) is explanation.failure_class
        assert reporting_failure_kind(kind, status, policy) == explanation.label


class TestExplanations:
    def test_every_rule_is_there_in_order(self, registry: FailureRegistry) -> None:
        explanation = registry.explain_failure("provider_oom_killed", "agent")
        assert tuple(step.rule for step in explanation.steps) == RULES
        assert [(step.rule, step.entry, step.says) for step in explanation.steps] == [
            ("status_override", None, None),
            ("stage_kind", ("by_stage", "agent", "by_failure_kind", "provider_oom_killed"), MODEL),
            ("stage_default", ("by_stage", "agent", "default_class"), None),
            ("http_evidence", None, None),
            ("non_policy_kind", None, None),
            ("kind", ("by_failure_kind", "provider_oom_killed"), UNKNOWN),
            ("default", ("default_class",), UNKNOWN),
        ]
        assert explanation.steps[1] == explanation.decided

    def test_the_origin_is_the_line_of_the_deciding_rule(self) -> None:
        registry = load_registry(DATA / "team.yaml")
        override = registry.explain_failure("agent_timeout", "agent", 400)
        assert (override.rule, override.origin) == ("status_override", f"{DATA / 'team.yaml'}:17")
        assert str(registry.explain_failure("agent_timeout").origin).startswith("failure_kinds.yaml:")

    def test_a_range_and_an_exact_code_each_have_their_own_line(self) -> None:
        registry = load_registry()
        lines = {registry.origin("reporting_kind_by_status_code", status) for status in (400, 429, 499, 498)}
        assert len(lines) == 3

    def test_an_entry_of_a_config_in_the_call_has_no_line(self) -> None:
        config = FailureClassificationConfig(by_failure_kind={"agent_timeout": "evaluation"})
        explanation = explain_failure("agent_timeout", config=config)
        assert (explanation.rule, explanation.origin) == ("kind", "config")
        assert str(explain_failure("agent_limit", config=config).origin).startswith("failure_kinds.yaml:")

    def test_a_stage_that_only_the_config_knows_is_explained(self) -> None:
        warm = load_registry({"schema_version": 1, "stages": {"warmup": "The model is being warmed up."}})
        with using_registry(warm):
            config = FailureClassificationConfig(by_stage={"warmup": {"default_class": "model"}})
        explanation = explain_failure("agent_timout", "warmup", config=config)  # type: ignore[arg-type]
        assert (explanation.rule, explanation.origin, explanation.failure_class) == ("stage_default", "config", MODEL)

    @pytest.mark.parametrize(
        ("evidence", "notes"),
        [
            (("agent_timeout", "agent", 503, True), ()),
            (("empty_answer", None, None, True), ()),
            (("acme:x", None, None, True), ()),
            ((None, None, None, True), ()),
            (("judge_invalid",), ("'judge_invalid' is read as 'judge_unparseable'",)),
            (("agent_timout",), ("failure kind 'agent_timout' isn't registered; did you mean 'agent_timeout'?",)),
            ((["x"],), ("a value of type list isn't text, so it counts as no failure kind",)),
            (
                ("agent_timeout", "verifcation"),
                ("'verifcation' isn't a stage of the vocabulary, so it has no rule; did you mean 'verification'?",),
            ),
            ((None, {}), ("a value of type dict isn't a stage of the vocabulary, so it has no rule",)),
            (
                (None, None, "503"),
                ("'503' isn't an integer from 400 to 599, so it counts as no HTTP status",),
            ),
        ],
    )
    def test_notes_say_what_was_not_evidence(self, evidence: tuple[Any, ...], notes: tuple[str, ...]) -> None:
        assert explain_failure(*evidence).notes == notes

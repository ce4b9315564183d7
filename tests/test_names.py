"""Questions about names, warnings, metric labels and the field types of records."""

from __future__ import annotations

import logging
import os
from typing import Any

import pydantic
import pytest
from hypothesis import given
from strategies import KINDS, REGISTERED, json_values

from failure_kinds import (
    FailureClass,
    FailureClassificationConfig,
    FailureRegistry,
    UnregisteredKindError,
    canonical_failure_kind,
    classify_failure,
    explain_failure,
    is_evaluation_side,
    is_gate_derived,
    is_namespaced,
    is_registered,
    is_server_failure,
    is_server_status,
    load_registry,
    metric_label,
    reporting_failure_kind,
    require_failure_kind,
    using_registry,
    validate_failure_kind,
)
from failure_kinds.fields import CanonicalFailureKind, FailureKind
from failure_kinds.registry import WARNED_NAMES
from failure_kinds.seen import WARNED

ANOTHER = load_registry({"schema_version": 1, "kinds": {"new_kind": {"domain": "agent", "summary": "It is new."}}})


class TestQuestions:
    @pytest.mark.parametrize("name", KINDS)
    def test_a_kind_is_registered_or_gate_derived(self, name: str) -> None:
        assert is_registered(name) != is_gate_derived(name)
        assert not is_namespaced(name)

    @pytest.mark.parametrize(
        ("name", "answer"),
        [
            ("acme:quota", True),
            ("a:b", True),
            ("my_env2:no_quota_3", True),
            ("acme:", False),
            (":quota", False),
            ("acme:quota\n", False),
            ("acme:quota:x", False),
            ("Acme:quota", False),
            ("acme-lab:quota", False),
            ("1acme:quota", False),
            ("agent_timeout", False),
            ("", False),
            (None, False),
            (b"acme:quota", False),
        ],
    )
    def test_namespaced(self, name: Any, answer: bool) -> None:
        assert is_namespaced(name) is answer

    def test_registered_means_the_active_registrys(self) -> None:
        assert not is_registered("new_kind")
        with using_registry(ANOTHER):
            assert is_registered("new_kind")

    def test_neither_retired_nor_namespaced_names_are_registered(self) -> None:
        assert not is_registered("judge_invalid")
        assert not is_registered("acme:quota")

    def test_evaluation_side_is_what_the_kind_rule_alone_says(self) -> None:
        assert is_evaluation_side("session_lost")
        assert is_evaluation_side("grading_without_verdict")
        assert not is_evaluation_side("agent_timeout")
        assert not is_evaluation_side("provider_oom_killed")
        assert not is_evaluation_side("acme:quota")
        config = FailureClassificationConfig(
            by_failure_kind={"agent_timeout": "evaluation", "session_lost": None, "acme:quota": "evaluation"}
        )
        assert is_evaluation_side("agent_timeout", config)
        assert not is_evaluation_side("session_lost", config)
        assert not is_evaluation_side("acme:quota", config)

    def test_a_servers_failure(self) -> None:
        assert is_server_failure("session_lost")
        assert is_server_failure("provider_oom_killed")
        assert not is_server_failure("session_expired")
        assert not is_server_failure(None)
        config = FailureClassificationConfig(
            server_fault_kinds={"session_expired": True, "session_lost": False, "transport_timeout": None},
            kind_aliases={"expired": "session_expired"},
        )
        assert is_server_failure("session_expired", config)
        assert is_server_failure("expired", config)
        assert not is_server_failure("session_lost", config)
        assert not is_server_failure("transport_timeout", config)

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (500, True),
            (599, True),
            (499, False),
            (600, False),
            (503.0, False),
            ("503", False),
            (True, False),
            (None, False),
        ],
    )
    def test_a_servers_status(self, status: object, answer: bool) -> None:
        assert is_server_status(status) is answer

    @given(json_values)
    def test_no_question_ever_raises(self, value: Any) -> None:
        for question in (
            is_registered,
            is_gate_derived,
            is_namespaced,
            is_evaluation_side,
            is_server_failure,
            is_server_status,
        ):
            assert question(value) in (True, False)
        assert metric_label(value)
        assert canonical_failure_kind(value) is value or isinstance(value, str)


class Hostile(str):
    """Text whose class has its own mind about comparing and hashing."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


class TestTextOfAnotherClass:
    def test_is_read_as_the_text_that_it_is(self) -> None:
        name = Hostile("session_lost")
        assert is_registered(name)
        assert is_evaluation_side(name)
        assert is_server_failure(name)
        assert not is_gate_derived(name)
        assert metric_label(name) == "session_lost"
        assert require_failure_kind(name) is name
        assert validate_failure_kind(name) is name
        assert canonical_failure_kind(Hostile("judge_invalid")) == "judge_unparseable"
        assert classify_failure(Hostile("provider_oom_killed"), Hostile("agent")) is FailureClass.MODEL  # type: ignore[arg-type]
        assert explain_failure(Hostile("provider_oom_killed"), Hostile("agent")).rule == "stage_kind"  # type: ignore[arg-type]
        assert reporting_failure_kind(name, None) == "session_lost"

    def test_a_value_that_refuses_to_be_compared_counts_as_none(self) -> None:
        class Refusing:
            def __eq__(self, other: object) -> bool:
                raise RuntimeError

            def __hash__(self) -> int:
                raise RuntimeError

            def __bool__(self) -> bool:
                raise RuntimeError

        value: Any = Refusing()
        assert classify_failure(value, value, value, value) is FailureClass.UNKNOWN
        assert explain_failure(value, value, value, value).failure_class is FailureClass.UNKNOWN


class TestValidating:
    @pytest.mark.parametrize("name", [*REGISTERED[:3], "acme:quota", None, 5, ["agent_timeout"]])
    def test_passes_in_silence(self, name: Any, caplog: pytest.LogCaptureFixture) -> None:
        assert validate_failure_kind(name) is name
        assert not caplog.records

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("agent_timout", "failure kind 'agent_timout' isn't registered; did you mean 'agent_timeout'?"),
            ("AGENT-TIMEOUT", "failure kind 'AGENT-TIMEOUT' isn't registered; did you mean 'agent_timeout'?"),
            ("\x1b[31m", "failure kind '\\x1b[31m' isn't registered"),
            ("judge_invalid", "failure kind 'judge_invalid' is retired; use 'judge_unparseable'"),
            ("empty_answer", "failure kind 'empty_answer' is derived from saved rows; no producer may emit it"),
            ("x" * 5000, f"failure kind '{'x' * 100}'... isn't registered"),
        ],
    )
    def test_keeps_a_name_and_warns_of_it_once(self, name: str, message: str, caplog: pytest.LogCaptureFixture) -> None:
        for _ in range(3):
            assert validate_failure_kind(name) is name
        assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
            ("failure_kinds", logging.WARNING, message)
        ]

    def test_a_producer_that_makes_names_up_cannot_make_the_process_grow(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        for number in range(WARNED_NAMES + 500):
            validate_failure_kind(f"error {number}")
        messages = [record.getMessage() for record in caplog.records]
        assert len(messages) == WARNED_NAMES + 1
        assert messages[-1] == "1000 names were unregistered; further ones aren't shown"

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
    @pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
    def test_a_fork_while_another_thread_warns_does_not_hang(self) -> None:
        with WARNED._lock:
            child = os.fork()
            if child == 0:  # pragma: no cover  # the child's lines aren't seen
                os._exit(0 if validate_failure_kind("agent_timout") == "agent_timout" else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0


class TestRequiring:
    @pytest.mark.parametrize("name", ["session_lost", "acme:quota"])
    def test_returns_a_name_that_may_be_emitted(self, name: str) -> None:
        assert require_failure_kind(name) is name

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            (None, "a failure kind is needed, not None"),
            (5, "a failure kind is needed, not 5"),
            ([], "a failure kind is needed, not a value of type list"),
            ("agent_timout", "failure kind 'agent_timout' isn't registered; did you mean 'agent_timeout'?"),
            ("judge_invalid", "failure kind 'judge_invalid' is retired; use 'judge_unparseable'"),
            ("empty_answer", "failure kind 'empty_answer' is derived from saved rows; no producer may emit it"),
        ],
    )
    def test_refuses_every_other(self, name: Any, message: str) -> None:
        with pytest.raises(UnregisteredKindError) as caught:
            require_failure_kind(name)
        assert (str(caught.value), caught.value.name) == (message, name)
        assert isinstance(caught.value, ValueError)


class TestMetricLabels:
    def test_known_names_are_labels(self, registry: FailureRegistry) -> None:
        for name in registry.kinds:
            assert metric_label(name) == name
        assert metric_label("judge_invalid") == "judge_unparseable"

    def test_namespaced_names_are_labels_until_the_budget_is_spent(self) -> None:
        labels = {metric_label(f"acme:kind_{number}") for number in range(500)}
        assert len(labels) == 101
        assert "_OTHER" in labels
        assert metric_label("acme:kind_0") == "acme:kind_0"
        assert metric_label("acme:kind_499") == "_OTHER"
        assert metric_label("acme:kind_499", budget=101) == "acme:kind_499"

    @pytest.mark.parametrize("name", ["agent_timout", "", "_OTHER", None, 5, ["agent_timeout"]])
    def test_everything_else_shares_one(self, name: object) -> None:
        assert metric_label(name) == "_OTHER"


class Record(pydantic.BaseModel):
    recorded: FailureKind | None = None
    emitted: CanonicalFailureKind | None = None


class TestFields:
    def test_a_recorded_name_is_kept_and_warned_of(self, caplog: pytest.LogCaptureFixture) -> None:
        assert Record(recorded="agent_timout").recorded == "agent_timout"
        assert "did you mean 'agent_timeout'" in caplog.text

    def test_an_emitted_name_is_replaced_or_refused(self) -> None:
        assert Record(emitted="judge_invalid").emitted == "judge_unparseable"
        assert Record(emitted="acme:quota").emitted == "acme:quota"
        with pytest.raises(pydantic.ValidationError, match="isn't registered; did you mean 'agent_timeout'"):
            Record(emitted="agent_timout")
        with pytest.raises(pydantic.ValidationError, match="valid string"):
            Record.model_validate({"emitted": 5})

    def test_the_schema_names_the_kinds(self) -> None:
        properties = Record.model_json_schema()["properties"]
        recorded, emitted = (properties[name]["anyOf"][0] for name in ("recorded", "emitted"))
        assert recorded["type"] == "string"
        assert recorded["examples"] == REGISTERED
        assert emitted["anyOf"] == [
            {"enum": sorted([*REGISTERED, "judge_invalid", "protocol_violation"])},
            {"pattern": "^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$"},
        ]

"""What counts as evidence in a row, in the shapes that people's tools write."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from conftest import DATA
from hypothesis import given
from strategies import json_values

from failure_kinds.rows import Evidence, Outcome, evidence_reader


def evidence(row: dict[str, Any], by: str | None = None) -> Evidence:
    row_type, read = evidence_reader(by)
    return Evidence(*read(msgspec.json.decode(json.dumps(row).encode(), type=row_type)))


def found(row: dict[str, Any]) -> tuple[str, str | None, str | None, int | None, bool | None]:
    """Outcome, kind, stage, status and policy."""
    row_evidence = evidence(row)
    return (*row_evidence[:4], row_evidence.policy)


FAILURE, UNLABELLED, WITHOUT, OMITTED = (
    Outcome.FAILURE, Outcome.UNLABELLED, Outcome.WITHOUT_FAILURE, Outcome.OMITTED,
)  # fmt: skip


class TestPlainRows:
    def test_all_four_fields(self) -> None:
        row = {"failure_kind": "agent_timeout", "stage": "agent", "http_status": 503, "policy": False}
        assert found(row) == (FAILURE, "agent_timeout", "agent", 503, False)

    @pytest.mark.parametrize("nothing", [None, "", "none", "unset", "success"])
    def test_a_value_that_means_no_failure(self, nothing: str | None) -> None:
        assert evidence({"failure_kind": nothing, "reward": 1.0}).outcome == WITHOUT
        assert evidence({"failure_kind": nothing, "mask_sample": True}).outcome == UNLABELLED

    def test_a_status_alone_is_a_failure(self) -> None:
        assert found({"http_status": 429}) == (FAILURE, None, None, 429, None)

    @pytest.mark.parametrize(
        ("written", "status", "odd"),
        [
            ("503", 503, None),
            ("503.0", 503, None),
            ("503.5", None, "503.5"),
            ('"503"', None, '"503"'),
            ("true", None, "true"),
            ("[503]", None, "[503]"),
            ("600", None, "600"),
            ("1e400", None, None),
            ("null", None, None),
        ],
    )
    def test_a_status(self, written: str, status: int | None, odd: str | None) -> None:
        row_type, read = evidence_reader()
        try:
            row = msgspec.json.decode(f'{{"failure_kind": "x", "http_status": {written}}}', type=row_type)
        except msgspec.ValidationError:  # a number that no float can hold; Python's parser reads it as infinite
            row = msgspec.convert({"failure_kind": "x", "http_status": float(written)}, row_type)
            odd = "null"
        got = Evidence(*read(row))
        assert (got.http_status, got.odd_status) == (status, odd)

    def test_a_status_that_is_not_a_number_is_none(self) -> None:
        row_type, read = evidence_reader()
        row = msgspec.convert({"failure_kind": "x", "http_status": float("nan")}, row_type)
        assert Evidence(*read(row))[3:5] == (None, None)

    @pytest.mark.parametrize("status", [200, 302, "200", "", 0, False])
    def test_a_status_of_success_is_no_failure(self, status: object) -> None:
        assert evidence({"http_status": status}).outcome == WITHOUT

    @pytest.mark.parametrize("status", ["503", "200 OK", 3000, 99, True, [200]])
    def test_a_status_that_is_no_evidence_is_an_unlabelled_failure(self, status: object) -> None:
        assert evidence({"http_status": status}).outcome == UNLABELLED

    def test_an_empty_row_records_nothing(self) -> None:
        assert evidence({}) == Evidence(WITHOUT, None, None, None, None, None, False, None)

    @pytest.mark.parametrize(("value", "scored"), [(0.0, True), (1, True), (None, False), (True, False), ("1", False)])
    def test_a_score(self, value: object, scored: bool) -> None:
        assert evidence({"failure_kind": "x", "reward": value}).scored is scored
        assert evidence({"failure_kind": "x", "score": value}).scored is scored

    def test_what_is_not_text_is_kept_as_json(self) -> None:
        assert found({"failure_kind": ["agent_timeout"], "stage": 5}) == (FAILURE, '["agent_timeout"]', "5", None, None)

    def test_half_a_character_is_shown_by_its_escape(self) -> None:
        row_type, read = evidence_reader("task")
        row = msgspec.convert({"failure_kind": "\ud800x", "stage": "é\ud800", "task": ["\ud800"]}, row_type)
        got = Evidence(*read(row))
        assert (got.failure_kind, got.stage, got.group) == ("\\ud800x", "é\\ud800", '["\\ud800"]')

    def test_a_long_name_is_cut(self) -> None:
        assert evidence({"failure_kind": "x" * 5000}).failure_kind == "x" * 200 + "..."

    @pytest.mark.parametrize("policy", [0, 1, "false", None, []])
    def test_a_policy_is_a_boolean(self, policy: object) -> None:
        assert evidence({"failure_kind": "x", "policy": policy}).policy is None

    @pytest.mark.parametrize("field", ["error_message", "failure_reason", "error", "traceback", "grading_notes"])
    def test_no_prose_is_read(self, field: str) -> None:
        assert evidence({field: "HTTP 503: agent_timeout"}).outcome == WITHOUT


class TestGymRows:
    def test_a_legacy_class(self) -> None:
        assert found({"_ng_failure_class": "transient", "reward": 0.0}) == (FAILURE, "transient", None, None, None)

    def test_a_judge_is_called_in_verification_and_is_not_the_policy(self) -> None:
        row = {"_ng_failure_class": "judge_failed", "_ng_failure_judge_error": "ClientResponseError: 429"}
        assert found(row) == (FAILURE, "judge_failed", "verification", None, False)
        assert found({**row, "stage": "agent", "policy": True}) == (FAILURE, "judge_failed", "agent", None, True)

    @pytest.mark.parametrize(
        ("written", "stage"), [("seed_session", "seed"), ("rollout", "agent"), ("verify", "verification"), ("x", "x")]
    )
    def test_stages_of_other_names(self, written: str, stage: str) -> None:
        assert evidence({"_ng_failure_class": "x", "error_stage": written}).stage == stage

    def test_the_event_that_the_row_names(self) -> None:
        events = {
            "e1": {"failure_kind": "model_request_error", "stage": "agent", "http_status": 429},
            "e2": {"failure_kind": "session_lost"},
        }
        row = {"_ng_failure_class": "legitimate", "_ng_failure_id": "e1", "_ng_failure_events": events}
        assert found(row) == (FAILURE, "model_request_error", "agent", 429, None)
        assert found({**row, "failure_kind": "agent_timeout"}) == (FAILURE, "agent_timeout", None, None, None)
        assert found({**row, "_ng_failure_id": "e9"}) == (FAILURE, "legitimate", None, None, None)

    def test_an_event_without_a_kind_leaves_the_class(self) -> None:
        row = {"_ng_failure_class": "x", "_ng_failure_id": "e", "_ng_failure_events": {"e": {"http_status": 503}}}
        assert found(row) == (FAILURE, "x", None, 503, None)

    def test_the_collectors_own_record(self) -> None:
        row = {"source": "collector", "failure": {"failure_kind": "transport_timeout", "stage": "agent"}}
        assert found(row) == (FAILURE, "transport_timeout", "agent", None, None)

    @pytest.mark.parametrize("nested", [{}, {"failure_kind": None}, {"failure_kind": "none"}])
    def test_what_a_nested_failure_does_not_say_the_row_may(self, nested: dict[str, Any]) -> None:
        row = {"http_status": 503, "stage": "agent", "policy": False, "failure": nested}
        assert found(row) == (FAILURE, None, "agent", 503, False)
        events = {"_ng_failure_id": "e", "_ng_failure_events": {"e": nested}, "_ng_failure_class": "x"}
        assert found({**row, **events}) == (FAILURE, "x", "agent", 503, False)

    @pytest.mark.parametrize("odd", ["text", 5, None, [], {"e": "text"}, {"e": 5}])
    def test_an_object_of_another_form_is_passed_over(self, odd: object) -> None:
        row = {"_ng_failure_class": "x", "failure": odd, "_ng_failure_id": "e", "_ng_failure_events": odd}
        assert evidence(row).failure_kind == "x"

    def test_a_rollout_that_was_left_out(self) -> None:
        row = {"_ng_failure_class": "kill_shaped", "_ng_omitted_rollout": True}
        assert evidence(row) == Evidence(OMITTED, None, None, None, None, None, False, None)

    def test_every_row_of_the_sample_records_a_failure(self) -> None:
        rows = [json.loads(line) for line in (DATA / "gym_failures.jsonl").read_text(encoding="utf-8").splitlines()]
        assert {evidence(row).outcome for row in rows} == {FAILURE}


class TestSplitting:
    def test_by_a_field_of_the_row(self) -> None:
        assert evidence({"failure_kind": "x", "task": "t1"}, "task").group == "t1"
        assert evidence({"failure_kind": "x", "task": {"name": "t1"}}, "task").group == '{"name":"t1"}'
        assert evidence({"failure_kind": "x"}, "task").group is None

    @pytest.mark.parametrize(("field", "value"), [("stage", "agent"), ("_ng_failure_class", "x")])
    def test_by_a_field_that_is_read_anyway(self, field: str, value: str) -> None:
        assert evidence({field: value}, field).group == value


@given(json_values, json_values, json_values)
def test_whatever_a_row_holds_is_evidence_that_can_be_counted(one: Any, two: Any, three: Any) -> None:
    row = {
        "failure_kind": one, "stage": two, "http_status": three, "policy": one, "error_stage": two, "reward": three,
        "failure": one, "_ng_failure_class": two, "_ng_failure_id": three, "_ng_failure_events": one,
        "mask_sample": two, "_ng_omitted_rollout": three, "task": one,
    }  # fmt: skip
    row_type, read = evidence_reader("task")
    got = Evidence(*read(msgspec.convert(json.loads(json.dumps(row), parse_constant=lambda _: None), row_type)))
    assert hash(got) == hash(Evidence(*got))
    assert got.http_status is None or type(got.http_status) is int

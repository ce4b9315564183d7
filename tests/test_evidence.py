"""What counts as evidence in a row, in the shapes that people's tools write."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from conftest import DATA
from hypothesis import given
from hypothesis import strategies as st
from own_sources import own_source
from strategies import json_values

from failure_kinds.sources import Source, bundled_sources
from failure_kinds.sources.conditions import text_of
from failure_kinds.sources.evidence import Evidence, Outcome, evidence_in, score_in
from failure_kinds.sources.reader import EvidenceReader

PLAIN = bundled_sources()["plain"]
GYM = bundled_sources()["nemo_gym"]

FAILURE, UNLABELLED, WITHOUT, OMITTED = (
    Outcome.FAILURE, Outcome.UNLABELLED, Outcome.WITHOUT_FAILURE, Outcome.OMITTED,
)  # fmt: skip


def evidence(row: dict[str, Any] | bytes, source: Source = PLAIN, by: str | None = None) -> Evidence:
    """The evidence of a row, which is the same whether it is taken from the row or from its key."""
    reader = EvidenceReader(source, by)
    decoded = reader.decoder.decode(row if isinstance(row, bytes) else json.dumps(row).encode())
    direct, _ = evidence_in(msgspec.to_builtins(decoded), source)
    by_key = Evidence(*reader.evidence(reader.key(decoded)))
    assert by_key._replace(group=None) == direct
    return by_key


def found(row: dict[str, Any], source: Source = PLAIN) -> tuple[str, str | None, str | None, int | None, bool | None]:
    """Outcome, kind, stage, status and policy."""
    row_evidence = evidence(row, source)
    return (*row_evidence[:4], row_evidence.policy)


class TestPlainRows:
    def test_all_four_fields(self) -> None:
        row = {"failure_kind": "agent_timeout", "stage": "agent", "http_status": 503, "policy": False}
        assert found(row) == (FAILURE, "agent_timeout", "agent", 503, False)

    @pytest.mark.parametrize("nothing", [None, "", "none", "unset", "success", 0, False])
    def test_a_value_that_means_no_failure(self, nothing: object) -> None:
        assert evidence({"failure_kind": nothing, "reward": 1.0}).outcome == WITHOUT
        assert evidence({"failure_kind": nothing, "mask_sample": True}).outcome == UNLABELLED

    @pytest.mark.parametrize(
        ("mask", "outcome"), [(True, UNLABELLED), (1, UNLABELLED), (False, WITHOUT), (None, WITHOUT), ([], WITHOUT)]
    )
    def test_a_mask_says_that_it_failed(self, mask: object, outcome: str) -> None:
        assert evidence({"mask_sample": mask}).outcome == outcome

    def test_a_status_alone_is_a_failure(self) -> None:
        assert found({"http_status": 429}) == (FAILURE, None, None, 429, None)

    @pytest.mark.parametrize(
        ("written", "status", "odd"),
        [
            (b"503", 503, None),
            (b"503.0", 503, None),
            (b"503.5", None, "503.5"),
            (b'"503"', None, '"503"'),
            (b"true", None, "true"),
            (b"[503]", None, "[503]"),
            (b"600", None, "600"),
            (b"399", None, "399"),
            (b"1e400", None, None),
            (b"NaN", None, None),
            (b"-Infinity", None, None),
            (b"null", None, None),
            (b'""', None, None),
            (b"0", None, None),
        ],
    )
    def test_a_status(self, written: bytes, status: int | None, odd: str | None) -> None:
        got = evidence(b'{"failure_kind": "x", "http_status": ' + written + b"}")
        assert (got.http_status, got.odd_status) == (status, odd)

    @pytest.mark.parametrize("status", [float("nan"), float("inf"), float("-inf")])
    def test_a_status_that_is_not_a_number_is_none(self, status: float) -> None:
        got, _ = evidence_in({"failure_kind": "x", "http_status": status}, PLAIN)
        assert got[3:5] == (None, None)

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

    def test_of_two_fields_for_a_score_the_first_that_says_one_does(self) -> None:
        assert score_in({"reward": 0.5, "score": 1}, PLAIN) == 0.5
        assert score_in({"reward": None, "score": 1}, PLAIN) == 1.0
        assert score_in({"reward": "1"}, PLAIN) is None

    def test_what_is_not_text_is_kept_as_json(self) -> None:
        row = {"failure_kind": ["agent_timeout"], "stage": 5}
        assert found(row) == (FAILURE, '["agent_timeout"]', "5", None, None)
        assert evidence(b'{"failure_kind": ' + b"9" * 30 + b"}").failure_kind == "9" * 30

    def test_half_a_character_is_shown_by_its_escape(self) -> None:
        row = {"failure_kind": "\ud800x", "stage": "é\ud800", "group": ["\ud800"]}
        got = evidence(row, by="group")
        assert (got.failure_kind, got.stage, got.group) == ("\\ud800x", "é\\ud800", '["\\ud800"]')

    def test_a_long_name_is_cut(self) -> None:
        assert evidence({"failure_kind": "x" * 5000}).failure_kind == "x" * 200 + "..."
        assert evidence({"failure_kind": "x" * 200}).failure_kind == "x" * 200

    def test_the_recorded_name_is_whole(self) -> None:
        assert evidence_in({"failure_kind": "x" * 5000}, PLAIN)[1] == "x" * 5000
        assert evidence_in({"failure_kind": None}, PLAIN)[1] is None

    @pytest.mark.parametrize("policy", [0, 1, "false", None, []])
    def test_a_policy_is_a_boolean(self, policy: object) -> None:
        assert evidence({"failure_kind": "x", "policy": policy}).policy is None

    @pytest.mark.parametrize("field", ["error_message", "failure_reason", "error", "traceback", "grading_notes"])
    def test_no_prose_is_read(self, field: str) -> None:
        assert evidence({field: "HTTP 503: agent_timeout"}).outcome == WITHOUT

    def test_a_failure_within_the_row(self) -> None:
        row = {"source": "collector", "failure": {"failure_kind": "transport_timeout", "stage": "agent"}}
        assert found(row) == (FAILURE, "transport_timeout", "agent", None, None)

    def test_the_rows_own_name_counts_first_and_what_describes_it_is_the_row(self) -> None:
        row = {"failure_kind": "a", "failure": {"failure_kind": "b", "stage": "agent"}}
        assert found(row) == (FAILURE, "a", None, None, None)

    @pytest.mark.parametrize("nested", [{}, {"failure_kind": None}, {"failure_kind": "none"}])
    def test_what_a_nested_failure_does_not_say_the_row_may(self, nested: dict[str, Any]) -> None:
        row = {"http_status": 503, "stage": "agent", "policy": False, "failure": nested}
        assert found(row) == (FAILURE, None, "agent", 503, False)
        assert found({**row, "failure": {**nested, "http_status": 429, "policy": True}}) == (
            FAILURE, None, "agent", 429, True,
        )  # fmt: skip


class TestGymRows:
    def test_a_legacy_class(self) -> None:
        row = {"_ng_failure_class": "transient", "reward": 0.0}
        assert found(row, GYM) == (FAILURE, "transient", None, None, None)

    def test_a_judge_is_called_in_verification_and_is_not_the_policy(self) -> None:
        row = {"_ng_failure_class": "judge_failed", "_ng_failure_judge_error": "ClientResponseError: 429"}
        assert found(row, GYM) == (FAILURE, "judge_failed", "verification", None, False)
        said = {**row, "stage": "agent", "policy": True}
        assert found(said, GYM) == (FAILURE, "judge_failed", "agent", None, True)

    @pytest.mark.parametrize(
        ("written", "stage"), [("seed_session", "seed"), ("rollout", "agent"), ("verify", "verification"), ("x", "x")]
    )
    def test_stages_of_other_names(self, written: str, stage: str) -> None:
        assert evidence({"_ng_failure_class": "x", "error_stage": written}, GYM).stage == stage

    def test_the_event_that_the_row_names(self) -> None:
        events = {
            "e1": {"boundary": "model", "failure_kind": "model_request_error", "stage": "agent", "http_status": 429},
            "e2": {"failure_kind": "session_lost"},
        }
        row = {"_ng_failure_class": "legitimate", "_ng_failure_id": "e1", "_ng_failure_events": events}
        assert found(row, GYM) == (FAILURE, "model_request_error", "agent", 429, None)
        assert found({**row, "failure_kind": "agent_timeout"}, GYM) == (FAILURE, "agent_timeout", None, None, None)
        assert found({**row, "_ng_failure_id": "e9"}, GYM) == (FAILURE, "legitimate", None, None, None)

    def test_events_from_which_it_recovered_are_no_failure(self) -> None:
        events = {"e1": {"boundary": "model", "failure_kind": "model_request_error", "http_status": 429}}
        assert evidence({"reward": 1.0, "_ng_failure_events": events}, GYM).outcome == WITHOUT

    @pytest.mark.parametrize("boundary", ["agent", "harness", "environment", "resources_server", 5])
    def test_the_status_of_another_call_than_a_models_is_no_evidence(self, boundary: object) -> None:
        event = {"boundary": boundary, "failure_kind": "agent_request_failed", "http_status": 503}
        row = {"_ng_failure_id": "e", "_ng_failure_events": {"e": event}}
        assert found(row, GYM) == (FAILURE, "agent_request_failed", None, None, None)
        assert evidence({"boundary": boundary, "http_status": 503, "reward": 0.0}, GYM).outcome == WITHOUT

    def test_an_event_without_a_kind_leaves_the_class(self) -> None:
        event = {"boundary": "model", "http_status": 503}
        row = {"_ng_failure_class": "x", "_ng_failure_id": "e", "_ng_failure_events": {"e": event}}
        assert found(row, GYM) == (FAILURE, "x", None, 503, None)

    def test_the_collectors_own_record(self) -> None:
        row = {"source": "collector", "failure": {"failure_kind": "transport_timeout", "stage": "agent"}}
        assert found(row, GYM) == (FAILURE, "transport_timeout", "agent", None, None)

    @pytest.mark.parametrize("nested", [{}, {"failure_kind": None}, {"failure_kind": "none"}])
    def test_what_a_nested_failure_does_not_say_the_row_may(self, nested: dict[str, Any]) -> None:
        events = {"_ng_failure_id": "e", "_ng_failure_events": {"e": nested}, "_ng_failure_class": "x"}
        row = {"boundary": "model", "http_status": 503, "stage": "agent", "policy": False, "failure": nested, **events}
        assert found(row, GYM) == (FAILURE, "x", "agent", 503, False)

    @pytest.mark.parametrize("odd", ["text", 5, None, [], {"e": "text"}, {"e": 5}])
    def test_an_object_of_another_form_is_passed_over(self, odd: object) -> None:
        row = {"_ng_failure_class": "x", "failure": odd, "_ng_failure_id": "e", "_ng_failure_events": odd}
        assert evidence(row, GYM).failure_kind == "x"

    def test_nor_is_that_of_a_delivery(self) -> None:
        row = {"source": "collector", "delivery": "sent", "http_status": 503, "failure": {"failure_kind": "x"}}
        assert found(row, GYM) == (FAILURE, "x", None, None, None)

    @pytest.mark.parametrize("name", [5, ["e"], "other"])
    def test_the_name_of_an_event_that_is_not_there_says_that_something_failed(self, name: object) -> None:
        events = {"e": {"failure_kind": "session_lost"}}
        assert found({"_ng_failure_id": name, "_ng_failure_events": events}, GYM)[:2] == (UNLABELLED, None)

    def test_a_rollout_that_was_left_out(self) -> None:
        row = {"_ng_failure_class": "kill_shaped", "_ng_omitted_rollout": True}
        assert evidence(row, GYM, "_ng_failure_class") == Evidence(OMITTED, None, None, None, None, None, False, None)
        assert evidence({**row, "_ng_omitted_rollout": False}, GYM).outcome == FAILURE

    def test_every_row_of_the_sample_records_a_failure(self) -> None:
        rows = [json.loads(line) for line in (DATA / "gym_failures.jsonl").read_text(encoding="utf-8").splitlines()]
        assert {evidence(row, GYM).outcome for row in rows} == {FAILURE}


class TestRulesForKinds:
    OWN = own_source("""
kind:
  - field: info.status
    match: class_name
    values:
      TimeLimit: {kind: agent_timeout, stage: agent, policy: true}
      Submitted: null
      Lost: session_lost
  - field: code
    when: {all: [code], any: [a, b], none: [c], equal: {mode: [x, "1"]}}
    values: {"137": provider_oom_killed, "true": cancelled}
  - field: label
    values: {lost: session_lost}
  - field: label
    values: {lost: cancelled, gone: session_lost}
stage:
  - field: phase
    values: {run: agent}
  - stage: seed
    when: {all: [early]}
policy:
  - field: role
    values: {judge: false, policy: true}
score:
  - field: grade
    values: {pass: 1, fail: 0, "true": 0.5}
finished: [info]
no_failure: [fine]
""")

    def test_a_value_means_what_is_listed(self) -> None:
        row = {"info": {"status": "TimeLimit"}}
        assert found(row, self.OWN) == (FAILURE, "agent_timeout", "agent", None, True)
        assert evidence_in(row, self.OWN)[1] == "TimeLimit"

    def test_a_field_says_it_before_the_value_does(self) -> None:
        row = {"info": {"status": "TimeLimit"}, "phase": "run", "role": "judge"}
        assert found(row, self.OWN) == (FAILURE, "agent_timeout", "agent", None, False)
        assert found({**row, "phase": "cleanup"}, self.OWN)[2] == "cleanup"

    def test_a_class_is_looked_up_by_its_last_part(self) -> None:
        row = {"info": {"status": "my.errors.TimeLimit"}}
        assert evidence(row, self.OWN).failure_kind == "agent_timeout"
        assert evidence_in(row, self.OWN)[1] == "my.errors.TimeLimit"

    def test_a_value_that_nobody_maps_is_unmapped(self) -> None:
        got = evidence({"info": {"status": "agent_timeout"}}, self.OWN)
        assert (got.outcome, got.failure_kind, got.unmapped) == (FAILURE, None, "agent_timeout")

    @pytest.mark.parametrize("value", ["Submitted", "a.Submitted", "fine", "", None, 0, False, {"x": 1}, ["x"]])
    def test_a_value_that_says_nothing_of_a_failure(self, value: object) -> None:
        assert evidence({"info": {"status": value}}, self.OWN).outcome == WITHOUT
        assert evidence({"info": {"status": value}, "label": "lost"}, self.OWN).failure_kind == "session_lost"

    @pytest.mark.parametrize(("value", "kind"), [(137, "provider_oom_killed"), (True, "cancelled")])
    def test_numbers_and_booleans_are_looked_up_as_json(self, value: object, kind: str) -> None:
        row = {"info": {}, "code": value, "a": 1, "mode": "x"}
        assert evidence(row, self.OWN).failure_kind == kind

    @pytest.mark.parametrize(
        ("changed", "holds"),
        [
            ({}, True),
            ({"a": None, "b": False}, True),
            ({"mode": 1}, True),
            ({"mode": None}, True),
            ({"a": None}, False),
            ({"c": 0}, False),
            ({"c": None}, True),
            ({"mode": "y"}, False),
        ],
    )
    def test_what_must_be_so_in_the_row(self, changed: dict[str, Any], holds: bool) -> None:
        row = {"info": {}, "code": 137, "a": 1, "mode": "x", **changed}
        assert (evidence(row, self.OWN).outcome == FAILURE) is holds

    def test_of_several_rules_of_a_field_the_first_that_lists_a_value_counts(self) -> None:
        assert evidence({"label": "lost"}, self.OWN).failure_kind == "session_lost"
        assert evidence({"label": "gone"}, self.OWN).failure_kind == "session_lost"
        assert evidence({"label": "other"}, self.OWN).unmapped == "other"

    def test_a_stage_of_all_rows_that_have_a_field(self) -> None:
        assert evidence({"label": "lost", "early": 0}, self.OWN).stage == "seed"
        assert evidence({"label": "lost", "early": None}, self.OWN).stage is None

    @pytest.mark.parametrize(("role", "policy"), [("judge", False), ("policy", True), ("x", None), (True, True)])
    def test_a_value_that_says_whose_request_it_was(self, role: object, policy: bool | None) -> None:
        assert evidence({"label": "lost", "role": role}, self.OWN).policy is policy

    @pytest.mark.parametrize(("grade", "score"), [("pass", 1.0), ("fail", 0.0), (True, 0.5), ("x", None), (1, None)])
    def test_a_value_that_stands_for_a_score(self, grade: object, score: float | None) -> None:
        assert score_in({"grade": grade}, self.OWN) == score
        assert evidence({"grade": grade}, self.OWN).scored is (score is not None)

    @pytest.mark.parametrize(("info", "outcome"), [({}, WITHOUT), ([], WITHOUT), (None, UNLABELLED), ("", UNLABELLED)])
    def test_a_field_that_a_finished_rollout_has(self, info: object, outcome: str) -> None:
        assert evidence({"info": info}, self.OWN).outcome == outcome

    def test_a_row_without_that_field(self) -> None:
        assert evidence({}, self.OWN).outcome == UNLABELLED

    def test_a_score_that_a_rule_asks_for_is_not_taken_for_any_score(self) -> None:
        own = own_source("kind: [{field: a, vocabulary: true, when: {equal: {s: '0'}}}]\nscore: [s]\n")
        assert evidence({"a": "x", "s": 0}, own).failure_kind == "x"
        assert evidence({"a": "x", "s": 1}, own).outcome == WITHOUT

    def test_the_first_object_that_describes_the_failure_says_more(self) -> None:
        own = own_source("""
kind:
  - {field: type, within: ["steps[]", .], vocabulary: true}
stage: [stage]
""")
        steps = [{"type": None, "stage": "seed"}, {"type": "session_lost"}]
        assert found({"steps": steps, "stage": "agent"}, own)[:3] == (FAILURE, "session_lost", "agent")
        assert found({"steps": steps[:1], "type": "x", "stage": "agent"}, own)[:3] == (FAILURE, "x", "seed")


class TestRowsWithinRows:
    """Objects that are rows of another source, which says what they mean."""

    OWN = own_source("""
kind:
  - {source: harbor, within: "trials[-1]", when: {none: [skip]}}
  - {field: status, values: {lost: session_lost}}
stage: [stage]
policy: [policy]
""")
    TRIAL = {"exception_info": {"exception_type": "AgentTimeoutError"}}

    def test_the_kind_and_the_stage_are_those_of_the_other_source(self) -> None:
        row = {"trials": [{"exception_info": {"exception_type": "CancelledError"}}, self.TRIAL], "status": "lost"}
        assert found(row, self.OWN) == (FAILURE, "agent_timeout", "agent", None, None)
        assert evidence_in(row, self.OWN)[1] == "AgentTimeoutError"

    def test_what_the_row_says_itself_counts_first(self) -> None:
        row = {"trials": [{**self.TRIAL, "stage": "cleanup"}], "stage": "seed", "policy": False}
        assert found(row, self.OWN) == (FAILURE, "agent_timeout", "seed", None, False)

    def test_a_value_that_it_does_not_map_is_unmapped(self) -> None:
        got = evidence({"trials": [{"exception_info": {"exception_type": "OddError"}}]}, self.OWN)
        assert (got.outcome, got.failure_kind, got.unmapped) == (FAILURE, None, "OddError")

    @pytest.mark.parametrize("trials", [None, [], [None], [5], ["x"], [{}], {"a": 1}, [{"exception_info": None}]])
    def test_where_it_says_nothing_the_next_rule_does(self, trials: object) -> None:
        assert evidence({"trials": trials, "status": "lost"}, self.OWN).failure_kind == "session_lost"

    def test_the_rule_may_ask_for_something(self) -> None:
        assert evidence({"trials": [self.TRIAL], "skip": 1}, self.OWN).outcome == WITHOUT

    def test_a_change_of_the_other_source_changes_the_digest(self) -> None:
        assert self.OWN.digest != own_source("kind: [{source: inspect}]").digest


class TestPhases:
    OWN = own_source("""
kind: [{field: error.type, vocabulary: true}]
stage:
  - field: error.at
    phases:
      - {field: setup, stage: seed}
      - {field: "steps[]", stage: agent}
      - {field: check, stage: verification}
""")

    @staticmethod
    def at(minute: int) -> str:
        return f"2026-01-01T00:{minute:02}:00+00:00"

    def stage(self, at: object, **phases: object) -> str | None:
        return evidence({"error": {"type": "x", "at": at}, **phases}, self.OWN).stage

    def test_the_phase_that_began_last_before_it(self) -> None:
        phases = {"setup": {"started_at": self.at(1)}, "steps": [{"started_at": self.at(m)} for m in (3, 5)]}
        assert [self.stage(self.at(minute), **phases) for minute in (0, 1, 2, 4, 9)] == [
            None, "seed", "seed", "agent", "agent",
        ]  # fmt: skip
        assert self.stage("2026-01-01T02:02:00+02:00", **phases) == "seed"

    @pytest.mark.parametrize("at", ["2026-01-01T00:09:00", "yesterday", "", 5, None])
    def test_where_times_cannot_be_compared_a_run_stopped_in_what_began_last(self, at: object) -> None:
        setup, check = {"started_at": self.at(1)}, {"started_at": self.at(5)}
        assert self.stage(at, setup=setup) == "seed"
        assert self.stage(at, setup=setup, check=check) is None

    @pytest.mark.parametrize("phase", [None, {}, [], "x", {"started_at": None}, {"started_at": "2026-01-01T00:00:00"}])
    def test_what_did_not_begin_is_no_phase(self, phase: object) -> None:
        assert self.stage(self.at(3), setup=phase) is None
        assert self.stage(self.at(3), setup={"started_at": self.at(1)}, check=phase) == "seed"


class TestSplitting:
    def test_by_a_field_of_the_row(self) -> None:
        assert evidence({"failure_kind": "x", "group": "t1"}, by="group").group == "t1"
        assert evidence({"failure_kind": "x", "group": {"name": "t1"}}, by="group").group == '{"name":"t1"}'
        assert evidence({"failure_kind": "x"}, by="group").group is None

    @pytest.mark.parametrize(("field", "value"), [("stage", "agent"), ("_ng_failure_class", "x"), ("reward", "0.5")])
    def test_by_a_field_that_is_read_anyway(self, field: str, value: str) -> None:
        assert evidence({field: 0.5 if field == "reward" else value}, GYM, field).group == value

    def test_by_what_the_source_carries_along(self) -> None:
        row = {"_ng_failure_class": "x", "agent_ref": {"name": "a"}, "agent": "b"}
        assert evidence(row, GYM, "agent").group == "a"
        assert evidence(row, GYM, "agent_ref").group == '{"name":"a"}'

    def test_a_field_of_the_same_name_counts_where_the_carried_one_is_not_there(self) -> None:
        assert evidence({"failure_kind": "x", "task": "t1"}, by="task").group == "t1"
        assert evidence({"failure_kind": "x", "task": "t1", "task_id": "t2"}, by="task").group == "t2"

    @pytest.mark.parametrize("field", ["_ng_failure_events", "metadata"])
    def test_by_an_object_of_which_only_parts_are_read_shows_all_of_it(self, field: str) -> None:
        row = {"_ng_failure_class": "x", "_ng_failure_id": "e", field: {"e": {"failure_kind": "y", "more": 1}}}
        assert evidence(row, GYM, field).group == '{"e":{"failure_kind":"y","more":1}}'


def test_a_value_as_text() -> None:
    assert (text_of(None), text_of("x"), text_of(1.5), text_of({"a": ["é"]})) == (None, "x", "1.5", '{"a":["é"]}')
    assert text_of("\ud800") == "\\ud800"
    assert text_of([0] * 500) == "[" + "0," * 99 + "0..."


@given(json_values, json_values, json_values)
def test_whatever_a_row_holds_is_evidence_that_can_be_counted(one: Any, two: Any, three: Any) -> None:
    row = {
        "failure_kind": one, "stage": two, "http_status": three, "policy": one, "error_stage": two, "reward": three,
        "failure": one, "_ng_failure_class": two, "_ng_failure_id": three, "_ng_failure_events": one,
        "mask_sample": two, "_ng_omitted_rollout": three, "task": one,
    }  # fmt: skip
    for source in (PLAIN, GYM):
        got = evidence(row, source, "task")
        assert hash(got) == hash(Evidence(*got))
        assert got.http_status is None or type(got.http_status) is int


KEYS = sorted(
    {
        key
        for source in bundled_sources().values()
        for field in EvidenceReader(source).decoder.type.__struct_encode_fields__
        for key in (field, "type", "name", "error", "failure_kind")
    }
)


@given(
    st.sampled_from(sorted(bundled_sources())),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(KEYS),
        lambda values: st.lists(values, max_size=2) | st.dictionaries(st.sampled_from(KEYS), values, max_size=4),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict)),
)
def test_no_source_fails_on_any_row_and_keys_say_what_rows_do(name: str, row: dict[str, Any]) -> None:
    assert evidence(row, bundled_sources()[name])


class TestFieldsOfOneName:
    SOURCE = own_source("""
kind:
  - {field: type, within: "judge.errors[]", values: {Timeout: judge_failed}}
  - {field: type, within: error, when: {all: [late]}, values: {Timeout: agent_limit}}
  - {field: type, within: error, values: {Timeout: agent_timeout}}
""")

    @pytest.mark.parametrize(
        ("row", "kind"),
        [
            ({"judge": {"errors": [{"type": "Timeout"}]}}, "judge_failed"),
            ({"error": {"type": "Timeout"}}, "agent_timeout"),
            ({"error": {"type": "Timeout"}, "late": 1}, "agent_limit"),
        ],
    )
    def test_mean_what_is_said_of_the_object_that_holds_them(self, row: dict[str, Any], kind: str) -> None:
        assert evidence_in(row, self.SOURCE)[0].failure_kind == kind


def test_a_whole_number_that_no_float_can_hold_is_no_score() -> None:
    own = own_source("score: [r.reward, reward]")
    assert score_in({"r": {"reward": 10**400}, "reward": 2}, own) == 2.0


def test_of_two_phases_that_began_together_the_later_one_counts() -> None:
    own = own_source("""
kind: [{field: type, vocabulary: true}]
stage: [{field: at, phases: [{field: setup, stage: seed}, {field: run, stage: agent}, {field: test, stage: cleanup}]}]
""")
    began = {"started_at": "2026-01-01T00:00:01Z"}
    row = {"type": "x", "at": "2026-01-01T00:00:02Z", "setup": began, "run": began}
    assert evidence_in(row, own)[0].stage == "agent"

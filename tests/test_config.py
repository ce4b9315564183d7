"""Configurations as values: how they merge, that nothing of them changes, and that they survive any copying."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pydantic
import pytest
from hypothesis import given
from strategies import configs, rules

from failure_kinds import (
    FailureClass,
    FailureClassificationConfig,
    StageClassificationConfig,
    VocabularyError,
    classify_failure,
    load_registry,
    using_registry,
)
from failure_kinds.active import FILES_VARIABLE
from failure_kinds.frozen import FrozenDict

EVALUATION, MODEL, UNKNOWN = FailureClass.EVALUATION, FailureClass.MODEL, FailureClass.UNKNOWN


def merged(**given: Any) -> FailureClassificationConfig:
    return FailureClassificationConfig(**given)


class TestMerging:
    def test_nothing_given_is_the_active_registrys_rules(self) -> None:
        assert merged() == load_registry().config

    def test_a_map_is_merged_key_by_key(self) -> None:
        config = merged(by_failure_kind={"agent_timeout": "evaluation", "my_env:quota": FailureClass.MODEL})
        assert config.by_failure_kind["agent_timeout"] is EVALUATION
        assert config.by_failure_kind["my_env:quota"] is MODEL
        assert config.by_failure_kind["agent_limit"] is MODEL
        assert classify_failure("my_env:quota", config=config) is MODEL

    def test_a_stage_is_merged_kind_by_kind(self) -> None:
        config = merged(by_stage={"agent": {"by_failure_kind": {"session_lost": "model"}}})
        assert config.by_stage["agent"].by_failure_kind == {
            "provider_oom_killed": MODEL,
            "provider_command_timeout": MODEL,
            "session_lost": MODEL,
        }
        assert config.by_stage["seed"] == merged().by_stage["seed"]

    def test_a_stage_may_be_a_configuration_of_its_own(self) -> None:
        stage = StageClassificationConfig(by_failure_kind={"session_lost": "model"}, default_class="evaluation")
        config = merged(by_stage={"agent": stage})
        assert config.by_stage["agent"].default_class is EVALUATION
        assert config.by_stage["agent"].by_failure_kind["provider_oom_killed"] is MODEL

    def test_a_stages_default_stays_unless_one_is_given(self) -> None:
        layer = {"schema_version": 1, "classification": {"by_stage": {"agent": {"default_class": "model"}}}}
        with using_registry(load_registry(layer)):
            kept = merged(by_stage={"agent": StageClassificationConfig(by_failure_kind={"session_lost": "model"})})
            taken_away = merged(by_stage={"agent": StageClassificationConfig(default_class=None)})
        assert kept.by_stage["agent"].default_class is MODEL
        assert taken_away.by_stage["agent"].default_class is None

    def test_none_means_no_rule_in_every_map(self) -> None:
        config = merged(by_failure_kind={"agent_timeout": None}, by_status_code={429: None}, kind_aliases={"x": None})
        assert config.by_failure_kind["agent_timeout"] is None
        assert classify_failure("agent_timeout", config=config) is UNKNOWN

    def test_none_for_a_field_or_a_stage_changes_nothing(self) -> None:
        assert merged(by_stage=None, by_status_code=None, by_failure_kind=None) == merged(by_stage={"agent": None})

    @pytest.mark.parametrize("table", [{"4xx": "model", 429: "evaluation"}, {"429": "evaluation", "4xx": "model"}])
    def test_exact_codes_lie_on_top_of_ranges_in_whatever_order(self, table: dict[int | str, str]) -> None:
        config = merged(by_status_code=table)
        assert len(config.by_status_code) == 100
        assert (config.by_status_code[429], config.by_status_code[400]) == (EVALUATION, MODEL)

    def test_it_is_the_active_registry_that_is_merged_over(self) -> None:
        layer = {"schema_version": 1, "classification": {"by_failure_kind": {"agent_limit": "unknown"}}}
        with using_registry(load_registry(layer)):
            assert merged().by_failure_kind["agent_limit"] is UNKNOWN

    def test_configurations_do_not_share_what_was_given(self) -> None:
        given: dict[str, Any] = {"agent_timeout": "evaluation"}
        config = merged(by_failure_kind=given)
        given["agent_timeout"] = "model"
        assert config.by_failure_kind["agent_timeout"] is EVALUATION
        assert merged().by_failure_kind["agent_timeout"] is MODEL

    def test_a_registry_given_as_the_context_is_merged_over_instead(self) -> None:
        registry = load_registry({"schema_version": 1, "kinds": {"new": {"domain": "agent", "summary": "It is new."}}})
        assert FailureClassificationConfig.model_validate({}, context=registry) == registry.config
        config = FailureClassificationConfig.model_validate({"by_failure_kind": {"new": "model"}}, context=registry)
        assert classify_failure("new", config=config) is MODEL
        assert FailureClassificationConfig.model_validate(config) is config

    def test_a_table_of_statuses_may_mix_numbers_and_ranges(self) -> None:
        table: dict[int | str, FailureClass | str | None] = {"5xx": "unknown", 503: FailureClass.MODEL, "504": None}
        config = FailureClassificationConfig(by_status_code=table)
        assert [config.by_status_code[status] for status in (500, 503, 504)] == [UNKNOWN, MODEL, None]

    def test_as_a_field_of_a_model(self) -> None:
        class Settings(pydantic.BaseModel):
            failures: FailureClassificationConfig = FailureClassificationConfig()

        settings = Settings.model_validate_json('{"failures": {"by_failure_kind": {"agent_timeout": "evaluation"}}}')
        assert settings.failures == merged(by_failure_kind={"agent_timeout": "evaluation"})
        with pytest.raises(pydantic.ValidationError) as caught:
            Settings.model_validate({"failures": {"by_failure_kind": {"agent_timout": "evaluation"}}})
        assert caught.value.errors()[0]["loc"] == ("failures", "by_failure_kind", "agent_timout", "[key]")


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"by_failure_kind": {"agent_timout": "model"}}, "unknown failure kind 'agent_timout'; did you mean"),
            ({"by_failure_kind": {"agent_timeout": "MODEL"}}, "'MODEL' is no class"),
            ({"by_failure_kind": {5: "model"}}, "valid string"),
            ({"by_failure_kinds": {}}, "Extra inputs are not permitted"),
            ({"by_stage": {"verify": {}}}, "unknown stage 'verify'; it is one of admission, seed, agent"),
            ({"by_stage": {"agent": {"by_failure_kind": {"agent_timout": "model"}}}}, "unknown failure kind"),
            ({"by_status_code": {True: "model"}}, "True is no status of a failure"),
            ({"by_status_code": {503.0: "model"}}, r"503.0 is no status of a failure"),
            ({"by_status_code": {10**5000: "model"}}, "a value of type int is no status of a failure"),
            ({"by_status_code": {429: "model", "429": "model"}}, "429 is given twice, as a number and as text"),
            ({"by_status_code": ["429"]}, "valid dictionary"),
            ({"default_class": None}, "a class is needed here"),
            ({"reporting_kind_by_status_code": {400: "empty_answer"}}, "derived from saved rows"),
            ({"kind_aliases": {"x": "judge_invalid"}}, "'judge_invalid' is retired; write its replacement"),
            ({"http_refinable_kinds": {"agent_timeout": "yes"}}, "'yes' is no flag"),
            ({"server_fault_kinds": {"agent_timeout": 1}}, "1 is no flag"),
        ],
    )
    def test_a_value_that_is_not_allowed(self, given: dict[str, Any], message: str) -> None:
        with pytest.raises(pydantic.ValidationError, match=message):
            merged(**given)

    def test_a_stage_by_itself_is_checked_too(self) -> None:
        with pytest.raises(pydantic.ValidationError, match="did you mean 'agent_timeout'"):
            StageClassificationConfig(by_failure_kind={"agent_timout": "model"})

    def test_an_active_registry_that_cannot_be_loaded_is_said_once_and_as_itself(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(FILES_VARIABLE, "no_such_file.yaml")
        for make in (FailureClassificationConfig, StageClassificationConfig):
            with pytest.raises(VocabularyError) as caught:
                make()
            assert len(caught.value.problems) == 1


class TestImmutability:
    CONFIG = FailureClassificationConfig(by_status_code={429: "evaluation"})

    def test_no_field_can_be_set(self) -> None:
        with pytest.raises(pydantic.ValidationError, match="frozen"):
            self.CONFIG.default_class = MODEL
        with pytest.raises(pydantic.ValidationError, match="frozen"):
            self.CONFIG.by_stage["agent"].default_class = MODEL

    @pytest.mark.parametrize(
        "table", [CONFIG.by_failure_kind, CONFIG.by_stage, CONFIG.by_stage["agent"].by_failure_kind]
    )
    def test_no_map_can_be_changed(self, table: Any) -> None:
        key = next(iter(table))
        before = dict(table)
        for change in (
            lambda: table.__setitem__(key, None),
            lambda: table.__delitem__(key),
            lambda: table.__ior__({key: None}),
            lambda: table.update({key: None}),
            lambda: table.setdefault("new", None),
            lambda: table.pop(key),
            table.popitem,
            table.clear,
        ):
            with pytest.raises(TypeError, match="can't be changed"):
                change()
        assert table == before

    def test_a_changed_copy_is_validated(self) -> None:
        with pytest.raises(pydantic.ValidationError):
            self.CONFIG.model_copy(update={"by_failure_kind": {"agent_timout": "model"}})
        with pytest.raises(pydantic.ValidationError):
            self.CONFIG.model_copy(update={"no_such_field": 1})
        with pytest.raises(pydantic.ValidationError):
            self.CONFIG.copy(update={"default_class": "MODEL"})

    def test_a_changed_copy_replaces_fields_of_this_configuration(self) -> None:
        changed = self.CONFIG.model_copy(update={"by_failure_kind": {"agent_timeout": "evaluation"}, "by_stage": {}})
        assert changed.by_failure_kind == {"agent_timeout": EVALUATION}
        assert changed.by_stage == {}
        assert changed.by_status_code == {429: EVALUATION}
        assert classify_failure("agent_timeout", config=changed) is EVALUATION
        assert classify_failure("agent_limit", config=changed) is UNKNOWN
        assert self.CONFIG.model_copy(deep=True) is self.CONFIG


class TestCopies:
    @given(configs)
    def test_are_equal_and_classify_alike(self, config: FailureClassificationConfig) -> None:
        for again in (
            pickle.loads(pickle.dumps(config)),
            copy.copy(config),
            copy.deepcopy(config),
            FailureClassificationConfig(**config.model_dump()),
            FailureClassificationConfig.model_validate_json(config.model_dump_json()),
            FailureClassificationConfig(**json.loads(json.dumps(config.model_dump(mode="json")))),
        ):
            assert (again, hash(again)) == (config, hash(config))
            assert classify_failure("agent_run_error", "agent", 503, False, again) is classify_failure(
                "agent_run_error", "agent", 503, False, config
            )

    def test_a_frozen_dict_by_itself(self) -> None:
        table = FrozenDict({"a": FrozenDict({"b": 1})})
        assert table == {"a": {"b": 1}}
        assert repr(table) == "{'a': {'b': 1}}"
        for again in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
            assert (again, hash(again), type(again)) == (table, hash(table), FrozenDict)

    @given(rules)
    def test_the_order_of_keys_changes_nothing(self, given: dict[str, Any]) -> None:
        assert merged(**given) == merged(**reversed_keys(given))


def reversed_keys(value: Any) -> Any:
    return {key: reversed_keys(value[key]) for key in reversed(value)} if isinstance(value, dict) else value

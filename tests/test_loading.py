"""Layers laid one over the other: what each may add and change, and what the result says of itself."""

from __future__ import annotations

import copy
import http
import json
import math
import os
import pickle
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import DATA
from hypothesis import given
from strategies import json_values, rules

from failure_kinds import FailureClass, FailureClassificationConfig, VocabularyError, load_registry
from failure_kinds.reading import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

EVALUATION, MODEL, UNKNOWN = FailureClass.EVALUATION, FailureClass.MODEL, FailureClass.UNKNOWN


def layer(**sections: Any) -> dict[str, Any]:
    return {"schema_version": 1, **sections}


def ruling(**classification: Any) -> dict[str, Any]:
    return layer(classification=classification)


def kind(domain: str = "agent", **declared: Any) -> dict[str, Any]:
    return {"domain": domain, "summary": "Something new was observed.", **declared}


def problems(*layers: Any, **options: Any) -> list[str]:
    with pytest.raises(VocabularyError) as caught:
        load_registry(*layers, **options)
    return [str(problem) for problem in caught.value.problems]


class TestAdding:
    def test_a_kind_with_all_that_hangs_on_it(self) -> None:
        registry = load_registry(
            layer(
                domains={"browser": "Browsers."},
                stages={"warmup": "The model is being warmed up."},
                kinds={
                    "browser_lost": kind(
                        "browser", **{"class": "evaluation", "server_fault": True, "constant": "LOST"}
                    ),
                    "browser_silent": kind("browser"),
                    "browser_blank": kind("browser", **{"class": "model", "gate_derived": "true"}),
                },
                groups={"browser": {"domain": "browser"}, "mine": ["browser_silent", "acme:x", "judge_invalid"]},
                retired={"browser_gone": "browser_lost"},
                classification={"by_stage": {"warmup": {"by_failure_kind": {"browser_lost": "unknown"}}}},
            )
        )
        assert registry.kinds["browser_lost"].constant == "LOST"
        assert registry.kinds["browser_silent"].constant == "BROWSER_SILENT"
        assert registry.classify_failure("browser_gone") is EVALUATION
        assert registry.classify_failure("browser_lost", "warmup") is UNKNOWN
        assert registry.classify_failure("browser_blank") is MODEL
        assert registry.config.by_failure_kind["browser_silent"] is None
        assert registry.is_server_failure("browser_gone")
        assert registry.is_gate_derived("browser_blank")
        assert registry.groups["browser"] == ("browser_blank", "browser_lost", "browser_silent")
        assert registry.groups["mine"] == ("browser_silent", "acme:x", "judge_invalid")
        assert registry.constants["LOST"] == "browser_lost"

    def test_a_provider_kind_is_one_of_the_provider_kinds(self) -> None:
        registry = load_registry(layer(kinds={"browser_lost": kind("provider")}))
        assert "browser_lost" in registry.provider_failure_kinds

    def test_a_rule_of_its_own_is_laid_over_what_a_kind_declares(self) -> None:
        registry = load_registry(
            layer(kinds={"new": kind(**{"class": "model"})}, classification={"by_failure_kind": {"new": "evaluation"}})
        )
        assert registry.kinds["new"].failure_class is MODEL
        assert registry.classify_failure("new") is EVALUATION

    def test_a_later_layer_may_name_what_an_earlier_one_declares(self) -> None:
        registry = load_registry(layer(kinds={"new": kind()}), ruling(by_failure_kind={"new": "model"}))
        assert registry.classify_failure("new") is MODEL

    def test_a_later_vocabulary_may_adopt_a_teams_kind(self) -> None:
        adopted = layer(kinds={"new": kind(**{"class": "model"})})
        assert load_registry(adopted, adopted) == load_registry(adopted)

    def test_with_a_summary_and_a_constant_of_its_own(self) -> None:
        adopted = {"domain": "environment", "class": "evaluation", "summary": "Worded differently."}
        assert load_registry(layer(kinds={"environment_episode_failed": adopted})) == load_registry()

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            (
                {"class": "evaluation"},
                "with another class; to change its class, write a rule under `classification: by_failure_kind:`",
            ),
            ({"server_fault": True}, "with another server_fault"),
            ({"gate_derived": True, "domain": "model"}, "with another domain and gate_derived"),
        ],
    )
    def test_but_not_say_something_else_of_it(self, changed: dict[str, Any], said: str) -> None:
        first = layer(kinds={"new": kind(**{"class": "model"})})
        (problem,) = problems(first, layer(kinds={"new": {**first["kinds"]["new"], **changed}}))
        assert problem == f"<mapping>: kinds.new: new is declared already (<mapping>:kinds.new), {said}"

    def test_two_kinds_of_one_file_cannot_share_a_constant(self) -> None:
        (problem,) = problems(layer(kinds={"one": kind(), "two": kind(constant="ONE")}))
        assert problem == "<mapping>: kinds.two.constant: the constant ONE is one's already; choose another"

    def test_a_name_cannot_be_declared_and_retired_at_once(self) -> None:
        (problem,) = problems(layer(kinds={"new": kind()}, retired={"new": "agent_timeout"}))
        assert problem == ("<mapping>: kinds.new: new is retired and read as agent_timeout; no name is used again")


class TestChanging:
    def test_later_layers_win_key_by_key(self) -> None:
        registry = load_registry(
            ruling(by_failure_kind={"agent_timeout": "evaluation", "agent_limit": "evaluation"}),
            ruling(by_failure_kind={"agent_timeout": "unknown"}),
        )
        assert registry.classify_failure("agent_timeout") is UNKNOWN
        assert registry.classify_failure("agent_limit") is EVALUATION

    def test_a_later_range_covers_an_earlier_code(self) -> None:
        config = load_registry(ruling(by_status_code={429: "model"}), ruling(by_status_code={"4xx": "unknown"})).config
        assert config.by_status_code[429] is UNKNOWN

    def test_null_takes_a_rule_away_and_the_next_one_answers(self) -> None:
        registry = load_registry(
            ruling(
                by_stage={"agent": {"by_failure_kind": {"provider_oom_killed": None}}},
                by_failure_kind={"agent_timeout": None},
            )
        )
        assert registry.explain_failure("provider_oom_killed", "agent").rule == "kind"
        assert registry.explain_failure("agent_timeout").rule == "default"
        assert registry.config.by_failure_kind["agent_timeout"] is None

    def test_null_takes_a_whole_range_away(self) -> None:
        config = load_registry(ruling(reporting_kind_by_status_code={"5xx": None, 503: "acme:down"})).config
        assert {status for status in range(500, 600) if config.reporting_kind_by_status_code[status]} == {503}

    def test_null_takes_an_alias_away(self) -> None:
        registry = load_registry(
            ruling(kind_aliases={"judge_invalid": None}, by_failure_kind={"judge_invalid": "model"})
        )
        assert registry.classify_failure("judge_invalid") is MODEL
        assert registry.retired["judge_invalid"] == "judge_unparseable"

    def test_null_takes_a_flag_away(self) -> None:
        flagged = layer(
            kinds={"new": kind(server_fault=True)},
            classification={"server_fault_kinds": {"new": None, "agent_limit": None}},
        )
        assert not load_registry(flagged).is_server_failure("new")

    def test_null_takes_a_stages_default_away(self) -> None:
        with_default = ruling(by_stage={"agent": {"default_class": "model"}})
        assert load_registry(with_default).classify_failure("cancelled", "agent") is MODEL
        without = ruling(by_stage={"agent": {"default_class": None}})
        assert load_registry(with_default, without) == load_registry()

    def test_a_group_is_replaced(self) -> None:
        registry = load_registry(layer(groups={"judge_failure": ["judge_skipped"], "provider_failure": []}))
        assert registry.judge_failure_kinds == ("judge_skipped",)
        assert registry.provider_failure_kinds == frozenset()

    @given(rules)
    def test_a_layer_is_the_same_as_a_configuration_over_the_defaults(self, given: dict[str, Any]) -> None:
        plain = json.loads(json.dumps(given, default=lambda failure_class: failure_class.value))
        try:
            registry = load_registry(layer(classification=plain))
        except VocabularyError as error:  # the one thing that a file may not say and a configuration may
            assert all("null could take away" in problem.message for problem in error.problems)
        else:
            assert registry.config == FailureClassificationConfig(**given)


class TestTheForms:
    def test_a_path_as_text_or_as_a_path_or_as_a_mapping(self) -> None:
        path = DATA / "team.yaml"
        data = read_yaml(path).data
        assert load_registry(path) == load_registry(str(path)) == load_registry(data)
        assert load_registry(path).digest == load_registry(MappingProxyType(data)).digest

    def test_a_mapping_may_hold_pythons_own_values(self) -> None:
        given = {
            "schema_version": 1,
            "kinds": {"new": {"domain": "agent", "class": MODEL, "server_fault": True, "summary": "It is new."}},
            "classification": {"by_status_code": {429: EVALUATION}},
            "groups": {"mine": ("new",)},
        }
        registry = load_registry(given)
        assert registry.classify_failure("new") is MODEL
        assert registry.classify_failure(None, None, 429) is EVALUATION

    def test_a_mapping_says_the_path_in_place_of_a_line(self) -> None:
        assert problems(ruling(by_failure_kind={"agent_timout": "evaluation"}, by_stage={"verify": {}})) == [
            (
                "<mapping>: classification.by_failure_kind.agent_timout: unknown failure kind 'agent_timout'; "
                "did you mean 'agent_timeout'?"
            ),
            (
                "<mapping>: classification.by_stage.verify: unknown stage 'verify'; it is one of admission, seed, "
                "agent, verification, cleanup"
            ),
        ]

    def test_an_empty_mapping_changes_nothing(self) -> None:
        assert load_registry({}) == load_registry()

    @pytest.mark.parametrize(
        ("given", "problem"),
        [
            ({"classification": {}}, "schema_version: schema_version is missing; write `schema_version: 1` at the top"),
            ({"schema_version": None}, "schema_version: None is no schema version; write 1"),
            ({"schema_version": 0}, "schema_version: 0 is no schema version; write 1"),
            (layer(kinds=[]), "kinds: a mapping (`key: value`) is needed here, not a list"),
            (layer(groups={"g": {"domain": {}}}), "groups.g.domain: text is needed here, not a mapping"),
            (layer(groups={"g": [None]}), "groups.g.0: text is needed here, not nothing"),
            (
                layer(retired={"x": "judge_invalid"}),
                "retired.x: 'judge_invalid' is no kind that a name could be read as",
            ),
            (layer(classification={"by_status_code": {200: "model"}}), "classification.by_status_code.200: '200' is"),
        ],
    )
    def test_what_a_mapping_may_not_hold(self, given: dict[str, Any], problem: str) -> None:
        (said,) = problems(given)
        assert said.startswith(f"<mapping>: {problem}")

    @pytest.mark.parametrize(
        ("given", "problem"),
        [
            (layer(kinds={1: kind()}), "kinds.1: '1' is no name"),
            (layer(domains={b"x": "y"}), "domains.a value of type bytes: a value of type bytes can't be a key"),
            (
                ruling(by_status_code={429: "model", "429": "model"}),
                "classification.by_status_code.429: '429' is given",
            ),
            (
                ruling(by_status_code={10**5000: "model"}),
                "classification.by_status_code.a value of type int: a value of",
            ),
            (layer(domains={"x": np.array([1, 2])}), "domains.x: a value of type ndarray can't stand in a vocabulary"),
            (layer(stages={"x": b"Bytes."}), "stages.x: a value of type bytes can't stand in a vocabulary"),
            (ruling(by_status_code={True: "model"}), "classification.by_status_code.True: True can't be a key"),
            (ruling(by_status_code={"9" * 5000: None}), "classification.by_status_code.9999"),
            ({"[key]": 1, "schema_version": 1}, "[key]: unknown key '[key]'; it is one of schema_version"),
        ],
    )
    def test_what_could_not_stand_in_a_file_is_refused(self, given: Any, problem: str) -> None:
        assert problems(given)[0].startswith(f"<mapping>: {problem}")

    @pytest.mark.parametrize("section", ["domains", "stages", "retired"])
    def test_a_value_that_equals_nothing_is_refused_as_any_other(self, section: str) -> None:
        (problem,) = problems(layer(**{section: {"x": math.nan}}))
        assert problem == f"<mapping>: {section}.x: text is needed here, not nan"

    def test_a_mapping_that_holds_itself_is_nested_too_deep(self) -> None:
        endless: dict[str, Any] = {"schema_version": 1}
        endless["classification"] = endless
        assert len(problems(endless)) >= 1

    def test_what_is_text_or_a_number_by_another_class_is_taken_as_such(self) -> None:
        class Text(str):
            __slots__ = ()
            __hash__ = None  # type: ignore[assignment]

        status = {np.int64(429): Text("model"), http.HTTPStatus.CONFLICT: "model"}
        config = load_registry({"schema_version": np.int64(1), "classification": {"by_status_code": status}}).config
        assert config.by_status_code == {429: MODEL, 409: MODEL}

    @given(json_values)
    def test_whatever_a_mapping_holds_is_loaded_or_refused(self, value: Any) -> None:
        for plain in (
            {"schema_version": value},
            layer(kinds=value),
            layer(kinds={"new": value}),
            layer(groups={"g": value}),
            layer(retired={"x": value}),
            layer(classification=value),
            ruling(by_failure_kind=value),
            ruling(by_stage={"agent": value}),
            ruling(by_status_code=value),
            ruling(kind_aliases=value),
            {"schema_version": 1, "other": value},
        ):
            try:
                load_registry(plain)
            except VocabularyError as error:
                assert error.problems


class TestFollowOnProblems:
    """One mistake is one problem: what hangs on it isn't reported as well."""

    def test_of_a_kind_that_was_refused(self, tmp_path: Path) -> None:
        text = (
            "schema_version: 1\nkinds:\n  new: &anchor {domain: agent}\n"
            "classification: {by_failure_kind: {new: model}}\n"
        )
        (tmp_path / "team.yaml").write_text(text, encoding="utf-8")
        (problem,) = problems(tmp_path / "team.yaml")
        assert "the anchor &anchor isn't supported" in problem

    def test_of_kinds_that_were_refused_as_a_whole(self, tmp_path: Path) -> None:
        text = "schema_version: 1\nkinds: !!map {new: {}}\nclassification: {by_failure_kind: {new: model}}\n"
        (tmp_path / "team.yaml").write_text(text, encoding="utf-8")
        (problem,) = problems(tmp_path / "team.yaml")
        assert "the tag" in problem

    def test_of_a_file_that_could_not_be_read(self) -> None:
        rules = ruling(by_failure_kind={"new": "model"}, by_stage={"warmup": {}}, kind_aliases={"x": "new"})
        assert len(problems("no.yaml", rules)) == 1
        assert len(problems(ruling(by_failure_kind={"agent_timeout": "model"}), base="no.yaml")) == 1

    def test_but_what_is_wrong_by_itself_is(self) -> None:
        assert len(problems("no.yaml", ruling(by_failure_kind={"agent_timeout": "MODEL"}))) == 2


class TestTheBase:
    BASE: dict[str, Any] = {
        "schema_version": 1,
        "version": "2.0.0",
        "domains": {"agent": "The agent."},
        "kinds": {"agent_timeout": {"domain": "agent", "class": "evaluation", "summary": "It took too long."}},
    }

    def test_takes_the_place_of_the_bundled_file(self) -> None:
        registry = load_registry(ruling(by_status_code={500: "model"}), base=self.BASE)
        assert (registry.version, list(registry.kinds)) == ("2.0.0", ["agent_timeout"])
        assert registry.classify_failure("agent_timeout") is EVALUATION
        assert registry.classify_failure("agent_timeout", "agent", 500) is MODEL
        assert (registry.judge_failure_kinds, registry.provider_failure_kinds) == ((), frozenset())
        assert load_registry(base=self.BASE).config.default_class is UNKNOWN

    def test_states_its_version(self) -> None:
        assert problems(base={}) == [
            "<mapping>: schema_version: schema_version is missing; write `schema_version: 1` at the top",
            "<mapping>: version: version is missing; a base is a whole vocabulary, and states its own",
        ]
        assert len(problems(base={**self.BASE, "version": None})) == 1
        assert problems(base={**self.BASE, "version": "2.0"}) == [
            "<mapping>: version: '2.0' is no version; write three numbers, such as 1.0.0"
        ]

    def test_may_say_that_there_is_no_rule(self) -> None:
        without = {
            "by_status_code": {"4xx": None},
            "kind_aliases": {"x": None},
            "http_refinable_kinds": {"agent_timeout": None},
        }
        assert load_registry(base={**self.BASE, "classification": without}).config.by_status_code[404] is None
        (problem,) = problems(base={**self.BASE, "classification": {"by_failure_kind": {"agent_timeout:model": None}}})
        assert "is a space missing after a colon?" in problem

    def test_what_is_wrong_with_all_the_files_is_said_at_once(self, tmp_path: Path) -> None:
        (tmp_path / "team.yaml").write_text("schema_version: 1\nkind: {}\n", encoding="utf-8")
        broken = {**self.BASE, "kinds": {"agent_timeout": {"domain": "agent"}}}
        said = problems(
            "no.yaml", tmp_path / "team.yaml", ruling(by_failure_kind={"agent_timeout": "model"}), base=broken
        )
        assert said == [
            "<mapping>: kinds.agent_timeout.summary: summary is missing",
            "no.yaml: can't be read: no such file or directory",
            f"{tmp_path / 'team.yaml'}:2:1: unknown key 'kind'; did you mean 'kinds'?",
        ]

    def test_an_error_says_against_which_vocabulary_it_was_checked(self) -> None:
        with pytest.raises(VocabularyError) as caught:
            load_registry({"schema_version": 2}, base=self.BASE)
        assert caught.value.loaded == "vocabulary 2.0.0 from <mapping>"


class TestRegistriesAsValues:
    def test_are_equal_and_hash_alike_whatever_files_they_came_from(self, tmp_path: Path) -> None:
        text = (DATA / "team.yaml").read_text(encoding="utf-8")
        (tmp_path / "other.yaml").write_text("# moved\n\n" + text, encoding="utf-8")
        one, other = load_registry(DATA / "team.yaml"), load_registry(tmp_path / "other.yaml")
        assert one.origin("acme_tests_missing") != other.origin("acme_tests_missing")
        assert (one, hash(one), one.digest) == (other, hash(other), other.digest)
        assert one != load_registry()

    def test_survive_pickling_and_copying(self) -> None:
        registry = load_registry(DATA / "team.yaml")
        for again in (pickle.loads(pickle.dumps(registry)), copy.copy(registry), copy.deepcopy(registry)):
            assert (again, again.digest, again.origin("agent_limit")) == (
                registry,
                registry.digest,
                registry.origin("agent_limit"),
            )
            assert again.classify_failure("timeout_exceeded", "agent") is MODEL

    def test_the_digest_is_of_what_decides_and_of_no_wording(self) -> None:
        base = load_registry().digest
        worded = {**TestTheBase.BASE, "domains": {"agent": "Worded differently."}, "version": "2.0.1"}
        assert load_registry(base=worded).digest == load_registry(base=TestTheBase.BASE).digest
        changes = (
            layer(stages={"warmup": "New."}),
            layer(kinds={"new": kind()}),
            layer(retired={"old": "agent_timeout"}),
            layer(groups={"g": []}),
            ruling(by_status_code={429: "model"}),
            ruling(server_fault_kinds={"agent_limit": True}),
        )
        assert len({base, *(load_registry(change).digest for change in changes)}) == len(changes) + 1

    def test_the_digest_is_that_of_what_holds_in_the_end(self) -> None:
        there_and_back = ruling(by_status_code={429: "model"}), ruling(by_status_code={429: None})
        idle = ruling(http_refinable_kinds={"agent_limit": False})
        assert load_registry(*there_and_back).digest == load_registry(idle).digest == load_registry().digest

    def test_the_digest_does_not_depend_on_the_order_of_keys(self) -> None:
        base = read_yaml_of_bundled()
        turned = {
            section: dict(reversed(said.items())) if isinstance(said, dict) else said for section, said in base.items()
        }
        assert load_registry(base=turned) == load_registry()
        assert load_registry(base=turned).digest == load_registry().digest

    def test_show_what_they_are(self) -> None:
        registry = load_registry()
        assert repr(registry) == f"<FailureRegistry 1.0.0, digest {registry.digest}, 66 kinds>"

    def test_say_where_anything_was_written(self) -> None:
        registry = load_registry(DATA / "team.yaml")
        team = DATA / "team.yaml"
        assert registry.origin("acme_tests_missing") == f"{team}:4"
        assert registry.origin("by_failure_kind", "acme_tests_missing") == f"{team}:6"
        assert registry.origin("classification", "by_status_code", 400) == f"{team}:17"
        assert registry.origin("kind_aliases", "timeout_exceeded") == f"{team}:10"
        assert registry.origin("retired", "judge_invalid") == registry.origin("kind_aliases", "judge_invalid")
        assert registry.origin("by_status_code", 401) is None

    def test_a_later_layer_is_not_the_origin_of_what_it_leaves_alone(self) -> None:
        first = ruling(by_stage={"agent": {"default_class": "model"}})
        registry = load_registry(first, ruling(by_stage={"agent": {"by_failure_kind": {"cancelled": "unknown"}}}))
        assert registry.origin("by_stage", "agent", "default_class") == (
            "<mapping>:classification.by_stage.agent.default_class"
        )
        assert registry.origin("by_stage", "seed", "default_class") is None

    def test_what_is_nowhere_has_no_origin(self) -> None:
        registry = load_registry()
        assert registry.origin("nowhere") is None


def read_yaml_of_bundled() -> dict[str, Any]:
    import importlib_resources

    return read_yaml(importlib_resources.files("failure_kinds.vocabulary") / "failure_kinds.yaml").data


def test_a_path_is_named_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "team.yaml").write_text("schema_version: x\n", encoding="utf-8")
    assert problems(f".{os.sep}team.yaml") == [f".{os.sep}team.yaml:1:17: 'x' is no schema version; write 1"]

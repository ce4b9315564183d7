"""The merged vocabulary: text that loads back to an equal registry, with the origins behind it."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from conftest import DATA
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import rules

from failure_kinds import FailureClassificationConfig, FailureRegistry, VocabularyError, load_registry, merged, reading
from failure_kinds.merged import merged_yaml

BASE: dict[str, Any] = {
    "schema_version": 1,
    "version": "2.0.0",
    "domains": {"agent": "The agent."},
    "kinds": {"agent_timeout": {"domain": "agent", "class": "model", "summary": "It took too long."}},
}


class Text:
    """A file that only exists here."""

    name = "merged.yaml"

    def __init__(self, text: str) -> None:
        self.text = text

    def open(self, mode: str) -> io.BytesIO:
        assert mode == "rb"
        return io.BytesIO(self.text.encode())


def loaded_back(registry: FailureRegistry) -> FailureRegistry:
    return load_registry(base=Text(merged_yaml(registry)))  # type: ignore[arg-type]


def ruling(**classification: Any) -> dict[str, Any]:
    return {"schema_version": 1, "classification": classification}


def section(registry: FailureRegistry, name: str) -> list[str]:
    """The lines of one section of the rules."""
    _, _, text = merged_yaml(registry).partition(f"  {name}:\n")
    lines = text.splitlines()
    end = next((n for n, line in enumerate(lines) if not line.startswith("    ")), len(lines))
    return [line.strip() for line in lines[:end]]


def test_a_whole_vocabulary_as_it_is_written() -> None:
    base = {
        **BASE,
        "stages": {"seed": "Preparing: the # of steps."},
        "kinds": {
            **BASE["kinds"],
            "empty_answer": {
                "domain": "agent",
                "server_fault": True,
                "gate_derived": True,
                "constant": "EMPTY",
                "summary": "no",
            },
        },
        "groups": {"all": {"domain": "agent"}, "mine": ["agent_timeout", "acme:x"], "none": []},
        "retired": {"late": "agent_timeout"},
        "classification": {
            "by_failure_kind": {"agent_timeout": None, "empty_answer": "unknown"},
            "by_stage": {"seed": {"default_class": "evaluation"}},
            "server_fault_kinds": {"agent_timeout": False},
            "kind_aliases": {"late": None, "?": "agent_timeout"},
        },
    }
    registry = load_registry(base=base)
    assert merged_yaml(registry) == (
        "# vocabulary 2.0.0, all files laid over it\n"
        "schema_version: 1\n"
        "version: 2.0.0\n"
        "\n"
        "domains:\n"
        "  agent: The agent.  # <mapping>:domains.agent\n"
        "\n"
        "stages:\n"
        '  seed: "Preparing: the # of steps."  # <mapping>:stages.seed\n'
        "\n"
        "kinds:\n"
        "  agent_timeout:  # <mapping>:kinds.agent_timeout\n"
        "    domain: agent\n"
        "    class: model\n"
        "    summary: It took too long.\n"
        "  empty_answer:  # <mapping>:kinds.empty_answer\n"
        "    domain: agent\n"
        "    server_fault: true\n"
        "    gate_derived: true\n"
        "    constant: EMPTY\n"
        '    summary: "no"\n'
        "\n"
        "groups:\n"
        "  all:  # <mapping>:groups.all\n"
        "    domain: agent\n"
        "  mine: [agent_timeout, acme:x]  # <mapping>:groups.mine\n"
        "  none: []  # <mapping>:groups.none\n"
        "\n"
        "retired:\n"
        "  late: agent_timeout  # <mapping>:retired.late\n"
        "\n"
        "classification:\n"
        "  default_class: unknown\n"
        "  by_failure_kind:\n"
        "    agent_timeout: null  # <mapping>:classification.by_failure_kind.agent_timeout\n"
        "    empty_answer: unknown  # <mapping>:classification.by_failure_kind.empty_answer\n"
        "  by_stage:\n"
        "    seed:\n"
        "      default_class: evaluation  # <mapping>:classification.by_stage.seed.default_class\n"
        "  kind_aliases:\n"
        "    late: null  # <mapping>:classification.kind_aliases.late\n"
        '    "?": agent_timeout  # <mapping>:classification.kind_aliases.?\n'
        "  server_fault_kinds:\n"
        "    agent_timeout: false  # <mapping>:classification.server_fault_kinds.agent_timeout\n"
    )
    assert loaded_back(registry) == registry


class TestLoadsBackEqual:
    @pytest.mark.parametrize("layers", [(), (DATA / "team.yaml",), ({},)], ids=["bundled", "team", "empty"])
    def test_the_bundled_vocabulary_with_and_without_a_teams_file(self, layers: Any) -> None:
        registry = load_registry(*layers)
        again = loaded_back(registry)
        assert (again, again.digest, hash(again)) == (registry, registry.digest, hash(registry))
        assert load_registry(base=yaml.safe_load(merged_yaml(registry))) == registry

    @given(rules)
    def test_any_rules(self, given: dict[str, Any]) -> None:
        config = FailureClassificationConfig(**given)
        nulls = {key for table in _tables(config) for key, says in table.items() if says is None}
        assume(not any(":" in str(key) for key in nulls))
        registry = dataclasses.replace(load_registry(), config=config)
        again = loaded_back(registry)
        assert (again, again.digest) == (registry, registry.digest)

    @pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
    @pytest.mark.parametrize(
        "text",
        [
            *("null", "~", "no", "true", "0640", "7:30", "1.5", "2024-01-01", "<<", "=", "...", "---", "4xx"),
            *("a: b", "a #b", "#", "- a", "? a", "[a]", "{a}", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">", ":"),
            *("it's", '"quoted"', "back\\slash", " padded ", "tab\t", "two\nlines\n", "a\r\nb", "\x00\x07", "\x85x"),
            *("café", "日本", "a\u2028b", "\ufeff", "\U0001f600", "x" * 5000, "é\n" * 2000),
        ],
        ids=lambda text: ascii(text[:12]),
    )
    def test_any_text(self, text: str, loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "_LOADER", getattr(yaml, loader))
        registry = load_registry(
            {
                "schema_version": 1,
                "domains": {"null": text},
                "kinds": {"true": {"domain": "null", "summary": text}},
                "groups": {"no": ["true", "acme:x"]},
                "classification": {"kind_aliases": {text: "true", "acme:x": "null:y"}},
            }
        )
        assert loaded_back(registry) == registry

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_whatever_text_a_vocabulary_may_hold(self, text: str) -> None:
        try:
            registry = load_registry(ruling(kind_aliases={text: "agent_timeout"}), base={**BASE, "stages": {"x": text}})
        except VocabularyError:
            assume(False)
        assert loaded_back(registry) == registry


class TestCompact:
    def test_statuses_that_say_the_same_are_folded_with_all_places_they_stem_from(self) -> None:
        registry = load_registry(
            ruling(by_status_code={"4xx": "model", 429: "evaluation"}),
            ruling(by_status_code={"430": "model", "599": "unknown"}),
        )
        place = "<mapping>:classification.by_status_code"
        assert section(registry, "by_status_code") == [
            f"4xx: model  # {place}.4xx, {place}.430",
            f"429: evaluation  # {place}.429",
            f"599: unknown  # {place}.599",
        ]
        assert loaded_back(registry) == registry

    def test_an_alias_that_looks_like_a_range_is_one_name(self) -> None:
        registry = load_registry(ruling(kind_aliases={"4xx": "agent_timeout"}))
        assert section(registry, "kind_aliases") == ["4xx: agent_timeout  # <mapping>:classification.kind_aliases.4xx"]

    def test_what_follows_from_the_declarations_is_not_repeated(self) -> None:
        assert "\n  by_failure_kind:" not in merged_yaml(load_registry())
        assert "server_fault_kinds" not in merged_yaml(load_registry())
        assert "kind_aliases" not in merged_yaml(load_registry())

    def test_a_stage_without_rules_is_kept(self) -> None:
        registry = load_registry(ruling(by_stage={"seed": {}}), base={**BASE, "stages": {"seed": "Preparing."}})
        assert section(registry, "by_stage") == ["seed: {}"]
        assert loaded_back(registry) == registry


class TestNulls:
    def test_are_kept(self) -> None:
        registry = load_registry(
            ruling(
                by_stage={"agent": {"by_failure_kind": {"provider_oom_killed": None}}},
                http_refinable_kinds={"agent_run_error": None},
                reporting_kind_by_status_code={"5xx": None, 503: "acme:down"},
            )
        )
        place = "<mapping>:classification"
        assert section(registry, "http_refinable_kinds")[-1] == (
            f"agent_run_error: null  # {place}.http_refinable_kinds.agent_run_error"
        )
        assert section(registry, "reporting_kind_by_status_code")[-2:] == [
            f"5xx: null  # {place}.reporting_kind_by_status_code.5xx",
            f"503: acme:down  # {place}.reporting_kind_by_status_code.503",
        ]
        assert loaded_back(registry) == registry

    def test_of_a_single_code_stand_beside_its_hundred(self) -> None:
        registry = load_registry(ruling(by_status_code={"4xx": "model"}), ruling(by_status_code={"429": None}))
        place = "<mapping>:classification.by_status_code"
        assert section(registry, "by_status_code") == [f"4xx: model  # {place}.4xx", f"429: null  # {place}.429"]
        assert loaded_back(registry) == registry

    def test_of_a_name_with_a_colon_are_comments(self) -> None:
        first = ruling(by_failure_kind={"acme:x": "model"})
        registry = load_registry(first, ruling(by_failure_kind={"acme:x": None}))
        assert section(registry, "by_failure_kind") == [
            "# acme:x: null  # <mapping>:classification.by_failure_kind.acme:x"
        ]
        assert loaded_back(registry).digest == registry.digest


def _tables(config: FailureClassificationConfig) -> list[Mapping[Any, Any]]:
    tables = [table for name, table in config if isinstance(table, Mapping) and name != "by_stage"]
    return [*tables, *(rules.by_failure_kind for rules in config.by_stage.values())]


def test_no_name_can_break_out_of_its_comment() -> None:
    registry = load_registry(ruling(kind_aliases={"two\nlines: x": "agent_timeout"}))
    assert section(registry, "kind_aliases") == [
        '"two\\nlines: x": agent_timeout  # <mapping>:classification.kind_aliases.two\\nlines: x'
    ]
    assert loaded_back(registry) == registry


def test_lists_what_it_offers() -> None:
    assert dir(merged) == merged.__all__ == sorted(merged.__all__)

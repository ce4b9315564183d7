"""What hypothesis draws: whatever can be recorded, and configurations."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from failure_kinds import FailureClass, FailureClassificationConfig, load_registry

REGISTRY = load_registry()
KINDS = sorted(REGISTRY.kinds)
REGISTERED = sorted(REGISTRY.failure_kinds)
RETIRED = sorted(REGISTRY.retired)
NAMESPACED = ["acme:no_tests", "my_env:quota"]

# Every kind of name, every stage and every status that can make a difference, for crosses.
ALL_NAMES: list[Any] = [*KINDS, *RETIRED, *NAMESPACED, "timeout_exceeded", "nobody knows", "", ":", None]
ALL_STAGES: list[Any] = [*REGISTRY.stages, "warmup", None]
ALL_STATUSES: list[Any] = [None, *range(399, 601)]
SOME_STATUSES: list[Any] = [None, 399, 400, 404, 429, 499, 500, 503, 599, 600]

# Between them, they override every field that decides a class or a label.
CONFIGS: dict[str, dict[str, Any]] = {
    "the default": {},
    "status overrides": {"by_status_code": {"5xx": "model", 429: "unknown", 404: None}},
    "stage rules and defaults": {
        "by_stage": {
            "agent": {"default_class": "model", "by_failure_kind": {"session_lost": "evaluation", "cancelled": None}},
            "seed": {"by_failure_kind": {"provider_oom_killed": None}},
        }
    },
    "labels without a class": {
        "reporting_kind_by_status_code": {"4xx": "acme:client", 500: None},
        "non_policy_reporting_kind_by_status_code": {"5xx": "acme:server"},
        "non_policy_reporting_kind_by_failure_kind": {"agent_timeout": "acme:judge", "model_request_error": None},
    },
    "aliases and refinable kinds": {
        "kind_aliases": {
            "timeout_exceeded": "agent_timeout",
            "agent_limit": "agent_run_error",
            "nobody knows": "acme:no_tests",
            "judge_invalid": None,
        },
        "http_refinable_kinds": {"agent_timeout": True, "acme:no_tests": True, "model_server_error": None},
    },
    "no kind rules, another default": {
        "default_class": "evaluation",
        "by_failure_kind": {"model_server_error": None, "infrastructure_error": "model", "acme:no_tests": "model"},
    },
}

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=5,
)

classes = st.sampled_from(FailureClass)
rule_kinds = st.sampled_from([*KINDS, *RETIRED, *NAMESPACED])
labels = st.sampled_from([*REGISTERED, *NAMESPACED])
status_keys = st.integers(400, 599) | st.integers(400, 599).map(str) | st.sampled_from(["4xx", "5xx"])


def status_tables(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[Any, Any]]:
    tables = st.dictionaries(status_keys, values, max_size=4)
    return tables.filter(lambda table: len({str(key) for key in table}) == len(table))


def kind_tables(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(rule_kinds, values, max_size=4)


stage_rules = st.fixed_dictionaries(
    {}, optional={"by_failure_kind": kind_tables(st.none() | classes), "default_class": st.none() | classes}
)

rules = st.fixed_dictionaries(
    {},
    optional={
        "default_class": classes,
        "by_failure_kind": kind_tables(st.none() | classes),
        "by_stage": st.dictionaries(st.sampled_from(sorted(REGISTRY.stages)), stage_rules, max_size=3),
        "by_status_code": status_tables(st.none() | classes),
        "reporting_kind_by_status_code": status_tables(st.none() | labels),
        "non_policy_reporting_kind_by_status_code": status_tables(st.none() | labels),
        "kind_aliases": st.dictionaries(
            rule_kinds | st.sampled_from(["timeout_exceeded", "nobody knows"]), st.none() | labels, max_size=3
        ),
        "http_refinable_kinds": kind_tables(st.none() | st.booleans()),
        "non_policy_reporting_kind_by_failure_kind": kind_tables(st.none() | labels),
        "server_fault_kinds": kind_tables(st.none() | st.booleans()),
    },
)

configs = rules.map(lambda given: FailureClassificationConfig(**given))

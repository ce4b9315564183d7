"""Reports that are written by hand, for the tests of what is made from them."""

from __future__ import annotations

from typing import Any

from failure_kinds.failure_class import FailureClass
from failure_kinds.report_model import (
    Account,
    ClassCounts,
    FailureReport,
    GroupCount,
    LabelCount,
    Move,
    NameCount,
    PassedOver,
    SourceCount,
    UnmappedValue,
    UnreadableLine,
)

EVALUATION, MODEL, UNKNOWN = FailureClass

HOSTILE = "</title><script>alert(1)</script>|`x`\n\u202eabc @all"


def label(
    name: str | None, stage: str | None, failure_class: FailureClass, rule: str, line: int | None, count: int, of: int
) -> LabelCount:
    origin = None if line is None else f"failure_kinds.yaml:{line}"
    return LabelCount(
        label=name,
        stage=stage,
        failure_class=failure_class,
        rule=rule,
        origin=origin,
        count=count,
        share=count / of,
    )


def account(**counts: int) -> Account:
    """An account that adds up."""
    kinds = "failures", "without_failure", "unlabelled", "omitted", "unreadable", "blank"
    given: dict[str, Any] = {kind: counts.get(kind, 0) for kind in kinds}
    return Account(**given, lines=sum(given.values()), expected=None, unaccounted=None, unreadable_lines=())


def empty(**counts: int) -> FailureReport:
    """A report without failures."""
    return FailureReport(
        vocabulary_version="1.0.0",
        digest="3f9a1c7e2b40",
        files=("run/rollouts.jsonl",),
        account=account(**counts),
        classes=ClassCounts(),
        labels=(),
        unknown_names=(),
        retired_names=(),
        unknown_stages=(),
        statuses_without_evidence=(),
        failed_and_scored=0,
        policy_assumed=0,
        moves=None,
        by=None,
        groups=(),
    )


NO_FAILURES = empty(without_failure=1200)

BEFORE = empty(failures=40, without_failure=1160).model_copy(
    update={
        "files": ("before/rollouts.jsonl",),
        "digest": "77aa00bb11cc",
        "classes": ClassCounts(evaluation=30, model=10),
        "labels": (
            label("session_lost", None, EVALUATION, "kind", 210, 30, 40),
            label("agent_timeout", "agent", MODEL, "stage_kind", 402, 10, 40),
        ),
    }
)

FULL = FailureReport(
    vocabulary_version="1.0.0",
    digest="3f9a1c7e2b40",
    files=("run/rollouts.jsonl", "run/rollouts_failures.jsonl.gz"),
    account=Account(
        lines=1240,
        failures=120,
        without_failure=1080,
        unlabelled=7,
        omitted=20,
        unreadable=3,
        blank=10,
        expected=1250,
        unaccounted=20,
        unreadable_lines=(
            UnreadableLine(file="run/rollouts.jsonl", line=17, reason="it isn't valid JSON: unexpected end"),
            UnreadableLine(
                file="run/rollouts_failures.jsonl.gz",
                line=41,
                reason="the file can't be read on from here: it is cut short",
            ),
        ),
        passed_over=3,
        passed_over_files=(
            PassedOver(file="run/config.json", reason="no source fits; its rows have the fields lr, seed"),
            PassedOver(file="run/result.json", reason="these are a job's totals"),
        ),
    ),
    sources=(
        SourceCount(
            source="nemo_gym",
            title="NVIDIA NeMo Gym",
            digest="0123456789ab",
            layouts=("failures", "rollouts"),
            files=2,
            rows=1200,
            failures=119,
        ),
        SourceCount(
            source="harbor", title="Harbor", digest="ba9876543210", layouts=("trial",), files=1, rows=30, failures=1
        ),
    ),
    classes=ClassCounts(evaluation=66, model=38, unknown=16),
    labels=(
        label("session_lost", None, EVALUATION, "kind", 210, 40, 120),
        label("agent_timeout", "agent", MODEL, "stage_kind", 402, 25, 120),
        label("model_server_error", "agent", EVALUATION, "http_evidence", 141, 18, 120),
        label("agent_run_error", "agent", UNKNOWN, "kind", 118, 13, 120),
        label("provider_oom_killed", "agent", MODEL, "stage_kind", 404, 13, 120),
        label("judge_failed", "verification", EVALUATION, "kind", 260, 5, 120),
        label("non_policy_model_rejection", "verification", EVALUATION, "http_evidence", 149, 3, 120),
        label("agent_timout", "rollout", UNKNOWN, "default", 390, 1, 120),
        label("DiskError", "agent", UNKNOWN, "default", 390, 1, 120).model_copy(update={"unmapped_by": "harbor"}),
        label(None, None, UNKNOWN, "default", None, 1, 120),
    ),
    unmapped=(UnmappedValue(source="harbor", value="DiskError", count=1),),
    unknown_names=(NameCount(name="agent_timout", count=1, instead="agent_timeout"), NameCount(name="Oops 7", count=1)),
    retired_names=(NameCount(name="judge_invalid", count=2, instead="judge_unparseable"),),
    unknown_stages=(NameCount(name="verify", count=3, instead="verification"),),
    statuses_without_evidence=(NameCount(name='"503"', count=4), NameCount(name="200", count=1)),
    failed_and_scored=9,
    policy_assumed=1,
    moves=(
        Move(
            name="agent_timeout",
            stage="agent",
            http_status=None,
            class_before=EVALUATION,
            class_after=MODEL,
            label_before="agent_timeout",
            label_after="agent_timeout",
            origin="team.yaml:5",
            count=25,
        ),
        Move(
            name=None,
            stage=None,
            http_status=503,
            class_before=EVALUATION,
            class_after=UNKNOWN,
            label_before="model_server_error",
            label_after=None,
            origin="team.yaml:9",
            count=1,
        ),
    ),
    by="agent_ref",
    groups=(
        GroupCount(value="swe_agent", rows=800, classes=ClassCounts(evaluation=50, model=30, unknown=4)),
        GroupCount(value=None, rows=330, classes=ClassCounts(evaluation=16, model=8, unknown=12)),
        GroupCount(value="_OTHER", rows=100, classes=ClassCounts()),
    ),
    other=BEFORE,
    comparable=False,
)
"""A report that has something to say in every section."""


def many_labels(count: int) -> FailureReport:
    """A report with a number of labels, one failure each."""
    return empty(failures=count).model_copy(
        update={
            "classes": ClassCounts(unknown=count),
            "labels": tuple(
                label(f"my_env:kind_{number:03}", "agent", UNKNOWN, "default", 390, 1, count) for number in range(count)
            ),
        }
    )


def named(name: str) -> FailureReport:
    """The full report with one name wherever a name can stand."""
    found = NameCount(name=name, count=1, instead=name)
    other = BEFORE.model_copy(update={"files": (name,), "digest": name})
    return FULL.model_copy(
        update={
            "vocabulary_version": name,
            "digest": name,
            "files": (name,),
            "account": FULL.account.model_copy(
                update={
                    "unreadable_lines": (UnreadableLine(file=name, line=1, reason=name),),
                    "passed_over_files": (PassedOver(file=name, reason=name),),
                }
            ),
            "sources": tuple(source.model_copy(update={"source": name, "title": name}) for source in FULL.sources),
            "unmapped": (UnmappedValue(source=name, value=name, count=1),),
            "labels": (
                FULL.labels[0].model_copy(update={"label": name, "stage": name, "rule": name, "origin": name}),
                *FULL.labels[1:],
            ),
            "unknown_names": (found,),
            "retired_names": (found,),
            "unknown_stages": (found,),
            "statuses_without_evidence": (found,),
            "moves": tuple(
                move.model_copy(
                    update={"name": name, "stage": name, "label_before": name, "label_after": name, "origin": name}
                )
                for move in FULL.moves or ()
            ),
            "by": name,
            "groups": (GroupCount(value=name, rows=1, classes=ClassCounts(model=1)),),
            "other": other,
        }
    )

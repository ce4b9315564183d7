"""Logs that the tools write themselves, here and offline, read back.

`scripts/test --real-tools` installs the tools and runs these tests; each is skipped without its tool.
"""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import pytest

from failure_kinds.sources import FailureRow, UnrecognisedError, read_failures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# The tools' warnings are their own.
pytestmark = [pytest.mark.real_tools, pytest.mark.filterwarnings("default")]


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    """What a tool leaves open is closed here, and not at the end of the run, where a warning is an error."""
    yield
    gc.collect()


def what_is_read(path: Path, source: str, name: str) -> dict[Any, tuple[str | None, ...]]:
    """Name of a rollout -> its outcome, the kind or else the value that nothing is said of, and the stage."""
    rows = list(read_failures(path, on_unreadable=lambda *row: pytest.fail(str(row))))
    assert {row.source for row in rows} == {source}
    read = {row.extras[name]: _said(row) for row in rows}
    assert len(read) == len(rows)
    return read


def _said(row: FailureRow) -> tuple[str | None, ...]:
    said = row.evidence
    return said.outcome, said.failure_kind or said.unmapped, said.stage


# --- Inspect ---------------------------------------------------------------------------------------------------------


def inspect_log(folder: Path, log_format: str) -> Path:
    """Run a small evaluation, with a model that is played."""
    pytest.importorskip("inspect_ai", exc_type=ImportError)
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, accuracy, scorer
    from inspect_ai.solver import solver
    from inspect_ai.util import LimitExceededError

    def answer(*_: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", "hello")
        output.usage = ModelUsage(
            input_tokens=1, output_tokens=1, total_tokens=2
        )  # else it is counted, which downloads
        return output

    failed_once = set()

    def act() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            if state.sample_id == "raises":
                raise ValueError("bad")
            if state.sample_id == "a/b c" and "a/b c" not in failed_once:
                failed_once.add("a/b c")
                raise ConnectionError("first try only")
            if state.sample_id == "own limit":
                raise LimitExceededError("custom", value=2, limit=1)
            if state.sample_id == "slow":
                await asyncio.sleep(60)
            for _ in range(9 if state.sample_id == "talks" else 1):
                state = await generate(state)
            return state

        return solve

    def grade() -> Any:
        async def score(state: Any, _: Any) -> Any:
            if state.sample_id == "scorer raises":
                raise RuntimeError("judge down")
            return Score.unscored(reason="grader_failed") if state.sample_id == "unscored" else Score(value=1)

        return score

    names = ["fine", "raises", "a/b c", "own limit", "slow", "talks", "scorer raises", "unscored"]
    samples = [Sample(id=name, input="hi", target="x") for name in names]
    samples.append(Sample(id="set-up fails", input="hi", target="x", sandbox="local", setup="#!/bin/bash\nexit 3"))
    task = Task(
        name="demo",
        dataset=samples,
        solver=solver(act)(),
        scorer=scorer(metrics=[accuracy()])(grade)(),
        message_limit=6,
        time_limit=4,  # the slow one waits for it; nothing else should, on a busy machine
        fail_on_error=False,
    )
    [log] = evaluate(
        task,
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(folder),
        log_format=log_format,
        display="none",
        retry_on_error=1,
    )
    [path] = folder.glob(f"*.{log_format}")
    assert log.status == "success"
    return path


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_inspect(tmp_path: Path, log_format: str) -> None:
    log = inspect_log(tmp_path, log_format)
    expected = {
        "fine": ("without failure", None, None),
        "raises": ("unlabelled", None, None),
        "a/b c": ("without failure", None, None),
        "own limit": ("failure", "custom", "agent"),
        "slow": ("failure", "agent_timeout", "agent"),
        "talks": ("failure", "agent_limit", "agent"),
        "scorer raises": ("unlabelled", None, None),
        "unscored": ("without failure", None, None),
        "set-up fails": ("unlabelled", None, "seed"),
    }
    assert what_is_read(log, "inspect", "sample") == expected
    assert what_is_read(tmp_path, "inspect", "sample") == expected
    assert {(row.extras["task"], row.extras["model"]) for row in read_failures(log)} == {("demo", "mockllm/model")}


def test_the_summaries_of_an_inspect_log_say_the_same(tmp_path: Path) -> None:
    log = inspect_log(tmp_path / "log", "eval")
    from inspect_ai.log import read_eval_log_sample_summaries
    from pydantic_core import to_json

    summaries = tmp_path / "summaries.json"
    summaries.write_bytes(to_json(read_eval_log_sample_summaries(str(log)), exclude_none=True))
    assert what_is_read(summaries, "inspect", "sample") == what_is_read(log, "inspect", "sample")


# --- Harbor ----------------------------------------------------------------------------------------------------------


def harbor_trial(name: str, failure: str | None, seconds: int, reward: float | None) -> Any:
    """A trial's result; its phases begin at the seconds 0, 10, 20 and 30, if it came that far."""
    from datetime import UTC, datetime, timedelta

    from harbor.models.task.id import LocalTaskId
    from harbor.models.trial.config import TaskConfig, TrialConfig
    from harbor.models.trial.result import AgentInfo, ExceptionInfo, TimingInfo, TrialResult
    from harbor.models.verifier.result import VerifierResult

    def at(second: int) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)

    phases = ["environment_setup", "agent_setup", "agent_execution", "verifier"]
    begun = {phase: TimingInfo(started_at=at(10 * n)) for n, phase in enumerate(phases) if 10 * n <= seconds}
    raised = {} if failure is None else {"exception_type": failure, "exception_message": "x", "exception_traceback": ""}
    return TrialResult(
        task_name="hello",
        trial_name=name,
        trial_uri=f"file:///jobs/j/{name}",
        task_id=LocalTaskId(path="hello"),
        task_checksum="c0ffee",
        config=TrialConfig(task=TaskConfig(path="hello")),
        agent_info=AgentInfo(name="terminus-2", version="1"),
        exception_info=ExceptionInfo(**raised, occurred_at=at(seconds)) if raised else None,
        verifier_result=None if reward is None else VerifierResult(rewards={"reward": reward}),
        **begun,
    )


def test_harbor(tmp_path: Path) -> None:
    pytest.importorskip("harbor", exc_type=ImportError)
    from datetime import UTC, datetime
    from uuid import uuid4

    from harbor.models.job.result import JobResult, JobStats

    trials = [
        harbor_trial("fine", None, 40, 1.0),
        harbor_trial("slow", "AgentTimeoutError", 25, 0.0),
        harbor_trial("no sandbox", "RuntimeError", 5, None),
        harbor_trial("no reward", "VerifierOutputParseError", 35, None),
    ]
    for trial in trials:
        folder = tmp_path / trial.trial_name
        folder.mkdir()
        (folder / "result.json").write_text(trial.model_dump_json(indent=4))
    job = JobResult(id=uuid4(), started_at=datetime.now(UTC), n_total_trials=len(trials), stats=JobStats())
    (tmp_path / "result.json").write_text(job.model_dump_json(indent=4, exclude={"trial_results"}))

    assert what_is_read(tmp_path, "harbor", "trial") == {
        "fine": ("without failure", None, None),
        "slow": ("failure", "agent_timeout", "agent"),
        "no sandbox": ("failure", "RuntimeError", "seed"),
        "no reward": ("failure", "verifier_error", "verification"),
    }
    with pytest.raises(UnrecognisedError, match="job"):
        list(read_failures(tmp_path / "result.json"))


# --- verifiers -------------------------------------------------------------------------------------------------------


def test_the_traces_of_verifiers(tmp_path: Path) -> None:
    pytest.importorskip("verifiers.v1.configs.agent", exc_type=ImportError)
    from verifiers.v1.configs.agent import WireAgentConfig
    from verifiers.v1.episode import EnvInfo, WireEpisode
    from verifiers.v1.errors import ProviderError, SandboxError, TaskError, ToolsetError
    from verifiers.v1.task import WireTaskData
    from verifiers.v1.trace import AgentInfo, TraceTask, WireTrace
    from verifiers.v1.utils.trace_store import TRACES_FILE, write_episode

    def well(end: Callable[[Any], None]) -> Callable[[Any], None]:
        def ending(trace: Any) -> None:
            trace.timing.agent.start = 1.0
            trace.ok = True
            end(trace)

        return ending

    endings = {
        "fine": well(lambda trace: trace.stop("agent_completed")),
        "turns": well(lambda trace: trace.stop("max_turns")),
        "slow": well(lambda trace: trace.record_timeout("agent")),
        "slow set-up": well(lambda trace: trace.record_timeout("setup")),
        "sandbox": well(lambda trace: trace.record_error(SandboxError("gone"))),
        "no tools": lambda trace: trace.record_error(ToolsetError("not served")),
        "task": lambda trace: trace.record_error(TaskError("setup")),
        "server": well(lambda trace: trace.record_error(ProviderError("overloaded", status_code=529))),
        "raises": well(lambda trace: trace.record_error(KeyError("x"))),
    }
    (tmp_path / TRACES_FILE).touch()
    for name, end in endings.items():
        task = TraceTask[WireTaskData](
            type="Task", data=WireTaskData(idx=0, name=name, prompt="hi"), key=name, hash="h"
        )
        trace = WireTrace(task=task, agent=AgentInfo[WireAgentConfig](config=WireAgentConfig()))
        end(trace)
        write_episode(tmp_path, WireEpisode(env=EnvInfo(id="demo"), task=task, traces=[trace], ok=trace.ok))

    assert what_is_read(tmp_path, "verifiers", "task") == {
        "fine": ("without failure", None, None),
        "turns": ("failure", "agent_limit", "agent"),
        "slow": ("failure", "agent_timeout", "agent"),
        "slow set-up": ("failure", "environment_prepare_failed", "seed"),
        "sandbox": ("failure", "provider_request_failed", None),
        "no tools": ("failure", "environment_prepare_failed", "seed"),
        "task": ("failure", "environment_prepare_failed", "seed"),
        "server": ("failure", "provider_error", None),
        "raises": ("failure", "KeyError", None),
    }
    statuses = {row.extras["task"]: row.evidence.http_status for row in read_failures(tmp_path)}
    assert {name for name, status in statuses.items() if status is not None} == {"server"}
    assert statuses["server"] == 529


def test_the_results_of_older_verifiers(tmp_path: Path) -> None:
    pytest.importorskip("verifiers.utils.save_utils", exc_type=ImportError)
    import verifiers as vf
    from verifiers.utils.save_utils import save_outputs, states_to_outputs

    def state(number: int, stop: str, error: Exception | None = None) -> Any:
        said = {"example_id": number, "prompt": [], "completion": [], "reward": 0.0, "error": error, "timing": {}}
        return vf.State(**said, is_completed=True, stop_condition=stop, metrics={}, trajectory=[])

    gone = vf.SandboxError("gone")
    gone.__cause__ = TimeoutError("no answer")
    states = [
        state(0, "max_turns_reached"),
        state(1, "has_error", gone),
        state(2, "prompt_too_long"),
        state(3, "timeout_reached"),
        state(4, "has_error", vf.ModelError("refused")),
    ]
    save_outputs(states_to_outputs(states), tmp_path)

    assert what_is_read(tmp_path, "verifiers", "example") == {
        0: ("without failure", None, None),
        1: ("failure", "provider_request_failed", None),
        2: ("failure", "model_context_limit", "agent"),
        3: ("failure", "agent_timeout", "agent"),
        4: ("failure", "ModelError", None),
    }

"""The active registry: which one it is, and that it is right in threads, tasks, forks and new processes."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from conftest import DATA

import failure_kinds
from failure_kinds import (
    FailureClass,
    VocabularyError,
    active,
    classify_failure,
    get_registry,
    load_registry,
    reset_registry,
    set_registry,
    using_registry,
)
from failure_kinds.active import FILES_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

    from failure_kinds import FailureRegistry

OTHER = load_registry({"schema_version": 1, "classification": {"by_failure_kind": {"agent_timeout": "evaluation"}}})


def test_it_is_the_bundled_vocabulary_loaded_once(registry: FailureRegistry) -> None:
    assert get_registry() == registry
    assert get_registry() is get_registry()


def test_it_is_the_one_that_was_set_until_it_is_reset(registry: FailureRegistry) -> None:
    set_registry(OTHER)
    assert classify_failure("agent_timeout") is FailureClass.EVALUATION
    assert "agent_timeout" not in failure_kinds.MODEL_FAULT_KINDS
    reset_registry()
    assert get_registry() == registry
    assert "agent_timeout" in failure_kinds.MODEL_FAULT_KINDS


def test_within_a_block_it_is_the_one_of_the_block(registry: FailureRegistry) -> None:
    with using_registry(OTHER) as used, using_registry(registry):
        assert used is OTHER
        assert get_registry() is registry
    with pytest.raises(ZeroDivisionError), using_registry(OTHER):
        raise ZeroDivisionError
    assert get_registry() is not OTHER


def test_tasks_inherit_the_one_of_a_block_and_threads_do_not() -> None:
    async def ask() -> FailureRegistry:
        return get_registry()

    async def ask_in_a_task() -> FailureRegistry:
        return await asyncio.create_task(ask())

    with using_registry(OTHER), concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert asyncio.run(ask_in_a_task()) is OTHER
        assert pool.submit(get_registry).result() is not OTHER


class TestTheFilesVariable:
    def test_names_files_as_path_does(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "more.yaml").write_text(
            "schema_version: 1\nclassification: {default_class: model}\n", encoding="utf-8"
        )
        files = os.pathsep.join([str(DATA / "team.yaml"), "", str(tmp_path / "more.yaml")])
        monkeypatch.setenv(FILES_VARIABLE, files)
        assert get_registry() == load_registry(DATA / "team.yaml", tmp_path / "more.yaml")
        assert failure_kinds.ACME_TESTS_MISSING == "acme_tests_missing"  # type: ignore[attr-defined]

    def test_is_read_again_after_a_reset(self, monkeypatch: pytest.MonkeyPatch, registry: FailureRegistry) -> None:
        assert get_registry() == registry
        monkeypatch.setenv(FILES_VARIABLE, str(DATA / "team.yaml"))
        assert get_registry() == registry
        reset_registry()
        assert get_registry() != registry

    def test_naming_a_bad_file_is_said_at_every_use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(FILES_VARIABLE, "no.yaml")
        for _ in range(2):
            with pytest.raises(VocabularyError, match=r"^no\.yaml: can't be read: no such file"):
                classify_failure("agent_timeout")

    def test_is_named_where_its_files_are_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(FILES_VARIABLE, str(DATA / "yaml" / "misspelt_kind.yaml"))
        with pytest.raises(VocabularyError, match=r"the files are those that FAILURE_KINDS_FILES names$"):
            get_registry()


def test_threads_that_come_first_at_the_same_time_get_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []

    def slow_load(*files: str) -> FailureRegistry:
        loads.append(files)
        time.sleep(0.05)
        return load_registry(*files)

    monkeypatch.setattr(active, "load_registry", slow_load)
    barrier = threading.Barrier(8)

    def ask(_: int) -> FailureRegistry:
        barrier.wait()
        return get_registry()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        registries = list(pool.map(ask, range(8)))
    assert len({id(registry) for registry in registries}) == len(loads) == 1


def in_a_worker(pickled: bytes) -> tuple[FailureClass, FailureClass]:
    config = pickle.loads(pickled)
    return classify_failure("agent_timeout", config=config), classify_failure("agent_timeout")


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_classify_with_a_pickled_configuration_and_with_their_own(method: str) -> None:
    get_registry()
    context: Any = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        answers = pool.submit(in_a_worker, pickle.dumps(OTHER.config)).result(timeout=60)
    assert answers == (FailureClass.EVALUATION, FailureClass.MODEL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_fork_while_another_thread_is_loading_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, release = threading.Event(), threading.Event()

    def held_load(*files: str) -> FailureRegistry:
        entered.set()
        release.wait(30)
        return load_registry(*files)

    monkeypatch.setattr(active, "load_registry", held_load)
    thread = threading.Thread(target=get_registry)
    thread.start()
    entered.wait(30)
    child = os.fork()
    if child == 0:  # pragma: no cover  # the child's lines aren't seen
        release.set()
        os._exit(0 if get_registry().is_registered("agent_timeout") else 1)
    try:
        for _ in range(300):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                break
            time.sleep(0.1)
        else:
            os.kill(child, 9)
            pytest.fail("the child hangs")
    finally:
        release.set()
        thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


def test_resets_in_other_threads_leave_nobody_without_one() -> None:
    stop = threading.Event()

    def reset_all_the_time() -> None:
        while not stop.is_set():
            reset_registry()

    thread = threading.Thread(target=reset_all_the_time)
    thread.start()
    try:
        assert all(get_registry() is not None for _ in range(50))
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("wrong", [None, "team.yaml", {"schema_version": 1}])
def test_only_a_registry_can_be_set(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a FailureRegistry is needed, such as load_registry returns"):
        set_registry(wrong)

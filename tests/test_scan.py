"""Scanning files: what is counted, that memory stays bounded, and that several processes count what one does."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from own_sources import own_source

from failure_kinds import scan, scan_processes
from failure_kinds.report import report_failures
from failure_kinds.scan import OTHER, OTHER_NAMESPACED, Scan, scan_file
from failure_kinds.scan_processes import ScanProcesses
from failure_kinds.sources import UnrecognisedError, bundled_sources
from failure_kinds.sources.evidence import Evidence, Outcome

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = tuple(bundled_sources().values())


def write(folder: Path, *lines: bytes) -> str:
    path = folder / "rows.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def row(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def failure(kind: str | None, group: str | None = None, unmapped: str | None = None) -> tuple[Any, ...]:
    return tuple(Evidence(Outcome.FAILURE, kind, None, None, None, None, False, unmapped, group))


def test_rows_are_counted_by_their_evidence(tmp_path: Path) -> None:
    path = write(tmp_path, row(failure_kind="a"), row(failure_kind="a", group="x"), b"", b"x", row(failure_kind="b"))
    counts: Any = {failure("a"): 2, failure("b"): 1}
    assert scan_file(path, SOURCES) == Scan(counts, 5, 1, 1, [(4, "it isn't JSON")], "plain", "lines")
    assert scan_file(path, SOURCES, by="group").counts[failure("a", "x")] == 1


def test_rows_that_are_no_lines_are_counted_likewise(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps([{"failure_kind": "a"}, 5, {"failure_kind": "a"}], indent=1).encode())
    counts: Any = {failure("a"): 2}
    unreadable = [(2, "[1]: it is a number, not an object")]
    assert scan_file(path, SOURCES) == Scan(counts, 3, 0, 1, unreadable, "plain", "list")


def test_each_row_is_told_of_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, b'[{"failure_kind": "a"},\n5, {"reward": 1}]')
    told: list[Any] = []
    scan_file(path, SOURCES, on_row=lambda *about: told.append((*about[:2], about[2][0])))
    assert told == [(1, "[0]", Outcome.FAILURE), (3, "[2]", Outcome.WITHOUT_FAILURE)]


def test_of_too_many_values_the_rarest_share_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_MOST_KEYS", 30)
    monkeypatch.setattr(scan, "_MOST_VALUES", 2)
    rows = [row(failure_kind="often")] * 9 + [row(failure_kind="acme:often")] * 9
    rows += [row(failure_kind=f"rare {number}") for number in range(40)]
    rows += [row(failure_kind=f"acme:rare_{number}") for number in range(5)]
    rows += [row(failure_kind="session_lost"), row(reward=1.0)]  # a known name is never drawn into another
    path = write(tmp_path, *rows)
    assert {key[1]: count for key, count in scan_file(path, SOURCES).counts.items()} == {
        "often": 9, "acme:often": 9, OTHER: 40, OTHER_NAMESPACED: 5, "session_lost": 1, None: 1,
    }  # fmt: skip
    assert scan_file(path, SOURCES, known={"rare 7"}).counts[failure("rare 7")] == 1


def test_so_do_the_rarest_of_those_that_nobody_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_MOST_KEYS", 30)
    monkeypatch.setattr(scan, "_MOST_VALUES", 2)
    own = own_source("layouts: {it: {}}\nkind: [a]")
    path = write(tmp_path, *[row(a="often")] * 2, *(row(a=f"rare {number}") for number in range(40)))
    counts = scan_file(path, [own]).counts
    assert (counts[failure(None, unmapped="often")], counts[failure(None, unmapped=OTHER)]) == (2, 39)


def test_groups_are_drawn_together_before_anything_that_is_classified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "_MOST_KEYS", 30)
    monkeypatch.setattr(scan, "_MOST_VALUES", 2)
    rows = [row(failure_kind=f"kind {number % 5}", task=number) for number in range(100)]
    counts = scan_file(write(tmp_path, *rows), SOURCES, "task").counts
    assert {key[1] for key in counts} == {f"kind {number}" for number in range(5)}
    assert sum(count for key, count in counts.items() if key[-1] == OTHER) == 98


class TestSplittingByWhatAFileSays:
    OWN = own_source("""
layouts: {list: {rows: "rows[]"}, lines: {when: {all: [type]}}}
kind: [{field: type, vocabulary: true}]
carry: {task: name}
carry_file: {model: model.name, task: task}
""")

    def groups(self, folder: Path, content: bytes, by: str) -> dict[str | None, int]:
        counts = scan_file(write(folder, content), [self.OWN], by).counts
        return {key[-1]: count for key, count in counts.items()}

    def test_all_its_rows_are_one_group(self, tmp_path: Path) -> None:
        head = b'{"model": {"name": "m"}, "task": "t", '
        content = head + b'"rows": [{"type": "a", "model": "x"}, {"type": "b", "name": "n"}]}'
        counts = scan_file(write(tmp_path, content), [self.OWN], "model").counts
        assert counts == {failure("a", "m"): 1, failure("b", "m"): 1}
        assert self.groups(tmp_path, content, "task") == {None: 1, "n": 1}  # what the rows say counts first

    def test_one_that_says_nothing_of_it(self, tmp_path: Path) -> None:
        assert self.groups(tmp_path, b'{"rows": [{"type": "a", "model": "x"}]}', "model") == {None: 1}

    def test_lines_have_nothing_that_is_said_of_them_all(self, tmp_path: Path) -> None:
        assert self.groups(tmp_path, b'{"type": "a", "model": "x"}', "model") == {"x": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="processes are used on Linux alone")
class TestProcesses:
    @pytest.fixture(autouse=True)
    def small_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_processes, "LARGE", 1)

    @pytest.mark.parametrize("processes", [1, 2, 4, 50])
    def test_count_what_one_counts(self, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_processes, "_PROCESSES", processes)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(processes))
        lines = [row(failure_kind=f"kind_{number % 7}", x="y" * number) for number in range(200)]
        lines[50:50] = [b"x" * 500, b"", b"null", b"\xef\xbb\xbf{}", b"{}\r"]
        path = write(tmp_path, b'\xef\xbb\xbf{"failure_kind": "first"}', *lines, b'{"failure_kind": ')
        with ScanProcesses([path, path], SOURCES, "x") as running:
            assert running.scan_of(path) == scan_file(path, SOURCES, "x")
            assert running.scan_of(path) is None  # it was handed over

    def test_leave_small_packed_and_other_files_alone(self, tmp_path: Path) -> None:
        packed = tmp_path / "packed"
        packed.write_bytes(b"\x1f\x8b" + b"x" * 100)
        with ScanProcesses([str(packed), "/dev/null", "-"], SOURCES, None) as running:
            assert running.scan_of(str(packed)) is None

    def test_are_gone_when_nobody_wants_to_know(self, tmp_path: Path) -> None:
        path = write(tmp_path, *[row(failure_kind="a")] * 10_000)
        with ScanProcesses([path], SOURCES, None) as running:
            pids = [process.pid for process in running._running[path]]
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    def test_that_could_not_all_be_started_are_gone_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(2))
        fork = os.fork
        pids: list[int] = []

        def fork_once() -> int:
            if pids:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            pids.append(fork())
            return pids[0]

        monkeypatch.setattr(os, "fork", fork_once)
        with pytest.raises(BlockingIOError):
            ScanProcesses([write(tmp_path, *[row(failure_kind="a")] * 1000)], SOURCES, None)
        with pytest.raises(ProcessLookupError):
            os.kill(pids[0], 0)

    def test_part_where_lines_do_however_long_these_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))
        path = write(tmp_path, row(failure_kind="a"), row(failure_kind="b", x="y" * 1_000_000), row(failure_kind="c"))
        with ScanProcesses([path], SOURCES, None) as running:
            assert running.scan_of(path) == scan_file(path, SOURCES)

    def test_that_could_not_read_are_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_processes, "open_part", lambda *_: None)
        path = write(tmp_path, row(failure_kind="a"))
        with ScanProcesses([path], SOURCES, None) as running, pytest.raises(OSError, match="ended with status 256"):
            running.scan_of(path)

    def test_say_how_far_they_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_processes, "_SECONDS_BETWEEN_CALLS", 0.001)
        path = write(tmp_path, *[row(failure_kind="a", x="y" * 100)] * 100_000)
        calls: list[tuple[str, int, int | None]] = []
        with ScanProcesses([path], SOURCES, None) as running:
            assert running.scan_of(path) == scan_file(path, SOURCES)
        with ScanProcesses([path], SOURCES, None) as running:
            report = report_failures([path], processes=running, on_progress=lambda *call: calls.append(call))
        assert report.classes.total == 100_000
        assert {call[::2] for call in calls} == {(path, os.path.getsize(path))}
        assert sorted(call[1] for call in calls) == [call[1] for call in calls]
        assert calls[-1][1] > 0

    def test_leave_files_alone_whose_rows_are_no_lines(self, tmp_path: Path) -> None:
        path = write(tmp_path, b'[{"failure_kind": "a"}]')
        own = own_source("layouts: {report: {lists: [a]}}")
        with ScanProcesses([path], SOURCES, None) as running:
            assert running.scan_of(path) is None
        with ScanProcesses([write(tmp_path, b'{"a": ["x"]}')], [own], None) as running:
            assert running.scan_of(path) is None

    def test_leave_files_alone_that_no_source_fits(self, tmp_path: Path) -> None:
        path = write(tmp_path, row(odd=1), row(odd=1))
        with ScanProcesses([path], SOURCES, None) as running:
            assert running.scan_of(path) is None
        with pytest.raises(UnrecognisedError):
            scan_file(path, SOURCES)

    def test_leave_files_of_folders_alone_that_are_passed_over_there(self, tmp_path: Path) -> None:
        own = own_source("layouts: {lines: {repeats: they are in all.jsonl too}}")
        path = write(tmp_path, row(a=1), row(a=1))
        with ScanProcesses([path], [own], None, named=[]) as running:
            assert running.scan_of(path) is None
        with ScanProcesses([path], [own], None, named=[path]) as running:
            assert running.scan_of(path) == scan_file(path, [own])

    @pytest.mark.parametrize("by", ["model", "task", None])
    def test_split_as_one_does(self, by: str | None, tmp_path: Path) -> None:
        own = TestSplittingByWhatAFileSays.OWN
        path = write(tmp_path, *[row(type="a", model="m", name="n", task="t")] * 9)
        with ScanProcesses([path], [own], by) as running:
            assert running.scan_of(path) == scan_file(path, [own], by)

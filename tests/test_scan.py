"""Scanning files: what is counted, that memory stays bounded, and that several processes count what one does."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from failure_kinds import scan
from failure_kinds.report import report_failures
from failure_kinds.rows import Outcome
from failure_kinds.scan import OTHER, OTHER_NAMESPACED, Scan, ScanProcesses, scan_file

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, *lines: bytes) -> str:
    path = folder / "rows.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def row(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def failure(kind: str, group: str | None = None) -> tuple[Any, ...]:
    return Outcome.FAILURE, kind, None, None, None, None, False, group


def test_rows_are_counted_by_their_evidence(tmp_path: Path) -> None:
    path = write(tmp_path, row(failure_kind="a"), row(failure_kind="a", task="x"), b"", b"x", row(failure_kind="b"))
    assert scan_file(path) == Scan({failure("a"): 2, failure("b"): 1}, 5, 1, 1, [(4, "it isn't JSON")])  # type: ignore[arg-type]
    assert scan_file(path, by="task").counts[failure("a", "x")] == 1


def test_of_too_many_values_the_rarest_share_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_MOST_KEYS", 30)
    monkeypatch.setattr(scan, "_MOST_VALUES", 2)
    rows = [row(failure_kind="often")] * 9 + [row(failure_kind="acme:often")] * 9
    rows += [row(failure_kind=f"rare {number}") for number in range(40)]
    rows += [row(failure_kind=f"acme:rare_{number}") for number in range(5)]
    rows += [row(failure_kind="session_lost"), row(reward=1.0)]  # a known name is never drawn into another
    path = write(tmp_path, *rows)
    assert {key[1]: count for key, count in scan_file(path).counts.items()} == {
        "often": 9, "acme:often": 9, OTHER: 40, OTHER_NAMESPACED: 5, "session_lost": 1, None: 1,
    }  # fmt: skip
    assert scan_file(path, known={"rare 7"}).counts[failure("rare 7")] == 1


def test_groups_are_drawn_together_before_anything_that_is_classified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "_MOST_KEYS", 30)
    monkeypatch.setattr(scan, "_MOST_VALUES", 2)
    rows = [row(failure_kind=f"kind {number % 5}", task=number) for number in range(100)]
    counts = scan_file(write(tmp_path, *rows), "task").counts
    assert {key[1] for key in counts} == {f"kind {number}" for number in range(5)}
    assert sum(count for key, count in counts.items() if key[-1] == OTHER) == 98


@pytest.mark.skipif(sys.platform != "linux", reason="processes are used on Linux alone")
class TestProcesses:
    @pytest.fixture(autouse=True)
    def small_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan, "LARGE", 1)

    @pytest.mark.parametrize("processes", [1, 2, 4, 50])
    def test_count_what_one_counts(self, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan, "_PROCESSES", processes)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(processes))
        lines = [row(failure_kind=f"kind_{number % 7}", x="y" * number) for number in range(200)]
        lines[50:50] = [b"x" * 500, b"", b"null", b"\xef\xbb\xbf{}", b"{}\r"]
        path = write(tmp_path, b'\xef\xbb\xbf{"failure_kind": "first"}', *lines, b'{"failure_kind": ')
        with ScanProcesses([path, path], "x") as running:
            assert running.scan_of(path) == scan_file(path, "x")
            assert running.scan_of(path) is None  # it was handed over

    def test_leave_small_packed_and_other_files_alone(self, tmp_path: Path) -> None:
        packed = tmp_path / "packed"
        packed.write_bytes(b"\x1f\x8b" + b"x" * 100)
        with ScanProcesses([str(packed), "/dev/null", "-"], None) as running:
            assert running.scan_of(str(packed)) is None

    def test_are_gone_when_nobody_wants_to_know(self, tmp_path: Path) -> None:
        path = write(tmp_path, *[row(failure_kind="a")] * 10_000)
        with ScanProcesses([path], None) as running:
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
            ScanProcesses([write(tmp_path, *[row(failure_kind="a")] * 1000)], None)
        with pytest.raises(ProcessLookupError):
            os.kill(pids[0], 0)

    def test_part_where_lines_do_however_long_these_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))
        path = write(tmp_path, row(failure_kind="a"), row(failure_kind="b", x="y" * 1_000_000), row(failure_kind="c"))
        with ScanProcesses([path], None) as running:
            assert running.scan_of(path) == scan_file(path)

    def test_that_could_not_read_are_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan, "open_part", lambda *_: None)
        path = write(tmp_path, row(failure_kind="a"))
        with ScanProcesses([path], None) as running, pytest.raises(OSError, match="ended with status 256"):
            running.scan_of(path)

    def test_say_how_far_they_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan, "_SECONDS_BETWEEN_CALLS", 0.001)
        path = write(tmp_path, *[row(failure_kind="a", x="y" * 100)] * 100_000)
        calls: list[tuple[str, int, int | None]] = []
        with ScanProcesses([path], None) as running:
            assert running.scan_of(path) == scan_file(path)
        with ScanProcesses([path], None) as running:
            report = report_failures([path], processes=running, on_progress=lambda *call: calls.append(call))
        assert report.classes.total == 100_000
        assert {call[::2] for call in calls} == {(path, os.path.getsize(path))}
        assert sorted(call[1] for call in calls) == [call[1] for call in calls]
        assert calls[-1][1] > 0

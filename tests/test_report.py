"""Counting rows: where every line goes, on whose side the failures lie, and what is worth a look."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import zstandard
from conftest import DATA
from hypothesis import given
from hypothesis import strategies as st
from own_sources import own_source

from failure_kinds import FailureClass, load_registry, set_registry
from failure_kinds.report import FailureReport, compare_reports, is_saved_report, read_report, report_failures
from failure_kinds.scan import OTHER, OTHER_NAMESPACED
from failure_kinds.sources import UnrecognisedError, bundled_sources

if TYPE_CHECKING:
    from failure_kinds.classification import Explanation
    from failure_kinds.sources.evidence import Evidence

SAMPLE = DATA / "gym_failures.jsonl"
TEAM = load_registry(DATA / "team.yaml")


def write(folder: Path, *rows: Any, name: str = "rows.jsonl") -> Path:
    """A file with a row on each line; bytes are a line as it is."""
    path = folder / name
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))
    return path


def report_of(folder: Path, *rows: Any, **options: Any) -> FailureReport:
    return report_failures([write(folder, *rows)], **options)


class TestTheAccount:
    def test_every_line_goes_somewhere(self, tmp_path: Path) -> None:
        rows = (
            {"_ng_failure_class": "agent_timeout"}, {"boundary": "model", "http_status": 429}, {"reward": 1.0},
            {"mask_sample": True}, {"_ng_omitted_rollout": True}, b"", b"  ", b"not JSON", b"null",
        )  # fmt: skip
        account = report_of(tmp_path, *rows, expected=10).account
        counts = (account.failures, account.without_failure, account.unlabelled, account.omitted)
        assert (*counts, account.blank, account.unreadable) == (2, 1, 1, 1, 2, 2)
        assert account.lines == 9
        assert (account.expected, account.unaccounted) == (10, 3)
        assert [(line.line, line.reason) for line in account.unreadable_lines] == [
            (8, "it isn't JSON"),
            (9, "it is null, not an object"),
        ]

    def test_the_first_unreadable_lines_are_shown_and_all_are_counted(self, tmp_path: Path) -> None:
        account = report_of(tmp_path, *[b"x"] * 50).account
        assert (account.unreadable, len(account.unreadable_lines)) == (50, 20)

    @pytest.mark.parametrize("cut", [20, 1])
    def test_a_damaged_file_is_reported_up_to_where_it_can_be_read(self, tmp_path: Path, cut: int) -> None:
        rows = b'{"failure_kind": "agent_timeout"}\n' * 50_000
        (tmp_path / "rows.gz").write_bytes(gzip.compress(rows)[:-cut])
        account = report_failures([tmp_path / "rows.gz"]).account
        assert account.unreadable == 1
        assert account.lines == account.failures + 1
        assert account.failures > 45_000  # and so are the rows that could be unpacked
        assert "the file can't be read on from here: " in account.unreadable_lines[0].reason

    def test_what_stands_behind_a_packed_file_costs_none_of_its_rows(self, tmp_path: Path) -> None:
        (tmp_path / "rows.gz").write_bytes(gzip.compress(b'{"failure_kind": "agent_timeout"}\n' * 3000) + b"garbage")
        account = report_failures([tmp_path / "rows.gz"]).account
        assert (account.failures, account.unreadable) == (3000, 1)

    @pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
    def test_one_with_wrong_bytes_in_its_middle_still_adds_up(self, pack: Any, tmp_path: Path) -> None:
        packed = bytearray(pack(b"".join(b'{"failure_kind": "x%d"}\n' % number for number in range(20_000))))
        packed[len(packed) // 2 : len(packed) // 2 + 8] = b"\xff" * 8
        (tmp_path / "rows").write_bytes(packed)
        account = report_failures([tmp_path / "rows"]).account
        assert account.lines == account.failures + account.without_failure + account.unreadable

    def test_one_that_is_packed_in_no_known_way_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(zstandard.compress(b"")[:4] + b"\xff" * 50)
        (line,) = report_failures([tmp_path / "rows"]).account.unreadable_lines
        assert line.reason.startswith("the file can't be read on from here: ")

    @given(st.lists(st.sampled_from([b"", b"x", b"{}", b"null", b'{"failure_kind": "x"}', b'{"mask_sample": true}'])))
    def test_it_always_adds_up(self, lines: list[bytes]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            account = report_of(Path(folder), *lines).account
        parts = account.failures + account.without_failure + account.unlabelled + account.omitted
        assert parts + account.unreadable + account.blank == account.lines == len(lines)


class TestTheFailures:
    def test_the_sample_by_class(self) -> None:
        classes = report_failures([SAMPLE]).classes
        assert (classes.evaluation, classes.model, classes.unknown, classes.total) == (25, 6, 12, 43)

    def test_by_label_and_stage_with_the_deciding_rule_largest_first(self, tmp_path: Path) -> None:
        rows = [{"failure_kind": "provider_oom_killed", "stage": "agent"}] * 3 + [{"http_status": 503}]
        first, second = report_of(tmp_path, *rows).labels
        assert (first.label, first.stage, first.failure_class, first.rule, first.count, first.share) == (
            "provider_oom_killed", "agent", FailureClass.MODEL, "stage_kind", 3, 0.75,
        )  # fmt: skip
        assert str(first.origin).startswith("failure_kinds.yaml:")
        assert (second.label, second.stage, second.rule, second.share) == (
            "model_server_error", None, "http_evidence", 0.25,
        )  # fmt: skip

    def test_no_failure_is_a_report_too(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, {"reward": 1.0})
        assert (report.classes.total, report.labels) == (0, ())


class TestWhatIsWorthALook:
    def names(self, counts: Any) -> list[tuple[str, int, str | None]]:
        return [(count.name, count.count, count.instead) for count in counts]

    def test_unknown_names_with_the_nearest_one(self, tmp_path: Path) -> None:
        kinds = ["agent_timout"] * 2 + ["zzz", "acme:x", "agent_timeout", "empty_answer", ["x"]]
        report = report_of(tmp_path, *({"failure_kind": kind} for kind in kinds))
        assert self.names(report.unknown_names) == [
            ("agent_timout", 2, "agent_timeout"),
            ('["x"]', 1, None),
            ("zzz", 1, None),
        ]

    def test_retired_names_with_what_they_are_read_as(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, {"failure_kind": "judge_invalid"})
        assert self.names(report.retired_names) == [("judge_invalid", 1, "judge_unparseable")]
        assert report.labels[0].label == "judge_unparseable"

    def test_a_name_that_an_alias_explains_is_known(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, {"failure_kind": "timeout_exceeded"}, registry=TEAM)
        assert report.unknown_names == ()

    def test_stages_that_nobody_knows(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, {"failure_kind": "cancelled", "stage": "verifcation"})
        assert self.names(report.unknown_stages) == [("verifcation", 1, "verification")]

    def test_statuses_that_are_no_evidence(self, tmp_path: Path) -> None:
        rows = [{"failure_kind": "cancelled", "http_status": status} for status in ("503", 200, 503.0, None)]
        assert self.names(report_of(tmp_path, *rows).statuses_without_evidence) == [
            ('"503"', 1, None),
            ("200", 1, None),
        ]

    def test_rows_that_failed_and_have_a_score(self, tmp_path: Path) -> None:
        rows = {"failure_kind": "x", "reward": 0.0}, {"failure_kind": "x"}, {"reward": 1.0}
        assert report_of(tmp_path, *rows).failed_and_scored == 1

    def test_rows_that_would_be_classed_otherwise_had_the_request_been_anothers(self, tmp_path: Path) -> None:
        rows = (
            {"failure_kind": "model_context_limit"}, {"failure_kind": "model_context_limit", "policy": True},
            {"failure_kind": "session_lost"}, {"http_status": 400}, {"http_status": 503},
        )  # fmt: skip
        assert report_of(tmp_path, *rows).policy_assumed == 2


class TestSources:
    OWN = own_source("""
layouts:
  log: {files: "*.log", when: {all: [status]}}
  list: {rows: "rows[]"}
  totals: {rows: document, when: {all: [sum]}, aggregate: these are totals}
kind: [{field: status, values: {ok: null, timeout: agent_timeout}}]
http_status: [http]
""")

    def test_what_it_was_read_as(self, tmp_path: Path) -> None:
        write(tmp_path, {"status": "timeout"}, {"status": "ok"}, b"", b"x", name="a.log")
        write(tmp_path, {"rows": [{"status": "timeout"}]}, name="b.json")
        write(tmp_path, {"failure_kind": "x"}, name="c.jsonl")
        report = report_failures([tmp_path], source=["auto", self.OWN])
        plain = bundled_sources()["plain"]
        assert [source.model_dump() for source in report.sources] == [
            {
                "source": "own", "title": "Own", "digest": self.OWN.digest, "layouts": ("list", "log"), "files": 2,
                "rows": 4, "failures": 2,
            },
            {
                "source": "plain", "title": "plain rows", "digest": plain.digest, "layouts": ("lines",), "files": 1,
                "rows": 1, "failures": 1,
            },
        ]  # fmt: skip
        assert [file.rpartition("/")[2] for file in report.files] == ["a.log", "b.json", "c.jsonl"]

    def test_a_value_that_nobody_maps_is_unknown_and_no_name(self, tmp_path: Path) -> None:
        rows = [{"status": "agent_timeout"}] * 2 + [{"status": "judge_invalid"}, {"status": "odd", "http": 503}]
        report = report_of(tmp_path, *rows, source=self.OWN)
        assert [(value.source, value.value, value.count) for value in report.unmapped] == [
            ("own", "agent_timeout", 2), ("own", "judge_invalid", 1), ("own", "odd", 1),
        ]  # fmt: skip
        assert [(label.label, label.unmapped_by, label.failure_class, label.rule) for label in report.labels] == [
            ("agent_timeout", "own", FailureClass.UNKNOWN, "default"),
            ("judge_invalid", "own", FailureClass.UNKNOWN, "default"),
            ("model_server_error", None, FailureClass.EVALUATION, "http_evidence"),
        ]
        assert (report.unknown_names, report.retired_names) == ((), ())

    def test_it_is_told_apart_from_a_name_that_looks_the_same(self, tmp_path: Path) -> None:
        write(tmp_path, {"status": "agent_timeout"}, name="a.log")
        write(tmp_path, {"failure_kind": "agent_timeout"}, name="b.jsonl")
        report = report_failures([tmp_path], source=["auto", self.OWN])
        assert {(label.label, label.unmapped_by, label.failure_class.value) for label in report.labels} == {
            ("agent_timeout", "own", "unknown"), ("agent_timeout", None, "model"),
        }  # fmt: skip

    def test_too_many_of_them_share_one(self, tmp_path: Path) -> None:
        report = report_of(tmp_path, *({"status": f"odd {number}"} for number in range(1100)), source=self.OWN)
        assert len(report.unmapped) == len(report.labels) == 1001
        assert (report.unmapped[0].value, report.unmapped[0].count) == (OTHER, 100)

    def test_files_of_a_folder_that_hold_no_rows_are_passed_over(self, tmp_path: Path) -> None:
        write(tmp_path, {"sum": 1}, name="totals.json")
        write(tmp_path, {"odd": 1}, name="odd.json")
        write(tmp_path, {"status": "ok"}, name="a.log")
        report = report_failures([tmp_path], source=["auto", self.OWN])
        assert report.account.passed_over == 2
        assert [(file.file, file.reason) for file in report.account.passed_over_files] == [
            (f"{tmp_path}/odd.json", "no source fits; its rows have the fields odd"),
            (f"{tmp_path}/totals.json", "these are totals"),
        ]
        assert report.files == (f"{tmp_path}/a.log",)

    def test_the_first_of_them_are_shown_and_all_are_counted(self, tmp_path: Path) -> None:
        for number in range(25):
            write(tmp_path, {"odd": 1}, name=f"{number}.json")
        account = report_failures([tmp_path]).account
        assert (account.passed_over, len(account.passed_over_files)) == (25, 20)

    @pytest.mark.parametrize(
        ("name", "said"),
        [("totals.json", "these are totals"), ("odd.json", "no source fits; its rows have the fields odd")],
    )
    def test_one_that_is_named_is_refused(self, name: str, said: str, tmp_path: Path) -> None:
        write(tmp_path, {"sum": 1}, name="totals.json")
        write(tmp_path, {"odd": 1}, name="odd.json")
        with pytest.raises(UnrecognisedError) as caught:
            report_failures([tmp_path, tmp_path / name], source=["auto", self.OWN])
        assert str(caught.value) == f"{tmp_path / name}: {said}"

    def test_two_reports_are_comparable_if_what_both_read_was_read_alike(self, tmp_path: Path) -> None:
        path = write(tmp_path, {"status": "ok"}, name="a.log")
        own, other = (report_failures([path], source=source) for source in (self.OWN, self.OTHER))
        plain = report_of(tmp_path, {"failure_kind": "x"})
        assert compare_reports(own, own).comparable is True
        assert compare_reports(own, other).comparable is False
        assert compare_reports(own, plain).comparable is True

    OTHER = own_source("layouts: {log: {}}\nkind: [{field: status, values: {ok: null}}]")


class TestRulesOfOnesOwn:
    def test_what_they_move_against_the_bundled_vocabulary(self) -> None:
        report = report_failures([SAMPLE], registry=TEAM)
        assert report.moves is not None
        assert report.moves[0].model_dump() == {
            "name": "timeout_exceeded",
            "stage": None,
            "http_status": None,
            "class_before": FailureClass.UNKNOWN,
            "class_after": FailureClass.MODEL,
            "label_before": "timeout_exceeded",
            "label_after": "agent_timeout",
            "origin": report.moves[0].origin,
            "count": 3,
        }
        assert sum(move.count for move in report.moves) == 7

    def test_the_bundled_vocabulary_moves_nothing(self) -> None:
        assert report_failures([SAMPLE]).moves is None

    def test_the_active_registry_is_the_default(self) -> None:
        set_registry(TEAM)
        assert report_failures([SAMPLE]).digest == TEAM.digest


class TestSplitting:
    def test_by_a_field_largest_first(self, tmp_path: Path) -> None:
        rows = [{"task": "a", "failure_kind": "agent_timeout"}] * 2 + [
            {"task": "b", "reward": 1.0},
            {"http_status": 503},
        ]
        report = report_of(tmp_path, *rows, by="task")
        assert report.by == "task"
        assert [(group.value, group.rows, group.classes.model, group.classes.total) for group in report.groups] == [
            ("a", 2, 2, 2),
            (None, 1, 0, 1),
            ("b", 1, 0, 0),
        ]


class TestBounds:
    def test_names_stages_and_groups_beyond_a_number_share_one(self, tmp_path: Path) -> None:
        rows = [
            {"failure_kind": f"name {number}", "stage": f"stage {number}", "task": number, "http_status": f"{number}"}
            for number in range(1200)
        ]
        rows += [{"failure_kind": f"acme:name_{number}"} for number in range(10)]
        report = report_of(tmp_path, *rows, by="task")
        assert len(report.unknown_names) == 1001
        assert {count.name: count.count for count in report.unknown_names}[OTHER] == 200
        assert len(report.unknown_stages) == 101
        assert len(report.statuses_without_evidence) == 1001
        assert len(report.groups) == 1002  # and the rows without a task
        assert OTHER_NAMESPACED in {label.label for label in report.labels}
        assert report.classes.total == len(rows)

    def test_it_is_the_largest_groups_that_are_told_apart(self, tmp_path: Path) -> None:
        rows = [{"failure_kind": "x", "task": f"t{number}"} for number in range(1500)]
        rows += [{"failure_kind": "x", "task": "largest"}] * 10
        report = report_of(tmp_path, *rows, by="task")
        assert {group.value: group.rows for group in report.groups}["largest"] == 10


class TestCallbacks:
    def test_each_failed_row_with_its_explanation(self, tmp_path: Path) -> None:
        seen = []

        def on_row(file: str, number: int, place: str | None, evidence: Evidence, found: Explanation) -> None:
            seen.append((file, number, place, evidence.failure_kind, found.failure_class))

        path = write(tmp_path, {"failure_kind": "agent_timeout"}, {"reward": 1.0}, {"mask_sample": True})
        report_failures([path], on_row=on_row)
        assert seen == [
            (str(path), 1, None, "agent_timeout", FailureClass.MODEL),
            (str(path), 3, None, None, FailureClass.UNKNOWN),
        ]

    def test_how_far_the_reading_has_come(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("failure_kinds.scan._ROWS_AT_ONCE", 10)
        path = write(tmp_path, *[{"failure_kind": "x"}] * 25)
        calls: list[tuple[str, int, int | None]] = []
        report_failures([path], on_progress=lambda *call: calls.append(call))
        assert calls == [(str(path), path.stat().st_size, path.stat().st_size)] * 3


class TestSaving:
    def test_a_saved_report_is_read_back_equal(self, tmp_path: Path) -> None:
        report = report_failures([SAMPLE], registry=TEAM, by="_ng_task_index", expected=50)
        (tmp_path / "report.json").write_text(report.model_dump_json(), encoding="utf-8")
        assert read_report(tmp_path / "report.json") == report

    def test_it_fits_its_schema(self) -> None:
        report = compare_reports(report_failures([SAMPLE]), report_failures([SAMPLE], registry=TEAM))
        jsonschema.Draft202012Validator(FailureReport.model_json_schema()).validate(report.to_json())

    @pytest.mark.parametrize(
        ("content", "is_one"),
        [(b'{"report_version":1,', True), (b'{\n  "report_version": 1', True), (b'{"task": 1}', False), (b"", False)],
    )
    def test_a_report_is_known_by_what_it_holds_and_not_by_its_name(
        self, content: bytes, is_one: bool, tmp_path: Path
    ) -> None:
        for name in ("a.json", "b.txt"):
            (tmp_path / name).write_bytes(content)
            assert is_saved_report(str(tmp_path / name)) is is_one

    def test_one_that_is_not_there_may_have_been_one_by_its_name(self) -> None:
        assert (is_saved_report("no.json"), is_saved_report("no.jsonl")) == (True, False)

    def test_a_file_that_holds_no_report(self) -> None:
        with pytest.raises(ValueError, match="validation error"):
            read_report(SAMPLE)

    def test_two_beside_each_other(self) -> None:
        ours, theirs = report_failures([SAMPLE]), report_failures([SAMPLE], registry=TEAM)
        assert compare_reports(ours, ours).comparable is True
        both = compare_reports(ours, compare_reports(theirs, ours))
        assert (both.comparable, both.other) == (False, theirs)


def test_paths_may_be_folders_and_patterns(tmp_path: Path) -> None:
    write(tmp_path, {"failure_kind": "x"}, name="a.jsonl")
    write(tmp_path, {"failure_kind": "y"}, name="b.jsonl")
    report = report_failures([tmp_path / "b.jsonl", f"{tmp_path}/*.jsonl"])
    assert (report.classes.total, [file[-7:] for file in report.files]) == (2, ["b.jsonl", "a.jsonl"])
    with pytest.raises(FileNotFoundError):
        report_failures([tmp_path / "no.jsonl"])


@pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
def test_a_file_whose_name_is_no_text_can_be_reported_on(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.jsonl"
    with open(path, "wb") as file:
        file.write(b'{"failure_kind": "\\ud800"}\nx\n')
    report = report_failures([os.fsdecode(path)])
    assert json.loads(report.model_dump_json())["files"] == [f"{tmp_path}/\\udcff.jsonl"]
    assert report.account.unreadable_lines[0].file.endswith("\\udcff.jsonl")

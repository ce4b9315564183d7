"""Reading the failures of other tools: rows one by one; sources by name or from a file, and what is wrong in one."""

from __future__ import annotations

import gzip
import itertools
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from own_sources import Written, own_source

import failure_kinds.sources
from failure_kinds import VocabularyError, load_registry
from failure_kinds.reading import read_yaml
from failure_kinds.sources import (
    FailureRow,
    Source,
    UnrecognisedError,
    bundled_sources,
    load_source,
    read_failures,
)
from failure_kinds.sources.bundled import source_resources
from failure_kinds.sources.document import SourceDocument, json_schema
from failure_kinds.sources.evidence import Evidence, evidence_in
from failure_kinds.sources.failure_rows import sources_named
from failure_kinds.sources.loading import is_source
from failure_kinds.sources.reader import EvidenceReader
from failure_kinds.sources.source import file_patterns

TEAM = Path(__file__).parent / "data" / "team.yaml"


def write(folder: Path, name: str, *rows: Any) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))
    return path


def kinds(*arguments: Any, **options: Any) -> list[str | None]:
    return [row.evidence.failure_kind for row in read_failures(*arguments, **options)]


class TestTheFace:
    @pytest.mark.parametrize("name", failure_kinds.sources.__all__)
    def test_every_name_is_there(self, name: str) -> None:
        assert getattr(failure_kinds.sources, name) is not None

    def test_dir_is_all_sorted(self) -> None:
        assert dir(failure_kinds.sources) == sorted(failure_kinds.sources.__all__)

    def test_a_name_that_is_not_there_is_said_to_be_so(self) -> None:
        with pytest.raises(AttributeError, match=r"^module 'failure_kinds\.sources' has no attribute 'read_failure'$"):
            failure_kinds.sources.read_failure  # type: ignore[attr-defined]  # noqa: B018

    def test_an_exceptions_kind_costs_no_reader_of_rows(self) -> None:
        code = (
            "import sys; from failure_kinds.sources import failure_kind_of; failure_kind_of(OSError()); "
            "print({'pydantic', 'msgspec', 'zstandard'} & {*sys.modules})"
        )
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert printed == "set()\n"


class TestReadingFailures:
    def test_each_row_with_all_that_it_says(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            "rows.jsonl",
            {"failure_kind": "agent_timeout", "reward": 0.5, "task_id": 7, "agent": None},
            {"reward": 1},
            b"",
            {"mask_sample": True},
        )
        rows = list(read_failures(path))
        assert rows[0] == FailureRow(
            evidence=rows[0].evidence,
            recorded="agent_timeout",
            score=0.5,
            source="plain",
            file=str(path),
            number=1,
            place=None,
            extras={"task": 7, "agent": None, "model": None},
        )
        assert [(row.number, row.failed, row.score) for row in rows] == [
            (1, True, 0.5),
            (2, False, 1.0),
            (4, True, None),
        ]

    def test_what_is_carried_along_is_whole(self, tmp_path: Path) -> None:
        own = own_source(
            "layouts: {it: {}}\nkind: [{field: by.type, vocabulary: true}]\ncarry: {who: by, type: by.type}"
        )
        path = write(tmp_path, "rows", {"by": {"type": "x", "name": ["y"]}})
        (row,) = read_failures(path, own)
        assert row.extras == {"who": {"type": "x", "name": ["y"]}, "type": "x"}

    def test_one_by_one_however_large_the_file_is(self, tmp_path: Path) -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        rows = read_failures(fifo)  # nothing is opened yet
        feeder = os.fork()
        if feeder == 0:  # pragma: no cover
            with fifo.open("wb") as file:
                for number in itertools.count():
                    file.write(b'{"failure_kind": "kind %d"}\n' % number)
        try:
            assert [row.recorded for row in itertools.islice(rows, 3)] == ["kind 0", "kind 1", "kind 2"]
        finally:
            os.kill(feeder, 9)
            os.waitpid(feeder, 0)
            rows.close()  # type: ignore[attr-defined]  # it is a generator

    def test_an_error_comes_with_the_first_row(self) -> None:
        rows = read_failures("no such file")
        with pytest.raises(FileNotFoundError, match="no such file or folder"):
            next(rows)

    def test_packed_files(self, tmp_path: Path) -> None:
        (tmp_path / "rows.gz").write_bytes(gzip.compress(b'{"failure_kind": "a"}\n' * 2))
        assert kinds(tmp_path / "rows.gz") == ["a", "a"]

    def test_a_damaged_one_up_to_where_it_can_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "rows.gz").write_bytes(gzip.compress(b'{"failure_kind": "a"}\n' * 2)[:-8])
        unreadable: list[tuple[Any, ...]] = []
        assert kinds(tmp_path / "rows.gz", on_unreadable=lambda *row: unreadable.append(row)) == ["a", "a"]
        assert [row[:2] for row in unreadable] == [(str(tmp_path / "rows.gz"), 3)]
        assert unreadable[0][2].startswith("the file can't be read on from here: ")

    def test_standard_input(self) -> None:
        code = (
            "from failure_kinds.sources import read_failures; "
            "print([(row.file, row.recorded) for row in read_failures('-')])"
        )
        command = [sys.executable, "-c", code]
        result = subprocess.run(command, input=b'{"failure_kind": "a"}\n', capture_output=True, check=True)
        assert result.stdout == b"[('-', 'a')]\n"

    def test_rows_that_cannot_be_read_are_said(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        path = write(tmp_path, "rows.jsonl", {"failure_kind": "a"}, b"oh", b"null")
        assert kinds(path) == ["a"]
        assert caplog.messages == [
            f"{path}:2 can't be read: it isn't JSON",
            f"{path}:3 can't be read: it is null, not an object",
        ]
        assert {(record.name, record.levelno) for record in caplog.records} == {("failure_kinds", logging.WARNING)}

    def test_of_a_folder_what_no_source_fits_is_passed_over_and_said(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        own = own_source("""
layouts:
  log: {files: "*.log", when: {all: [a]}}
  again: {rows: document, when: {all: [again]}, repeats: it is in x.log too}
  totals: {rows: document, when: {all: [sum]}, aggregate: these are totals}
kind: [{field: a, vocabulary: true}]
""")
        write(tmp_path, "a.json", {"odd": 1})
        write(tmp_path, "b.json", {"again": 1})
        write(tmp_path, "c.json", {"sum": 1})
        write(tmp_path, "d/x.log", {"a": "x"})
        write(tmp_path, "e.txt", {"a": "y"})
        rows = list(read_failures(tmp_path, ["auto", own]))
        assert [(row.file, row.source, row.recorded) for row in rows] == [(str(tmp_path / "d/x.log"), "own", "x")]
        assert caplog.messages == [
            f"{tmp_path}/a.json is passed over: no source fits; its rows have the fields odd",
            f"{tmp_path}/b.json is passed over: it is in x.log too",
            f"{tmp_path}/c.json is passed over: these are totals",
        ]
        caplog.clear()
        assert len(list(read_failures(f"{tmp_path}/[cd]*", ["auto", own]))) == 0
        assert len(caplog.messages) == 1
        assert len(list(read_failures(tmp_path / "b.json", ["auto", own]))) == 1
        for name, said in (("a.json", "no source fits"), ("c.json", "these are totals")):
            with pytest.raises(UnrecognisedError, match=said):
                list(read_failures(tmp_path / name, ["auto", own]))

    def test_members_of_a_document_with_what_the_file_says_of_them_all(self, tmp_path: Path) -> None:
        own = own_source("""
layouts: {it: {rows: "runs.all[]"}}
kind: [{field: type, vocabulary: true}]
carry: {task: task, model: own_model}
carry_file: {model: info.model, agent: agent, late: late}
""")
        document = {
            "info": {"model": "m", "x": [1]},
            "agent": "a",
            "runs": {"x": 1, "all": [{"type": "x", "task": 1}, 5, {"type": "x", "own_model": "its own"}]},
        }
        path = write(tmp_path, "rows.json", json.dumps({**document, "late": 1}, indent=1).encode())
        unreadable: list[Any] = []
        row, other = read_failures(path, own, on_unreadable=lambda *row: unreadable.append(row[1:]))
        assert (row.place, row.number) == ("runs.all[0]", 1)
        assert row.extras == {"model": "m", "agent": "a", "late": None, "task": 1}
        assert other.extras == {"model": "its own", "agent": "a", "late": None, "task": None}
        assert unreadable == [(2, "runs.all[1]: it is a number, not an object")]

    def test_ids_in_lists(self, tmp_path: Path) -> None:
        own = own_source("""
layouts: {report: {lists: [error, failed, done]}}
kind:
  - {field: "reasons[id]", values: {oom: provider_oom_killed}}
  - {field: list, values: {failed: agent_run_error, done: null}}
carry: {task: id, version: version}
""")
        document = {
            "version": 2,
            "done": ["a", "b", 5],
            "failed": ["b", "c", None],
            "error": ["d"],
            "reasons": {"c": "oom"},
        }
        path = write(tmp_path, "report.json", document)
        rows = list(read_failures(path, own))
        said = [(row.number, row.place, *row.evidence[1:2], row.evidence.unmapped, row.extras["task"]) for row in rows]
        assert said == [
            (1, "error[0]", None, "error", "d"),
            (2, "failed[0]", "agent_run_error", None, "b"),
            (3, "failed[1]", "provider_oom_killed", None, "c"),
            (4, "done[0]", None, None, "a"),
        ]  # fmt: skip
        assert {row.extras["version"] for row in rows} == {2}

    @pytest.mark.parametrize(
        ("rows", "content", "said"),
        [
            ("lists: [a]", b'{"a": ["x"], "b": ', "it is cut off"),
            ("lists: [a]", b'{"a": ["x"], "b": oh}', "it isn't JSON"),
            ("lists: [a]", b'["x"]', "it isn't a JSON object"),
            ("lists: [a]", b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "it isn't JSON"),
            ("rows: document", b'{"a": ', "it is cut off"),
            ("rows: 'a[]'", b'{"a": [{}, {"b":', "it is cut off"),
            ("rows: 'a[]'", b'{"a": [' + b" " * (1 << 20) + b"{} oh", "it isn't JSON"),
        ],
    )
    def test_a_damaged_document(self, rows: str, content: bytes, said: str, tmp_path: Path) -> None:
        own = own_source(f"layouts: {{it: {{{rows}}}}}")
        path = write(tmp_path, "rows.json", content)
        unreadable: list[Any] = []
        read = list(read_failures(path, own, on_unreadable=lambda *row: unreadable.append(row[1:])))
        assert unreadable == [(len(read) + 1, f"the file can't be read on from here: {said}")]

    def test_a_header_that_is_damaged_is_said(self, tmp_path: Path) -> None:
        own = own_source("layouts: {it: {rows: 'a[]'}}\ncarry_file: {m: m}")
        path = write(tmp_path, "rows.json", b'{"m": oh, "a": [{}]}')
        unreadable: list[Any] = []
        assert list(read_failures(path, own, on_unreadable=lambda *row: unreadable.append(row[1:]))) == []
        assert unreadable == [(1, "the file can't be read on from here: it isn't JSON")]

    @pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
    def test_a_file_whose_name_is_no_text(self, tmp_path: Path) -> None:
        name = os.fsencode(tmp_path) + b"/\xff.jsonl"
        with open(name, "wb") as file:
            file.write(b"{}\n")
        (row,) = read_failures(os.fsdecode(name))
        assert row.file.endswith("/\\udcff.jsonl")


class TestNamingSources:
    def test_by_name_path_itself_or_several(self, tmp_path: Path) -> None:
        path = tmp_path / "own.yaml"
        path.write_text("schema_version: 1\nsource: own\ntitle: Own\n", encoding="utf-8")
        own = load_source(path)
        for named in (path, str(path), own, [own, own], (path,)):
            assert sources_named(named) == (own,)
        assert [source.name for source in sources_named(["auto", own])] == [*bundled_sources(), "own"]
        assert sources_named("auto") == tuple(bundled_sources().values())
        assert sources_named("harbor") == (load_source("harbor"),)

    def test_ones_own_counts_instead_of_the_bundled_one_of_its_name(self) -> None:
        own = own_source("")._replace(name="harbor")
        assert own in sources_named(["auto", own])
        assert len(sources_named(["auto", own])) == len(bundled_sources())

    @pytest.mark.parametrize(
        ("name", "advice"),
        [
            ("harbour", "; did you mean 'harbor'?"),
            ("zzz", f"; it is one of {', '.join(bundled_sources())}"),
            ("", f"; it is one of {', '.join(bundled_sources())}"),
            ("a\0b", f"; it is one of {', '.join(bundled_sources())}"),
        ],
    )
    def test_one_that_is_not_there(self, name: str, advice: str) -> None:
        with pytest.raises(VocabularyError) as caught:
            load_source(name)
        assert str(caught.value) == f"{name!a}: there is no source of this name, and no such file{advice}"

    def test_a_file_that_is_not_there(self) -> None:
        with pytest.raises(VocabularyError) as caught:
            load_source("no.yaml")
        assert str(caught.value) == "no.yaml: can't be read: no such file or directory"

    def test_a_file_needs_no_ending(self, tmp_path: Path) -> None:
        (tmp_path / "own").write_text("schema_version: 1\nsource: own\ntitle: Own\n", encoding="utf-8")
        assert load_source(str(tmp_path / "own")).name == "own"

    def test_the_kinds_of_a_team_are_known_where_it_is_said_whose_they_are(self) -> None:
        team = load_registry({"schema_version": 1, "kinds": {"new_kind": {"domain": "agent", "summary": "It is new."}}})
        text = "kind: [{field: a, values: {x: new_kind}}]"
        assert own_source(text, team).kind[0].values["x"] is not None
        with pytest.raises(VocabularyError, match="unknown failure kind 'new_kind'"):
            own_source(text)

    def test_patterns_of_the_names_of_files(self) -> None:
        own = own_source("layouts: {a: {files: [x, '*.y']}, b: {files: x}, c: {}}")
        assert file_patterns([own]) == {"x", "*.y"}

    def test_the_digest_is_about_what_is_read(self) -> None:
        own = own_source("about: one\nkind: [a]")
        assert own.digest == own_source("about: two\nurl: https://x.org\nkind: [a]").digest
        assert own.digest != own_source("kind: [b]").digest
        assert len(own.digest) == 12


class TestShippedSources:
    @pytest.mark.parametrize("name", bundled_sources())
    def test_is_right_though_nobody_checks_it_when_it_is_used(self, name: str) -> None:
        file: Any = source_resources()[name]
        assert load_source(file) == bundled_sources()[name]
        assert load_source(name).name == name
        assert is_source(read_yaml(file))

    @pytest.mark.parametrize("name", bundled_sources())
    def test_fits_the_schema(self, name: str) -> None:
        schema = json_schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        data = yaml.safe_load(source_resources()[name].read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(data)

    def test_a_vocabulary_is_no_source(self) -> None:
        assert not is_source(read_yaml(TEAM))


MISTAKES = {
    "kind: [{field: a, values: {x: agent_timout}}]": [
        (4, 31, "unknown failure kind 'agent_timout'; did you mean 'agent_timeout'?")
    ],
    "kind: [{field: a, values: {x: {kind: judge_invalid}}}]": [
        (4, 38, "'judge_invalid' is retired; write its replacement 'judge_unparseable'")
    ],
    "kind: [{field: a, values: {x: {stage: agent}}}]": [(4, 28, "kind is missing")],
    "kind: [{field: a, values: {x: {kind: cancelled, stage: agnet, policy: no}}}]": [
        (4, 56, "unknown stage 'agnet'; did you mean 'agent'?"),
        (4, 71, "'no' is no flag; write true or false"),
    ],
    "kind: [{field: a, vocabulary: yes}]": [(4, 31, "'yes' is no flag; write true or false")],
    "kind: [{field: a, match: class_name, values: {asyncio.TimeoutError: cancelled}}]": [
        (4, 8, "'asyncio.TimeoutError' is never found: a class is looked up by its last part, without dots")
    ],
    "kind: [{field: a, match: prefix}]": [(4, 26, "'prefix' is none of 'exact', 'class_name'")],
    "score: [{values: {}}]": [(4, 9, "field is missing")],
    "kind: ['a..b']": [(4, 8, "'a..b' is no path; write keys with dots between them, such as `info.exit_status`")],
    "kind: ['a\"b']": [(4, 8, "'a\"b' is no path; write keys with dots between them, such as `info.exit_status`")],
    "kind: [{field: a, within: 'b[c'}]": [
        (4, 27, "'b[c' is no path; write keys with dots between them, such as `info.exit_status`")
    ],
    "kind: [{field: a, when: {al: [b]}}]": [(4, 26, "unknown key 'al'; did you mean 'all'?")],
    "kind: [{field: a, when: {equal: {'b.': x}}}]": [
        (4, 34, "'b.' is no path; write keys with dots between them, such as `info.exit_status`")
    ],
    "kind: [[a]]": [(4, 8, "a mapping (`key: value`) is needed here, not a list")],
    "kind: [{field: [a]}]": [(4, 16, "text is needed here, not a list")],
    "stage: [{field: a, stage: agent}]": [
        (4, 9, "a stage is read from a `field`, or is the `stage` of rows that have some fields; say one")
    ],
    "stage: [{values: {x: agent}}]": [
        (4, 9, "a stage is read from a `field`, or is the `stage` of rows that have some fields; say one")
    ],
    "stage: [{field: a, values: {x: agnet}}]": [(4, 32, "unknown stage 'agnet'; did you mean 'agent'?")],
    "stage: [{field: a, phases: [{field: b, stage: warmup}]}]": [],
    "score: [{field: a, values: {x: good, y: nan, z: .inf}}]": [
        (4, 32, "'good' is no score; write a number"),
        (4, 41, "'nan' is no score; write a number"),
        (4, 49, "'.inf' is no score; write a number"),
    ],
    "score: [{field: a, values: {x: [1]}}]": [(4, 32, "a value of type list is no score; write a number")],
    "policy: [{field: a, values: {x: 'True'}}]": [(4, 33, "'True' is no flag; write true or false")],
    "http_status: [{field: a, if: b}]": [(4, 26, "unknown key 'if'; it is one of field, when")],
    "layouts: {it: {rows: row}}": [
        (4, 22, "'row' is no place of rows; write lines, document, or a list such as `samples[]`")
    ],
    "layouts: {it: {rows: 'a[].b'}}": [
        (4, 22, "'a[].b' is no place of rows; write lines, document, or a list such as `samples[]`")
    ],
    "layouts: {It: {}}": [
        (4, 11, "'It' is no name; use lower-case letters, digits and underscores, a letter first")
    ],
    "layouts: {it: {when: {some: a}}}": [(4, 23, "unknown key 'some'; it is one of all, any, none")],
    "layouts: [it]": [(4, 10, "a mapping (`key: value`) is needed here, not a list")],
    "carry: {x: .}": [(4, 12, "a row as a whole can't be carried along; name a field of it")],
    "carry_file: {X: a}": [(4, 14, "'X' is no name; use lower-case letters, digits and underscores, a letter first")],
    "implied: {agent_timout: {stage: agent}}": [
        (4, 11, "unknown failure kind 'agent_timout'; did you mean 'agent_timeout'?")
    ],
    "implied: {agent_timeout: null}": [(4, 26, "a mapping (`key: value`) is needed here, not nothing")],
    "exceptions: {a.b.C: cancelled}": [
        (4, 14, "'a.b.C' is no class of exceptions; write `<root package>.<class>`, or Python's own")
    ],
    "exceptions: {C: cancled}": [(4, 17, "unknown failure kind 'cancled'; did you mean 'cancelled'?")],
    "fallback: 1": [(4, 11, "'1' is no flag; write true or false")],
    "titel: x": [(4, 1, "unknown key 'titel'; did you mean 'title'?")],
    "failed: {a: b}": [(4, 1, "field is missing"), (4, 10, "unknown key 'a'; it is one of field, when")],
    "layouts: {it: {files: {a: b}}}": [(4, 23, "a list (`[a, b]`) is needed here, not a mapping")],
    "kind: [{source: harbour, within: [a]}]": [(4, 17, "there is no source 'harbour'; did you mean 'harbor'?")],
    "kind: [{source: harbor, values: {}}]": [
        (4, 8, "harbor itself says what its rows mean; say no more than `within` and `when` beside it")
    ],
    "kind: [{source: zzz}]": [(4, 17, f"there is no source 'zzz'; it is one of {', '.join(bundled_sources())}")],
    "kind: [{within: a}]": [
        (4, 8, "a name is read from a `field`, or by the `source` that describes the objects; say one")
    ],
    "no_failure: ['']": [(4, 14, "text is needed here, not nothing")],
    "kind: &a [b]": [],
}  # fmt: skip


class TestMistakes:
    @pytest.mark.parametrize("text", [text for text, said in MISTAKES.items() if said])
    def test_each_is_said_with_its_place(self, text: str) -> None:
        with pytest.raises(VocabularyError) as caught:
            own_source(text)
        assert [(problem.line, problem.column, problem.message) for problem in caught.value.problems] == MISTAKES[text]
        assert {problem.file for problem in caught.value.problems} == {"own.yaml"}

    @pytest.mark.parametrize("text", [text for text, said in MISTAKES.items() if not said])
    def test_other_mistakes_are_said_in_the_words_of_vocabularies(self, text: str) -> None:
        with pytest.raises(VocabularyError) as caught:
            own_source(text)
        assert caught.value.problems[0].line == 4

    def test_the_whole_message(self) -> None:
        with pytest.raises(VocabularyError) as caught:
            own_source("kind:\n  - field: status\n    values: {lost: sesion_lost}\n")
        assert str(caught.value) == (
            "own.yaml:6:20: unknown failure kind 'sesion_lost'; did you mean 'session_lost'?\n"
            "        values: {lost: sesion_lost}\n"
            "                       ^\n"
            f"1 problem; checked against vocabulary {load_registry().version}"
        )

    def test_what_a_source_needs(self) -> None:
        file: Any = Written("{}")
        with pytest.raises(VocabularyError) as caught:
            load_source(file)
        assert [problem.message for problem in caught.value.problems] == [
            "schema_version is missing; write `schema_version: 1` at the top",
            "source is missing",
            "title is missing",
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "kind: a", "kind: [a]", "kind: {field: a}", "kind: [{field: a}]", "kind: [{field: a, within: b}]",
            "kind: [{field: a, within: [b]}]",
            "kind: [{field: a, values: {x: cancelled}}]", "kind: [{field: a, values: {x: {kind: cancelled}}}]",
            "kind: [{field: a, values: null, when: null}]", "layouts: {it: null}", "layouts: null", "stage: null",
            "layouts: {it: {when: null}}", "layouts: {it: {files: x}}", "carry: null", "exceptions: null",
            "implied: null",
        ],
    )  # fmt: skip
    def test_short_forms_are_right(self, text: str) -> None:
        assert isinstance(own_source(text), Source)

    def test_short_forms_mean_the_same(self) -> None:
        for short, long in (
            ("kind: a", "kind: [{field: a, within: [.]}]"),
            ("kind: [{field: a, values: {x: cancelled}}]", "kind: {field: a, values: {x: {kind: cancelled}}}"),
        ):
            assert own_source(short)._replace(digest="") == own_source(long)._replace(digest="")


words = st.sampled_from(
    [
        "", "a", "a.b", "a[]", "a[b].c", ".", "[]", "a..b", "null", "true", "1", "nan", "x y", '"', "\\", "é", "\u202e",
        "agent", "agnet", "cancelled", "judge_invalid", "acme:x", "lines", "document", "samples[]", "class_name",
    ]
)  # fmt: skip
keys = st.sampled_from(
    [
        *SourceDocument.model_fields, "field", "within", "when", "match", "vocabulary", "values", "phases", "stage",
        "all", "any", "none", "equal", "rows", "files", "members", "header", "lists", "aggregate", "repeats", "x",
    ]
)  # fmt: skip
anything = st.recursive(
    words | st.none(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(keys | words, values, max_size=4),
    max_leaves=12,
)


def optional(**parts: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=parts)


def rule(**parts: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"field": paths}, optional=parts)


paths = st.sampled_from(["a", "b", "c", "a.b", "a[]", "a[].b", "a[b].c", "b[c]", ".", "a.b.c"])
values = st.sampled_from(["a", "b", "true", "1", "1.5", "{}", "x.Y"])
kinds_ = st.sampled_from(["cancelled", "agent_timeout", "acme:x"])
stages = st.sampled_from(["agent", "seed"])
flags = st.sampled_from(["true", "false"])
some_paths = st.lists(paths, max_size=2)
conditions = optional(all=some_paths, any=some_paths, none=some_paths, equal=st.dictionaries(paths, values, max_size=2))
targets = st.none() | kinds_ | st.fixed_dictionaries({"kind": kinds_}, optional={"stage": stages, "policy": flags})
right = optional(
    kind=st.lists(
        paths
        | rule(
            within=some_paths,
            when=conditions,
            match=st.sampled_from(["exact", "class_name"]),
            vocabulary=flags,
            values=st.dictionaries(values.filter(lambda value: "." not in value), targets, max_size=3),
        ),
        max_size=4,
    ),
    stage=st.lists(
        paths
        | rule(values=st.dictionaries(values, stages), when=conditions)
        | rule(phases=st.lists(st.fixed_dictionaries({"field": paths, "stage": stages}), max_size=2))
        | st.fixed_dictionaries({"stage": stages}, optional={"when": conditions}),
        max_size=3,
    ),
    http_status=st.lists(paths | rule(when=conditions), max_size=2),
    policy=st.lists(paths | rule(values=st.dictionaries(values, flags)), max_size=2),
    score=st.lists(paths | rule(values=st.dictionaries(values, st.sampled_from(["0", "1.5"]))), max_size=2),
    failed=st.lists(paths | rule(when=conditions), max_size=2),
    finished=st.lists(paths | rule(when=conditions), max_size=2),
    omitted=some_paths,
    no_failure=st.lists(values),
    implied=st.dictionaries(kinds_.filter(lambda kind: kind != "acme:x"), optional(stage=stages, policy=flags)),
)
wrong = optional(**dict.fromkeys(SourceDocument.model_fields.keys() - {"schema_version", "source", "title"}, anything))

times = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:00:01+01:00", "0001-01-01T00:00:00+23:59"])
cells = st.none() | st.booleans() | st.integers() | st.floats() | values | times
cells |= st.sampled_from([429, 503.0, "\ud800"])
row_keys = st.sampled_from(["a", "b", "c", "started_at", "1"])
rows = st.dictionaries(
    row_keys,
    st.recursive(
        cells,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(row_keys, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def source_saying(document: dict[str, Any]) -> Source:
    return own_source("".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items()))


@given(wrong)
def test_whatever_a_source_says_it_is_right_or_said_to_be_wrong(document: dict[str, Any]) -> None:
    try:
        own = source_saying(document)
    except VocabularyError as error:
        assert {problem.file for problem in error.problems} == {"own.yaml"}
    else:
        assert own.name == "own"


@given(right, rows, st.sampled_from([None, "a", "b"]))
def test_a_source_that_is_right_reads_any_row_and_its_key_says_the_same(
    document: dict[str, Any], row: dict[str, Any], by: str | None
) -> None:
    own = source_saying(document)
    reader = EvidenceReader(own, by)
    decoded = reader.decoder.decode(json.dumps(row).encode())
    direct, _ = evidence_in(msgspec.to_builtins(decoded), own)
    assert Evidence(*reader.evidence(reader.key(decoded)))._replace(group=None) == direct

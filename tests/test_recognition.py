"""Recognising files: what a file looks like, which source that is, and what is said where it can't be told."""

from __future__ import annotations

import io
import json
import os
import pickle
import threading
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_sources import own_source

from failure_kinds.sources import Source, UnrecognisedError, bundled_sources
from failure_kinds.sources.recognition import HEAD, Shape, recognise, shape_of, shape_of_zip
from failure_kinds.sources.source_file import SourceFile, recognise_file

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = bundled_sources()["plain"]


def named(name: str, text: str) -> Source:
    return own_source(text)._replace(name=name)


def shape(document: str | None, alone: bool, *lines: str) -> Shape:
    """A shape, the fields written with spaces between them."""
    fields = None if document is None else frozenset(document.split())
    return Shape(fields, alone, tuple(frozenset(line.split()) for line in lines))


def looks(content: bytes) -> Shape:
    """What a file looks like, without the fields of any key at its top, and wherever it ends."""
    found = shape_of(content)
    document, *lines = (
        None if fields is None else frozenset(field for field in fields if field[:1] != "*")
        for fields in (found.document, *found.lines)
    )
    return Shape(document, found.alone, tuple(fields for fields in lines if fields is not None))


class TestShapes:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            # lines
            (b'{"a": 1}\n{"b": 2}\n', shape("a", False, "a", "b")),
            (b'{"a": 1}\r\n{"b": 2}\r\n', shape("a", False, "a", "b")),
            (b'\n\n{"a": 1}\n\n{"b": 2}', shape("a", False, "a", "b")),
            (b'{"a": {"b": 1}}\n{"c": [{"d": 1}, {"e": [1]}]}',
             shape("a a.b", False, "a a.b", "c c[] c[].d c[].e c[].e[]")),
            # a field that is null doesn't count
            (b'{"a": null, "b": [null], "c": {"d": null}}', shape("b b[] c", True, "b b[] c")),
            # an object on one line may be a document as well as a line
            (b'{"a": 1}', shape("a", True, "a")),
            (b'  {"a": 1}  \n', shape("a", True, "a")),
            # documents
            (b'{\n "a": 1\n}\n', shape("a", True)),
            (b'{"a": 1,\n "b": 2}', shape("a b", True)),
            (b'{\n "a": [\n{"b": 1},\n{"b": 2}\n]}', shape("a a[] a[].b", True)),
            # lists
            (b'[{"a": 1}, {"b": 2}]', shape("[] [].a [].b", True)),
            (b'[\n{"a": 1},\n{"b": 2}\n]', shape("[] [].a [].b", True)),
            (b"[]", shape("[]", True)),
            (b"[[1]]", shape("[] [][]", True)),
            # damaged first lines
            (b'garbage\n{"a": 1}\n', shape(None, False, "a")),
            (b'{"x": \n{"a": 1}\n', shape("x x.a", True, "a")),
            (b'{"x": "half\n{"a": 1}\n{"b": 1}\n', shape("x", True, "a", "b")),
            (b'{"x": [\n{"a": 1}\n{"b": 1}\n', shape("x x[] x[].a", True, "a", "b")),
            # files that are cut off
            (b'{"a": 1, "b": {"c"', shape("a b", True, "a b")),
            (b'{"a": 1,\n "b": [{"c": 1,\n', shape("a b b[] b[].c", True)),
            (b'{"a": 1}\n{"b": ', shape("a", False, "a", "b")),
            (b'[\n{"a": 1},\n{"b": 2},\n', shape("[] [].a [].b", True)),
            # nothing to go by
            (b"", shape(None, False)),
            (b" \n\t", shape(None, False)),
            (b"{}", shape("", True)),
            (b"null", shape(None, False)),
            (b'"{\\"a\\": 1}"', shape(None, False)),
            (b"some text\n", shape(None, False)),
            (b"{a: 1}", shape(None, False)),
        ],
    )  # fmt: skip
    def test_what_a_file_looks_like(self, content: bytes, expected: Shape) -> None:
        assert looks(content) == expected
        assert looks(b"\xef\xbb\xbf" + content) == expected  # a byte order mark changes nothing

    def test_a_first_row_that_is_longer_than_what_is_looked_at(self) -> None:
        content = b'{"a": 1, "text": "' + b"x" * HEAD + b'", "b": 2}\n'
        assert looks(content[:HEAD]) == shape("a text", True, "a text")
        assert shape_of(content[:HEAD]).cut_off

    def test_a_document_that_is_longer_has_no_lines(self) -> None:
        content = json.dumps({"rows": [{"a": "x" * 1000}] * 2000}, indent=1).encode()
        assert looks(content[:HEAD]) == shape("rows rows[] rows[].a", True)
        assert looks((b'{"rows": [\n{"a": 1}\n,' + b" " * HEAD)[:HEAD]) == shape("rows rows[] rows[].a", True)

    def test_the_first_lines_tell_enough(self) -> None:
        content = b"".join(b'{"a%d": 1}\n' % number for number in range(60))
        assert len(shape_of(content).lines) == 50

    def test_what_lies_deep_within_is_not_looked_at(self) -> None:
        content = b'{"a": {"b": {"c": {"d": {"e": 1}}}}}'
        assert looks(content) == shape("a a.b a.b.c a.b.c.d", True, "a a.b a.b.c a.b.c.d")
        assert looks(b'{"a":\n' + b"[" * HEAD) == shape("a a[] a[][] a[][][]", True)

    def test_a_star_stands_for_any_key_at_the_top(self) -> None:
        content = b'{"2026_demo.eval": {"version": 2, "eval": {"task": "demo"}}, "other.eval": null}'
        assert shape_of(content).document == frozenset({
            "2026_demo.eval", "2026_demo.eval.version", "2026_demo.eval.eval", "2026_demo.eval.eval.task",
            "*", "*.version", "*.eval", "*.eval.task",
        })  # fmt: skip

    def test_a_zip_file_is_its_members(self) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr("a/b.json", "{}")
            file.writestr("c", "")
        with zipfile.ZipFile(packed) as file:
            assert shape_of_zip(file) == Shape(members=frozenset({"a/b.json", "c"}))

    @pytest.mark.parametrize(
        ("content", "fields"),
        [
            (b'{"b": {"x": 1}, "a": [{"y": 1}]}', ["a", "b"]),
            (b'{"b": 1}\n{"a": 1}', ["a", "b"]),
            (b'[{"b": {"x": 1}}, {"a": 1}]', ["a", "b"]),
            (b"[1]", []),
            (b"", []),
        ],
    )
    def test_its_fields_are_those_of_its_rows(self, content: bytes, fields: list[str]) -> None:
        assert shape_of(content).fields == fields

    @given(st.binary(max_size=30) | st.text('[]{}:,"\\1a \n', max_size=30).map(str.encode))
    def test_whatever_a_file_holds_it_has_a_shape(self, content: bytes) -> None:
        assert isinstance(shape_of(content), Shape)


class TestRecognising:
    @pytest.mark.parametrize(
        ("layout", "content", "fits"),
        [
            ("{}", b'{"x": 1}\n', True),
            ("{when: {all: [a, b]}}", b'{"a": 1, "b": 1}\n', True),
            ("{when: {all: [a, b]}}", b'{"a": 1}\n{"b": 1}\n', False),
            ("{when: {all: [a]}}", b'{"x": 1}\n{"a": 1}\n', True),
            ("{when: {any: [a, b]}}", b'{"b": 1}\n', True),
            ("{when: {any: [a, b]}}", b'{"c": 1}\n', False),
            ("{when: {none: [a]}}", b'{"c": 1}\n', True),
            ("{when: {none: [a]}}", b'{"a": 1}\n', False),
            ("{when: {all: [a]}}", b'{"a": null}\n', False),
            ("{rows: document, when: {all: [a.b]}}", b'{"a": {"b": 1}}\n', True),
            ("{rows: document, when: {all: [a.b]}}", b'{\n"a": {"b": 1}}\n', True),
            ("{rows: document, when: {all: [a]}}", b'{"a": 1}\n{"a": 1}\n', False),
            ("{rows: document, when: {all: ['a[].b']}}", b'{"a": [{}, {"b": 1}]}\n', True),
            ("{rows: 'a[]'}", b'{"a": []}', True),
            ("{rows: 'a[]'}", b'{"a": {}}', False),
            ("{rows: 'a.b[]'}", b'{"a": {"b": []}}', True),
            ("{rows: '[]', when: {any: ['[].c']}}", b'[{"c": 1}]', True),
            ("{rows: '[]', when: {any: ['[].c']}}", b'[{"d": 1}]', False),
            ("{lists: [a, b], when: {all: [a]}}", b'{"a": ["x"]}', True),
            ("{lists: [a, b], when: {all: [a]}}", b'{"a": ["x"]}\n{"a": []}', False),
        ],
    )
    def test_by_the_fields_that_a_layout_asks_for(self, layout: str, content: bytes, fits: bool) -> None:
        own, other = named("own", f"layouts: {{it: {layout}}}"), named("other", "layouts: {it: {when: {all: [other]}}}")
        if fits:
            assert recognise(shape_of(content), [other, own]) == (own, own.layouts[0])
        else:
            with pytest.raises(UnrecognisedError, match=r"^no source fits; "):
                recognise(shape_of(content), [other, own])

    def test_a_zip_file_by_its_members(self) -> None:
        own = named("own", "layouts: {lines: {}, zip: {members: ['s/*'], rows: document, when: {all: [h.json]}}}")
        assert recognise(Shape(members=frozenset({"h.json", "s/1"})), [PLAIN, own]) == (own, own.layouts[1])
        with pytest.raises(UnrecognisedError, match=r"^no source fits; it is a zip file$"):
            recognise(Shape(members=frozenset({"s/1"})), [PLAIN, own])

    def test_a_file_of_lines_is_one_even_if_its_one_line_is_a_document_too(self) -> None:
        own = named("own", "layouts: {document: {rows: document}, lines: {}}")
        assert recognise(shape_of(b'{"a": 1}'), [own]).layout.name == "lines"
        assert recognise(shape_of(b'{\n"a": 1}'), [own]).layout.name == "document"

    def test_the_fallback_counts_where_no_other_source_fits(self) -> None:
        own = named("own", "layouts: {it: {when: {all: [a]}}}")
        assert recognise(shape_of(b'{"a": 1, "failure_kind": "x"}'), [PLAIN, own]).source == own
        assert recognise(shape_of(b'{"failure_kind": "x"}'), [PLAIN, own]).source == PLAIN
        assert recognise(shape_of(b'[{"failure_kind": "x"}]'), [PLAIN, own]).layout.name == "list"

    @pytest.mark.parametrize(
        ("content", "layout"),
        [(b"", "lines"), (b"\n", "lines"), (b"oh\n", "lines"), (b"{}", "lines"), (b"[]", "list"), (b"[1]", "list")],
    )
    def test_it_counts_too_where_there_is_nothing_to_go_by(self, content: bytes, layout: str) -> None:
        assert recognise(shape_of(content), bundled_sources().values()) == (
            PLAIN,
            next(found for found in PLAIN.layouts if found.name == layout),
        )

    def test_whoever_names_a_source_knows_better_than_its_conditions(self) -> None:
        own = named("own", "layouts: {it: {when: {all: [a]}}, list: {rows: 'rows[]', when: {all: [x]}}}")
        assert recognise(shape_of(b'{"b": 1}\n{"b": 2}'), [own]).layout.name == "it"
        assert recognise(shape_of(b'{\n"rows": []}'), [own]).layout.name == "list"
        with pytest.raises(UnrecognisedError, match=r"^no source fits; its rows have the fields b$"):
            recognise(shape_of(b'{"b": 1}\n'), [own, PLAIN])

    def test_nor_which_of_several_layouts_it_is_if_they_are_read_alike(self) -> None:
        own = named("own", "layouts: {one: {when: {all: [a]}}, two: {when: {all: [b]}}}")
        assert recognise(shape_of(b'{"c": 1}'), [own]).layout.rows == "lines"

    def test_but_not_which_of_several_layouts_that_are_read_otherwise(self) -> None:
        own = named("own", "layouts: {one: {when: {all: [a]}}, two: {rows: document, when: {all: [b]}}}")
        with pytest.raises(UnrecognisedError, match=r"^own doesn't describe it; its rows have the fields c$"):
            recognise(shape_of(b'{"c": 1}'), [own])


class TestRefusals:
    @staticmethod
    def refusal(content: bytes | Shape, *sources: Source) -> UnrecognisedError:
        with pytest.raises(UnrecognisedError) as caught:
            recognise(shape_of(content) if isinstance(content, bytes) else content, sources)
        assert str(caught.value) == caught.value.reason
        return caught.value

    A = named("a", "layouts: {it: {rows: document, when: {all: [x]}}}")
    B = named("b", "layouts: {it: {rows: document, when: {any: [x, y]}}, other: {rows: document, when: {all: [x]}}}")
    TOTALS = named(
        "totals", "layouts: {it: {rows: document, when: {all: [sum]}, aggregate: these are totals; pass runs/}}"
    )

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b'{"u": 1, "t": 1}', "no source fits; its rows have the fields t, u"),
            (
                json.dumps({chr(97 + number): 1 for number in range(13)}).encode(),
                "no source fits; its rows have the fields a, b, c, d, e, f, g, h, i, j, k, l, ...",
            ),
            (b'{"a\\u001bb": 1}', r"no source fits; its rows have the fields a\x1bb"),
            (b"oh", "no source fits; it begins with no JSON object"),
            (b"", "no source fits; it begins with no JSON object"),
        ],
    )
    def test_where_none_fits(self, content: bytes, said: str) -> None:
        assert self.refusal(content, self.A, self.B).reason == said

    def test_twelve_fields_are_all_named(self) -> None:
        content = json.dumps({f"f{number:02}": 1 for number in range(12)}).encode()
        assert self.refusal(content, self.A, self.B).reason.endswith(", f11")

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b'{"t": 1}\n{"t": 1}', "a doesn't describe it; its rows have the fields t"),
            (b"oh", "a doesn't describe it; it begins with no JSON object"),
            (Shape(members=frozenset()), "a doesn't describe it; it is a zip file"),
        ],
    )
    def test_where_the_one_that_was_named_does_not(self, content: bytes | Shape, said: str) -> None:
        assert self.refusal(content, self.A).reason == said

    def test_where_several_do(self) -> None:
        error = self.refusal(b'{"x": 1}', self.A, self.B)
        assert error.reason == "several sources fit: a, b; say which one it is"
        assert (error.candidates, error.aggregate) == (("a", "b"), False)
        assert recognise(shape_of(b'{"y": 1}'), [self.A, self.B]).source == self.B

    def test_where_it_is_a_file_of_totals(self) -> None:
        error = self.refusal(b'{"sum": 1}', self.A, self.TOTALS)
        assert error.reason == "these are totals; pass runs/"
        assert (error.candidates, error.aggregate) == (("totals",), True)

    def test_a_layout_with_rows_counts_before_one_of_totals(self) -> None:
        own = named("own", "layouts: {totals: {rows: document, aggregate: no}, rows: {rows: document}}")
        assert recognise(shape_of(b'{"x": 1}'), [own]).layout.name == "rows"

    def test_it_is_an_error_of_ours_that_can_be_pickled(self) -> None:
        error = self.refusal(b'{"x": 1}', self.A, self.B)
        copy = pickle.loads(pickle.dumps(error))
        assert (copy.reason, copy.candidates) == (error.reason, error.candidates)
        assert isinstance(error, ValueError)


class TestFiles:
    OWN = named("own", "layouts: {it: {when: {all: [a]}, repeats: its rows are in all.jsonl too}}")

    def test_one_that_repeats_anothers_rows_is_read_when_it_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(b'{"a": 1}')
        assert recognise_file(str(tmp_path / "rows"), [self.OWN]).layout.name == "it"
        with pytest.raises(UnrecognisedError, match=r"^its rows are in all\.jsonl too$"):
            SourceFile(str(tmp_path / "rows"), [self.OWN], named=False)

    def test_a_zip_file_in_a_pipe_cannot_be_read(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        feeder = threading.Thread(target=(tmp_path / "fifo").write_bytes, args=(b"PK\x03\x04",))
        feeder.start()
        with pytest.raises(UnrecognisedError, match=r"^a zip file is read from its end; name the file itself$"):
            SourceFile(str(tmp_path / "fifo"), [self.OWN])
        feeder.join()

    def test_a_damaged_zip_file_is_said_to_be_one(self, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(b"PK\x03\x04 and no more")
        with pytest.raises(
            UnrecognisedError, match=r"^it is no zip file that can be read: damaged, or packed once more$"
        ):
            SourceFile(str(tmp_path / "rows"), [self.OWN])

    def test_how_far_it_has_been_read(self, tmp_path: Path) -> None:
        (tmp_path / "rows").write_bytes(b'{"a": 1}\n')
        with SourceFile(str(tmp_path / "rows"), [self.OWN]) as file:
            assert (file.position, file.size) == (9, 9)
        with SourceFile("/dev/null", [PLAIN]) as file:
            assert file.position == 0


@pytest.mark.parametrize("source", bundled_sources().values(), ids=bundled_sources())
def test_no_field_of_the_bundled_sources_is_asked_for_and_forbidden(source: Source) -> None:
    for layout in source.layouts:
        asked: set[Any] = {*layout.when.all, *layout.when.any}
        assert asked.isdisjoint(layout.when.none)

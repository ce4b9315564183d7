"""The strict reader by itself: which text it takes, how it says where, and what it does with hostile files."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from failure_kinds import VocabularyError, reading
from failure_kinds.reading import MAX_BYTES, read_yaml

if TYPE_CHECKING:
    from pathlib import Path

LOADERS = [loader for loader in (getattr(yaml, "CSafeLoader", None), yaml.SafeLoader) if loader]


@pytest.fixture(params=LOADERS, ids=lambda loader: loader.__name__)
def _each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LOADER", request.param)


pytestmark = pytest.mark.usefixtures("_each_parser")


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.yaml"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def message(folder: Path, content: str | bytes) -> str:
    """The whole of what is said of a file that can't be read to its end."""
    path = write(folder, content)
    with pytest.raises(VocabularyError) as caught:
        read_yaml(path, "file.yaml")
    return str(caught.value)


class TestScalars:
    @pytest.mark.parametrize(
        "written", ["0640", "7:30", "4_29", "no", "1e3", "0x1F", ".inf", "2026-01-01", "Null", "-"]
    )
    def test_are_the_text_that_is_written(self, tmp_path: Path, written: str) -> None:
        assert read_yaml(write(tmp_path, f"{written}: '{written}'\nb: {written}x")).data == {
            written: written,
            "b": f"{written}x",
        }

    @pytest.mark.parametrize("written", ["", "~", "null"])
    def test_mean_null_if_plain(self, tmp_path: Path, written: str) -> None:
        assert read_yaml(write(tmp_path, f"a: {written}\nb: [{written or '~'}]")).data == {"a": None, "b": [None]}

    @pytest.mark.parametrize("written", ["''", '"~"', "'null'"])
    def test_are_text_if_quoted(self, tmp_path: Path, written: str) -> None:
        assert read_yaml(write(tmp_path, f"a: {written}")).data == {"a": written[1:-1]}

    def test_in_blocks(self, tmp_path: Path) -> None:
        assert read_yaml(write(tmp_path, "a: |\n  one\n  two\nb: >-\n  one\n  two")).data == {
            "a": "one\ntwo\n",
            "b": "one two",
        }


@pytest.mark.parametrize("content", ["", "# a comment\n", "---\n", "--- ~\n...\n", "\ufeff", "{}"])
def test_a_file_that_says_nothing_is_empty(tmp_path: Path, content: str) -> None:
    assert read_yaml(write(tmp_path, content)).data == {}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_do(tmp_path: Path, end: str) -> None:
    # YAML takes U+0085 and U+2028 for line ends as well; no editor does.
    content = f'\ufeffa: "x\u2028y\u0085z"{end}b: é{end}c: &anchor d{end}'
    (problem,) = read_yaml(write(tmp_path, content), "file.yaml").problems
    assert (problem.line, problem.column) == (3, 4)
    assert problem.excerpt == "    c: &anchor d\n       ^"


def test_a_node_is_found_by_its_path(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "a:\n  b: [x, {c: y}]\n  d:\n"), "f.yaml")
    place = [(problem.line, problem.column) for problem in (
        file.problem(("a", "b", 1, "c"), ""),
        file.problem(("a", "b", 1, "c"), "", at_key=True),
        file.problem(("a", "b", 0), "", at_key=True),
        file.problem(("a", "d"), ""),
        file.problem(("a", "missing", "deeper"), "", at_key=True),
        file.problem((), ""),
    )]  # fmt: skip
    assert place == [(2, 14), (2, 11), (2, 7), (3, 3), (1, 1), (1, 1)]
    assert (file.line(("a", "b")), file.line(("nowhere",))) == (2, 1)


class TestRefusedNodes:
    def test_leave_the_rest_readable(self, tmp_path: Path) -> None:
        file = read_yaml(write(tmp_path, "a: !!int 1\nb: [1, &x {c: d}, 2]\ne: *x\n&k f: g\nh: i\n"), "f")
        assert file.data == {"b": ["1", None, "2"], "h": "i"}
        assert file.refused == {("a",), ("b", 1), ("e",)}
        assert [str(problem) for problem in file.problems] == [
            "f:1:4: the tag 'tag:yaml.org,2002:int' isn't supported; write plain values",
            "f:2:8: the anchor &x isn't supported, nor are aliases of it; write out what is meant",
            "f:4:1: the anchor &k isn't supported, nor are aliases of it; write out what is meant",
        ]

    def test_hide_what_is_below_them(self, tmp_path: Path) -> None:
        file = read_yaml(write(tmp_path, "a: !x {b: &y 1, b: 2, <<: {c: d}}\nb: 1\n"))
        assert (len(file.problems), file.data) == (1, {"b": "1"})

    def test_a_key_whose_value_was_refused_is_still_taken(self, tmp_path: Path) -> None:
        file = read_yaml(write(tmp_path, "a: !x 1\na: 2\n"))
        assert file.problems[1].message == "'a' is given twice, first on line 1; keep one of them"


class TestFilesThatCannotBeRead:
    @pytest.mark.parametrize("source", [None, 5, b"file.yaml", ["file.yaml"]])
    def test_what_is_no_file(self, source: Any) -> None:
        with pytest.raises(VocabularyError, match=r"a path, a resource or a mapping is needed here$"):
            read_yaml(source)

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(VocabularyError, match=r"^no\.yaml: can't be read: no such file or directory$"):
            read_yaml(tmp_path / "no.yaml", "no.yaml")

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(VocabularyError, match=r"can't be read: it is a folder; name a YAML file$"):
            read_yaml(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, tmp_path: Path) -> None:
        path = write(tmp_path, "a: b")
        path.chmod(0)
        with pytest.raises(VocabularyError, match=r"can't be read: permission denied$"):
            read_yaml(path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
    def test_a_fifo_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(VocabularyError, match=r"can't be read: it isn't a regular file$"):
            read_yaml(tmp_path / "fifo")

    def test_a_path_that_no_file_can_have(self) -> None:
        with pytest.raises(VocabularyError, match="can't be read: embedded null"):
            read_yaml("a\0b")

    @pytest.mark.skipif(sys.platform == "win32", reason="names are text there")
    def test_a_name_that_is_no_text_can_be_printed(self, tmp_path: Path) -> None:
        with pytest.raises(VocabularyError) as caught:
            read_yaml(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.yaml"))
        assert caught.value.problems[0].file.endswith("\\udcff.yaml")
        str(caught.value).encode("utf-8")

    def test_as_much_as_is_allowed_and_a_byte_more(self, tmp_path: Path) -> None:
        text = "# " + "x" * (MAX_BYTES - 2)
        assert read_yaml(write(tmp_path, text)).data == {}
        with pytest.raises(VocabularyError, match=r"can't be read: it is larger than 1048576 bytes"):
            read_yaml(write(tmp_path, text + "x"))

    def test_a_million_brackets(self, tmp_path: Path) -> None:
        for content in ("[" * 1_000_000, "a: " + "{a: " * 200_000, "- " * 400_000):
            assert message(tmp_path, content).startswith("file.yaml:1:")

    @pytest.mark.parametrize("content", ["a: é".encode("latin-1"), b"\xef\xbb\xbfa: \xff", "a: b".encode("utf-16")])
    def test_not_utf_8(self, tmp_path: Path, content: bytes) -> None:
        assert "the file isn't UTF-8 from here on; save it as UTF-8" in message(tmp_path, content)

    def test_not_utf_8_says_where(self, tmp_path: Path) -> None:
        assert message(tmp_path, b"\xef\xbb\xbfa: 1\nb: \xff").splitlines() == [
            "file.yaml:2:4: the file isn't UTF-8 from here on; save it as UTF-8",
            "    b:",
            "       ^",
        ]

    @pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\ufffe", "\ufeff"])
    def test_characters_that_yaml_does_not_allow(self, tmp_path: Path, character: str) -> None:
        expected = f"file.yaml:2:4: the character {character!a} isn't allowed in YAML"
        assert message(tmp_path, f"é: 1\nb: {character}\n").splitlines()[0] == expected

    @pytest.mark.parametrize("escape", ["\\ud800", "\\UFFFFFFFF"])
    def test_escapes_that_are_no_characters(self, tmp_path: Path, escape: str) -> None:
        path = write(tmp_path, f'a: "{escape}"')
        try:
            assert read_yaml(path).problems
        except VocabularyError as error:
            assert error.problems

    def test_a_directive_of_another_yaml(self, tmp_path: Path) -> None:
        assert "not valid YAML: " in message(tmp_path, "%YAML 9.1\n---\na: b\n")


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_end_in_anything_but_data_or_a_vocabulary_error(content: bytes) -> None:
    class Resource:
        name = "resource.yaml"

        def open(self, mode: str) -> Any:
            import io

            assert mode == "rb"
            return io.BytesIO(content)

    try:
        file = read_yaml(Resource())  # type: ignore[arg-type]
    except VocabularyError as error:
        str(error).encode("utf-8")
    else:
        assert isinstance(file.data, dict)

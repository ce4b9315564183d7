"""The sources of the package: what holds for all of them, whatever tool they describe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from failure_kinds.reading import read_yaml
from failure_kinds.sources import Source, bundled_sources
from failure_kinds.sources.loading import check_source

if TYPE_CHECKING:
    from failure_kinds import FailureRegistry

FILES = sorted((Path(__file__).parent.parent / "vocabulary" / "sources").glob("*.yaml"))
TOOLS = {"nemo_gym", "harbor", "terminal_bench", "inspect", "verifiers", "tau2", "swe_agent", "mini_swe_agent",
         "swe_bench", "openhands"}  # fmt: skip


def test_each_file_is_a_source() -> None:
    assert [path.stem for path in FILES] == list(bundled_sources())
    assert set(bundled_sources()) == TOOLS | {"plain", "python"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
class TestEach:
    def test_it_is_right(self, path: Path, registry: FailureRegistry) -> None:
        assert check_source(read_yaml(path), registry) == bundled_sources()[path.stem]

    def test_it_is_named_as_its_file(self, path: Path) -> None:
        assert bundled_sources()[path.stem].name == path.stem

    def test_it_says_what_it_reads_in_a_line(self, path: Path) -> None:
        about = bundled_sources()[path.stem].about
        assert about is not None
        assert about.endswith(".")
        assert len(about) <= 100

    def test_an_editor_finds_its_schema(self, path: Path) -> None:
        first, _ = path.read_text(encoding="utf-8").split("\n", 1)
        assert first == "# yaml-language-server: $schema=../source.schema.json"
        assert (path.parent / "../source.schema.json").resolve().exists()

    def test_its_lines_are_short(self, path: Path) -> None:
        assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 120


@pytest.mark.parametrize("name", sorted(TOOLS))
class TestEachTool:
    def test_it_says_where_the_tool_defines_what_it_records(self, name: str) -> None:
        assert re.fullmatch(r"https://\S+", bundled_sources()[name].url or "")

    def test_what_it_maps_has_its_reason_beside_it(self, name: str) -> None:
        """A comment on the line, or above a group of values, and a link for every table of values."""
        (path,) = (path for path in FILES if path.stem == name)
        lines = path.read_text(encoding="utf-8").splitlines()
        comments = [line for line in lines if "# " in line]
        assert len(comments) >= 3
        assert any("https://" in line for line in lines)

    def test_it_says_which_files_have_rows(self, name: str) -> None:
        assert any(layout.aggregate is None for layout in bundled_sources()[name].layouts)

    def test_only_plain_rows_give_way_to_it(self, name: str) -> None:
        assert not bundled_sources()[name].fallback

    def test_a_row_of_another_tool_within_is_read_by_the_source_of_that_one(self, name: str) -> None:
        nested = {rule.nested.name for rule in bundled_sources()[name].kind if rule.nested is not None}
        assert nested == ({"harbor"} if name == "nemo_gym" else set())


def test_the_same_value_never_means_two_sides_in_one_field(registry: FailureRegistry) -> None:
    """Where two rules of a field list a value under different conditions, they may differ in kind, not in blame."""

    def sides(source: Source) -> dict[tuple[object, str], set[str]]:
        said: dict[tuple[object, str], set[str]] = {}
        for rule in source.kind:
            for value, target in rule.values.items():
                if target is not None:
                    stage = target.stage if target.stage in registry.stages else None
                    answer = registry.classify_failure(target.kind, stage)
                    said.setdefault((rule.field, value), set()).add(answer.value)
        return said

    for source in bundled_sources().values():
        for place, answers in sides(source).items():
            assert not {"evaluation", "model"} <= answers or place[1] in EITHER_SIDE, (source.name, place)


# Of an agent that is still being installed, they are no failures of its own.
EITHER_SIDE = {"OutputTokenExceededError", "ContextWindowExceededError"}

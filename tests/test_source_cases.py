"""What every source reads out of real shapes of its tool's files: a folder a case.

`tests/data/sources/<source>/<case>/` holds the files and `expected.json`; `tests/data/own_sources/<case>/` holds also
the source file, `source.yaml`, as somebody would write it for a tool that the package doesn't know. What is expected
is a list of rows, each with what isn't null in it, or the text of the refusal under `refused`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from conftest import DATA

from failure_kinds.sources import FailureRow, UnrecognisedError, bundled_sources, load_source, read_failures

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = sorted(path.parent for path in (DATA / "sources").glob("*/*/expected.json"))
OWN = sorted(path.parent for path in (DATA / "own_sources").glob("*/expected.json"))


def name_of(case: Path) -> str:
    return f"{case.parent.name}-{case.name}"


def input_of(case: Path) -> Path:
    (path,) = [path for path in case.iterdir() if path.name not in ("expected.json", "source.yaml")]
    return path


def as_data(row: FailureRow) -> dict[str, Any]:
    """What a row says: its evidence, what was recorded if that is another name, the score and the extras."""
    evidence = {field: value for field, value in row.evidence._asdict().items() if field not in ("scored", "group")}
    recorded = row.recorded if row.recorded not in (row.evidence.failure_kind, row.evidence.unmapped) else None
    said = {"row": row.number, "place": row.place, **evidence, "recorded": recorded, "score": row.score, **row.extras}
    return {field: value for field, value in said.items() if value is not None}


def unreadable(file: str, number: int, reason: str) -> None:
    pytest.fail(f"{file}:{number}: {reason}")


def read(case: Path, source: Any) -> Any:
    try:
        return [as_data(row) for row in read_failures(input_of(case), source, on_unreadable=unreadable)]
    except UnrecognisedError as error:
        return {"refused": str(error)}


@pytest.mark.parametrize("case", SHIPPED, ids=name_of)
def test_a_file_is_recognised_and_read(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    assert read(case, "auto") == expected
    if isinstance(expected, list) and expected:
        assert {row.source for row in read_failures(input_of(case))} == {case.parent.name}


@pytest.mark.parametrize("case", SHIPPED, ids=name_of)
def test_naming_the_source_reads_the_same(case: Path) -> None:
    assert read(case, case.parent.name) == json.loads((case / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", OWN, ids=name_of)
def test_a_source_file_of_ones_own_reads_a_tool_that_the_package_does_not_know(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    assert read(case, load_source(case / "source.yaml")) == expected
    assert read(case, ["auto", case / "source.yaml"]) == expected


def test_every_source_has_a_case() -> None:
    assert {case.parent.name for case in SHIPPED} == set(bundled_sources()) - {"python"}

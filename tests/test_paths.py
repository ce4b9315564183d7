"""Paths to the values of a row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failure_kinds.sources.paths import ROW, Step, is_path, parse_path, path_text, values_at

ROWS: dict[str, Any] = {
    "a": {"b": {"c": 1}, "n": None},
    "steps": [{"error": "x"}, {"error": "y"}, {}, 5],
    "events": {"e1": {"kind": "k1"}, "e2": {"kind": "k2"}},
    "current": "e2",
    "lists": [[1], [2]],
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".", [ROWS]),
        ("a.b.c", [1]),
        ("a.n", [None]),
        ("a.x", []),
        ("a.b.c.d", []),
        ("steps[].error", ["x", "y"]),
        ("steps[-1]", [5]),
        ("lists[-1]", [[2]]),
        ("a[-1]", []),
        ("steps[]", ROWS["steps"]),
        ("steps", [ROWS["steps"]]),
        ("steps.error", []),
        ("a[]", []),
        ("a[].b", []),
        ("events[current].kind", ["k2"]),
        ("events[current]", [{"kind": "k2"}]),
        ("events[missing].kind", []),
        ("events[steps].kind", []),
        ("steps[current]", []),
        ("a[current]", []),
        ("lists[]", [[1], [2]]),
    ],
)
def test_a_path_leads_to_values(path: str, values: list[Any]) -> None:
    assert list(values_at(ROWS, parse_path(path), ROWS)) == values


def test_a_selector_names_a_field_of_the_row_wherever_the_path_begins() -> None:
    assert list(values_at({"by": {"e2": 1}}, parse_path("by[current]"), ROWS)) == [1]


@pytest.mark.parametrize("path", [".", "a", "a.b", "a[]", "a[].b[c].d", "mean/reward", "a b", "é", "1", "a:b-c"])
def test_what_is_a_path(path: str) -> None:
    assert is_path(path)
    assert path_text(parse_path(path)) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "..",
        "a.",
        ".a",
        "a..b",
        "[]",
        "[].a",
        "a[",
        "a]",
        "a[[]]",
        "a[]b",
        "a[][]",
        "a[b.c]",
        'a"b',
        "a\\b",
        "a\tb",
        "a\0",
    ],
)
def test_what_is_none(path: str) -> None:
    assert not is_path(path)


def test_the_row_itself_takes_no_step() -> None:
    assert parse_path(ROW) == ()
    assert path_text(()) == ROW
    assert parse_path("a[b]") == (Step("a", "b"),)


@given(st.text('ab.[]"', max_size=8))
def test_a_path_is_read_as_it_is_written(text: str) -> None:
    if is_path(text):
        assert path_text(parse_path(text)) == text

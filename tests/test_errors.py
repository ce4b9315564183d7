"""Errors as values: their text, their fields, and that they survive a process boundary."""

from __future__ import annotations

import pickle

import pytest

from failure_kinds import FailureKindsError, Problem, UnregisteredKindError, VocabularyError
from failure_kinds.errors import excerpt


def test_a_problem_is_its_place_and_its_message() -> None:
    assert str(Problem("team.yaml", 4, 5, "it is wrong")) == "team.yaml:4:5: it is wrong"
    assert str(Problem("team.yaml", None, None, "it is missing")) == "team.yaml: it is missing"


def test_the_excerpt_takes_no_part_in_comparisons() -> None:
    assert Problem("f", 1, 1, "m", "one line") == Problem("f", 1, 1, "m", "another")


@pytest.mark.parametrize(
    ("line", "column", "shown", "caret"),
    [
        ("  a: b", 6, "      a: b", "         ^"),
        ("a:\tb", 4, "    a: b", "       ^"),
        ("タイム: b", 6, "    タイム: b", "            ^"),
        ("e\u0301: b", 5, "    e\u0301: b", "       ^"),
        ("a: \x1b[31mb", 9, "    a: \\x1b[31mb", "               ^"),
        ("", 1, "    ", "    ^"),
        ("x" * 200, 150, "    …" + "x" * 100 + "…", "    " + " " * 51 + "^"),
        ("x" * 200, 1, "    " + "x" * 100 + "…", "    ^"),
    ],
)
def test_the_caret_stands_under_the_spot(line: str, column: int, shown: str, caret: str) -> None:
    text = f"before\n{line}\nafter"
    assert excerpt(text, 7, 7 + len(line), 6 + column).split("\n") == [shown.rstrip() or "    ", caret]


def test_a_vocabulary_error_says_everything_and_against_what() -> None:
    error = VocabularyError(
        [Problem("a", 1, 1, "one", "    x\n    ^"), Problem("b", None, None, "two")], "vocabulary 1"
    )
    assert str(error) == "a:1:1: one\n    x\n    ^\nb: two\n2 problems; checked against vocabulary 1"
    assert isinstance(error, ValueError)
    assert isinstance(error, FailureKindsError)


def test_a_vocabulary_error_shows_the_first_hundred_problems_and_holds_them_all() -> None:
    error = VocabularyError([Problem("a", number, 1, "wrong") for number in range(1, 151)])
    assert str(error).splitlines()[99:] == ["a:100:1: wrong", "... and 50 more"]
    assert len(error.problems) == 150


def test_a_vocabulary_error_survives_pickling() -> None:
    error = VocabularyError([Problem("a", 1, 1, "one", "x")], "vocabulary 1.0.0")
    again = pickle.loads(pickle.dumps(error))
    assert (again.problems, again.loaded, str(again)) == (error.problems, error.loaded, str(error))


def test_an_unregistered_kind_error_survives_pickling() -> None:
    error = UnregisteredKindError("it isn't registered", ["name"])
    again = pickle.loads(pickle.dumps(error))
    assert (again.name, str(again)) == (["name"], "it isn't registered")
    assert isinstance(error, ValueError)

"""What bad files get: each `data/yaml/NAME.yaml` is refused with the message in `NAME.txt`, each `ok_` one loads.

A new case is a new file; `expected.json` holds those that people really met, by line and by words of the message.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from conftest import DATA

from failure_kinds import VocabularyError, load_registry, reading

CASES = sorted((DATA / "yaml").glob("*.yaml"))
REFUSED = [path for path in CASES if not path.name.startswith("ok_")]
ACCEPTED = [path for path in CASES if path.name.startswith("ok_")]
MET: dict[str, Any] = json.loads((DATA / "yaml" / "expected.json").read_text(encoding="utf-8"))

# Where a file isn't YAML at all, each parser says so in words of its own.
IN_THE_PARSERS_WORDS = {"not_yaml", "tab"}


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every case with libyaml, where it is there, and without."""
    loader = getattr(yaml, request.param, None)
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(reading, "_LOADER", loader)
    return str(request.param)


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_is_refused_with_this_message(path: Any, parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(VocabularyError) as caught:
        load_registry(path.name)
    if path.stem not in IN_THE_PARSERS_WORDS:
        assert f"{caught.value}\n" == path.with_suffix(".txt").read_text(encoding="utf-8")
    elif parser == "SafeLoader":
        assert str(caught.value).startswith(f"{path.name}:3:1: not valid YAML: ")


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_is_accepted(path: Any) -> None:
    assert load_registry(path).kinds


@pytest.mark.parametrize("name", MET)
def test_says_what_people_needed_to_know(name: str) -> None:
    if MET[name] == "accepted":
        load_registry(DATA / "yaml" / f"{name}.yaml")
        return
    with pytest.raises(VocabularyError) as caught:
        load_registry(DATA / "yaml" / f"{name}.yaml")
    assert [problem.line for problem in caught.value.problems] == [expected["line"] for expected in MET[name]]
    for problem, expected in zip(caught.value.problems, MET[name], strict=True):
        for words in expected["mentions"]:
            assert words in problem.message

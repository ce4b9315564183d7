"""The package's face: what can be imported, what that costs, and which module may know which."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import failure_kinds
from failure_kinds import FailureRegistry, constants, get_registry, load_registry, using_registry

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "tests" / "data" / "gym_failures.jsonl"
SOURCE = Path(failure_kinds.__file__).parent


def modules_in(folder: Path, prefix: str = "") -> list[str]:
    return sorted(f"{prefix}{path.stem}" for path in folder.glob("*.py") if not path.stem.startswith("__"))


MODULES = [*modules_in(SOURCE), *modules_in(SOURCE / "sources", "sources.")]
COMMAND = modules_in(SOURCE / "cli", "cli.")

# Each module may import those before it, and none behind it.
ORDER = [
    "constants", "failure_class", "spelling", "errors", "frozen", "seen", "quota", "reading", "terms", "document",
    "findings", "layers", "labelling", "rule_list", "rules", "classification", "conflicts", "registry", "loading",
    "active", "api", "names", "fields", "override_schema", "constants_module", "merged", "changes", "differences",
    "rule_expressions", "column_rules", "columns", "tables", "sql",
    "sources.paths", "sources.source", "sources.parsing", "sources.bundled", "sources.exceptions", "sources.meanings",
    "sources.differences", "sources.document", "sources.loading",
    "files", "sources.conditions", "sources.stages", "sources.evidence", "sources.row_types", "sources.decoding",
    "sources.reader", "sources.json_stream", "sources.row_files", "sources.zip_members", "sources.items",
    "sources.recognition", "sources.source_file", "sources.failure_rows", "scan", "scan_processes", "parquet",
    "report_model", "tally", "report",
]  # fmt: skip


def path_of(module: str) -> Path:
    return SOURCE / f"{module.replace('.', '/')}.py"


def imported_by(module: str, node: ast.ImportFrom) -> set[str]:
    """The modules of this package that a relative import in another one names."""
    package = module.split(".")[: -node.level]
    names = [node.module] if node.module else [alias.name for alias in node.names]
    return {".".join([*package, name]) for name in names}


# The signatures of the API that this one follows.
SIGNATURES = {
    "classify_failure": (
        "(failure_kind: 'str | None', stage: 'FailureStage | None' = None, http_status: 'object' = None, "
        "policy: 'bool' = True, config: 'FailureClassificationConfig | None' = None) -> 'FailureClass'"
    ),
    "reporting_failure_kind": (
        "(kind: 'str | None', http_status: 'object', policy: 'bool' = True, "
        "config: 'FailureClassificationConfig | None' = None) -> 'str | None'"
    ),
    "is_evaluation_side": "(name: 'object', config: 'FailureClassificationConfig | None' = None) -> 'bool'",
    "is_server_failure": "(kind: 'object', config: 'FailureClassificationConfig | None' = None) -> 'bool'",
    "is_gate_derived": "(name: 'object') -> 'bool'",
    "is_namespaced": "(name: 'object') -> 'bool'",
    "is_registered": "(name: 'object') -> 'bool'",
    "is_server_status": "(status: 'object') -> 'bool'",
    "quota_reset_text": "(reason: 'object') -> 'str | None'",
    "quota_reset_unix": "(reason: 'object') -> 'int | None'",
    "require_failure_kind": "(name: 'object') -> 'str'",
    "validate_failure_kind": "(name: 'T') -> 'T'",
}


def python(*code: str) -> str:
    result = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=True)
    return result.stdout.strip()


class TestTheFace:
    @pytest.mark.parametrize("name", failure_kinds.__all__)
    def test_every_name_is_there(self, name: str) -> None:
        assert getattr(failure_kinds, name) is not None

    def test_dir_is_all_sorted(self) -> None:
        assert dir(failure_kinds) == sorted(set(failure_kinds.__all__))

    @pytest.mark.parametrize("name", SIGNATURES)
    def test_a_function_has_the_signature_that_callers_rely_on(self, name: str) -> None:
        assert str(inspect.signature(getattr(failure_kinds, name))) == SIGNATURES[name]

    def test_a_name_that_is_not_there_is_said_to_be_so(self) -> None:
        for name in ("AGENT_TIMOUT", "classify", "__path_of_nothing__"):
            with pytest.raises(AttributeError, match=f"module 'failure_kinds' has no attribute '{name}'"):
                getattr(failure_kinds, name)

    def test_a_kind_just_added_has_its_constant_at_once(self) -> None:
        kinds = {"new_kind": {"domain": "agent", "summary": "It is new."}}
        with using_registry(load_registry({"schema_version": 1, "kinds": kinds})):
            assert failure_kinds.NEW_KIND == "new_kind"  # type: ignore[attr-defined]
            assert "new_kind" in failure_kinds.FAILURE_KINDS
        assert "new_kind" not in failure_kinds.FAILURE_KINDS

    def test_the_constants_are_those_of_the_vocabulary(self, registry: FailureRegistry) -> None:
        kinds = {name: value for name, value in vars(constants).items() if isinstance(value, str) and name.isupper()}
        assert kinds == dict(registry.constants)
        assert get_args(constants.FailureStage) == tuple(registry.stages)

    def test_the_registry_answers_as_the_functions_do(self, registry: FailureRegistry) -> None:
        assert registry.reporting_failure_kind("agent_run_error", 503) == "model_server_error"
        assert registry.reporting_failure_kind("model_context_limit", policy=False) == "non_policy_model_rejection"
        assert registry.explain_failure("agent_timeout") == failure_kinds.explain_failure("agent_timeout")

    def test_the_registry_answers_every_question(self) -> None:
        for module in ("api", "names"):
            for name in importlib.import_module(f"failure_kinds.{module}").__all__:
                if name not in ("is_namespaced", "is_server_status", "forget_seen_names"):  # no registry is asked
                    assert callable(getattr(FailureRegistry, name))


class TestTheCost:
    def test_a_constant_costs_no_framework(self) -> None:
        loaded = python(
            "import sys",
            "from failure_kinds import AGENT_TIMEOUT, FailureClass, FailureStage, QUOTA_RESET_REGEX",
            "print(*sorted(name for name in sys.modules if name.split('.')[0] in",
            "    ('pydantic', 'pydantic_core', 'yaml', 'importlib_resources', 'failure_kinds')))",
        )
        assert loaded.split() == [
            "failure_kinds",
            "failure_kinds.constants",
            "failure_kinds.failure_class",
            "failure_kinds.quota",
        ]

    def test_a_registry_is_loaded_by_upper_case_names_only(self) -> None:
        code = "import sys, failure_kinds", "print(hasattr(failure_kinds, 'no_such_name'), 'yaml' in sys.modules)"
        assert python(*code) == "False False"


class TestTheHouse:
    def test_every_module_has_its_place(self) -> None:
        assert sorted(ORDER) == sorted(MODULES)

    @pytest.mark.parametrize("module", MODULES)
    def test_a_module_imports_only_what_stands_before_it(self, module: str) -> None:
        tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
        known = set(ORDER[: ORDER.index(module)])
        for node in tree.body:  # what is imported for type checkers or inside a function has no place in the order
            if isinstance(node, ast.ImportFrom) and node.level:
                assert imported_by(module, node) <= known

    @pytest.mark.parametrize("module", MODULES)
    def test_one_arrow_runs_back_in_one_place(self, module: str) -> None:
        tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
        inner = [
            function.name
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.ImportFrom) and node.level
        ]
        assert inner == (["_default_classification_config"] if module == "classification" else [])

    @pytest.mark.parametrize("module", [*MODULES, *COMMAND])
    def test_a_modules_dir_is_its_sorted_all(self, module: str) -> None:
        public = importlib.import_module(f"failure_kinds.{module}")
        assert dir(public) == sorted(public.__all__)
        assert all(hasattr(public, name) for name in public.__all__)

    @pytest.mark.parametrize("module", [*MODULES, *COMMAND])
    def test_a_module_is_short(self, module: str) -> None:
        assert len(path_of(module).read_text(encoding="utf-8").splitlines()) <= 400

    @pytest.mark.parametrize("module", ["", ".sources", *(f".{module}" for module in MODULES)])
    def test_the_examples_in_docstrings_run(self, module: str) -> None:
        assert doctest.testmod(importlib.import_module(f"failure_kinds{module}")).failed == 0


def test_the_examples_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in one namespace; a YAML block is saved as the file that its first line names."""
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|yaml)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert {language for language, _ in blocks} == {"python", "yaml"}
    namespace: dict[str, object] = {"SAMPLE": SAMPLE}
    for language, text in blocks:
        if language == "yaml":
            Path(text.splitlines()[0].removeprefix("# ")).write_text(text, encoding="utf-8")
        elif ">>>" in text:
            parsed = doctest.DocTestParser().get_doctest(text, namespace, "README.md", "README.md", 0)
            assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed, clear_globs=False).failed == 0
            namespace = parsed.globs
        else:
            exec(compile(text, "README.md", "exec"), namespace)  # noqa: S102
    assert get_registry().version


def test_the_screens_of_the_readme_are_what_the_command_prints() -> None:
    """A line of three dots stands for any lines."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    screens = re.findall(r"^```console\n\$ failure-kinds (.*)\n((?:.*\n)*?)```$", readme, re.MULTILINE)
    assert len(screens) == readme.count("```console\n$ failure-kinds ") > 0
    for command, screen in screens:
        printed = subprocess.run(
            [sys.executable, "-m", "failure_kinds", *command.split()],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        position = 0
        for part in screen.split("...\n"):
            position = printed.index(part, position) + len(part)


def test_what_is_generated_is_up_to_date() -> None:
    script = ROOT / "scripts" / "generate.py"
    result = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr

"""The distribution: what is in it, and that the vocabulary is found wherever it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
USE = (
    "import failure_kinds as f; r = f.get_registry(); "
    "from failure_kinds.sources import failure_kind_of; print(f.__file__, len(r.kinds), "
    "f.classify_failure(f.AGENT_TIMEOUT).value, r.digest, failure_kind_of(ConnectionRefusedError()))"
)


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Run a command that must succeed, in an environment in which our own source tree isn't on the path."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("COV")}  # another installation
    result = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**own, "PYTHONPATH": "", **environment},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    return result.stdout.strip()


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean copy of the source tree: setuptools would ship what an earlier build left behind."""
    clean = tmp_path_factory.mktemp("sources") / "failure-kinds"
    ignored = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
    shutil.copytree(ROOT, clean, ignore=ignored)
    return clean


@pytest.fixture(scope="module")
def built(sources: Path) -> Path:
    """An sdist, a wheel from the tree and, in `from_sdist`, a wheel from the sdist."""
    build = [sys.executable, "-m", "build", "--no-isolation"]
    dist = sources / "dist"
    run(*build, "--sdist", "--wheel", "--outdir", dist, cwd=sources)
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(sources.parent / "unpacked", filter="data")
    (unpacked,) = (sources.parent / "unpacked").iterdir()
    run(*build, "--wheel", "--outdir", dist / "from_sdist", cwd=unpacked)
    return dist


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


def files_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


def shipped(folder: Path, name: str) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"{name}/{path.relative_to(folder).as_posix()}" for path in files}


def test_the_wheel_holds_the_package_its_data_and_its_licence(wheel: Path) -> None:
    package = shipped(ROOT / "src" / "failure_kinds", "failure_kinds")
    data = shipped(ROOT / "vocabulary", "failure_kinds/vocabulary")
    assert "failure_kinds/vocabulary/sources/harbor.yaml" in data
    assert {name for name in files_in(wheel) if ".dist-info/" not in name} == package | data
    assert any(name.endswith("licenses/LICENSE") for name in files_in(wheel))


def test_the_wheel_from_the_sdist_holds_the_same(built: Path, wheel: Path) -> None:
    assert files_in(next((built / "from_sdist").glob("*.whl"))) == files_in(wheel)


def test_the_sdist_holds_the_tests_and_the_scripts(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CHANGELOG.md", "tests/conftest.py", "tests/data/classification.jsonl", "scripts/generate.py"} <= names
    assert shipped(ROOT / "vocabulary" / "sources", "vocabulary/sources") <= names


def test_the_wheel_works_as_a_zip_on_the_path(wheel: Path, tmp_path: Path) -> None:
    where, *answers = run(sys.executable, "-c", USE, cwd=tmp_path, PYTHONPATH=str(wheel)).split()
    assert where.startswith(str(wheel))
    assert (*answers[:2], answers[-1]) == ("66", "model", "transport_unreachable")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that sees the dependencies of this one, and nothing of this project."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    sites = [path for path in sys.path if path.endswith("site-packages")]
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    # A plain path entry: unlike a site folder, it doesn't run the .pth file of our own editable install.
    (own / "dependencies.pth").write_text("\n".join(sites), encoding="utf-8")
    return python


def install(python: Path, what: Path, *options: str) -> None:
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
    ]
    run(*pip, "--force-reinstall", *options, what)


def test_the_installed_wheel_works_in_the_plainest_locale(wheel: Path, environment: Path, tmp_path: Path) -> None:
    install(environment, wheel)
    where, *answers = run(
        environment, "-c", USE, cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    ).split()
    assert str(environment.parent.parent) in where
    assert (*answers[:2], answers[-1]) == ("66", "model", "transport_unreachable")


def test_an_editable_install_sees_an_edit_of_the_vocabulary(sources: Path, environment: Path, tmp_path: Path) -> None:
    install(environment, sources, "--editable")
    vocabulary = sources / "vocabulary" / "failure_kinds.yaml"
    text = vocabulary.read_text(encoding="utf-8")
    edited = text.replace("\nkinds:\n", "\nkinds:\n  just_added:\n    domain: agent\n    summary: It was just added.\n")
    try:
        vocabulary.write_text(edited, encoding="utf-8")
        assert (
            run(environment, "-c", "import failure_kinds; print(failure_kinds.JUST_ADDED)", cwd=tmp_path)
            == "just_added"
        )
    finally:
        vocabulary.write_text(text, encoding="utf-8")

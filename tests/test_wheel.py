"""What the wheel installs: two packages with all that they need, which are not confused by others of their names."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

from xebench.patterns.registry import BENCHMARKS, builtin_files, discover

ROOT = Path(__file__).parents[1]
FOREIGN = "raise SystemExit('the wrong package')\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source tree, built by what is installed here."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip installed it into."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    return folder


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder with packages that are called as ours are."""
    for package in ("xebench", "benchmarks"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(FOREIGN)
    return tmp_path


def xebench(installed: Path, *arguments: str, cwd: Path, path: str) -> str:
    """What the installed command prints; a script does not have the working directory on its path."""
    command = [sys.executable, str(installed / "bin/xebench"), *arguments]
    # the cache is told apart by where the package lies, but its files would pile up
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(installed / "cache")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_has_two_top_level_packages_and_nothing_is_missing(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"numba_sycl", "xebench"}
    roots = (ROOT / "harness", "numba_sycl"), (ROOT / "harness", "xebench"), (ROOT, "benchmarks")
    files = [(path, root) for root, package in roots for path in (root / package).rglob("*") if path.is_file()]
    wanted = {path.relative_to(root).as_posix() for path, root in files if "__pycache__" not in path.parts}
    wanted -= {
        f"numba_sycl/{name}" for name in ("API.md", "CHANGELOG.md", "README.md", "pyproject.toml")
    }  # of its own wheel
    wanted = {name if name.startswith(("numba_sycl/", "xebench/")) else f"xebench/{name}" for name in wanted}
    assert {name for name in names if ".dist-info/" not in name} == wanted | {"xebench/requirements.lock"}
    assert {"xebench/py.typed", "xebench/opencl_kernels.zip", "xebench/benchmarks/slm/tiled_matmul.py"} <= wanted


def test_its_lock_is_the_projects(wheel: Path) -> None:
    assert zipfile.ZipFile(wheel).read("xebench/requirements.lock") == (ROOT / "requirements.lock").read_bytes()


def test_other_packages_of_its_names_change_nothing(installed: Path, foreign: Path) -> None:
    """Neither in the working directory, which child processes have too, nor behind it on the path."""
    listed = xebench(installed, "list", "--json", cwd=foreign, path=f"{installed}{os.pathsep}{foreign}")
    infos = msgspec.json.decode(listed)
    assert [info["name"] for info in infos] == [info.name for info in discover()]
    assert {Path(info["source"]) for info in infos} == {
        installed / "xebench/benchmarks" / file.relative_to(BENCHMARKS) for file in builtin_files()
    }


def test_a_foreign_benchmarks_before_it_changes_nothing(installed: Path, foreign: Path) -> None:
    (foreign / "xebench/__init__.py").unlink()
    (foreign / "xebench").rmdir()
    listed = xebench(installed, "list", "--json", cwd=foreign, path=f"{foreign}{os.pathsep}{installed}")
    assert len(msgspec.json.decode(listed)) == len(discover())


#: Names that were ours, or that are ours in a checkout, as somebody else's.
STRANGERS = {
    "packages": {
        "harness/__init__.py": "X = 'theirs'\n",
        "harness/cli/__init__.py": "",
        "benchmarks/__init__.py": "X = 'theirs'\n",
        "benchmarks/common/__init__.py": "",
    },
    "module": {"harness.py": "X = 'theirs'\n"},
}
#: A test of theirs, and a script that uses ours; both see theirs and ours.
USE = """
import importlib
import sys

import xebench


def test_both_are_there():
    for name in NAMES:
        assert importlib.import_module(name).X == "theirs"
    assert xebench.__file__.startswith(INSTALLED)
    assert xebench.compare.__module__.startswith("xebench.")


if __name__ == "__main__":
    test_both_are_there()
    print("fine")
"""
PYTEST = (sys.executable, "-m", "pytest")


@pytest.mark.device
@pytest.mark.parametrize(
    ("stranger", "place"),
    [
        ("packages", "working directory"),
        pytest.param("packages", "PYTHONPATH", marks=pytest.mark.nightly),
        pytest.param("module", "working directory", marks=pytest.mark.nightly),
        pytest.param("module", "PYTHONPATH", marks=pytest.mark.nightly),
    ],
)
def test_a_strangers_package_and_ours_are_both_found(
    installed: Path, tmp_path: Path, stranger: str, place: str
) -> None:
    theirs = tmp_path / ("here" if place == "working directory" else "theirs")
    here = tmp_path / "here"
    here.mkdir()
    for name, text in STRANGERS[stranger].items():
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / name).write_text(text)
    (here / "pytest.ini").write_text("[pytest]\n")
    names = sorted({name.partition("/")[0].removesuffix(".py") for name in STRANGERS[stranger]})
    use = USE.replace("NAMES", repr(names)).replace("INSTALLED", repr(str(installed)))
    (here / "test_theirs.py").write_text(use)
    search = [str(installed)] if theirs == here else [str(theirs), str(installed)]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**own, "PYTHONPATH": os.pathsep.join(search), "XDG_CACHE_HOME": str(installed / "cache")}
    programs = {
        "python -m pytest": (*PYTEST, "-q", "-p", "no:cacheprovider"),
        "pytest": (str(Path(sys.executable).with_name("pytest")), "-q", "-p", "no:cacheprovider"),
        "script": (sys.executable, "test_theirs.py"),
        "xebench": (sys.executable, str(installed / "bin/xebench"), "devices", "--json"),
    }
    said = {"python -m pytest": "1 passed", "pytest": "1 passed", "script": "fine", "xebench": "opencl:cpu:0"}
    for name, program in programs.items():
        done = subprocess.run(program, cwd=here, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        assert said[name] in done.stdout, name


def test_it_shows_its_public_names(installed: Path, tmp_path: Path) -> None:
    code = "import xebench; print(xebench.__file__); print(*dir(xebench)); print(*xebench.__all__)"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    file, shown, public = done.stdout.splitlines()
    assert Path(file).is_relative_to(installed)
    assert {"Pattern", "compare", "kernel", "load_run", "open_session"} <= set(public.split()) <= set(shown.split())


def test_it_records_files_as_a_checkout_does(installed: Path, tmp_path: Path) -> None:
    code = "from xebench.patterns.registry import *; print(portable_source(str(BENCHMARKS / 'slm/tiled_matmul.py')))"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["benchmarks/slm/tiled_matmul.py"], done.stderr

"""The package by itself: what its own wheel has, and that it runs where xebench is not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from numba_sycl.stacks import is_current

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "harness" / "numba_sycl"
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Begins a program in which there is no xebench.
ALONE = f"""
import sys
from importlib.abc import MetaPathFinder

class Refuse(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        assert name.partition(".")[0] not in ("xebench", "benchmarks", "msgspec"), name

sys.meta_path.insert(0, Refuse())
sys.path.insert(0, {str(PACKAGE.parent)!r})
"""


def test_its_wheel_has_its_modules_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=PACKAGE, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("numba_sycl-*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    modules = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py")}
    assert names == modules | {"numba_sycl/py.typed"}


def test_it_needs_four_packages_in_the_versions_that_xebench_needs() -> None:
    needs = {re.split(r"[<>=!;]", text)[0]: text for text in PROJECT["dependencies"]}
    assert sorted(needs) == ["dpctl", "intel-opencl-rt", "numba", "numpy"]
    of_xebench = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert f"{needs['numba']}; python_version >= '3.12'" in of_xebench
    assert needs["numpy"] in of_xebench


def test_its_page_of_functions_is_of_these_docstrings() -> None:
    from tools.pages.kernel_functions import page

    assert (PACKAGE / "API.md").read_text(encoding="utf-8") == page(), "run make docs"


@pytest.mark.device
@pytest.mark.skipif(not is_current(), reason="numba-dpex compiles kernels here, by xebench alone")
def test_the_first_kernel_of_its_readme_runs_without_xebench(tmp_path: Path) -> None:
    (first, *_) = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    script = tmp_path / "first.py"
    script.write_text(f"{ALONE}\n{first}\nassert (total == a + b).all()\n")
    subprocess.run([sys.executable, str(script)], check=True)


@pytest.mark.skipif(is_current(), reason="there is no numba-dpex here")
def test_beside_numba_dpex_and_without_xebench_a_kernel_is_one_line(tmp_path: Path) -> None:
    script = tmp_path / "first.py"
    script.write_text(f"{ALONE}\nimport numba_sycl\nnumba_sycl.kernel(lambda item: None)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith(
        "numba_sycl.errors.BrokenEnvironment: numba-dpex is installed, with which this package compiles kernels by "
    )


def test_importing_it_is_cheap() -> None:
    heavy = "('dpctl', 'numba', 'numba_dpex', 'dpnp', 'numpy', 'asyncio')"
    script = f"{ALONE}\nimport numba_sycl\nprint([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

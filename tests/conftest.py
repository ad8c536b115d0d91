"""Shared set-up: tests marked ``device`` find the SYCL runtime loaded; those of the compiler are skipped without it."""

import re
import sys
from pathlib import Path
from typing import Any, Final

import optional
import pytest
from command_kit import Done, Here, run_here
from hypothesis import settings

from numba_sycl.stacks import is_current

# pytest rewrites the asserts of every module, which takes each worker five seconds: it may keep them where the shell
# forbids bytecode. Child processes obey the shell.
sys.dont_write_bytecode = False

# what property tests check does not depend on the machine's speed
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

NEEDS_COMPILER: Final = "of numba-dpex, which the current stack has not"

#: What a module of tests imports at its top when the compiler is what it tests.
IMPORTS_COMPILER: Final = re.compile(r"^(import|from) (numba_dpex|dpcpp_llvm_spirv)\b", re.MULTILINE)


class OfCompiler(pytest.Module):
    """A module of tests that cannot be imported on the current stack."""

    def collect(self) -> Any:
        """Nothing."""
        pytest.skip(NEEDS_COMPILER, allow_module_level=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xebench")
    group.addoption("--kernels", type=int, default=40, help="how many random kernels are compiled and compared")
    group.addoption("--kernels-seed", type=int, default=1, help="of the random kernels")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    if is_current() and IMPORTS_COMPILER.search(module_path.read_text(encoding="utf-8")):
        return OfCompiler.from_parent(parent, path=module_path)
    return None


def pytest_runtest_setup(item: pytest.Item) -> None:
    if is_current() and item.get_closest_marker("numba_dpex"):
        pytest.skip(NEEDS_COMPILER)
    optional.skip_without(item)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Runs a command in this process."""
    return lambda *arguments: Done(run_here(monkeypatch, *arguments), *capsys.readouterr())


@pytest.fixture(autouse=True)
def _sycl_runtime(request: pytest.FixtureRequest) -> None:
    """Load the SYCL runtime before a device test imports dpctl."""
    if request.node.get_closest_marker("device"):
        from xebench.system import runtime

        runtime.load()

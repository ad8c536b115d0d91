"""Shared set-up: tests marked ``device`` find the SYCL runtime loaded; those of the compiler are skipped without it."""

import ast
import re
import sys
from pathlib import Path
from typing import Any, Final

import optional
import pytest
from command_kit import Done, Here, run_here
from cpu_budget import CpuBudget
from hypothesis import settings

from numba_sycl.stacks import is_current

# pytest rewrites the asserts of every module, which takes each worker five seconds: it may keep them where the shell
# forbids bytecode. Child processes obey the shell.
sys.dont_write_bytecode = False

# what property tests check does not depend on the machine's speed
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

NEEDS_COMPILER: Final = "of numba-dpex, which the current stack has not"

_IMPORTS: Final = re.compile(r"^(import|from) (numba_dpex|dpcpp_llvm_spirv)\b", re.MULTILINE)


def imports_compiler(module_path: Path) -> bool:
    """True if a module of tests imports the compiler at its top; a program in a text of it may, too."""
    text = module_path.read_text(encoding="utf-8")
    return bool(_IMPORTS.search(text)) and any(
        _IMPORTS.match(ast.unparse(node))
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuBudget())


class OfCompiler(pytest.Module):
    """A module of tests that cannot be imported on the current stack."""

    def collect(self) -> Any:
        """Nothing."""
        pytest.skip(NEEDS_COMPILER, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return OfCompiler.from_parent(parent, path=module_path) if is_current() and imports_compiler(module_path) else None


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

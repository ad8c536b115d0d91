"""Rules of docs/architecture.md that the import contracts of pyproject.toml (`make lint`) cannot say."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def imports(path: Path) -> set[str]:
    """Everything that a module imports by its full name, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_runtime_touches_environment_variables() -> None:
    for path in sorted((ROOT / "harness/xebench").rglob("*.py")):
        if path.parent.name not in ("runtime", "doctor"):
            assert "os.environ" not in path.read_text(), path


def test_benchmarks_use_public_names_only() -> None:
    stack = {"numpy", "numba_dpex", "dpnp", "dpctl"} | set(sys.stdlib_module_names)
    public = {"xebench", "xebench.dpex"}
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for name in imports(path):
            inside = name not in public and name.rpartition(".")[0] not in public
            assert name.partition(".")[0] in stack or not inside, (path, name)


@pytest.mark.parametrize("code", ["import xebench", "import xebench.cli.main", "import xebench.runtime"])
def test_cheap_imports_stay_cheap(code: str) -> None:
    heavy = "('dpctl', 'numba', 'numba_dpex', 'dpnp', 'numpy', 'pandas', 'rich')"
    script = f"import sys; {code}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.compiler
def test_importing_a_benchmark_compiles_nothing() -> None:
    script = (
        "import xebench.runtime as r; r.load(); import time, importlib; import numba_dpex;"
        "m = importlib.import_module('benchmarks.slm.slm_convolution_cache');"
        "print(len(m.read_padded.signatures))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"

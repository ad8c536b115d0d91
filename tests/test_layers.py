"""What may import what: the rules of docs/architecture.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SYCL = {"dpctl", "dpnp", "numba", "numba_dpex"}
ROOMS_WITHOUT_SYCL = ("patterns", "records", "analysis", "report")


def imports(path: Path) -> set[str]:
    """Top-level names of everything a module imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules(room: str) -> list[Path]:
    found = sorted((ROOT / "harness" / room).rglob("*.py"))
    assert found, room
    return found


@pytest.mark.parametrize("room", ROOMS_WITHOUT_SYCL)
def test_rooms_that_run_on_a_laptop_do_not_know_sycl(room: str) -> None:
    for path in modules(room):
        names = {name.partition(".")[0] for name in imports(path)}
        assert not names & SYCL, path


@pytest.mark.parametrize(
    ("room", "forbidden"),
    [
        ("patterns", ("records", "analysis", "report", "runner", "runtime", "dpex")),
        ("analysis", ("records", "report", "runner", "runtime", "dpex")),
        ("records", ("report", "runner", "runtime", "dpex")),
        ("dpex", ("records", "analysis", "report", "runner", "patterns")),
        ("runtime", ("records", "analysis", "report", "runner", "patterns")),
        ("runner", ("report",)),
    ],
)
def test_nothing_flows_back(room: str, forbidden: tuple[str, ...]) -> None:
    for path in modules(room):
        bad = [name for name in imports(path) if name.startswith(tuple(f"harness.{other}" for other in forbidden))]
        assert not bad, path


def test_only_runtime_touches_environment_variables() -> None:
    for path in sorted((ROOT / "harness").rglob("*.py")):
        if path.parent.name != "runtime":
            assert "os.environ" not in path.read_text(), path


def test_benchmarks_use_public_names_only() -> None:
    stack = {"numpy", "numba_dpex", "dpnp", "dpctl"} | set(sys.stdlib_module_names)
    public = {"harness", "harness.dpex"}
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for name in imports(path):
            inside = name not in public and name.rpartition(".")[0] not in public
            assert name.partition(".")[0] in stack or not inside, (path, name)


@pytest.mark.parametrize("code", ["import harness", "import harness.cli", "import harness.runtime"])
def test_cheap_imports_stay_cheap(code: str) -> None:
    heavy = "('dpctl', 'numba', 'numba_dpex', 'dpnp', 'numpy', 'pandas', 'rich')"
    script = f"import sys; {code}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_a_benchmark_compiles_nothing() -> None:
    script = (
        "import harness.runtime as r; r.load(); import time, importlib; import numba_dpex;"
        "m = importlib.import_module('benchmarks.slm.slm_convolution_cache');"
        "print(len(m.read_global.signatures) if hasattr(m.read_global, 'signatures') else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"

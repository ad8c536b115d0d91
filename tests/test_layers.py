"""Rules of docs/architecture.md that the import contracts of pyproject.toml (`make lint`) cannot say."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from xebench.patterns.registry import discover
from xebench.system.children import Program
from xebench.vocabulary import Metric, State

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "harness" / "xebench"
SOURCES = sorted(SOURCE.rglob("*.py"))

#: Rooms whose names pattern files use as well.
USED_BY_PATTERNS = {"xebench.dpex"}


def imports(path: Path) -> set[str]:
    """Everything that a module imports by its full name, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def name_of(path: Path) -> str:
    """The module of a file."""
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def test_who_is_outside_a_room_uses_its_face_and_the_face_has_no_more() -> None:
    """A room's face is the ``__all__`` of its package: its names, and the modules that others may import."""
    rooms = {name_of(path): importlib.import_module(name_of(path)) for path in SOURCES if path.name == "__init__.py"}
    faces = {room: set(getattr(module, "__all__", ())) for room, module in rooms.items() if room != "xebench"}
    entered: dict[str, set[str]] = {room: set() for room in faces}
    for path in SOURCES:
        here = name_of(path)
        for name in imports(path):
            parts = name.split(".")
            for room, part in ((".".join(parts[:depth]), parts[depth]) for depth in range(2, len(parts))):
                if room in faces and not f"{here}.".startswith(f"{room}."):
                    assert part in faces[room], (here, name)
                    entered[room].add(part)
    modules = {name_of(path) for path in SOURCES}
    for room, face in faces.items():
        unused = {part for part in face - entered[room] if f"{room}.{part}" in modules}
        assert room in USED_BY_PATTERNS or not unused, (room, unused)


def test_only_runtime_touches_environment_variables() -> None:
    for path in SOURCES:
        if path.parent.name != "runtime" and path.name != "examination.py":
            assert "os.environ" not in path.read_text(), path


def test_benchmarks_use_public_names_only() -> None:
    stack = {"numpy", "numba_dpex", "numba_sycl", "dpnp", "dpctl"} | set(sys.stdlib_module_names)
    public = {"xebench", "xebench.dpex"}
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for name in imports(path):
            inside = name not in public and name.rpartition(".")[0] not in public
            assert name.partition(".")[0] in stack or not inside, (path, name)


def constants(path: Path) -> set[str]:
    """Every string of a module, but for those in f-strings and texts for people."""
    return {
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def layer_of() -> dict[str, int]:
    """The number of each room's layer, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (one for one in settings["contracts"] if one["name"] == "rooms")
    return {room: n for n, layer in enumerate(contract["layers"]) for room in re.split(r" [|:] ", layer)}


def test_programs_are_there_and_in_no_room_above_who_starts_them() -> None:
    layers = layer_of()
    for program in Program:
        assert importlib.util.find_spec(program), program
    for path in SOURCES:
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for name in re.findall(r"\bProgram\.(\w+)", path.read_text()):
            started = Program[name].split(".")[1]
            assert started == room or layers[started] > layers[room], (path, name)


def test_no_string_names_a_module_of_another_room() -> None:
    modules = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__") for path in SOURCES
    }
    for path in SOURCES:
        room = path.relative_to(SOURCE).parts[0]
        if path not in (SOURCE / "__init__.py", SOURCE / "system/children/__init__.py"):
            named = {name for name in constants(path) & modules - {"xebench"} if name.split(".")[1] != room}
            assert not named, (path, named)


def test_words_of_the_vocabulary_are_declared_there_alone() -> None:
    words = {str(word) for kind in (Metric, State) for word in kind}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
                listed = {one.value for one in ast.walk(node.slice) if isinstance(one, ast.Constant)}
                assert not listed & words, (path, listed & words)


@pytest.mark.parametrize("code", ["import xebench", "import xebench.cli.main", "import xebench.system.runtime"])
def test_cheap_imports_stay_cheap(code: str) -> None:
    heavy = "('dpctl', 'numba', 'numba_dpex', 'dpnp', 'numpy', 'pandas', 'rich')"
    script = f"import sys; {code}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "module", ["report.formats.human_readable", "results.run", "results.analysis.compare", "runner.run_options"]
)
def test_a_run_is_read_without_scipy(module: str) -> None:
    script = f"import sys, xebench.{module}; print('xebench.{module}' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"], "intervals are computed when a run ends; scipy is slow to import"


@pytest.mark.device
def test_a_worker_imports_neither_frames_nor_what_only_a_compilation_needs() -> None:
    script = """
from xebench.system import runtime
runtime.load()
import sys, xebench.measuring.worker
print([name for name in ("xebench.measuring.worker", "pandas", "numba.np.arraymath") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['xebench.measuring.worker']", "each start of a worker would take longer"


def test_a_list_of_patterns_imports_nothing_that_it_does_not_need() -> None:
    """It is to take less than eight times what bare Python does: imports are most of that."""
    discover()  # known from now on: nothing has to be read
    script = (
        "import sys; from xebench.cli.main import commands; commands(['list'], standalone_mode=False);"
        "print(*sorted(m for m in sys.modules if m.startswith('xebench')), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.split() == [
        "xebench",
        "xebench.cli",
        "xebench.cli.main",
        "xebench.cli.options",
        "xebench.cli.output",
        "xebench.errors",
        "xebench.patterns",
        "xebench.patterns.declaration",
        "xebench.patterns.installed",
        "xebench.patterns.registry",
        "xebench.records",
        "xebench.records.claim",
        "xebench.report",
        "xebench.report.claims_text",
        "xebench.system",
        "xebench.system.disk_cache",
        "xebench.vocabulary",
    ]


@pytest.mark.numba_dpex
def test_importing_a_benchmark_compiles_nothing() -> None:
    script = (
        "import xebench.system.runtime as r; r.load(); import time, importlib; import numba_dpex;"
        "m = importlib.import_module('benchmarks.slm.slm_convolution_cache');"
        "print(len(m.check_ends.signatures))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"

"""Run numba-dpex's own tests and examples of kernels with xebench in its place, and print tables of what came of them.

They are in numba-dpex's wheel, which another environment has: name its folder. Nothing of them is kept here. In the
examples only imports are changed.

Tests run with this module as a plugin of pytest: they find xebench under numba-dpex's name, and stand-ins of what only
tests import, numba-dpex's internals and its compiler of host programs. A test that needs one of these fails.

    python tools/numba_dpex_tests.py /path/to/pinned/.venv
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from xml.etree import ElementTree

ROOMS: Final = ("kernel_tests", "kernel_api")
#: Smaller than by default, for the examples that would run for minutes on a CPU.
ARGUMENTS: Final = {"pipelining.py": ["--n", "20000", "--n_itr", "4", "--reps", "1"]}
#: Lines of imports, and what they become; dpctl 0.22 gave its arrays to dpnp.
IMPORTS: Final = (
    (r"^import numba_dpex as", "import xebench.dpex as"),
    (r"^from numba_dpex(\.core\.\S+)? import", "from xebench.dpex import"),
    (r"^import dpctl\.tensor as", "import dpnp.tensor as"),
)


def main(environment: str) -> int:
    """Run both; gives pytest's exit status or that of the examples."""
    found = sorted(Path(environment).glob("lib/python*/site-packages/numba_dpex"))
    if not found:
        print(f"{environment}: no environment with numba-dpex; name the folder of one", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        status = run_tests(found[0] / "tests", Path(folder, "tests"))
        return run_examples(found[0] / "examples" / "kernel", Path(folder, "examples")) or status


def run_tests(source: Path, folder: Path) -> int:
    """Run copies of the tests of kernels, and print how many passed and what did not."""
    folder.mkdir()
    shutil.copy(source / "_helper.py", folder)
    for room in ROOMS:
        shutil.copytree(source / room, folder / room, ignore=shutil.ignore_patterns("__*"))
    here = Path(__file__).resolve().parent
    variables = {**os.environ, "NUMBA_DPEX_TESTS": str(folder), "PYTHONPATH": str(here)}
    options = ["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "numba_dpex_tests", "--import-mode=importlib"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(folder), "--junitxml=report.xml", *ROOMS]
    status = subprocess.run(command, cwd=folder, env=variables, stdout=sys.stderr, check=False).returncode
    cases = list(ElementTree.parse(folder / "report.xml").iter("testcase"))
    counts = Counter(outcome(case)[0] for case in cases)
    print("| " + " | ".join(counts) + " |\n" + "|--:" * len(counts) + "|")
    print("| " + " | ".join(map(str, counts.values())) + " |\n\n| test | outcome | says |\n|---|---|---|")
    for case in cases:
        what, why = outcome(case)
        if what != "passed":
            print(f"| {case.get('classname', '').rpartition('.')[2]}::{case.get('name')} | {what} | {why} |")
    return status


def outcome(case: ElementTree.Element) -> tuple[str, str]:
    """The outcome of a test, and the first line of its reason."""
    for tag in ("error", "failure", "skipped"):
        found = case.find(tag)
        if found is not None:
            lines = (found.get("message") or found.text or "").strip().splitlines() or [""]
            return {"error": "error", "failure": "failed", "skipped": "skipped"}[tag], lines[0][:150]
    return "passed", ""


def run_examples(source: Path, folder: Path) -> int:
    """Run copies of the examples whose imports are changed; gives 1 where one failed."""
    folder.mkdir()
    print("\n| example | imports changed | exit status | last line |\n|---|--:|--:|---|")
    failed = False
    for example in sorted(source.glob("*.py")):
        text, changed = example.read_text(encoding="utf-8"), 0
        for pattern, replacement in IMPORTS:
            text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
            changed += count
        copy = folder / example.name
        copy.write_text(text, encoding="utf-8")
        command = [sys.executable, str(copy), *ARGUMENTS.get(example.name, [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines() or [""]
        print(f"| {example.name} | {changed} | {done.returncode} | {lines[-1][:150]} |", flush=True)
        failed |= done.returncode != 0
    return int(failed)


def pytest_configure() -> None:
    """Give numba-dpex's names to xebench and to stand-ins, before a test imports them."""
    import xebench.dpex

    xebench.dpex.as_numba_dpex()

    import numba.core.config
    import numba_dpex

    from numba_sycl.code_generation.context import NAME, target

    numba.core.config.CAPTURED_ERRORS = "new_style"  # of numba 0.59, whose only style that is today
    numba_dpex.dpjit = dpjit
    stand_in("numba_dpex.core.descriptor", dpex_kernel_target=target)
    stand_in("numba_dpex.core.runtime")
    stand_in("numba_dpex.core.runtime.context", DpexRTContext=None)
    stand_in("numba_dpex.core.targets")
    stand_in("numba_dpex.core.targets.dpjit_target", DPEX_TARGET_NAME=NAME)
    stand_in("numba_dpex.tests").__path__ = [os.environ["NUMBA_DPEX_TESTS"]]


def stand_in(name: str, **names: Any) -> ModuleType:
    """A module, in its parent."""
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(names)
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    setattr(importlib.import_module(parent), own, module)
    return module


def dpjit(function: Any = None, **_: Any) -> Any:
    """A program of the host, which fails when it is called."""

    def refuse(*_: Any, **__: Any) -> None:
        raise NotImplementedError("dpjit")

    return dpjit if function is None else refuse


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/numba_dpex_tests.py FOLDER_OF_AN_ENVIRONMENT_WITH_NUMBA_DPEX")
    sys.exit(main(sys.argv[1]))

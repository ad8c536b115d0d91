"""``--compiler numba-dpex``: the kernels of ``xebench.kernel``, compiled by numba-dpex as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_kit import Here

from numba_sycl.stacks import is_current
from xebench.errors import XebenchError
from xebench.results import Run, load_run
from xebench.runner.run_options import Recipe
from xebench.system.runtime import kernel_compiler

ROOT = Path(__file__).parents[2]
FILES = (ROOT / "docs/examples/own_saxpy.py", Path(__file__).with_name("seven_kernels.py"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The same patterns by both compilers."""
    folder = tmp_path_factory.mktemp("runs")
    options = ("--preset", "smoke", "--device", "cpu", "--max-samples", "6", "--budget", "5")
    for name, further in (("ours", ()), ("theirs", ("--compiler", "numba-dpex"))):
        command = [sys.executable, "-m", "xebench", "run", *map(str, FILES), *options, *further]
        done = subprocess.run([*command, "--output", str(folder / name)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return {name: load_run(folder / name) for name in ("ours", "theirs")}


def kernels(run: Run, variant: str) -> list[dict[str, Any]]:
    (made,) = run.cases.loc[run.cases["variant"] == variant, "kernels"].drop_duplicates()
    found: list[dict[str, Any]] = json.loads(made)
    return found


@pytest.mark.device
@pytest.mark.numba_dpex
def test_each_case_names_the_compiler_of_its_kernels(runs: dict[str, Run]) -> None:
    variant = "neighbours_together"
    (ours,), (theirs,) = (kernels(runs[name], variant) for name in ("ours", "theirs"))
    assert ours["compiler"].startswith("numba-dpex 0.23.0 with xebench's integers (")
    assert theirs["compiler"].startswith("numba-dpex 0.23.0 (")
    assert ours["name"] == theirs["name"]
    assert ours["spirv_sha256"] != theirs["spirv_sha256"]
    assert set(runs["theirs"].compilers) == {theirs["compiler"]}


@pytest.mark.device
@pytest.mark.numba_dpex
def test_what_numba_dpex_does_not_compile_is_skipped(runs: dict[str, Run]) -> None:
    cases = runs["theirs"].cases.set_index("variant")
    assert set(cases["status"]) == {"ok", "skipped"}
    reason = cases.loc["from_registers", "reason"]
    assert reason == 'numba-dpex as it is does not compile kernel swap: it has no option for {"sub_group_size": 16}'
    assert set(runs["ours"].cases["status"]) == {"ok"}


@pytest.mark.device
@pytest.mark.numba_dpex
def test_a_resumed_run_keeps_its_compiler(runs: dict[str, Run]) -> None:
    assert Recipe.of_run(runs["theirs"].path).compiler == "numba-dpex"
    assert Recipe.of_run(runs["ours"].path).compiler is None


def test_without_numba_dpex_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_compiler, "is_current", lambda: True)
    with pytest.raises(XebenchError, match=r"^--compiler numba-dpex: this environment has no numba-dpex: run xebench "):
        kernel_compiler.variables_for("numba-dpex")
    assert kernel_compiler.variables_for(None) == {}


@pytest.mark.skipif(not is_current(), reason="it is about an environment without numba-dpex")
def test_the_command_says_so(here: Here, tmp_path: Path) -> None:
    done = here("run", FILES[0], "--compiler", "numba-dpex", "--output", tmp_path / "run")
    assert done.returncode == 2
    assert "this environment has no numba-dpex" in done.stderr
    assert not (tmp_path / "run").exists()

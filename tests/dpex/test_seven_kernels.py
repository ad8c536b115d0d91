"""Kernels as different as a user's run on either stack, and the run says what compiled them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from numba_sycl.stacks import is_current, this_compiler
from xebench.results import load_run

pytestmark = [pytest.mark.device, pytest.mark.nightly]
FILE = Path(__file__).with_name("seven_kernels.py")


def test_every_kernel_is_right_and_its_compiler_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "xebench", "run", "seven_*", "--path", str(FILE), "--preset", "smoke"]
    options = ["--device", "cpu", "--budget", "0.1", "--output", str(tmp_path / "run")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    run = load_run(tmp_path / "run")
    assert set(run.cases["status"]) == {"ok"}
    compiler = this_compiler("" if is_current() else "with xebench's integers")
    assert run.manifest["compilers"] == run.compilers == {compiler: 7}

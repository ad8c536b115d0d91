"""The project's pack has every kernel that the suite asks for; `make pack` makes it again."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.numba_dpex
@pytest.mark.device
@pytest.mark.slow
def test_it_is_of_the_kernels_as_they_are_now() -> None:
    command = [sys.executable, "-m", "xebench", "pack", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr

"""dpctl and dpnp may be imported before xebench or after it, and what comes too late is said."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from numba_sycl.stacks import is_current

SUM = "print(int(dpnp.ones(3, device='cpu').sum()))"


def run(program: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "OCL_ICD_FILENAMES"}  # ours sets it
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


@pytest.mark.device
@pytest.mark.parametrize(
    "program",
    [
        "import xebench, dpnp",
        "import xebench, dpctl; dpctl.SyclDevice('cpu'); import dpnp; xebench.open_session('cpu')",
        *(["import dpctl, dpnp, xebench", "import dpnp, xebench; xebench.open_session('cpu')"] if is_current() else []),
    ],
)
def test_either_order_finds_the_devices(program: str) -> None:
    done = run(f"{program}; {SUM}")
    assert done.stdout == "3\n", done.stderr


@pytest.mark.device
@pytest.mark.skipif(not is_current(), reason="dpctl cannot be imported before xebench on the pinned stack")
def test_what_comes_too_late_is_said_in_one_line() -> None:
    done = run("import dpctl; dpctl.get_devices(); import xebench; xebench.open_session('cpu')")
    assert "asked dpctl for devices before it imported xebench: import xebench first" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "program",
    [
        "import xebench",
        "import xebench.pytest_plugin.plugin",
        "from xebench.cli.main import commands; commands(['list'], standalone_mode=False)",
        "import xebench.results, xebench.report.formats",
    ],
)
def test_what_measures_nothing_loads_nothing_of_sycl(program: str) -> None:
    done = run(f"{program}\nimport sys; print(sorted({{'dpctl', 'dpnp', 'numba', 'numba_dpex'}} & set(sys.modules)))")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[]", done.stderr

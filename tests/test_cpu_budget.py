"""The suite's budget of processor time, on a suite of two tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KITS = Path(__file__).with_name("kits")
CONFTEST = """
import sys
sys.path.insert(0, {kits!r})
from cpu_budget import CpuBudget

def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: dear")
    config.pluginmanager.register(CpuBudget(test_s={test_s}, suite_s={suite_s}, cores=2))
"""
TESTS = """
import subprocess
import sys
import pytest

BURN = "import time\\nwhile time.process_time() < 0.4: pass"

@pytest.fixture(scope="module")
def shared():
    subprocess.run([sys.executable, "-c", BURN])

def test_first_to_use_what_is_shared(shared):
    pass

@MARK
def test_dear_in_a_child():
    subprocess.run([sys.executable, "-c", BURN])
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadfile")], ids=["alone", "workers"])
@pytest.mark.parametrize(
    ("mark", "test_s", "suite_s", "failed"),
    [
        ("pytest.mark.filterwarnings('default')", 0.1, 1000, "test_dear_in_a_child"),
        ("pytest.mark.nightly", 0.1, 0.1, ""),
        ("pytest.mark.filterwarnings('default')", 100, 0.1, "processor time"),
    ],
)
def test_what_exceeds_the_budget_fails(
    tmp_path: Path, workers: tuple[str, ...], mark: str, test_s: float, suite_s: float, failed: str
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.format(kits=str(KITS), test_s=test_s, suite_s=suite_s))
    (tmp_path / "test_two.py").write_text(TESTS.replace("MARK", mark))
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**own, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist", *workers, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == bool(failed), done.stdout + done.stderr
    assert ("test_dear_in_a_child: it takes" in done.stdout.replace(" - Failed", "")) == (
        failed == "test_dear_in_a_child"
    )
    assert (", too much" in done.stdout) == (failed == "processor time")

"""The packs beside test files hold the kernels as they are now: the current stack could not run these tests else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from current_stack import run_without_numba

pytestmark = [pytest.mark.numba_dpex, pytest.mark.device, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PACKED = [
    pack.with_name(pack.name.replace(".kernels.zip", ".py")).relative_to(ROOT)
    for folder in ("tests", "docs")
    for pack in sorted((ROOT / folder).rglob("*.kernels.zip"))
]
#: Runs a file's tests; those of the compiler are skipped there.
RUN_TESTS = (
    "import pytest; sys.exit(pytest.main([*sys.argv[1:], '-p', 'no:xdist', '-p', 'no:cacheprovider', '--tb=line']))"
)


def test_tests_find_their_kernels() -> None:
    files = [str(ROOT / file) for file in PACKED if file.name.startswith("test_")]
    done = run_without_numba(RUN_TESTS, *files)
    again = "if kernels have changed, make their file's pack again: .venv/bin/python tests/kits/record_kernels.py FILE"
    assert done.returncode == 0, f"{again}\n{done.stdout}{done.stderr}"
    assert len(files) > 5


def test_pattern_files_find_their_kernels() -> None:
    files = [str(ROOT / file) for file in PACKED if not file.name.startswith("test_")]
    command = [sys.executable, "-m", "xebench", "pack", "--check", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"make the file's pack again: .venv/bin/xebench pack FILE\n{done.stderr}"
    assert len(files) > 3

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
    "import pytest; sys.exit(pytest.main([sys.argv[1], '-p', 'no:xdist', '-p', 'no:cacheprovider', '--tb=line']))"
)


@pytest.mark.parametrize("file", [file for file in PACKED if file.name.startswith("test_")], ids=lambda file: file.stem)
def test_tests_find_their_kernels(file: Path) -> None:
    done = run_without_numba(RUN_TESTS, str(ROOT / file))
    again = f"if kernels have changed, make the pack again: .venv/bin/python tests/kits/record_kernels.py {file}"
    assert done.returncode == 0, f"{again}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    "file", [file for file in PACKED if not file.name.startswith("test_")], ids=lambda file: file.stem
)
def test_pattern_files_find_their_kernels(file: Path) -> None:
    command = [sys.executable, "-m", "xebench", "pack", "--check", str(ROOT / file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    again = f"make the pack again: .venv/bin/xebench pack {file}"
    assert done.returncode == 0, f"{again}\n{done.stderr}"

"""The exercise of docs/teaching.md: wrong as it is given, and right once it is solved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXERCISE = Path(__file__).parents[2] / "docs/examples/exercise.py"
STUB = "    z[i] = x[i]\n"
SOLVED = "    y = np.float32(2) * x[i] + np.float32(1)\n    z[i] = y * y\n"


@pytest.mark.parametrize(("kernel", "status"), [(STUB, 1), (SOLVED, 0)])
def test_a_student_is_told_whether_it_is_right(kernel: str, status: int, tmp_path: Path) -> None:
    text = EXERCISE.read_text()
    assert text.count(STUB) == 1
    file = tmp_path / "exercise.py"
    file.write_text(text.replace(STUB, kernel))
    command = [sys.executable, "-m", "xebench", "run", str(file), "--preset", "smoke", "--budget", "0.05"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("elements differ" in done.stdout) == bool(status)
    assert "two_kernels" in done.stdout and "yours" in done.stdout

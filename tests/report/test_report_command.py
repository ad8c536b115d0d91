"""``xebench report`` on the terminal and into a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from xebench.results import Run


def report(run: Run, *options: str, encoding: str = "utf-8") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "xebench", "report", str(run.path), *options],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        encoding=encoding,
        check=True,
    )
    return done.stdout


def test_verbose_adds_times_and_roofs(run: Run) -> None:
    assert "500 GB/s" not in report(run)
    assert "500 GB/s" in report(run, "--verbose")


def test_a_pattern_that_is_named_has_its_rows_alone(run: Run) -> None:
    whole, one = report(run), report(run, "convolution")
    assert "the guide's 2 claims" in whole and "\nhistogram" in whole
    assert "the guide's" not in one and "\nhistogram" not in one
    assert "✓ cached" in one


def test_a_terminal_without_the_signs_gets_others(run: Run) -> None:
    assert "✓ cached" in report(run)
    assert "+ cached" in report(run, encoding="ascii")


def test_a_file_has_the_signs_whatever_the_terminal_shows(run: Run, tmp_path: Path) -> None:
    report(run, "--output", str(tmp_path / "report.txt"), encoding="ascii")
    text = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert "✓ cached" in text and "\x1b" not in text

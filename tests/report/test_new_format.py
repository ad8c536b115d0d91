"""A format is one module: found by the command, and imported when it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from temporary_copy import ROOT, copy_with, python_m

from xebench.report import formats
from xebench.tables import Run, load_run

RUN = ROOT / "results/cpu-epyc-2-cores"


def test_the_formats_are_the_modules_of_the_folder() -> None:
    assert formats.names() == ["csv", "html", "json", "markdown", "pytest-benchmark", "text"]


@pytest.mark.slow
def test_the_documented_format_appears_by_itself(tmp_path: Path) -> None:
    folder = copy_with(tmp_path / "copy", "A report format")
    lines = python_m(folder, "xebench", "report", str(RUN), "--format", "speedups").splitlines()
    pairs = load_run(RUN).pairs
    assert len(lines) == pairs["speedup"].notna().sum()
    assert any(line.startswith("kernel_fusion/all_fused: ") and line.endswith("x") for line in lines)
    assert "speedups" in python_m(folder, "xebench", "report", "--help")


def test_names_of_formats_cost_nothing() -> None:
    code = (
        "import sys; from xebench.report import formats; formats.names();"
        "print([name for name in ('numpy', 'pandas', 'rich', 'jinja2', 'json') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_no_format_is_refused_with_those_there_are() -> None:
    command = [sys.executable, "-m", "xebench", "report", str(RUN), "--format", "telegram"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "'csv', 'html', 'json', 'markdown', 'pytest-benchmark', 'text'" in done.stderr


@pytest.mark.parametrize("name", formats.names())
def test_no_format_ends_with_a_newline(run: Run, name: str) -> None:
    assert not formats.render(run, name).endswith("\n")

"""A format is one module, or a function of one: found by the command, and imported when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest
from temporary_copy import ROOT

from xebench.report import formats
from xebench.results import Run

RUN = ROOT / "results/cpu-epyc-2-cores"


def test_the_formats_are_the_modules_of_the_folder_and_what_some_share() -> None:
    histories = ["github-action-benchmark", "github-action-speedups"]
    assert formats.names() == ["csv", *histories, "html", "json", "markdown", "pytest-benchmark", "text"]


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
    assert "'html', 'json', 'markdown', 'pytest-benchmark', 'text'" in done.stderr


@pytest.mark.parametrize("name", formats.names())
def test_no_format_ends_with_a_newline(run: Run, name: str) -> None:
    assert not formats.render(run, name).endswith("\n")

"""What a pattern's code prints is kept with its case, and shown where the case fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_kit import run_quietly
from pattern_copies import write_pattern

from xebench.results import load_run

pytestmark = pytest.mark.device

LOUD = """
import logging
import os
import sys
import warnings

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

pattern = Pattern("loud", guide="none", lesson="Print.", presets={"smoke": {"n": 64}, "default": {"n": 64}})


@pattern.problem
def data(rng, n):
    print("made", n)
    warnings.warn("warned")
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))


@pattern.reference
def expected(p):
    print("expected", file=sys.stderr)
    return {"y": 2 * p.x}


@pattern.naive
def right(session, p):
    logging.warning("logged")
    session.launch(double, kapi.Range(p.n), p.x, p.y)


@pattern.optimized
def fails(session, p):
    print("looks at", p.n)
    raise ValueError("no")


@pattern.intermediate(environment={"OWN_COLOUR": "red"})
def elsewhere(session, p):
    print("is", os.environ["OWN_COLOUR"])
    session.launch(double, kapi.Range(p.n), p.x, p.y)
"""


def test_output_is_kept_per_case_and_shown_where_one_fails(tmp_path: Path) -> None:
    file, folder = tmp_path / "loud.py", tmp_path / "run"
    write_pattern(file, LOUD)
    limits = ("--preset", "smoke", "--device", "cpu", "--budget", "5", "--max-samples", "8", "--instances", "1")
    done = run_quietly("run", file, *limits, "--output", folder)
    assert done.returncode == 1, done.stderr
    printed = load_run(folder).cases.set_index("variant")["output"]
    assert printed["right"].startswith("made 64\n") and "UserWarning: warned" in printed["right"]
    assert "expected\n" in printed["right"] and "WARNING:root:logged" in printed["right"]
    assert printed["fails"] == "looks at 64\n"
    assert "is red\n" in printed["elsewhere"], "its process is another one"
    lines = done.stdout.splitlines()
    assert lines[lines.index("loud/fails printed:") + 1] == "  looks at 64"


def test_the_verbose_report_has_all_output(tmp_path: Path) -> None:
    file, folder = tmp_path / "loud.py", tmp_path / "run"
    write_pattern(file, LOUD.replace('raise ValueError("no")', "session.launch(double, kapi.Range(p.n), p.x, p.y)"))
    limits = ("--preset", "smoke", "--device", "cpu", "--budget", "5", "--max-samples", "8", "--instances", "1")
    done = run_quietly("run", file, *limits, "--output", folder)
    assert done.returncode == 0, done.stderr
    assert "printed:" not in done.stdout
    whole = run_quietly("report", folder, "--verbose").stdout.splitlines()
    assert whole[whole.index("loud/right printed:") + 1] == "  made 64"
    assert whole[whole.index("loud/fails printed:") + 1].startswith("  looks at 64 (")

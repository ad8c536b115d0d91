"""``xebench ab`` as a user has it: two versions on the CPU device, in one run folder that the other commands read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from changed_run import changed
from command_kit import Here
from synthetic import Synthetic

from xebench.cli.report_commands import FOUND, status_of
from xebench.report.comparison import RunComparison
from xebench.results import load_run

FILE = '''
import numpy as np
from xebench import Pattern, Problem, kernel, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern("grown", guide="G / S", lesson="L.", presets={"smoke": {"n": 1024}, "default": {"n": 1024}})

in_opencl = opencl_kernel("""
kernel void in_opencl(global const float *x, global float *y, int trips) {
    size_t i = get_global_id(0);
    float a = 0.5f;
    for (int k = 0; k < trips; ++k) a = a * x[i] + 0.25f;
    y[i] = a < 0.0f ? a : x[i];
}""")

@kernel
def in_python(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i]

@pattern.problem
def data(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

@pattern.reference
def same(p):
    return {"y": p.x}

@pattern.naive
def opencl(session, p):
    session.launch(in_opencl, kapi.Range(p.n), p.x, p.y, np.int32(4000))

@pattern.optimized
def python(session, p):
    session.launch(in_python, kapi.Range(p.n), p.x, p.y)

@pattern.optimized
def leaving(session, p):
    session.launch(in_python, kapi.Range(p.n), p.x, p.y)
'''


def xebench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "xebench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=folder)


@pytest.fixture
def here(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Runs a command that measures nothing in this process, in the folder of the versions."""
    monkeypatch.chdir(tmp_path)
    return here


def versions(folder: Path, *changes: tuple[str, str]) -> None:
    (folder / "old.py").write_text(FILE)
    new = FILE
    for what, instead in changes:
        new = new.replace(what, instead)
    (folder / "new.py").write_text(new)


@pytest.mark.device
def test_a_slower_version_fails_and_its_folder_is_an_ordinary_run(tmp_path: Path, here: Here) -> None:
    versions(tmp_path, ("np.int32(4000)", "np.int32(16000)"), ("def leaving", "def coming"))
    options = ("--preset", "smoke", "--device", "cpu", "--budget", "5", "--output", "run")
    done = xebench(tmp_path, "ab", "old.py", "new.py", *options, "--fail-on", "slower", "--fail-on", "missing")
    assert done.returncode == FOUND, done.stdout + done.stderr
    assert "--fail-on slower: 1 found" in done.stderr and "--fail-on missing: 1 found" in done.stderr
    assert "old: old.py" in done.stdout and "new: new.py" in done.stdout

    shown = here("compare", "run", "--format", "json")
    rows = {row["variant"]: row for row in json.loads(shown.stdout)["rows"]}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "opencl": "slower", "python": "same", "leaving": "none", "coming": "none"
    }  # fmt: skip
    assert rows["opencl"]["speedup_high"] < 0.95
    assert rows["python"]["reason"].startswith("the same program")
    assert "only in the old version" in rows["leaving"]["reason"] and rows["leaving"]["before_n"] > 0
    assert "| slower | grown/opencl |" in here("compare", "run", "--format", "markdown").stdout
    assert here("compare", "run", "--format", "html").stdout.startswith("<!doctype html>")

    run = load_run(tmp_path / "run")
    assert run.complete and run.versions == ("old.py", "new.py")
    hot = run.samples[run.samples["state"] == "hot"]
    blocks = hot.groupby(hot["case_id"].str.split("/").str[1])["block"].unique().map(set)
    assert blocks["old:opencl"] == blocks["new:opencl"], "samples of both versions alternate"
    assert "old:opencl" in here("report", "run").stdout
    resumed = here("run", "--resume", "run")
    assert resumed.returncode == 0 and "nothing to resume" in resumed.stderr


@pytest.mark.device
def test_another_problem_is_said_and_fails_nothing_that_was_not_asked(tmp_path: Path) -> None:
    versions(tmp_path, ("rng.random(n, dtype=np.float32)", "np.ones(n, np.float32)"))
    done = xebench(tmp_path, "ab", "old.py", "new.py", "--preset", "smoke", "--device", "cpu", "--fail-on", "slower")
    assert done.returncode == 4, "every case was skipped"
    assert "not compared: p.x differs between the old and the new version" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["old.py", "lacking.py"], "no pattern file at lacking.py"),
        (["main", "head", "--path", "old.py"], "is in no repository of git"),
        (["old.py", "new.py", "grow"], "no pattern matches 'grow': your own patterns are grown"),
        (["old.py", "new.py", "--threshold", "5"], "write 5% or 0.05"),
        (["old.py"], "Missing argument 'NEW'"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(arguments: list[str], words: str, tmp_path: Path, here: Here) -> None:
    versions(tmp_path)
    done = here("ab", *arguments)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("wrong", "ended_by", "found", "status"),
    [
        ((), None, 0, 0),
        ((), None, FOUND, FOUND),
        (("old:v",), None, 0, 0),
        (("old:v", "new:v"), None, 0, 1),
        (("new:v",), None, FOUND, 1),
        ((), "SIGINT", FOUND, 130),
    ],
)
def test_the_status_is_of_the_new_version(
    wrong: tuple[str, ...], ended_by: str | None, found: int, status: int
) -> None:
    made = Synthetic()
    for variant, role in (("old:v", "baseline"), ("new:v", "optimized")):
        made.case(variant, role, claims="[]", status="wrong" if variant in wrong else "ok", reason="y differs")
    run = made.run()
    state = "interrupted" if ended_by else "complete"
    run = changed(run, manifest={"state": state, "ended_by": ended_by})
    assert status_of(RunComparison(run, run, "time", 0.05), found) == status


def test_one_run_of_one_version_is_no_comparison(here: Here) -> None:
    stored = next(iter(sorted((Path(__file__).parents[2] / "results").glob("cpu-*"))))
    done = here("compare", str(stored))
    assert done.returncode == 2 and "is no run of 'xebench ab', which would have two versions" in done.stderr

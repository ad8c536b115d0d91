"""The whole road on the CPU device, through the command line as a user would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_kit import Done, run_here, run_quietly
from signals_kit import HEEDING_SIGNALS

from xebench.results import Run, journal, load_run

ROOT = Path(__file__).parents[2]
FAULTY = ROOT / "tests/faulty"
pytestmark = pytest.mark.device


def run_xebench(*arguments: str, check: int = 0) -> Done:
    done = run_quietly(*arguments)
    assert done.returncode == check, done.stdout + done.stderr
    return done


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "xebench", *arguments]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run of what ends well: a built-in pattern, the examples of the docs, and failures that are claimed."""
    output = tmp_path_factory.mktemp("good") / "run"
    names = ("slm_convolution_cache", "own_saxpy", "own_volatile", "claimed_ends", "kernel_launch_latency")
    files = ("docs/examples/own_saxpy.py", "docs/examples/own_opencl_kernel.py", "tests/faulty/claimed_ends.py")
    paths = [word for file in files for word in ("--path", str(ROOT / file))]
    limits = ("--preset", "smoke", "--device", "cpu", "--max-samples", "12")
    done = run_xebench("run", *names, *paths, *limits, "--output", str(output))
    assert "5 patterns" in done.stdout
    return load_run(output)


def test_a_pattern_is_measured_and_its_folder_read_again(good: Run) -> None:
    name = "slm_convolution_cache"
    assert good.complete
    cases = good.cases[good.cases["pattern"] == name]
    assert set(cases["status"]) == {"ok"}
    assert set(cases["device_class"]) == {"cpu"}
    assert (good.devices["selftest"] == "ok").all()
    assert (good.devices["empty_kernel_ns"] > 0).all() and good.devices["roofs_from"].notna().all()
    samples = good.samples[good.samples["case_id"].isin(cases["case_id"])]
    hot = samples[samples["state"] == "hot"]
    assert hot["sample_id"].is_monotonic_increasing and good.samples["sample_id"].is_unique
    assert set(hot["case_id"]) == set(cases["case_id"])
    assert (hot["device_ns"] > 0).all() and (hot["host_ns"] >= hot["device_ns"]).all()
    kernels = good.events[good.events["kind"] == "kernel"]
    assert set(hot["sample_id"]) <= set(kernels["sample_id"]), "every sample must have the events of its commands"
    compiled = samples[samples["state"] == "compile"]
    assert {"typing", "build", "launch"} <= set(compiled["stage"])
    pairs = good.pairs[good.pairs["pattern"] == name]
    assert (pairs["speedup_low"] <= pairs["speedup"]).all()
    assert (pairs["speedup"] <= pairs["speedup_high"]).all()
    # what is claimed of GPUs is asked of this device too
    claimed = pairs[pairs["claim"].notna()]
    assert len(claimed) and set(claimed["answer"]) <= {"holds", "inverts", "no effect", "undecided"}
    assert set(claimed["claimed_for"]) == {"gpu"}


def test_what_must_fail_is_answered_and_no_failure(good: Run) -> None:
    """In a process with the pattern's own variable, after a pattern without, and with the caches flushed."""
    cases = good.cases[good.cases["pattern"] == "claimed_ends"].set_index("variant")
    assert dict(cases["status"]) == {
        "twice": "ok",
        "once": "ok",
        "once_more": "ok",
        "three_times": "wrong",
        "too_wide": "skipped",
    }
    assert set(cases["environment"]) == {'{"XEBENCH_TEST_VARIABLE": "set"}'}
    pairs = good.pairs[good.pairs["pattern"] == "claimed_ends"]
    assert set(pairs["state"].dropna()) == {"cold"}
    answers = pairs.set_index(["variant", "baseline"])["answer"]
    assert answers[("once_more", "once")] != "no claim", "the same program twice, however noisy the machine is"
    assert answers[("once_more", "twice")] == "no claim"
    assert answers[("three_times", "twice")] == answers[("too_wide", "twice")] == "holds"
    assert good.failed_cases.empty


def test_a_run_of_which_everything_was_skipped_has_a_status_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "lacking.py"
    file.write_text(
        "import numpy as np\n"
        "from xebench import Pattern, Problem, output\n"
        "lacking = Pattern('lacking', guide='none', lesson='For Level Zero alone.', requires=('level_zero',),\n"
        "    presets={'smoke': {'n': 8}, 'default': {'n': 16}, 'guide': {'n': 32}})\n"
        "@lacking.problem\ndef problem(rng, n):\n    return Problem(y=output(n, np.int32))\n"
        "@lacking.reference\ndef expected(p):\n    return {'y': np.zeros(p.n, np.int32)}\n"
        "@lacking.naive\ndef one(session, p):\n    pass\n"
        "@lacking.optimized\ndef other(session, p):\n    pass\n"
    )
    asked = ("run", "lacking", "--path", str(file), "--preset", "smoke", "--device", "cpu")
    done = run_xebench(*asked, "--output", str(tmp_path / "run"), check=4)
    assert set(load_run(tmp_path / "run").cases["status"]) == {"skipped"}
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("xebench: every case was skipped, so nothing was measured: ")
    run_xebench("run", "--resume", str(tmp_path / "run"), check=4)
    run_xebench(*asked, "--output", str(tmp_path / "other"), "--allow-skipped")


def test_answers_come_before_roofs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "alone.py"
    file.write_text(
        "import numpy as np\n"
        "from xebench import Pattern, Problem, output\n"
        "presets = {'smoke': {'n': 8}, 'default': {'n': 8}}\n"
        "alone = Pattern('alone', lesson='One.', metric='wall', presets=presets)\n"
        "@alone.problem\ndef problem(rng, n):\n    return Problem(y=output(n, np.int32, host=True))\n"
        "@alone.reference\ndef expected(p):\n    return {'y': np.full(p.n, 7)}\n"
        "@alone.naive\ndef one(session, p):\n    p.y[:] = 7\n"
    )
    told = []

    def roofs(*_: object) -> dict[str, object]:
        told.append((len(load_run(tmp_path / "run").samples), capsys.readouterr()))
        return {"roofs_from": "measured here", "bandwidth_roof_gbps": 20.0}

    monkeypatch.setattr("xebench.runner.run.lacks_roofs", lambda *_: True)
    monkeypatch.setattr("xebench.runner.run.measured_roofs", roofs)
    asked = ("run", file, "--device", "cpu", "--budget", "0.2", "--max-samples", "12", "--output", tmp_path / "run")
    assert run_here(monkeypatch, *asked) == 0
    ((samples, written),) = told
    assert samples and "alone: one " in written.err and not written.out
    (device,) = load_run(tmp_path / "run").devices.to_dict("records")
    assert (device["roofs_from"], device["bandwidth_roof_gbps"]) == ("measured here", 20.0)
    assert device["empty_kernel_ns"] > 0


def test_the_example_of_the_docs_runs(good: Run) -> None:
    assert set(good.cases.loc[good.cases["pattern"] == "own_saxpy", "status"]) == {"ok"}


def test_the_example_in_opencl_c_runs(good: Run) -> None:
    cases = good.cases[good.cases["pattern"] == "own_volatile"]
    assert set(cases["status"]) == {"ok"}
    kernels = {variant: json.loads(found)[0] for variant, found in zip(cases["variant"], cases["kernels"], strict=True)}
    assert {name: kernel["language"] for name, kernel in kernels.items()} == {"volatile": "opencl", "register": "spirv"}


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run of what ends badly."""
    output = tmp_path_factory.mktemp("bad") / "run"
    names = ("faulty_variants", "broken_problem", "broken_reference", "too_large", "fails_later", "lacks")
    paths = ("--path", str(FAULTY / "faulty_variants.py"), "--path", str(FAULTY / "faulty_patterns.py"))
    done = run_xebench(
        "run", *names, *paths, "--preset", "smoke", "--device", "cpu", "--output", str(output),
        "--timeout", "8", "--max-samples", "12", check=1,
    )  # fmt: skip
    for word in ("crashed", "timeout", "wrong"):
        assert word in done.stdout
    return load_run(output)


def test_axes_are_swept_and_what_the_device_lacks_is_skipped_with_its_reason(tmp_path: Path) -> None:
    """A case that is skipped is no failure: the run ends with status 0, which `run_xebench` checks."""
    output = tmp_path / "run"
    limit = 1 << 20
    run_xebench(
        "run", "slm_convolution_cache", "--preset", "smoke", "--device", "cpu", "--output", str(output),
        "--set", f"work_group_size=128,{limit}", "--budget", "0.1",
    )  # fmt: skip
    cases = load_run(output).cases
    by_size = {size: set(own["status"]) for size, own in cases.groupby("param_work_group_size")}
    assert by_size == {128: {"ok"}, limit: {"skipped"}}
    reasons = set(cases[cases["status"] == "skipped"]["reason"])
    assert all(f"needs work-groups of {limit}" in reason for reason in reasons)


def test_a_size_that_is_set_is_another_family_with_other_cases_and_json_is_for_scripts(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = run_xebench(
        "run", "allocation_in_loop", "--preset", "smoke", "--device", "cpu", "--output", str(output),
        "--set", "n=25,20", "--max-samples", "12", "--json",
    )  # fmt: skip
    data = json.loads(done.stdout)
    assert data["state"] == "complete"
    assert {"allocate_every_step", "allocate_once"} <= {case["variant"] for case in data["cases"]}
    assert data["pairs"][0]["metric"] == "wall"
    run = load_run(output)
    by_size = {size: set(cases["case_id"]) for size, cases in run.cases.groupby("param_n")}
    assert all(case_id.endswith("/smoke/-/cpu") for case_id in by_size[25]), "the preset's own size"
    assert all(case_id.endswith("/smoke/n=20/cpu") for case_id in by_size[20])
    assert set(run.cases["preset_parameters"]) == {'{"n": 25, "steps": 10}'} and set(run.cases["param_steps"]) == {10}
    sizes = run.cases[["case_id", "param_n"]]
    for frame in (run.pairs, run.summaries, run.samples):
        assert set(frame.merge(sizes)["param_n"]) == {20, 25}
    assert not run.pairs.merge(sizes).duplicated(["variant", "baseline", "param_n"]).any()
    assert run.pairs["speedup"].notna().all()


def test_variants_that_fail_are_told_apart_and_the_good_pair_is_kept(bad: Run) -> None:
    cases = bad.cases[bad.cases["pattern"] == "faulty_variants"].set_index("variant")
    assert cases["status"].to_dict() == {
        "good_naive": "ok",
        "aborts": "crashed",
        "hangs": "timeout",
        "one_wrong_element": "wrong",
        "good_optimized": "ok",
    }
    assert "SIGABRT" in cases["reason"]["aborts"]
    assert "1 of 1024 elements differ; first at (7,)" in cases["reason"]["one_wrong_element"]
    pairs = bad.pairs[bad.pairs["pattern"] == "faulty_variants"].set_index("variant")
    assert pairs["speedup"]["good_optimized"] > 0
    assert pairs.loc[["aborts", "hangs", "one_wrong_element"], "speedup"].isna().all()


def test_errors_of_a_pattern_cost_that_pattern(bad: Run) -> None:
    cases = bad.cases.set_index(["pattern", "variant"])
    status, reason = cases["status"].to_dict(), cases["reason"].to_dict()
    assert reason["broken_problem", "write_ones"] == "problem: KeyError: 'missing'"
    assert "missing ['y'], unknown ['z']" in reason["broken_reference", "write_ones"]
    assert status["too_large", "write_ones"] == "refused"
    assert "GiB of device memory" in reason["too_large", "write_ones"]
    assert status["fails_later", "fails_at_the_fifth_call"] == "error"
    assert "sample: StopIteration" in reason["fails_later", "fails_at_the_fifth_call"]
    assert status["fails_later", "write_ones"] == "ok"
    assert status["lacks", "needs_level_zero"] == "skipped"
    assert status["lacks", "too_much_local_memory"] == "skipped"
    assert set(bad.samples[bad.samples["case_id"].str.startswith("fails_later/write_ones")]["state"]) >= {"hot"}


def start_slow_run(output: Path, arguments: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """A run that goes on until it is stopped, once its first samples are on disk."""
    process = subprocess.Popen(
        [
            *HEEDING_SIGNALS,
            *command(
                "run", "slm_convolution_cache", "allocation_in_loop", "--preset", "smoke", "--device", "cpu",
                "--output", str(output), "--budget", "300", "--precision", "1e-9", *arguments,
            ),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while "hot" not in set(journal.read(output / journal.FOLDER, "samples")["state"]):
        assert process.poll() is None and time.monotonic() < deadline, "the run did not begin to sample"
        time.sleep(0.05)
    return process


def children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_killed_run_leaves_everything_measured_and_no_worker(tmp_path: Path) -> None:
    output = tmp_path / "run"
    process = start_slow_run(output)
    workers = children(process.pid)
    process.kill()
    process.wait()
    run = load_run(output)
    assert not run.complete
    assert len(run.samples) > 0 and len(run.events) > 0
    assert set(run.cases["status"]) == {"interrupted"}
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers and not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_an_interrupt_ends_the_run_cleanly(tmp_path: Path) -> None:
    output = tmp_path / "run"
    process = start_slow_run(output)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 130
    run = load_run(output)
    assert run.manifest["state"] == "interrupted"
    assert len(run.samples) > 0
    assert (output / "samples.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("run", "nonsense"), 2, "no pattern matches 'nonsense'"),
        (("run", "--preset", "huge"), 2, "'huge'"),
        (("run", "--set", "nobodys_size=1", "--preset", "smoke"), 2, "--set nobodys_size"),
        (("run", "--path", "missing.py"), 2, "no pattern file"),
        (("run", "E34", "--preset", "smoke", "--device", "level_zero:gpu:9", "--output", "x"), 3, "no device"),
        (("run", "E34", "--preset", "smoke", "--device", "cpu", "--require-gpu"), 3, "a GPU is"),
        (("report", "missing"), 2, "missing"),
    ],
)
def test_errors_end_in_one_line_and_a_status(
    arguments: Sequence[str],
    status: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here(monkeypatch, *arguments) == status
    stderr = capsys.readouterr().err
    assert words in stderr
    assert len(stderr.strip().splitlines()) == 1, stderr


@pytest.mark.nightly
@pytest.mark.numba_dpex
def test_a_second_run_compiles_nothing(tmp_path: Path) -> None:
    """A fresh cache folder of its own, so that earlier runs do not count."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    runs = []
    for name in ("first", "second"):
        output = tmp_path / name
        names = ("slm_convolution_cache", "tiled_matmul", "--set", "n=768")  # whose families share no kernel
        arguments = ("run", *names, "--preset", "smoke", "--device", "cpu", "--budget", "0.05", "--output", str(output))
        subprocess.run(command(*arguments), check=True, capture_output=True, env=environment, timeout=300)
        rows = load_run(output).samples.query("state == 'compile'")
        runs.append(rows[rows["stage"].isin(["typing", "translate"])])
    first, second = runs
    assert len(first) > 5 and not first["cached"].any()
    assert len(second) > 5 and second["cached"].all()
    assert "translate" not in set(second["stage"]), "LLVM ran although the SPIR-V was cached"
    assert second["host_ns"].sum() < first["host_ns"].sum()


def test_a_run_with_a_budget_ends_wherever_it_is_and_goes_on_with_another(tmp_path: Path) -> None:
    output = tmp_path / "run"
    names = ("slm_convolution_cache", "allocation_in_loop")
    limits = ("--instances", "2", "--max-samples", "60", "--precision", "1e-9", "--budget", "600")
    run_xebench(
        "run", *names, "--preset", "smoke", "--device", "cpu", *limits, "--run-budget", "8s", "--output", str(output)
    )
    first = load_run(output)
    sampled = set(first.samples["sample_id"])  # before the run goes on: tables are read when they are asked for
    assert set(first.cases["status"]) <= {"ok", "interrupted"}
    assert first.cases.loc[first.cases["status"] == "interrupted", "reason"].str.contains("budget").all()
    run_xebench("run", "--resume", str(output), "--run-budget", "1h")
    done = load_run(output)
    assert done.complete and set(done.cases["stopped_by"]) == {"max blocks"}
    assert done.samples["sample_id"].is_unique and sampled <= set(done.samples["sample_id"])
    assert (done.pairs["instances"] > 1).all() and (done.pairs["blocks"] <= 60).all()

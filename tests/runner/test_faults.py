"""Whatever goes wrong costs what it must and no more: nothing measured is lost, and status and message are right.

Every fault is a real one, through the command line, but the clocks: those need a driver that lies.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_kit import run_here, run_quietly
from pattern_copies import write_pattern
from signals_kit import HEEDING_SIGNALS

from xebench.records import points
from xebench.records.events import EventTimes
from xebench.results import Run, journal, load_run
from xebench.results.analysis import metrics, summaries
from xebench.vocabulary import Flag, is_valid

FAULTY = Path(__file__).parents[1] / "faulty"
GATE = ("quick", "gated", "--path", str(FAULTY / "gate.py"))
#: Nothing else ends the samples before the gate, on a loaded machine and on a quiet one.
TO_THE_GATE = ("--budget", "60", "--max-samples", "60", "--instances", "1", "--precision", "1e-6")
pytestmark = pytest.mark.device


# the command with a clock that is beyond every limit when a file says so, however fast the machine came to that point
LEAPING = """
import os, time
from pathlib import Path

steady, leap = time.monotonic, Path(os.environ["XEBENCH_TEST_GATE"]).with_suffix(".leap")
time.monotonic = lambda: steady() + 1e6 * leap.exists()

from xebench.cli.main import main

main()
"""


def command(*arguments: str, program: Sequence[str] = ("-m", "xebench")) -> list[str]:
    return [sys.executable, *program, "run", *arguments]


def smoke(output: Path, *arguments: str) -> tuple[str, ...]:
    """A short run, on a loaded machine, too: a number of samples ends it."""
    limits = () if "--budget" in arguments else ("--budget", "30", "--max-samples", "12")
    return (*arguments, *limits, "--preset", "smoke", "--device", "cpu", "--output", str(output))


@pytest.fixture(scope="module", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs that somebody else has on this machine are none of these tests' business."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


def run_xebench(*arguments: str, status: int) -> str:
    """Run to the end; gives what it said on standard error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XEBENCH_TEST_GATE", "/dev/null/gate")
        done = run_quietly("run", *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


class Going:
    """A run that stopped at its gate, in the middle of the second of two families."""

    def __init__(self, output: Path, process: subprocess.Popen[str]) -> None:
        self.output = output
        self.process = process
        self.gate = output.with_suffix(".gate")

    def rows(self, table: str) -> list[dict[str, object]]:
        return points.rows(journal.read(self.output / journal.FOLDER, table))

    def wait_for(self, what: str, seen: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not seen():
            assert self.process.poll() is None, f"it ended before {what}: {self.process.stderr.read()}"  # type: ignore[union-attr]
            assert time.monotonic() < deadline, f"no {what}"
            time.sleep(0.05)

    def hot_samples(self, instance: int) -> int:
        rows = [row for row in self.rows("samples") if "gated/" in str(row["case_id"])]
        return sum(row["state"] == "hot" and row["instance"] == instance for row in rows)

    def wait_at_gate(self, instance: int) -> None:
        self.wait_for("samples", lambda: self.hot_samples(instance) > 0)
        before = -1
        while before != (before := len(self.rows("samples"))):
            time.sleep(0.3)

    def worker(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[-1])

    def ends(self, status: int) -> str:
        _, said = self.process.communicate(timeout=120)
        assert self.process.returncode == status, said
        assert "Traceback" not in said
        return said


@contextmanager
def going(
    output: Path,
    *arguments: str,
    resume: bool = False,
    names: Sequence[str] = GATE,
    instance: int = 0,
    program: Sequence[str] = ("-m", "xebench"),
) -> Iterator[Going]:
    asked = ("--resume", str(output)) if resume else smoke(output, *TO_THE_GATE, *names)
    gate = output.with_suffix(".gate")
    gate.touch()
    process = subprocess.Popen(
        [*HEEDING_SIGNALS, *command(*asked, *arguments, program=program)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XEBENCH_TEST_GATE": str(gate)},
    )
    run = Going(output, process)
    try:
        run.wait_at_gate(instance)
        yield run
    finally:
        gate.unlink(missing_ok=True)
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run with every fault that a variant can have."""
    folder = tmp_path_factory.mktemp("faults")
    output, gate = folder / "run", folder / "gate.py"
    write_pattern(gate, (FAULTY / "gate.py").read_text() + WRITES_EVERYWHERE)
    files = (FAULTY / "faults.py", FAULTY / "lying_driver.py", gate)
    paths = [word for file in files for word in ("--path", str(file))]
    limits = ("--timeout", "15", "--memory-limit", "2G")
    run_xebench(*smoke(output, "faults", "lying_driver", "quick", "garbage", *paths, *limits), status=1)
    return load_run(output)


def test_each_end_of_a_worker_is_recorded_as_what_it_is(faults: Run) -> None:
    cases = faults.cases[faults.cases["pattern"] == "faults"].set_index("variant")
    assert cases["status"].to_dict() == {
        "good_naive": "ok",
        "aborts": "crashed",
        "segfaults": "crashed",
        "is_killed": "interrupted",
        "takes_all_memory": "crashed",
        "endless_kernel": "timeout",
        "closes_what_is_not_its_own": "error",
        "closes_everything": "crashed",
        "good_optimized": "ok",
    }
    reasons = cases["reason"]
    assert reasons["aborts"].startswith("check: ended by SIGABRT in ") and "faults.py:" in reasons["aborts"]
    assert reasons["segfaults"].startswith("check: ended by SIGSEGV in ") and "faults.py:" in reasons["segfaults"]
    assert reasons["is_killed"] == "check: killed from outside (signal SIGKILL)"
    assert reasons["takes_all_memory"].startswith("check: out of memory: the worker had 2.")
    assert reasons["closes_what_is_not_its_own"] == "sample: OSError: [Errno 9] Bad file descriptor"
    # 120 is what some releases of Python end with when they cannot write to a closed descriptor
    assert reasons["closes_everything"] in ("check: ended with status 1", "check: ended with status 120")
    assert reasons["endless_kernel"] == "check: no answer for 15 s"
    assert not faults.complete and faults.manifest["ended_by"] == "worker killed", "somebody else ended one of them"


def test_the_good_pair_is_measured_beside_the_bad_ones(faults: Run) -> None:
    pairs = faults.pairs.set_index("variant")
    assert pairs["speedup"]["good_optimized"] > 0
    assert faults.samples["sample_id"].is_unique and faults.samples["sample_id"].is_monotonic_increasing
    assert pairs.loc[["aborts", "endless_kernel", "takes_all_memory"], "speedup"].isna().all()


def test_rows_of_compilation_are_not_repeated_for_those_that_go_on(faults: Run) -> None:
    good = faults.samples[faults.samples["case_id"].str.startswith("faults/good_")]
    compiled = good[good["state"] == "compile"]
    assert not compiled.duplicated(["case_id", "stage"]).any(), "each has one kernel"
    assert set(compiled.loc[compiled["stage"] == "launch", "case_id"]) == set(good["case_id"])


@pytest.mark.parametrize(("variant", "flag"), [("backwards", Flag.BACKWARDS), ("stale", Flag.STALE)])
def test_a_driver_that_lies_is_found_out(variant: str, flag: str, faults: Run) -> None:
    hot = faults.samples[faults.samples["state"] == "hot"]
    lies = hot[hot["case_id"].str.startswith(f"lying_driver/{variant}/")]
    assert len(lies) > 3, "what was measured is kept"
    assert lies["sample_flags"].str.contains(flag).all() and not lies["valid"].any()
    pair: Any = faults.pairs.set_index("variant").loc[variant]
    assert pd.isna(pair["speedup"]) and pair["answer"] in ("undecided", "no claim", "skipped")
    honest = hot[hot["case_id"].str.startswith("lying_driver/honest/")]
    assert honest["valid"].mean() > 0.9, "the lies of one variant are not laid on another"


def test_a_host_clock_that_goes_backwards_invalidates_the_sample() -> None:
    event = EventTimes(100, 110, 200)
    flags = metrics.flags([event], host_ns=-50, resolution_ns=1)
    assert flags == (Flag.OUTSIDE_HOST,)
    assert not any(is_valid(flags, metric) for metric in ("device", "span", "wall"))


@pytest.mark.nightly
def test_a_run_is_measured_in_three_sessions_and_nothing_twice(tmp_path: Path) -> None:
    output = tmp_path / "run"
    said = run_xebench(*smoke(output, *GATE, *TO_THE_GATE), "--run-budget", "0.001", status=0)
    assert "the budget of 0.001 s for the run is spent" in said and "and 1 family is not measured" in said
    assert f"'xebench run --resume {output}' continues" in said
    run = load_run(output)
    assert run.manifest["state"] == "interrupted" and run.manifest["ended_by"] == "run budget"
    reasons = {pattern: set(cases["reason"].str[:32]) for pattern, cases in run.cases.groupby("pattern")}
    assert reasons == {"quick": {""}, "gated": {"not measured: the budget of 0.00"}}, "no run ends without a sample"

    with going(output, resume=True) as second:
        second.process.kill()
        assert second.process.wait() == -signal.SIGKILL
    killed = load_run(output)
    statuses = {pattern: set(cases["status"]) for pattern, cases in killed.cases.groupby("pattern")}
    assert statuses == {"quick": {"ok"}, "gated": {"interrupted"}}

    said = run_xebench("--resume", str(output), status=0)
    assert "1 of 2 families are missing" in said
    run = load_run(output)
    assert run.complete and set(run.cases["status"]) == {"ok"}
    assert run.manifest["ended_by"] is None and len(run.manifest["resumed"]) == 2
    assert_measured_once(killed.samples, run.samples)
    assert run.devices.equals(killed.devices), "a device is measured once in a run"

    before = (output / "manifest.json").read_bytes()
    assert "holds a complete run: there is nothing to resume" in run_xebench("--resume", str(output), status=0)
    assert (output / "manifest.json").read_bytes() == before


def at_second_instance(path: Path) -> None:
    """A copy of the gate's file, whose gate is in the second instance."""
    text = (FAULTY / "gate.py").read_text().replace("BEFORE_THE_GATE = 20", "BEFORE_THE_GATE = 15\nprepared = []")
    text = text.replace("    calls = 0\n", "    calls = 0\n    prepared.append(session)\n", 1)
    write_pattern(path, text.replace("while calls > BEFORE", "while len(prepared) > 1 and calls > BEFORE"))


def test_a_run_that_is_killed_in_an_instance_keeps_those_before_and_measures_that_one_again(tmp_path: Path) -> None:
    output, gate = tmp_path / "run", tmp_path / "gate.py"
    at_second_instance(gate)
    names = ("gated", "--path", str(gate), "--instances", "2")
    with going(output, names=names, instance=1) as run:
        run.process.kill()
        assert run.process.wait() == -signal.SIGKILL
    killed = load_run(output)
    assert set(killed.cases["status"]) == {"ok"} and set(killed.cases["stopped_by"]) == {"round"}
    hot = killed.samples[killed.samples["state"] == "hot"]
    assert set(hot["instance"]) == {0, 1} and set(hot.loc[hot["checked"], "instance"]) == {0}
    assert "0 of 1 families are missing, 1 waits for more" in run_xebench("--resume", str(output), status=0)
    done = load_run(output).samples
    assert done[done["sample_id"] <= killed.samples["sample_id"].max()].equals(killed.samples)
    again = done[(done["state"] == "hot") & done["checked"]]
    assert set(again["instance"]) >= {0, 2} and 1 not in set(again["instance"]), "what was cut off never happened"


def assert_measured_once(killed: pd.DataFrame, finished: pd.DataFrame) -> None:
    """The family that was over is as it was; the other's early samples are kept apart and do not count."""
    quick = finished[finished["case_id"].str.startswith("quick/")]
    assert quick.equals(killed[killed["case_id"].str.startswith("quick/")])
    early = finished[finished["sample_id"] <= killed["sample_id"].max()]
    assert len(early) == len(killed)
    early = early[early["case_id"].str.startswith("gated/")]
    late = finished[finished["sample_id"] > killed["sample_id"].max()]
    assert not early["checked"].any(), "nothing of it counts"
    assert len(late) > 0 and late["valid"].any() and late["case_id"].str.startswith("gated/").all()
    in_blocks = late[late["block"] >= 0]
    assert in_blocks["block"].min() > killed["block"].max(), "blocks of two sessions must not be mixed"


def test_a_run_whose_folder_is_removed_ends_at_once(tmp_path: Path) -> None:
    output = tmp_path / "run"
    with going(output) as run:
        shutil.rmtree(output)
        said = run.ends(status=2)  # the gate is shut: only a look at the folder can end it
    assert f"{output} was removed during the run" in said and not output.exists()
    assert "is kept" not in said


def kill_worker(run: Going) -> None:
    os.kill(run.worker(), signal.SIGKILL)
    run.wait_for(
        "the case of a killed worker", lambda: any("killed" in str(row["reason"]) for row in run.rows("cases"))
    )


def test_a_killed_worker_costs_a_variant_and_a_stopped_run_nothing(tmp_path: Path) -> None:
    with going(tmp_path / "run") as run:
        measured = len(run.rows("samples"))
        kill_worker(run)
        run.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)  # of two signals that come at once, any may be taken first
        run.process.send_signal(signal.SIGINT)
        said = run.ends(143)
    assert "stopped by SIGTERM: what was measured is kept" in said
    done = load_run(run.output)
    assert done.manifest["state"] == "interrupted" and done.manifest["ended_by"] == "SIGTERM"
    assert not (run.output / "journal").exists(), "the tables were finished"
    assert len(done.samples) >= measured
    killed = done.cases[done.cases["reason"].str.contains("killed")].iloc[0]
    assert (killed["pattern"], killed["variant"], killed["status"]) == ("gated", "launch_and_wait", "interrupted")
    assert killed["reason"] == "sample: killed from outside (signal SIGKILL)"


@pytest.mark.slow
def test_a_lid_that_is_shut_costs_no_more_than_a_sample(tmp_path: Path) -> None:
    """All processes stop, and when they go on the clock is beyond what a worker may be silent."""
    with going(tmp_path / "run", "--timeout", "10000", program=("-c", LEAPING)) as run:
        everybody = family_of(run.process.pid)
        for pid in everybody:
            os.kill(pid, signal.SIGSTOP)
        run.output.with_suffix(".leap").touch()
        for pid in everybody:
            os.kill(pid, signal.SIGCONT)
        run.gate.unlink()
        run.ends(0)
    done = load_run(run.output)
    assert done.complete and set(done.cases["status"]) == {"ok"}
    stopped = done.samples[done.samples["host_ns"] > 10e9]
    # none if they stopped in a call of a check, among the samples
    assert len(stopped) <= 1 and not stopped["valid"].any()


def family_of(pid: int) -> list[int]:
    """A process and all that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in family_of(int(child)))]


def test_what_a_killed_worker_was_at_is_measured_when_the_run_goes_on(tmp_path: Path) -> None:
    with going(tmp_path / "run") as run:
        kill_worker(run)
        said = run.ends(1)
    assert "a worker was killed from outside: what was measured is kept" in said
    killed = load_run(run.output)
    assert killed.manifest["state"] == "interrupted" and killed.manifest["ended_by"] == "worker killed"
    gated = killed.cases[killed.cases["pattern"] == "gated"].set_index("variant")
    assert gated["status"].to_dict() == {"launch": "ok", "launch_and_wait": "interrupted"}
    assert "1 of 2 families are missing" in run_xebench("--resume", str(run.output), status=0)
    done = load_run(run.output)
    assert done.complete and set(done.cases["status"]) == {"ok"}


def test_what_a_pattern_forks_ends_with_the_command_and_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks = tmp_path / "forks"
    monkeypatch.setenv("XEBENCH_TEST_FORKS", str(forks))
    run_xebench(*smoke(tmp_path / "run", "forks", "--path", str(FAULTY / "forks.py")), status=0)
    run = load_run(tmp_path / "run")
    assert set(run.cases["status"]) == {"ok"}
    assert run.samples["sample_id"].is_unique
    assert not run.samples[run.samples["block"] >= 0].duplicated(["case_id", "block"]).any()
    numbers = [int(line) for line in forks.read_text().splitlines()]
    assert len(numbers) >= 3
    assert not [number for number in numbers if is_running(number)]


def is_running(pid: int) -> bool:
    """Whether there is such a process; a killed one stays until init has taken notice."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_garbage_on_descriptors_that_are_not_a_patterns_costs_the_pattern(faults: Run) -> None:
    cases = faults.cases
    assert set(cases.loc[cases["pattern"] == "quick", "status"]) == {"ok"}
    garbage = cases[cases["pattern"] == "garbage"]
    assert set(garbage["status"]) == {"crashed"}
    assert garbage["reason"].str.contains("the worker sent a message that cannot be read: ", regex=False).all()


WRITES_EVERYWHERE = """
garbage = declare("garbage")
garbage.problem(numbers)
garbage.reference(expected)

@garbage.naive
def writes_everywhere(session, p):
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"{}} garbage \\xff of a pattern\\n")
        except OSError:
            continue
    launch(session, p)
"""


def test_a_full_disk_ends_the_run_and_not_what_is_on_it(tmp_path: Path) -> None:
    with going(tmp_path / "run") as run:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (0, hard))
        measured = len(run.rows("samples"))
        run.gate.unlink()
        said = run.ends(2).splitlines()
    assert f"cannot write {run.output}/journal/" in said[-1] and "free space" in said[-1]
    assert f"the run failed: what was measured is kept in {run.output}" in said[-2]
    kept = load_run(run.output)
    assert not kept.complete and len(kept.samples) == measured
    run_xebench("--resume", str(run.output), status=0)
    assert set(load_run(run.output).cases["status"]) == {"ok"}


@pytest.mark.nightly
def test_a_disk_with_room_for_the_manifest_alone_says_that_the_run_was_interrupted(tmp_path: Path) -> None:
    with going(tmp_path / "run") as run:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        samples, manifest = run.output / "journal/samples.0001.arrows", run.output / "manifest.json"
        room = samples.stat().st_size
        assert manifest.stat().st_size + 1000 < room, "the manifest fits where no other sample does"
        resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (room, hard))
        run.gate.unlink()
        said = run.ends(2).splitlines()
    assert f"cannot write {run.output}/journal/" in said[-1]
    kept = load_run(run.output)
    assert kept.manifest["state"] == "interrupted" and "cannot write" in kept.manifest["ended_by"]
    run_xebench("--resume", str(run.output), status=0)
    assert load_run(run.output).complete


@pytest.mark.nightly
def test_a_hang_does_not_outlast_the_budget_of_the_run_by_its_whole_timeout(tmp_path: Path) -> None:
    budget = ("--run-budget", "50000", "--timeout", "100000")
    with going(tmp_path / "run", *budget, names=("gated", *GATE[2:]), program=("-c", LEAPING)) as run:
        run.output.with_suffix(".leap").touch()
        said = run.ends(0)
    assert "the budget of 50000 s for the run is spent, and 1 family is not measured" in said
    cut = load_run(run.output)
    assert cut.manifest["ended_by"] == "run budget"
    assert set(cut.cases["status"]) == {"interrupted"}
    assert cut.cases["reason"].str.contains(r"launch_and_wait in sample: no answer for \d").all()
    assert not cut.samples.loc[cut.samples["state"] == "hot", "checked"].any(), "no check followed"
    run_xebench("--resume", str(run.output), status=0)
    assert set(load_run(run.output).cases["status"]) == {"ok"}


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.nightly)])
def test_samples_of_a_pass_that_was_cut_off_do_not_count(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "second_pass.py"
    write_pattern(path, SECOND_ROUND)
    limits = ("--instances", "2", "--max-samples", "24", "--budget", "60", "--precision", "1e-9")
    with going(tmp_path / "run", *limits, names=("gated", "--path", str(path)), instance=1) as run:
        run.process.send_signal(number)
        if number == signal.SIGINT:
            run.ends(130)
        run.process.wait(60)
    cut = load_run(run.output)
    assert {(row.status, row.stopped_by) for row in cut.cases.itertuples()} == {("ok", "round")}
    assert_counted(cut, {0})
    assert (cut.pairs["blocks"] == 12).all()
    assert set(cut.checks["result"]) == {"passed"} and len(cut.checks) == 2
    assert "0 of 1 families are missing, 1 waits for more" in run_xebench("--resume", str(run.output), status=0)
    done = load_run(run.output)
    assert done.complete and set(done.cases["stopped_by"]) == {"max blocks"}
    assert_counted(done, {0, 2})
    assert (done.pairs["blocks"] == 24).all()


def assert_counted(run: Run, instances: set[int]) -> None:
    hot = run.samples[run.samples["state"] == "hot"]
    counted = hot["instance"].isin(instances)
    assert set(hot["instance"]) == instances | {1}
    assert (hot["checked"] == counted).all()
    assert (summaries.counting_samples(hot) == (counted & hot["valid"])).all()


# a kernel that is long enough for the timer, so that nothing is batched
SECOND_ROUND = """
import os
import time
from pathlib import Path

import numpy as np
from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi
from .kernels import double

sizes = {"n": 1 << 14}
pattern = Pattern("gated", guide="none", lesson="Stops.", presets={"smoke": sizes, "default": sizes}, odd_sizes={})
rounds = calls = 0

@pattern.problem
def problem(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

pattern.reference(lambda p: {"y": p.x + p.x})

@pattern.naive
def launch(session, p):
    session.launch(double, kapi.Range(p.n), p.x, p.y)

@pattern.optimized
def launch_and_wait(session, p):
    global rounds, calls
    rounds, calls = rounds + 1, 0

    def sample():
        global calls
        calls += 1
        gate = Path(os.environ["XEBENCH_TEST_GATE"])
        while rounds == 2 and calls > 14 and gate.exists():
            time.sleep(0.02)
        launch(session, p)

    return sample
"""


def test_a_run_says_why_others_cannot_see_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    (runtime / "xebench").write_text("no folder")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    said = run_xebench(*smoke(tmp_path / "run", "quick", "--path", str(FAULTY / "gate.py")), status=0)
    assert "another run on this device would not be noticed: " in said
    assert f"{runtime}/xebench/devices cannot be written (Not a directory)" in said


def test_a_file_that_exits_in_the_worker_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "gate.py"
    exits = "\nimport sys\nif Path(sys.argv[0]).name == 'serve.py':\n    sys.exit(0)\n"
    write_pattern(path, (FAULTY / "gate.py").read_text() + exits)
    run_xebench(*smoke(tmp_path / "run", "quick", "--path", str(path)), status=1)
    cases = load_run(tmp_path / "run").cases
    reason = f"{path}:{len(path.read_text().splitlines())}: SystemExit: 0: fix the pattern file"
    assert {(row.status, row.reason) for row in cases.itertuples()} == {("error", reason)}


def test_two_runs_on_one_device_notice_one_another(tmp_path: Path) -> None:
    other = smoke(tmp_path / "second", "quick", "--path", str(FAULTY / "gate.py"))
    with going(tmp_path / "first") as first:
        said = run_xebench(*other, "--exclusive", status=2).splitlines()
        assert f"in use by another run (process {first.process.pid}, run folder {first.output})" in said[-1]
        assert not (tmp_path / "second").exists(), "a run that is refused leaves no folder"
        said = run_xebench(*other, status=0).splitlines()
        assert any("another run uses this device" in line for line in said)
        first.gate.unlink()
        assert "another run uses this device" in first.ends(0)
    one, two = load_run(first.output), load_run(tmp_path / "second")
    assert [run["output"] for run in one.manifest["concurrent_runs"]] == [str(tmp_path / "second")]
    assert [run["pid"] for run in two.manifest["concurrent_runs"]] == [first.process.pid]
    assert two.samples["sample_flags"].str.contains(Flag.SHARED).all()
    quick = one.samples[one.samples["case_id"].str.startswith("quick/")]
    assert not quick["sample_flags"].str.contains(Flag.SHARED).any(), "those were taken alone"


@pytest.mark.parametrize("parent", ["a file", "read-only"])
def test_a_folder_that_cannot_be_written_is_named_before_anything_is_measured(parent: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    if parent == "a file":
        place.write_text("no folder")
    else:
        place = Path("/proc")  # not even root may make a folder there
    said = run_xebench(*smoke(place / "run", "quick", "--path", str(FAULTY / "gate.py")), status=2).splitlines()
    assert said[-1].startswith(f"xebench: cannot write {place}/run (") and "--output" in said[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--resume", "nowhere"), "there is no run folder nowhere"),
        (("--resume", ".", "--preset", "smoke"), "leave out --preset"),
        (("--resume", ".", "slm*"), "leave out NAMES"),
        (("--memory-limit", "much", "slm*"), "write a size as 8G"),
        (("--min-samples", "30", "--max-samples", "20", "slm*"), "leaves no room for 30 in each state"),
        (("--max-samples", "15", "--state", "both", "slm*"), "leaves no room for 10 in each state"),
    ],
)
def test_wrong_use_ends_in_one_line(
    arguments: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(monkeypatch, "run", *arguments) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and words in said[0]

"""Runs over the workers of a Dask scheduler, through the command line: three workers, of whom one is killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from dask_kit import Cluster
from pattern_copies import write_pattern

from xebench.results import Run, load_run
from xebench.results.run import compare_runs

pytest.importorskip("distributed")
pytestmark = [pytest.mark.device, pytest.mark.slow]

GATE = Path(__file__).parents[2] / "faulty/gate.py"
HOSTS = ("north", "south", "west")
#: What tells a test who is at the gate: the process that the worker process belongs to.
AT_THE_GATE = "        while calls > BEFORE_THE_GATE and gate.exists():\n"
TELLS_ITS_PARENT = AT_THE_GATE + '            gate.with_suffix(".pid").write_text(f"{os.getppid()}\\n")\n'


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "xebench", *arguments]


def run_xebench(*arguments: str, status: int) -> str:
    done = subprocess.run(command(*arguments), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def pattern_file(folder: Path) -> Path:
    path = folder / "gate.py"
    text = GATE.read_text()
    assert AT_THE_GATE in text
    write_pattern(path, text.replace(AT_THE_GATE, TELLS_ITS_PARENT))
    return path


def what(path: Path) -> list[str]:
    """Six families: "gated" stops at the gate in each of its three."""
    options = ("--set", "n=1024,2048,4096", "--preset", "smoke")
    # nothing else ends the samples before the gate, on a loaded machine and on a quiet one
    to_the_gate = ("--budget", "60", "--max-samples", "30", "--instances", "1", "--precision", "1e-6")
    return ["quick", "gated", "--path", str(path), *options, *to_the_gate]


@contextmanager
def at_the_gate(folder: Path, cluster: Cluster, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command, and the process id of the worker that has come to the gate with a family."""
    (folder / "the.pid").unlink(missing_ok=True)
    (folder / "the.gate").touch()
    with subprocess.Popen(
        command("run", *arguments, "--on", cluster.address), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            told, end = folder / "the.pid", time.monotonic() + 200
            while not (told.exists() and told.read_text().endswith("\n")):
                assert process.poll() is None and time.monotonic() < end, process.communicate()
                time.sleep(0.05)
            yield process, int(told.read_text())
        finally:
            (folder / "the.gate").unlink(missing_ok=True)
            if process.poll() is None and sys.exc_info()[0] is not None:
                process.kill()


class Measured(NamedTuple):
    run: Run
    said: str
    killed: str
    path: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path]]:
    folder = tmp_path_factory.mktemp("cluster")
    with Cluster(folder, HOSTS, {"XEBENCH_TEST_GATE": str(folder / "the.gate")}) as running:
        yield running, folder


@pytest.fixture(scope="module")
def measured(cluster: tuple[Cluster, Path]) -> Measured:
    """A run whose first worker at the gate was killed there."""
    running, folder = cluster
    path, output = pattern_file(folder), folder / "run"
    with at_the_gate(folder, running, *what(path), "--output", str(output)) as (process, pid):
        killed = running.kill(pid)
        (folder / "the.gate").unlink()
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return Measured(load_run(output), said, killed, path)


@pytest.mark.nightly
def test_a_worker_that_dies_costs_its_family_in_flight_which_another_takes(measured: Measured) -> None:
    run = measured.run
    assert run.complete and set(run.cases["status"]) == {"ok"}
    assert len(run.cases) == 12 and run.cases["case_id"].is_unique
    assert f"a worker on {measured.killed} is gone" in measured.said
    families = run.cases.groupby("family_id")["host"].nunique()
    assert (families == 1).all(), "both sides of a speed-up are of one device"
    assert measured.said.count(" on ") >= 6 and "gated n=2048 on " in measured.said


@pytest.mark.nightly
def test_host_and_device_are_in_every_key(measured: Measured) -> None:
    run = measured.run
    hosts = set(run.cases["host"])
    assert 2 <= len(hosts) <= 3 and hosts <= set(HOSTS)
    assert hosts <= set(run.devices["host"]) and not run.devices.duplicated(["host", "device"]).any()
    places = dict(zip(run.cases["case_id"], run.cases["host"] + "/" + run.cases["device"], strict=True))
    assert all(case_id.endswith(f"/cpu@{place}") for case_id, place in places.items())
    for table in (run.samples, run.events, run.checks, run.summaries):
        assert set(table["case_id"]) == set(places)
    assert run.samples["sample_id"].is_unique and set(run.events["sample_id"]) <= set(run.samples["sample_id"])
    sampled = run.samples[run.samples["state"] == "hot"]
    assert len(sampled) and sampled["checked"].all()
    assert run.summaries["host"].notna().all() and run.pairs["host"].notna().all()
    assert set(run.manifest["hosts"]) >= hosts and run.manifest["hosts"][min(hosts)]["machine"]["cpu_model"]


@pytest.mark.nightly
def test_each_device_is_calibrated_on_its_host(measured: Measured) -> None:
    devices = measured.run.devices
    assert (devices["empty_kernel_ns"] > 0).all() and devices["roofs_from"].notna().all()


@pytest.mark.nightly
def test_the_report_tells_the_hosts(measured: Measured) -> None:
    shown = run_xebench("report", str(measured.run.path), status=0)
    hosts = sorted(set(measured.run.devices["host"]))
    assert f"CPU device on {', '.join(hosts)}" in " ".join(shown.split())
    assert all(f"on {host}" in shown for host in set(measured.run.pairs["host"]))


@pytest.mark.nightly
def test_a_run_over_hosts_is_compared_with_one_on_one_machine(measured: Measured, tmp_path: Path) -> None:
    local = tmp_path / "local"
    environment = {**os.environ, "XEBENCH_TEST_GATE": str(tmp_path / "no.gate")}
    subprocess.run(command("run", *what(measured.path), "--output", str(local)), env=environment, check=True)
    compared = compare_runs(load_run(local), measured.run)
    assert len(compared) == 12 and not compared["reason"].str.startswith("only in").any()
    assert (compared["before_n"] >= 6).all() and (compared["after_n"] >= 6).all()
    assert set(compared["after_device"].str.rpartition(", on ")[2]) == set(measured.run.cases["host"])
    assert not compared["before_device"].str.contains(", on ").any()
    other_way = run_xebench("run", "--resume", str(local), "--on", "tcp://127.0.0.1:1", status=0)
    assert "nothing to resume" in other_way


@pytest.mark.nightly
def test_a_run_whose_scheduler_dies_is_resumed_over_another(measured: Measured, tmp_path: Path) -> None:
    output = tmp_path / "run"
    environment = {"XEBENCH_TEST_GATE": str(tmp_path / "the.gate")}
    path = pattern_file(tmp_path)
    with (
        Cluster(tmp_path, ("east",), environment) as first,
        at_the_gate(tmp_path, first, *what(path), "--output", str(output)) as (process, _),
    ):
        first.scheduler.kill()
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 2 and "the scheduler at tcp://127.0.0.1" in said.splitlines()[-1], said
    kept = load_run(output)
    assert kept.manifest["state"] == "interrupted" and "gone" in kept.manifest["ended_by"]
    before = kept.cases[kept.cases["status"] == "ok"]
    assert set(before["pattern"]) == {"quick"}
    assert "add --on" in run_xebench("run", "--resume", str(output), status=2)
    with Cluster(tmp_path, ("far",), environment) as second:
        run_xebench("run", "--resume", str(output), "--on", second.address, status=0)
    run = load_run(output)
    assert run.complete and set(run.cases["status"]) == {"ok"} and len(run.cases) == 12
    assert set(run.cases.loc[run.cases["pattern"] == "gated", "host"]) == {"far"}
    assert set(before["case_id"]) <= set(run.cases["case_id"]), "what was measured is not measured again"
    assert run.samples["sample_id"].is_unique and set(run.devices["host"]) == {"east", "far"}


# ---- errors in one line ---------------------------------------------------------------------------------------------


def last_line(*arguments: str, status: int) -> str:
    return run_xebench(
        "run", "quick", "--path", str(GATE), "--preset", "smoke", *arguments, status=status
    ).splitlines()[-1]


def refused(address: str, folder: Path) -> str:
    said = last_line("--on", address, "--output", str(folder / "run"), status=3)
    assert f"no Dask scheduler answers at {address}" in said and not (folder / "run").exists()
    return said


@pytest.mark.parametrize(
    ("address", "why"), [("tcp://127.0.0.1:1", "Timed out"), ("nonsense", "port"), ("http://127.0.0.1:1", "scheme")]
)
def test_nobody_at_the_address(tmp_path: Path, address: str, why: str) -> None:
    assert why in refused(address, tmp_path)


def test_a_server_that_never_answers(tmp_path: Path) -> None:
    """Such as a web server, to which a scheduler's first message is an unfinished request."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "no answer" in refused(f"tcp://127.0.0.1:{silent.getsockname()[1]}", tmp_path)


@pytest.mark.nightly
def test_a_worker_is_no_scheduler(cluster: tuple[Cluster, Path], tmp_path: Path) -> None:
    running, _ = cluster
    alive = next(running.addresses[host] for host, process in running.workers.items() if process.poll() is None)
    assert "it is a Worker" in refused(alive, tmp_path)


@pytest.mark.nightly
def test_a_scheduler_without_workers_or_devices(cluster: tuple[Cluster, Path], tmp_path: Path) -> None:
    running, _ = cluster
    output: tuple[str, ...] = ("--output", str(tmp_path / "run"))
    with Cluster(tmp_path, ()) as empty:
        assert "has no workers: run 'dask worker" in last_line("--on", empty.address, *output, status=3)
    said = last_line("--on", running.address, "--device", "gpu", *output, status=3)
    assert "has a device to measure on" in said and "no GPU found" in said
    output = ("--on", running.address, *output)
    said = last_line("--device", "opencl:gpu:1", *output, status=3)
    assert "has a device to measure on" in said and "opencl:gpu:1" in said


@pytest.mark.nightly
def test_a_budget_and_a_filter_string_hold_over_hosts(cluster: tuple[Cluster, Path], tmp_path: Path) -> None:
    running, _ = cluster
    output = tmp_path / "run"
    asked = ("quick", "--path", str(pattern_file(tmp_path)), "--set", "n=1024,2048", "--preset", "smoke")
    device = ("--device", "opencl:cpu", "--max-samples", "30")
    on = ("--on", running.address)
    said = run_xebench("run", *asked, *device, *on, "--run-budget", "0.1", "--output", str(output), status=0)
    assert "the budget of 0.1 s for the run is spent, and 2 families are not measured" in said
    cut = load_run(output)
    assert cut.manifest["ended_by"] == "run budget" and set(cut.cases["status"]) == {"interrupted"}
    run_xebench("run", "--resume", str(output), *on, "--run-budget", "1h", status=0)
    run = load_run(output)
    assert run.complete and set(run.cases["status"]) == {"ok"} and len(run.cases) == len(cut.cases)
    assert set(run.devices["device"]) == {"opencl:cpu:0"}


def test_without_the_extra(tmp_path: Path) -> None:
    program = "import sys; sys.modules['distributed'] = None; from xebench.cli.main import main; main()"
    arguments = ["run", "quick", "--path", str(GATE), "--on", "tcp://127.0.0.1:1", "--output", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "pip install distributed" in done.stderr.splitlines()[-1], done.stderr

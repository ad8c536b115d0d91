"""The plugin in a pytest of its own, as its users run it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# a session of its own, which is no worker of this one; pytest cuts its lines
OWN = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
WIDE = {**OWN, "COLUMNS": "300"}
FIXTURE = "device_" + "benchmark"  # in one word it would have the plugin prepare this process
PLUGINS = ("-ppytest_benchmark.plugin", "-pxebench.pytest_plugin.plugin")

TESTS = """
import ctypes
import math
import time

import dpctl.memory
import numpy as np
import pytest
from dpctl import program
from xebench.results.analysis import answer

answer.BIAS = answer.STARVED = math.inf  # what a busy machine leaves undecided is no matter of these tests

N = 4096
SCALE = '''
kernel void scale(global const float *x, global float *y, int times) {
    size_t i = get_global_id(0);
    for (int step = 0; step < times; step++)
        y[i] = y[i] * x[i] + step;
}
'''


def memory(queue):
    made = dpctl.memory.MemoryUSMDevice(4 * N, queue=queue)
    made.copy_from_host(np.ones(N, np.float32).view(np.uint8))
    return made


def launch(bench, times):
    queue = bench.queue
    kernel = program.create_program_from_source(queue, SCALE).get_sycl_kernel("scale")
    arguments = [memory(queue), memory(queue), ctypes.c_int32(times)]
    return lambda: queue.submit_async(kernel, arguments, [N])


def test_rate(own_benchmark):
    own_benchmark(launch(own_benchmark, 100), bytes_moved=12 * N, operations=100 * N)


def test_returned_event(own_benchmark):
    queue = own_benchmark.queue
    source, target = memory(queue), memory(queue)
    event = own_benchmark(lambda: queue.memcpy_async(target, source, source.nbytes))
    assert hasattr(event, "wait")


def test_nothing_submitted(own_benchmark):
    own_benchmark(lambda: sum(range(1000)))


def test_own_error(own_benchmark):
    own_benchmark(lambda: 1 / 0)


def compared(bench, first, second):
    for _ in range(4):  # a busy machine may decide it later
        try:
            return bench.compare(launch(bench, first), launch(bench, second), claim="faster", budget_s=5)
        except pytest.skip.Exception:
            pass
    return bench.compare(launch(bench, first), launch(bench, second), claim="faster", budget_s=20)


def test_holds(own_benchmark):
    assert compared(own_benchmark, 20000, 10)["speedup_low"] > 1


def test_inverts(own_benchmark):
    compared(own_benchmark, 10, 20000)


def test_undecided(own_benchmark):
    once = launch(own_benchmark, 100)
    own_benchmark.compare(once, once, claim="faster", budget_s=1e-9)


def test_setup(own_benchmark):
    kernel = program.create_program_from_source(own_benchmark.queue, SCALE).get_sycl_kernel("scale")
    made = []

    def setup(session):
        made.append((memory(session.queue), memory(session.queue)))
        return made[-1]

    def scale(times):
        return lambda x, y: own_benchmark.queue.submit_async(kernel, [x, y, ctypes.c_int32(times)], [N])

    try:
        own_benchmark.compare(scale(20000), scale(10), setup=setup, budget_s=1)
    except pytest.skip.Exception:
        pass
    assert len(made) > 1


def test_both(own_benchmark, benchmark):
    once = launch(own_benchmark, 100)
    benchmark.extra_info["whose"] = "host"
    own_benchmark.extra_info["whose"] = "device"
    assert benchmark(lambda: 7) == 7
    assert own_benchmark.stats is None
    own_benchmark(once)
    assert own_benchmark.stats.stats.median > 0


def test_pedantic(own_benchmark):
    arguments = []

    def setup():
        arguments.append(launch(own_benchmark, 10))
        return (arguments[-1],), {}

    own_benchmark.group = "mine"
    assert own_benchmark.group == "mine"
    event = own_benchmark.pedantic(lambda once: once(), setup=setup, rounds=3, warmup_rounds=1, bytes_moved=12 * N)
    assert hasattr(event, "wait") and len(arguments) == 4
    assert own_benchmark.stats.stats.rounds == 3


def test_host_work(own_benchmark):
    once = launch(own_benchmark, 10)
    own_benchmark(lambda: (time.sleep(0.05), once())[1])


class Busy:
    '''In place of a queue that nobody times: its work takes as long again as the function that submitted it.'''

    since = None

    def wait(self):
        if self.since is not None:
            time.sleep(max(0.02, time.perf_counter() - self.since))
        self.since = None


@pytest.fixture
def early(own_benchmark, monkeypatch):
    from xebench.dpex import direct_calls

    queue = Busy()
    monkeypatch.setattr(direct_calls, "live_queues", lambda **_: [queue])
    once = launch(own_benchmark, 10)

    def early():
        queue.since = time.perf_counter()
        return once()

    return early


def test_early(own_benchmark, early):
    own_benchmark(early)


def test_early_of_rounds(own_benchmark, early):
    own_benchmark.pedantic(early, rounds=5)


def test_early_of_two(own_benchmark, early):
    own_benchmark.compare(launch(own_benchmark, 20000), early, claim="faster", budget_s=5)


def test_no_claim_of_time(own_benchmark):
    once = launch(own_benchmark, 10)
    own_benchmark.compare(once, once, claim="wrong")
"""


def run(folder: Path, *options: str, plugins: tuple[str, ...] = PLUGINS) -> tuple[int, str]:
    """Exit status and output of pytest in a folder, without the plugins that are installed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "--disable-plugin-autoload", *plugins, "-rA", *options]
    done = subprocess.run(command, cwd=folder, env=WIDE, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, Any]]:
    """Folder, output, and benchmarks by name of one session."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "test_own.py").write_text(TESTS.replace("own_benchmark", FIXTURE))
    _, output = run(folder, "--benchmark-only", "--benchmark-json=own.json", "--benchmark-max-time=0.05")
    benchmarks = json.loads((folder / "own.json").read_text())["benchmarks"]
    return folder, output, {one["name"]: one for one in benchmarks}


@pytest.mark.device
def test_the_clock_is_the_devices(measured: tuple[Path, str, dict[str, Any]]) -> None:
    _, output, benchmarks = measured
    rate = benchmarks["test_rate"]
    assert rate["options"]["timer"] == "device_clock"
    assert rate["extra_info"]["bytes_moved"] == 12 * 4096
    assert rate["extra_info"]["gigabytes_per_s"] == pytest.approx(12 * 4096e-9 / rate["stats"]["median"])
    assert rate["extra_info"]["giga_operations_per_s"] == pytest.approx(100 * 4096e-9 / rate["stats"]["median"])
    assert rate["group"] == f"[{rate['extra_info']['device_class']} {rate['extra_info']['device']}]"
    assert "PASSED test_own.py::test_returned_event" in output


@pytest.mark.device
def test_errors_are_one_line_and_the_users_own_stay_theirs(measured: tuple[Path, str, dict[str, Any]]) -> None:
    _, output, benchmarks = measured
    assert "FAILED test_own.py::test_nothing_submitted - Failed: the function submitted no recorded" in output
    assert "During handling of" not in output, "each is told once"
    line = TESTS.splitlines().index("def test_no_claim_of_time(own_benchmark):") + 3
    assert f"\ntest_own.py:{line}\n" in output, "and where the call is"
    assert "ZeroDivisionError" in output
    assert "FAILED test_own.py::test_no_claim_of_time - Failed: claim 'wrong'" in output
    assert not {"test_nothing_submitted", "test_own_error", "test_no_claim_of_time"} & set(benchmarks)


@pytest.mark.device
def test_both_fixtures_of_a_test_have_clocks_of_their_own(measured: tuple[Path, str, dict[str, Any]]) -> None:
    _, output, benchmarks = measured
    assert "PASSED test_own.py::test_both" in output
    assert "test_own.py::test_both" not in output.splitlines(), "it warns of a fixture that was not used"
    host, device = benchmarks["test_both"], benchmarks["test_both (device)"]
    assert (host["options"]["timer"], device["options"]["timer"]) == ("perf_counter", "device_clock")
    assert (host["extra_info"], device["extra_info"]["whose"]) == ({"whose": "host"}, "device")
    assert host["group"] is None and device["group"].startswith("[")


@pytest.mark.device
def test_rounds_are_as_many_as_were_asked_for(measured: tuple[Path, str, dict[str, Any]]) -> None:
    _, output, benchmarks = measured
    assert "PASSED test_own.py::test_pedantic" in output
    pedantic = benchmarks["test_pedantic"]
    assert pedantic["stats"]["rounds"] == 3 and pedantic["group"].startswith("mine [")
    assert pedantic["extra_info"]["gigabytes_per_s"] > 0


@pytest.mark.device
def test_work_on_the_host_beside_a_short_kernel_is_told(measured: tuple[Path, str, dict[str, Any]]) -> None:
    _, output, benchmarks = measured
    doubt = benchmarks["test_host_work"]["extra_info"]["doubt"]
    assert doubt.startswith("unrecorded work?: besides its commands test_host_work takes ")
    assert f"test_own.py::test_host_work: {doubt}" in output.splitlines()


@pytest.mark.device
@pytest.mark.parametrize("test", ["test_early", "test_early_of_rounds", "test_early_of_two"])
def test_a_function_that_returns_before_the_device_is_done_fails(
    test: str, measured: tuple[Path, str, dict[str, Any]]
) -> None:
    _, output, benchmarks = measured
    (line,) = (line for line in output.splitlines() if line.startswith(f"FAILED test_own.py::{test} "))
    assert "the device works for " in line and line.endswith("wait for it there, or submit it to session.queue")
    assert test not in benchmarks


@pytest.mark.device
def test_a_claim_decides_the_test(measured: tuple[Path, str, dict[str, Any]]) -> None:
    _, output, benchmarks = measured
    assert "PASSED test_own.py::test_holds" in output
    assert "FAILED test_own.py::test_inverts - Failed: inverts: claimed faster" in output
    assert "undecided: too few blocks" in output
    assert "FAILED test_own.py::test_undecided" not in output
    assert "test_own.py::test_holds: holds: claimed faster" in output
    pair = benchmarks["test_holds"]["extra_info"]["pair"]
    assert pair["speedup_low"] < pair["speedup"] < pair["speedup_high"]


@pytest.mark.device
def test_setup_makes_the_arguments_of_each_instance(measured: tuple[Path, str, dict[str, Any]]) -> None:
    assert "PASSED test_own.py::test_setup" in measured[1]


@pytest.mark.device
def test_stored_benchmarks_are_compared_with_those_of_the_same_device_only(
    measured: tuple[Path, str, dict[str, Any]],
) -> None:
    folder, _, _ = measured
    stored = json.loads((folder / "own.json").read_text())
    for one in stored["benchmarks"]:
        if one["name"] == "test_rate":
            one["stats"] = {**one["stats"], "min": one["stats"]["min"] * 1e-6}
        else:
            one["extra_info"] |= {"device": "Another", "device_class": "gpu"}
    (folder / "other.json").write_text(json.dumps(stored))
    chosen = "--deselect=test_own.py::test_nothing_submitted", "-ktest_rate or test_returned_event"
    compare = "--benchmark-compare=other.json", "--benchmark-compare-fail=min:5%"
    status, output = run(folder, *chosen, *compare, "--benchmark-max-time=0.02")
    assert status != 0
    assert "the stored benchmark is of gpu Another, this one of " in output
    assert "Performance has regressed" in output
    assert "test_rate" in output.partition("Performance has regressed")[2]


def test_without_pytest_benchmark_only_its_users_fail(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_a(): pass\ndef test_b(request): request.getfixturevalue(NAME)\n"
                                         "NAME = 'device_' + 'benchmark'\n")  # fmt: skip
    _, output = run(tmp_path, plugins=PLUGINS[1:])
    assert "PASSED test_it.py::test_a" in output
    assert "pip install pytest-benchmark" in output


def test_the_plugin_loads_nothing_heavy() -> None:
    heavy = "{'dpctl', 'pandas', 'numpy', 'pytest_benchmark'}"
    code = f"import sys, xebench.pytest_plugin.plugin; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_pytest_finds_the_plugin_by_its_entry_point(tmp_path: Path) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    info = tmp_path / "site" / "declared-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 1\n")
    lines = "".join(f"{name} = {module}\n" for name, module in declared.items())
    (info / "entry_points.txt").write_text(f"[pytest11]\n{lines}")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    search = os.pathsep.join((str(tmp_path / "site"), str(ROOT)))
    command = [sys.executable, "-m", "pytest", "--help"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True, check=True
    )
    assert "--xebench-device" in done.stdout


EXAMPLES = ROOT / "docs" / "examples"
PATTERN = (EXAMPLES / "own_saxpy.py").read_text()


@pytest.mark.device
def test_the_example_of_an_own_kernel_and_of_dpnp_passes(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "test_own_kernel.py", tmp_path)
    histogram = ("--benchmark-histogram=own",) if importlib.util.find_spec("pygal") else ()
    _, output = run(tmp_path, "--benchmark-only", "--benchmark-json=own.json", "--benchmark-max-time=0.1", *histogram)
    assert "PASSED test_own_kernel.py::test_kernel" in output
    assert "FAILED test_own_kernel.py::test_fewer_temporaries" not in output
    assert "device: " in output
    assert len(list(tmp_path.glob("own*.svg"))) == len(histogram)
    command = [sys.executable, "-m", "pytest_benchmark", "compare", "own.json"]
    compared = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "test_kernel" in compared.stdout


@pytest.mark.nightly
@pytest.mark.device
def test_patterns_are_items_that_tell_a_wrong_variant(tmp_path: Path) -> None:
    right_call = "(interleaved, work_items(p, work_group_size), p.a,"
    assert right_call in PATTERN
    wrong = PATTERN.replace(right_call, f"{right_call.removesuffix(',')} * p.a,").replace("own_saxpy", "wrong_saxpy")
    sizes = '"smoke": {"n": 1 << 14}'
    assert sizes in PATTERN
    right = PATTERN.replace(sizes, '"smoke": {"n": (1 << 14, 3 << 12)}')  # a family for each: the same axes twice
    for name, text in (("right", right), ("wrong", wrong)):
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "no_pattern.py").write_text("1 / 0\n")
    own = str(ROOT / "benchmarks/queues/kernel_launch_latency.py")
    status, output = run(tmp_path, "--xebench", "--benchmark-only", "--benchmark-json=patterns.json", ".", own)
    assert status == 1
    assert "::kernel_launch_latency::" in output
    assert "PASSED right.py::own_saxpy::block_per_item" in output
    assert output.count("PASSED right.py::own_saxpy::neighbours_together[") == 2
    assert "PASSED wrong.py::wrong_saxpy::block_per_item" in output
    assert "FAILED wrong.py::wrong_saxpy::neighbours_together - Failed: wrong: y:" in output
    benchmarks = json.loads((tmp_path / "patterns.json").read_text())["benchmarks"]
    names = ("own_saxpy", "wrong_saxpy", "kernel_launch_latency")
    assert all(one["group"].startswith(tuple(f"{name} smoke" for name in names)) for one in benchmarks)
    benchmarks = [one for one in benchmarks if "saxpy" in one["name"]]
    assert {one["extra_info"]["metric"] for one in benchmarks} == {"device"}
    assert all(one["stats"]["rounds"] >= 6 and one["stats"]["median"] > 0 for one in benchmarks)


def test_processes_that_would_each_make_a_run_are_refused(tmp_path: Path) -> None:
    own = (*PLUGINS, "-pxdist")
    status, output = run(tmp_path, "--xebench", "-n2", ".", plugins=own)
    assert status == 4 and "--xebench makes one run, and processes of pytest-xdist would disturb it: add -n 0" in output
    status, _ = run(tmp_path, "--xebench", "-n0", "--dist=loadfile", ".", plugins=own)
    assert status == 5, "there is nothing to collect"


def test_pattern_files_are_left_alone_without_the_option(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(PATTERN)
    status, output = run(tmp_path, ".")
    assert status == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "own_saxpy" not in output


def test_a_preset_that_no_pattern_has_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(PATTERN)
    status, output = run(tmp_path, "--xebench", "--xebench-preset=huge", ".")
    assert status == pytest.ExitCode.INTERRUPTED
    assert "no selected pattern has the preset 'huge'" in output

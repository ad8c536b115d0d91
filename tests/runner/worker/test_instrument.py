"""The instrument's own error: its arithmetic on made-up numbers, and all of it once on a device."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

pytestmark = pytest.mark.device


def test_the_quantum_is_the_smallest_step_between_times_that_differ() -> None:
    from harness.runner.worker.instrument import smallest_step

    assert smallest_step([520, 572, 520, 624, 1040]) == 52
    assert smallest_step([7, 7, 7]) is None
    assert smallest_step([7, 8, 7]) == 1


@pytest.mark.parametrize("rounded", [np.floor, np.round])
@pytest.mark.parametrize(("length", "spread"), [(600, 60), (5000, 500)])
@pytest.mark.parametrize("tick", [1, 8, 26.0417, 40, 52.083, 83.333, 100, 1000])
def test_the_quantum_is_found_where_it_is_no_whole_number_of_ns(
    tick: float, length: float, spread: float, rounded: Callable[[np.ndarray], np.ndarray]
) -> None:
    from harness.runner.worker.instrument import smallest_step

    source = np.random.default_rng(5)
    starts = source.random(200) * 1e9
    ends = starts + np.abs(source.normal(length, spread, 200)) + source.exponential(spread, 200)
    durations = rounded(ends // tick * tick) - rounded(starts // tick * tick)
    assert smallest_step(int(duration) for duration in durations) == pytest.approx(tick, rel=0.005)


def test_the_host_clock_tells_its_step_and_its_price() -> None:
    from harness.runner.worker.instrument import host_clock

    ticks = iter(n // 4 * 100 for n in range(10_000))
    step, price = host_clock(lambda: next(ticks))
    assert step == 100
    assert price == pytest.approx(25, rel=0.01)
    assert host_clock(lambda: 5) == (None, 0.0)


def test_times_on_a_line_fit_it_and_others_do_not() -> None:
    from harness.runner.worker.instrument import fit

    line = fit([1, 2, 3, 4], [110, 210, 310, 410])
    assert line.r2 == pytest.approx(1) and line.residual == pytest.approx(0, abs=1e-9)
    bent = fit([1, 2, 3, 4], [100, 200, 300, 800])
    assert bent.r2 < 0.9 and bent.residual > 0.1
    assert fit([1, 2, 3], [5, 5, 5]).r2 == 0, "a time that does not depend on the trip count is no line"


def test_the_instrument_measures_itself_on_a_device() -> None:
    from harness.records import TABLES
    from harness.runner.worker.calibration import measure_roofs
    from harness.session.session import Session

    session = Session.on("cpu")
    found = measure_roofs(session)
    assert set(found) <= set(TABLES["devices"])
    finite = {name: value for name, value in found.items() if value is not None}
    assert all(math.isfinite(value) for value in finite.values())
    positive = {"bandwidth_roof_gbps", "empty_kernel_ns", "empty_kernel_host_ns", "launch_overhead_ns", "aa_speedup"}
    assert all(finite[name] > 0 for name in positive)
    assert finite["empty_kernel_ns"] <= finite["empty_kernel_host_ns"]
    assert finite["length_r2"] <= 1
    assert finite["aa_low"] <= finite["aa_speedup"] <= finite["aa_high"]
    assert session.measure(lambda: None).commands == [], "the session is left as it was"
    assert session.take_kernels() == [] and session.take_compilations() == []


def test_the_kernel_of_known_length_does_every_step() -> None:
    from numba_dpex import kernel_api as kapi

    from harness.runner.worker.instrument import _known_length
    from harness.session.device_memory import DeviceMemory
    from harness.session.session import Session

    session = Session.on("cpu")
    memory = DeviceMemory(session.queue)
    x = memory.upload(np.full(64, 0.5, np.float32))
    session.launch(_known_length, kapi.NdRange((64,), (64,)), x, np.float32(0.5), np.int64(3))
    session.wait()
    assert memory.read(x).tolist() == [0.9375] * 64


def test_overheads_of_both_sides_are_times() -> None:
    from harness.runner.worker.instrument import empty_launch
    from harness.runner.worker.overhead import Overheads, sample_overheads
    from harness.session.session import Session

    session = Session.on("cpu")
    found = sample_overheads(session, *empty_launch(session), rounds=1)
    assert found.sample_ns > 0 and found.bare_ns > 0 and found.launch_ns > 0
    assert Overheads(30.0, 10.0, 5.0).ratio == 3

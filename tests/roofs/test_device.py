"""The probes on a device: every group once, quickly; and a device that runs nothing passes no check."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from xebench.errors import Unsupported
from xebench.roofs.catalogue import (
    GROUPS,
    PROBES,
    WORKING_SETS,
    find_probe,
    level_name,
)
from xebench.roofs.search import Effort, NoForm, WrongResult

pytestmark = pytest.mark.device

ONE_OF_EACH_GROUP = (
    "stream_triad",
    "read",
    "read_64KiB",
    "fp32",
    "int32",
    "slm_read",
    "device_to_pageable",
)


def test_a_child_process_measures_and_answers() -> None:
    from xebench.roofs.measure import ask_probes
    from xebench.system import runtime

    (result,) = ask_probes(runtime.select_device().device.device, ["slm_read"])
    assert (result.probe, result.status) == ("slm_read", "ok")


@pytest.mark.nightly
def test_a_look_at_every_group(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.roofs.bench import Bench, measure_probes
    from xebench.session.session import Session

    assert {find_probe(name).group for name in ONE_OF_EACH_GROUP} == set(GROUPS)
    monkeypatch.setattr(Bench, "cache_bytes", 1 << 22)  # some machines have hundreds of times as much
    effort = Effort(screening_s=0.01, patience=2, patience_s=0.01, confirmations=1, most_s=0.1)
    results = measure_probes(Bench(Session.on("cpu"), effort), ONE_OF_EACH_GROUP)
    assert [result.probe for result in results] == list(ONE_OF_EACH_GROUP)
    for result in results:
        if find_probe(result.probe).group == "host_probes.Transfers" and result.status == "undetermined":
            continue  # the machine is busy
        assert result.status == "ok", result
        assert result.value is not None
        assert math.isfinite(result.value)
        assert result.value > 0
        assert result.samples >= 1
        assert not result.rejected
        assert result.median is not None
        assert result.value >= result.median


class Nothing:
    """The event of a command that did nothing."""

    def wait(self) -> None:
        pass


def idle_session() -> Any:
    """A session whose kernels, copies and fills do nothing; uploads and downloads work."""
    from xebench.session.session import Session

    session = Session.on("cpu")
    for command in ("launch", "copy", "fill"):
        setattr(session, command, lambda *arguments, **options: Nothing())
    return session


@pytest.mark.parametrize("group", GROUPS)
def test_a_device_that_runs_nothing_passes_no_check(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.roofs import memory_probes
    from xebench.roofs.bench import Bench, group_class

    # times that nothing confirms let problems grow to their limit
    monkeypatch.setattr(memory_probes, "grown_array_bytes", lambda start_bytes, largest_bytes: start_bytes)
    monkeypatch.setattr(Bench, "cache_bytes", 1 << 22)  # some machines have hundreds of times as much
    bench = Bench(idle_session())
    measuring = group_class(group)(bench)
    names = [probe.name for probe in PROBES if probe.group == group]
    larger = [level_name(size) for size in WORKING_SETS[2:]]
    for name in names:
        if name in larger:
            continue
        if name == "device_to_peer" or (name == "fp64" and not bench.device.has_aspect_fp64):
            continue
        with pytest.raises((NoForm, WrongResult), match="elements are wrong"):
            measuring.measure(name)


def test_kinds_of_memory_that_the_device_lacks_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.roofs import core_probes, host_probes
    from xebench.roofs.bench import Bench
    from xebench.session.session import Session

    def refuse(shape: int, dtype: Any, queue: Any, usm: str) -> Any:
        raise Unsupported(f"the device has no {usm} USM")

    monkeypatch.setattr(host_probes, "allocate", refuse)
    bench = Bench(Session.on("cpu"))
    with pytest.raises(Unsupported, match="no shared USM"):
        host_probes.Transfers(bench).measure("device_to_shared")

    class WithoutFp64:
        has_aspect_fp64 = False

    bench.device = WithoutFp64()
    with pytest.raises(Unsupported, match="no fp64"):
        core_probes.Arithmetic(bench).measure("fp64")


def test_numbers_are_written_and_compared_piece_by_piece_and_whole() -> None:
    from xebench.roofs import bench as module
    from xebench.session.session import Session

    bench = module.Bench(Session.on("cpu"))
    array = bench.session.alloc(2 * module.PIECE + 32, np.float32)
    period = np.arange(16, dtype=np.float32)
    bench.write(array, period)
    bench.require(array, period)
    assert np.array_equal(bench.memory.read(array), np.tile(period, array.size // 16))
    for place in (0, module.PIECE, array.size - 1):
        bench.write(array, period)
        bench.memory.write(array[place : place + 1], np.full(1, -1, np.float32))
        wanted = f"1 of {array.size} elements are wrong, first at {place}: is -1.0, must be {period[place % 16]}"
        with pytest.raises(WrongResult, match=wanted):
            bench.require(array, period)
    bench.write(array, -1)
    bench.require(array, np.full(array.size, -1, np.float32))
    with pytest.raises(ValueError, match="no whole number of periods"):
        bench.require(array, np.arange(2 * array.size, dtype=np.float32))


def test_a_large_array_is_compared_in_its_first_and_last_piece() -> None:
    from xebench.roofs import bench as module
    from xebench.session.session import Session

    session = Session.on("cpu")
    array = session.alloc(3 * module.PIECE, np.float32)
    bench = module.Bench(session)
    for place, refused in ((0, True), (-1, True), (module.PIECE, False)):
        numbers = bench.session.alloc(array.size, np.float32)
        bench.write(numbers, 1)
        bench.write(numbers[place : place + 1 or None], 2)
        form = bench.form({}, 1, partial(session.copy, array, numbers), array, lambda: np.ones(16, np.float32))
        if refused:
            with pytest.raises(WrongResult, match="1 of .* elements are wrong"):
                form.verify()
        else:
            form.verify()


def test_one_device_has_no_link_to_another() -> None:
    from xebench.roofs.bench import Bench, measure_probes
    from xebench.session.session import Session

    (result,) = measure_probes(Bench(Session.on("cpu")), ["device_to_peer"])
    assert (result.status, result.reason) == ("skipped", "needs 2 devices of one platform: there is 1")


def test_a_form_that_no_work_group_of_the_device_fits_is_left_out() -> None:
    from xebench.roofs.bench import Bench
    from xebench.session.session import Session

    bench = Bench(Session.on("cpu"))

    class Narrow:
        max_work_group_size = 64

    bench.device = Narrow()
    assert bench.fitting([(256, 1), (64, 2), (32, 3), (16, 4)]) == [(64, 2), (32, 3), (16, 4)]
    with pytest.raises(Unsupported, match="no form fits"):
        bench.fitting([(128,)])

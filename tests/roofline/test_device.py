"""The probes on a device: every group once, quickly; and a device that runs nothing passes no check."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import Unsupported
from harness.roofline.catalogue import GROUPS, PROBES, find_probe
from harness.roofline.search import QUICK, NoForm

pytestmark = pytest.mark.device

ONE_OF_EACH_GROUP = (
    "stream_triad",
    "read",
    "random_read",
    "fp32",
    "int32",
    "slm_read",
    "atomic_global_many",
    "atomic_local_one",
    "launch_host",
    "launch_device",
    "device_to_pageable",
    "chase_16KiB",
)


def test_a_quick_look_at_every_group() -> None:
    from harness import runtime
    from harness.children.ask import ask
    from harness.roofline.measure import WORKER
    from harness.roofline.results import Reading

    assert {find_probe(name).group for name in ONE_OF_EACH_GROUP} == set(GROUPS)
    device = runtime.select_device().device
    answer = ask(WORKER, [device.device, "quick", *ONE_OF_EACH_GROUP], timeout_s=120)
    assert answer.failure is None, answer.failure
    readings = [Reading.from_json(fields) for fields in answer.value]
    assert [reading.probe for reading in readings] == list(ONE_OF_EACH_GROUP)
    for reading in readings:
        assert reading.status == "ok", reading
        assert reading.value is not None
        assert math.isfinite(reading.value)
        assert reading.value > 0
        assert reading.samples >= 1
        assert not reading.rejected
        better = find_probe(reading.probe).is_rate
        assert reading.median is not None
        assert (reading.value >= reading.median) if better else (reading.value <= reading.median)


class Nothing:
    """The event of a command that did nothing."""

    def wait(self) -> None:
        pass


def idle_bench() -> Any:
    """A bench whose kernels, copies and fills do nothing; uploads and downloads work."""
    from harness.roofline.bench import Bench

    bench = Bench("cpu", replace(QUICK, all_forms=True))
    for command in ("launch", "copy", "fill"):
        setattr(bench.session, command, lambda *arguments, **options: Nothing())
    return bench


@pytest.mark.parametrize("group", [group for group in GROUPS if group != "launches"])
def test_a_device_that_runs_nothing_passes_no_check(group: str) -> None:
    bench = idle_bench()
    measuring = importlib.import_module(f"harness.roofline.probes.{group}").Group(bench)
    names = [probe.name for probe in PROBES if probe.group == group]
    for name in names if group != "chase" else names[:2]:
        if name == "fp64" and not bench.device.has_aspect_fp64:
            continue
        with pytest.raises(NoForm, match="elements are wrong"):
            measuring.measure(name)


def test_kinds_of_memory_that_the_device_lacks_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.roofline.bench import Bench
    from harness.roofline.probes import arithmetic, transfers

    def refuse(shape: int, dtype: Any, queue: Any, usm: str) -> Any:
        raise Unsupported(f"the device has no {usm} USM")

    monkeypatch.setattr(transfers, "allocate", refuse)
    bench = Bench("cpu", QUICK)
    with pytest.raises(Unsupported, match="no shared USM"):
        transfers.Group(bench).measure("device_to_shared")

    class WithoutFp64:
        has_aspect_fp64 = False

    bench.device = WithoutFp64()
    with pytest.raises(Unsupported, match="no fp64"):
        arithmetic.Group(bench).measure("fp64")

"""Who is asked what, and what becomes of the answers: with a child process that is a function."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from xebench.cli.machine_views import ROOFLINE
from xebench.errors import XebenchError
from xebench.records.device_facts import Roof
from xebench.roofs import measure
from xebench.roofs.catalogue import (
    GROUPS,
    PROBES,
    find_probe,
    grouped,
)
from xebench.roofs.measure import ProbeResult, Roofline, Store
from xebench.system.children.process import ChildReply
from xebench.system.runtime import DeviceInfo


class Child:
    """Answers with results of value 1, except for probes that kill it."""

    def __init__(self, deadly: Sequence[str] = ()) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.deadly = set(deadly)

    def __call__(self, module: str, arguments: Sequence[str], *, timeout_s: float) -> ChildReply:
        assert module == "xebench.roofs.bench"
        assert timeout_s > 0
        device, *names = arguments
        self.asked.append((device, tuple(names)))
        if self.deadly & set(names):
            return ChildReply(failure="crashed (SIGSEGV)")
        return ChildReply([asdict(ProbeResult(name, "ok", 1.0, 1.0, 3, 1e6)) for name in names])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_each_group_is_asked_once_and_all_probes_are_read(gpu: DeviceInfo, store: Store) -> None:
    child = Child()
    told: list[str] = []
    roofline = measure.measure_roofline(gpu, store=store, ask=child, say=told.append)
    assert [result.probe for result in roofline.results] == [probe.name for probe in PROBES]
    assert len(child.asked) == len(GROUPS) == len(told)
    assert {device for device, _ in child.asked} == {"level_zero:gpu:0"}
    assert roofline.device == gpu
    assert not roofline.cached


def test_roofs_of_a_cpu_device_that_others_use_are_told_and_not_kept(
    gpu: DeviceInfo, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    for device in (gpu, replace(gpu, device_class="cpu", name="CPU")):
        roofline = measure.measure_roofline(device, store=store, ask=Child())
        assert roofline.busy == (device is not gpu) == bool(roofline.columns()["roofs_disturbed"])
        assert (store.load(device) is None) == roofline.busy


def test_a_crash_costs_one_probe(gpu: DeviceInfo, store: Store) -> None:
    child = Child(deadly=["read"])
    roofline = measure.measure_roofline(gpu, store=store, ask=child)
    assert roofline.failed == ("read",)
    read = next(result for result in roofline.results if result.probe == "read")
    assert read.reason == "crashed (SIGSEGV)"
    assert roofline.value("write") == 1.0
    memory = grouped(probe.name for probe in PROBES)["memory_probes.GlobalMemory"]
    assert [names for _, names in child.asked[: 1 + len(memory)]] == [tuple(memory), *((name,) for name in memory)]
    assert [result.probe for result in roofline.results] == [probe.name for probe in PROBES], "in order even so"


def test_a_second_time_it_comes_from_the_disk(gpu: DeviceInfo, store: Store) -> None:
    first = measure.measure_roofline(gpu, store=store, ask=Child())
    child = Child()
    second = measure.measure_roofline(gpu, store=store, ask=child)
    assert child.asked == []
    assert second == replace(first, cached=True)


def test_refresh_measures_again_and_keeps_that(gpu: DeviceInfo, store: Store, measured: Roofline) -> None:
    store.keep(measured)
    roofline = measure.measure_roofline(gpu, refresh=True, store=store, ask=Child())
    assert roofline.value("stream_copy") == 1.0
    assert store.load(gpu) == replace(roofline, cached=True)


def test_some_probes_are_measured_alone_and_not_kept(gpu: DeviceInfo, store: Store) -> None:
    child = Child()
    measure.measure_roofline(gpu, store=store, ask=Child())
    some = measure.measure_roofline(gpu, names=("fp32", "slm_read", "fp32"), store=store, ask=child)
    assert [names for _, names in child.asked] == [("fp32",), ("slm_read",)]
    text = ROOFLINE.as_text(some)
    assert "fp32 multiply-add" in text and "STREAM" not in text and "roofs: fp32 1.00 GFLOP/s" in text
    assert len(measure.measure_roofline(gpu, store=store, ask=child).results) == len(PROBES), "what was kept stays"
    with pytest.raises(XebenchError, match="no probe 'fp23': did you mean fp32"):
        measure.measure_roofline(gpu, names=("fp23",), store=store, ask=child)


def test_a_failure_is_not_kept(gpu: DeviceInfo, store: Store) -> None:
    measure.measure_roofline(gpu, store=store, ask=Child(deadly=["fp32"]))
    assert store.load(gpu) is None
    assert measure.measure_roofline(gpu, store=store, ask=Child()).value("fp32") == 1.0


def test_an_undetermined_link_does_not_keep_the_others_from_being_kept(
    gpu: DeviceInfo, store: Store, measured: Roofline
) -> None:
    def child(module: str, arguments: Sequence[str], *, timeout_s: float) -> ChildReply:
        halves = {"status": "undetermined", "value": None, "reason": "two halves of its samples give 2 and 40 GB/s"}
        results = [asdict(ProbeResult(name, "ok", 1.0, 1.0, 3, 1e6)) for name in arguments[1:]]
        return ChildReply([one | halves if one["probe"] == "host_to_device" else one for one in results])

    roofline = measure.measure_roofline(gpu, store=store, ask=child)
    assert "two halves of its samples give 2 and 40 GB/s" in " ".join(ROOFLINE.as_text(roofline).split())
    kept = store.load(gpu)
    assert kept is not None and kept.value("host_to_device") is None and kept.value("read") == 1.0


def test_roofs_are_the_highest_values_of_their_probes(measured: Roofline) -> None:
    place = {probe.name: float(number) for number, probe in enumerate(PROBES, 1)}
    roofs = measured.roofs()
    assert set(roofs) == {roof.column for roof in Roof}
    assert (
        roofs.items()
        >= {
            "bandwidth_roof_gbps": place["read_256MiB"],  # far beyond the caches, so it was the memory that was read
            "memory_read_roof_gbps": place["read"],
            "memory_write_roof_gbps": place["write"],
            "memory_copy_roof_gbps": place["stream_copy"],
            "memory_triad_roof_gbps": place["stream_triad"],
            "fp32_roof_gflops": place["fp32"],
            "fp64_roof_gflops": None,
            "int32_roof_gops": place["int32"],
            "slm_roof_gbps": place["slm_read"],
            "host_link_roof_gbps": place["host_to_device"] + 1,
        }.items()
    )


def test_the_host_is_busy_only_for_a_cpu_device(measured: Roofline) -> None:
    loaded = replace(measured, load_average=6.0)
    assert not loaded.busy
    assert replace(loaded, device=replace(loaded.device, device_class="cpu")).busy


def test_the_catalogue() -> None:
    names = [probe.name for probe in PROBES]
    assert len(set(names)) == len(names)
    assert [name for members in grouped(names).values() for name in members] == names, "groups lie together"
    with pytest.raises(XebenchError, match="no probe 'fp8'"):
        find_probe("fp8")

"""Several devices: others of the platform, or parts of one; queues on them; and their clocks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench.errors import Unsupported

pytestmark = pytest.mark.device  # importing the session loads dpctl


class Device(SimpleNamespace):
    """A device that is not there; it can be cut as ``cuts`` says."""

    def create_sub_devices(self, partition: Any) -> Any:
        import dpctl

        for cut, parts in self.cuts:
            if cut == partition:
                return parts
        raise dpctl.SyclSubDeviceCreationError("no")


def device(name: str = "Max", platform: str = "Level-Zero", units: int = 64, cuts: Any = ()) -> Device:
    of = SimpleNamespace(name=platform, vendor="Intel", version="1")
    return Device(name=name, sycl_platform=of, max_compute_units=units, cuts=cuts, filter_string="level_zero:gpu:0")


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`several_devices` on a machine with these devices."""
    from xebench.session import several_devices
    from xebench.system.runtime.partitions import devices_alike

    def ask(listed: list[Device], count: int, kind: str = "any") -> Any:
        monkeypatch.setattr(several_devices, "devices_alike", lambda own: devices_alike(own, lambda: listed))
        try:
            return several_devices.several_devices(listed[0], count, kind)
        finally:
            monkeypatch.undo()

    return ask


def test_devices_of_one_platform_come_before_sub_devices(several: Any) -> None:
    first, second = device("a", cuts=[("next_partitionable", ["x", "y"])]), device("b", units=32)
    found = several([first, device("other", platform="OpenCL"), second], 2)
    assert found.devices == (first, second)
    assert found.words == "2 devices: 64 and 32 compute units"
    assert not found.are_parts


@pytest.mark.parametrize(
    ("listed", "several"),
    [
        ([device()], False),
        ([device("a"), device("b", platform="OpenCL")], False),
        ([device("a"), device("b")], True),
        ([device(cuts=[("next_partitionable", ["x", "y"])])], True),
        ([device(units=3, cuts=[([1, 1], ["x", "y"])])], True),
        ([device(units=1, cuts=[([0, 0], ["x", "y"])])], False),
    ],
)
def test_patterns_can_require_a_second_device_or_parts_of_one(
    listed: list[Device], several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xebench.system.runtime import load, partitions

    load()  # before dpctl is imported
    alike = partitions.devices_alike
    monkeypatch.setattr(partitions, "devices_alike", lambda own: alike(own, lambda: listed))
    assert partitions.has_several(listed[0]) == several


def test_the_sessions_own_device_is_the_first(several: Any) -> None:
    from xebench.system.runtime.partitions import devices_alike

    first, second = device("a"), device("b")
    assert devices_alike(second, lambda: [first, second]) == [second, first]


def test_a_device_alone_is_cut_into_its_stacks(several: Any) -> None:
    stacks = [device("stack 0"), device("stack 1"), device("stack 2")]
    found = several([device(cuts=[("numa", stacks), ([32, 32], ["by count"] * 2)])], 2)
    assert found.devices == tuple(stacks[:2])
    assert found.words == "2 sub-devices of level_zero:gpu:0 by affinity domain: 64 and 64 compute units"
    assert found.are_parts


def test_without_stacks_by_count(several: Any) -> None:
    halves = [device(units=2), device(units=2)]
    found = several([device(units=5, cuts=[("numa", [device()]), ([2, 2], halves)])], 2)
    assert found.words.endswith("by count: 2 and 2 compute units")


def test_what_cannot_be_partitioned_is_told_with_the_reason(several: Any) -> None:
    with pytest.raises(Unsupported, match="^needs 2 devices of one platform: there is 1, and Max cannot be part"):
        several([device()], 2)
    with pytest.raises(Unsupported, match="^needs 3 devices of one platform: there are 2$"):
        several([device("a"), device("b")], 3, "devices")
    with pytest.raises(Unsupported, match="^needs 2 sub-devices: a cannot be partitioned"):
        several([device("a"), device("b")], 2, "sub-devices")
    with pytest.raises(ValueError, match="kind='tiles'"):
        several([device()], 2, "tiles")


def test_engines_are_parts_of_the_stacks_of_a_card(several: Any) -> None:
    engines = [[device(f"stack {stack} engine {k}", units=16) for k in range(2)] for stack in range(2)]
    stacks = [device(cuts=[("next_partitionable", own)]) for own in engines]
    card = device(cuts=[("next_partitionable", stacks)])
    found = several([card], 3, "engines")
    assert found.devices == (*engines[0], engines[1][0])
    assert found.words == "3 compute engines of level_zero:gpu:0: 16 and 16 and 16 compute units"
    assert found.are_parts
    with pytest.raises(Unsupported, match="^needs 5 compute engines as devices: Max shows 4 in 2 stacks$"):
        several([card], 5, "engines")
    with pytest.raises(Unsupported, match="^needs 1 compute engines as devices: Max shows 0 in 0 stacks$"):
        several([device()], 1, "engines")  # a stack that is a device of its own


def test_a_cpu_beside_a_gpu_is_a_device_of_another_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    import dpctl

    from xebench.session import several_devices

    gpu, cpu = device(), device("Xeon", units=8)
    gpu.is_cpu, cpu.is_cpu = False, True
    monkeypatch.setattr(dpctl, "get_devices", lambda device_type: [cpu])
    assert several_devices.several_devices(gpu, 1, "cpu").devices == (cpu,)
    for asked, count, why in ((cpu, 1, "^needs a GPU beside the CPU"), (gpu, 2, "^needs 2 CPU as a device, here 1")):
        with pytest.raises(Unsupported, match=why):
            several_devices.several_devices(asked, count, "cpu")


# ---- on a device ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session() -> Any:
    from xebench.system import runtime

    runtime.load()
    from xebench.session.session import Session

    return Session.on("cpu")


def test_kernels_run_on_each_with_arrays_of_its_own(session: Any) -> None:
    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def add_one(item: kapi.NdItem, x, y):
        i = item.get_global_id(0)
        y[i] = x[i] + np.int32(1)

    if session.device.max_compute_units < 2:
        pytest.skip("a CPU of one core cannot be cut")
    queues = session.queues_on(2)
    assert session.take_devices() is not None
    assert session.take_devices() is None
    assert queues[0].sycl_context == queues[1].sycl_context
    results = np.zeros((2, 64), np.int32)

    def sample() -> None:
        for k, queue in enumerate(queues):
            x, y = (session.alloc(64, np.int32, queue=queue) for _ in range(2))
            session.fill(x, np.int32(10 * k), queue=queue)
            session.launch(add_one, kapi.NdRange((64,), (64,)), x, y, queue=queue)
            session.copy(results[k], y, queue=queue)

    measured = session.measure(sample)
    assert results.tolist() == [[1] * 64, [11] * 64]
    assert len({command.queue for command in measured.events}) == 2
    built = [stage.stage for stage in session.take_compilations()].count("build")
    assert built == 2, "each device has code of its own, even in one context"
    apart = session.queues_on(2, context="separate")
    assert apart[0].sycl_context != apart[1].sycl_context
    queues = session.queues_on(2, kind="sub-devices", context="with device")
    results[:] = 0
    session.measure(sample)
    assert results.tolist() == [[1] * 64, [11] * 64]
    built = [stage.stage for stage in session.take_compilations()].count("build")
    assert built == 1, "what is built for the device runs on its parts"
    session.release()


def test_times_of_devices_with_clocks_of_their_own_are_kept_apart() -> None:
    from xebench.records.events import EventTimes
    from xebench.session.recorder import MeasuredSample

    def command(queue: int, start: int, clock: int) -> Any:
        return EventTimes(start - 1, start, start + 10, "kernel", "k", queue, clock=clock)

    own, part, other = command(0, 100, 0), command(1, 105, 0), command(2, 900_000, 1)
    measured = MeasuredSample(1000, 0, [[own, part, other]])
    assert measured.times_by_clock() == [[[own, part]], [[other]]]
    assert MeasuredSample(1000, 0, [[own, part]]).times_by_clock() == [[[own, part]]]
    assert MeasuredSample(1000, 0, [[]]).times_by_clock() == [[[]]]


def test_a_command_has_the_clock_of_its_queue() -> None:
    from xebench.session.session import Session

    session = Session.on("cpu")
    queues = [session._new_queue(session.queue.sycl_context, session.device, ["enable_profiling"], n) for n in (2, 0)]

    def sample() -> None:
        for queue in (*queues, session.queue):
            session.barrier(queue=queue)

    commands = session.measure(sample).events
    assert [(command.queue, command.clock) for command in commands] == [(1, 2), (2, 0), (0, 0)]
    session.forget_queues(1)
    queues = [session.new_queue(), session.new_queue()]
    assert [command.clock for command in session.measure(sample).events] == [0, 0, 0]

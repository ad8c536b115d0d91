"""Several devices and queues from one: others of its platform, parts of it (sub-devices), and waits between queues.

DPC++ 2024.2 hands a kernel to an in-order queue, and a barrier to any queue, without the events of other queues that it
depends on: ``SYCL_PI_TRACE=-1`` shows none, and results are wrong. A copy keeps its events. So a copy of one byte goes
first, which the in-order queue, or the barrier, waits for.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import dpctl
import dpctl.memory

from numba_sycl import DeviceEvent, level_zero_library, recording
from numba_sycl.native_handles import device_handle
from numba_sycl.stacks import is_current
from numba_sycl.sycl_types import Device, Event
from xebench.errors import Unsupported
from xebench.system.runtime import level_zero
from xebench.system.runtime.partitions import DOMAINS, devices_alike, partitions, parts_of


class Waits:
    """The waits of a session's queues."""

    def __init__(self) -> None:
        self._bytes: dict[dpctl.SyclQueue, tuple[Any, Any]] = {}

    def before_kernel(self, queue: dpctl.SyclQueue, depends: Sequence[Event]) -> Sequence[Any]:
        """The events that a kernel on the queue must depend on, when the queue waits for the rest."""
        if queue.is_in_order and self._others(queue, depends):
            self._copy_a_byte(queue, depends)
            return ()
        return depends

    def before_barrier(self, queue: dpctl.SyclQueue, depends: Sequence[Event]) -> list[Any]:
        """The events that a barrier on the queue must depend on, when the queue waits for the rest."""
        if self._others(queue, depends):
            return [self._copy_a_byte(queue, depends)]
        return [as_sycl(event) for event in depends]

    def forget(self, queues: Sequence[dpctl.SyclQueue]) -> None:
        """Drop what belongs to these queues."""
        for queue in queues:
            self._bytes.pop(queue, None)

    @staticmethod
    def _others(queue: dpctl.SyclQueue, depends: Sequence[Event]) -> bool:
        # the queue of an event that the session did not make is unknown
        return any(getattr(event, "queue", None) is not queue for event in depends)

    def _copy_a_byte(self, queue: dpctl.SyclQueue, depends: Sequence[Event]) -> Any:
        if queue not in self._bytes:
            pair = (dpctl.memory.MemoryUSMDevice(1, queue=queue), dpctl.memory.MemoryUSMDevice(1, queue=queue))
            self._bytes.setdefault(queue, pair)  # another thread's may be in use by now
        target, source = self._bytes[queue]
        with recording.unrecorded:
            return queue.memcpy_async(target, source, 1, [as_sycl(event) for event in depends])


def as_sycl(event: Event) -> Any:
    """An event as dpctl's own calls take it."""
    return event.sycl_event if isinstance(event, DeviceEvent) else event


KINDS: Final = ("any", "devices", "sub-devices", "engines", "cpu")


@dataclass(frozen=True)
class SeveralDevices:
    """Devices that work side by side.

    Attributes:
        devices: the ``dpctl.SyclDevice`` objects.
        words: description for tables: ``2 sub-devices of opencl:cpu:0 by count: 1 and 1 compute units``.
        are_parts: True if they are parts of one device, which share a clock.
    """

    devices: tuple[Any, ...]
    words: str
    are_parts: bool


def several_devices(device: Device, count: int, kind: str = "any") -> SeveralDevices:
    """Return ``count`` devices.

    Args:
        device: a ``dpctl.SyclDevice``: the first of the devices, or the one to partition.
        count: number of devices.
        kind: ``devices``, ``sub-devices``, or ``any``: sub-devices where there are not so many devices; ``engines`` of
            its stacks; ``cpu``: CPUs as devices beside it.

    Raises:
        ValueError: there is no such kind, or no such number.
        Unsupported: there are fewer.
    """
    if kind not in KINDS or count < 1:
        raise ValueError(f"{count} of kind={kind!r}: give a number from 1 on, and one of {', '.join(map(repr, KINDS))}")
    if kind == "cpu":
        return _cpus_beside(device, count)
    if kind == "engines":
        return _engines_of_stacks(device, count)
    alike = [] if kind == "sub-devices" else devices_alike(device)
    if len(alike) >= count:
        return SeveralDevices(tuple(alike[:count]), _words("devices", alike[:count]), are_parts=False)
    for partition, how in () if kind == "devices" else partitions(device.max_compute_units, count):
        parts = parts_of(device, partition)
        if len(parts) >= count:
            what = f"sub-devices of {device.filter_string} {how}"
            return SeveralDevices(tuple(parts[:count]), _words(what, parts[:count]), are_parts=True)
    there = f"there {'is' if len(alike) == 1 else 'are'} {len(alike)}" if alike else ""
    uncut = "" if kind == "devices" else f"{device.name.strip()} cannot be partitioned into as many"
    what = "sub-devices" if kind == "sub-devices" else "devices of one platform"
    raise Unsupported(f"needs {count} {what}: {', and '.join(filter(None, (there, uncut)))}")


def _cpus_beside(device: Device, count: int) -> SeveralDevices:
    if device.is_cpu:
        raise Unsupported("needs a GPU beside the CPU, the device is a CPU")
    beside = dpctl.get_devices(device_type="cpu")[:count]
    if len(beside) < count:
        raise Unsupported(f"needs {count} CPU as a device, here {len(beside)}: pip install intel-opencl-rt")
    return SeveralDevices(tuple(beside), _words("CPU as device", beside), are_parts=False)


def _engines_of_stacks(device: Device, count: int) -> SeveralDevices:
    """Compute engines: the runtime shows them as parts of a stack that is itself a part of a card, and of no other."""
    stacks = parts_of(device, DOMAINS[0])
    engines = [engine for stack in stacks for engine in parts_of(stack, DOMAINS[0])]
    if len(engines) < count:
        shown = f"{device.name.strip()} shows {len(engines)} in {len(stacks)} stacks"
        raise Unsupported(f"needs {count} compute engines as devices: {shown}")
    what = f"compute engines of {device.filter_string}"
    return SeveralDevices(tuple(engines[:count]), _words(what, engines[:count]), are_parts=True)


def require_copyable(destination: Any, source: Any) -> None:
    """Refuse a copy that would fail or hang; either side may be an array of the host.

    Raises:
        Unsupported: it is between two devices that cannot access each other's memory. Or it is between two sub-devices
            on OpenCL, on the current stack: the events of such copies have no times there, and after a few of them
            the wait never returns (dpctl 0.22 with Intel's OpenCL CPU driver).
    """
    target, origin = (getattr(array, "sycl_device", None) for array in (destination, source))
    if target is None or origin is None or target == origin:
        return
    if not _are_peers(target, origin):
        raise Unsupported(f"needs peer access: {target.name.strip()} cannot access memory of the other device")
    if not is_current() or target.parent_device is None:
        return
    if target.backend == dpctl.backend_type.opencl:
        what = "copies between sub-devices of OpenCL hang on the current stack"
        raise Unsupported(f"{what}: use the pinned one (xebench setup --kernels)")


@functools.cache
def _are_peers(device: Device, other: Any) -> bool:
    """The driver's answer for two devices on Level Zero; on OpenCL copies between devices are the driver's own."""
    if device.backend != dpctl.backend_type.level_zero:
        return True
    handles = device_handle(device), device_handle(other)
    return level_zero.can_access_peer(level_zero_library.open_library(), *handles)


def _words(what: str, devices: Sequence[Any]) -> str:
    units = " and ".join(str(each.max_compute_units) for each in devices)
    return f"{len(devices)} {what}: {units} compute units"

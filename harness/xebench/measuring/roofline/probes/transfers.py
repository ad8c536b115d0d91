"""Copies between host and device memory, by kind of host memory and direction, and from device to device: without
what every copy costs.

Copies of several sizes are timed, and the line through them gives the bandwidth (`xebench.measuring.roofline.levels`).
Where the
host's memory is USM, times are those of events. Drivers time a copy of pageable memory from anywhere between its first
and its last piece, so that such a copy is timed by the host's clock. Host memory is written by the host before each
copy, so that shared memory is where the host uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from xebench.measuring.roofline.bench import ProbeGroup, require_equal
from xebench.measuring.roofline.levels import search_line
from xebench.measuring.roofline.search import Form, Measurement
from xebench.measuring.session.device_memory import PEER_ROUTE, DeviceMemory, allocate
from xebench.system.sycl_types import Array

_MOST_BYTES = 256 << 20
#: The copies' sizes: these parts of the array. The first is so small that its time is the fixed cost and little more.
_PARTS = (1024, 4, 2, 1)
_ELEMENT = np.dtype(np.int64)
_PAGEABLE = "pageable"

Timer = Callable[[Callable[[], Any]], float]


class Group(ProbeGroup):
    """One device array, and for each kind of host memory an array as large."""

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        if name == PEER_ROUTE:
            return search_line(self._between_devices(), self._bench.effort)
        source, _, destination = name.partition("_to_")
        kind = destination if source == "device" else source
        host, view = self._host_memory(kind)
        run = self._host_ns if kind == _PAGEABLE else self._bench.device_ns
        form = self._from_device if source == "device" else self._to_device
        return search_line([form(host[:size], view[:size], run) for size in self._sizes], self._bench.effort)

    @property
    def _sizes(self) -> list[int]:
        return [self._device_array.size // part for part in _PARTS]

    @cached_property
    def _device_array(self) -> Any:
        # both sides of a copy together are beyond the caches
        size_bytes = min(self._bench.array_bytes() // 2, _MOST_BYTES)
        return self._bench.session.alloc(size_bytes // _ELEMENT.itemsize, _ELEMENT)

    @cached_property
    def _data(self) -> Array:
        return np.arange(1, 1 + self._device_array.size, dtype=_ELEMENT)

    def _host_memory(self, kind: str) -> tuple[Any, Array]:
        """The memory that the runtime copies from or to, and the same memory as the host sees it."""
        size = self._device_array.size
        if kind == _PAGEABLE:
            array = np.zeros(size, _ELEMENT)
            return array, array
        array = allocate(size, _ELEMENT, self._bench.session.queue, kind)
        return array, np.ndarray(size, _ELEMENT, buffer=array.usm_data)

    def _to_device(self, host: Any, view: Array, run: Timer) -> Form:
        bench, device, data = self._bench, self._device_array[: view.size], self._data[: view.size]

        def verify() -> None:
            for part in bench.compared(view.size):
                view[part] = data[part]
                bench.write(device[part], -1)
            bench.session.copy(device, host).wait()
            for part in bench.compared(view.size):
                bench.require(device[part], data[part])

        return self._form(view, partial(bench.session.copy, device, host), verify, run)

    def _from_device(self, host: Any, view: Array, run: Timer) -> Form:
        bench, device, data = self._bench, self._device_array[: view.size], self._data[: view.size]

        def verify() -> None:
            for part in bench.compared(view.size):
                view[part] = -1
                bench.memory.write(device[part], data[part])
            bench.session.copy(host, device).wait()
            require_equal((view[part], data[part]) for part in bench.compared(view.size))

        return self._form(view, partial(bench.session.copy, host, device), verify, run)

    def _between_devices(self) -> list[Form]:
        bench = self._bench
        # parts of one device are asked for by a measurement alone: a driver that fails at them would end a run
        first, last = bench.session.queues_on(2, kind="devices" if bench.effort.quick else "any")
        size = self._device_array.size
        source, target = (bench.session.alloc(size, _ELEMENT, queue=queue) for queue in (first, last))
        DeviceMemory(first).write(source, self._data)

        def form(size: int) -> Form:
            there, here, data = source[:size], target[:size], self._data[:size]

            def verify() -> None:
                DeviceMemory(last).write(here, np.full(size, -1, _ELEMENT))
                submit().wait()
                require_equal([(DeviceMemory(last).read(here), data)])

            submit = partial(bench.session.copy, here, there, queue=last)
            return Form({"bytes": here.nbytes}, here.nbytes, partial(bench.device_ns, submit), verify)

        return [form(size) for size in self._sizes]

    def _host_ns(self, submit: Callable[[], Any]) -> float:
        return self._bench.session.measure(submit).host_ns

    def _form(self, view: Array, submit: Callable[[], Any], verify: Callable[[], None], time_of: Timer) -> Form:
        def run() -> float:
            view[:: 4096 // _ELEMENT.itemsize] = 0  # of each page an element
            return time_of(submit)

        return Form({"bytes": view.nbytes}, view.nbytes, run, verify)

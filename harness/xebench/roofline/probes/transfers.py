"""Copies between host and device memory, by kind of host memory and direction, timed by the host's clock.

By the host's, because drivers time a copy of pageable memory from anywhere between its first and its last piece. Host
memory is written by the host before each copy, so that shared memory is where the host uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from xebench.roofline.bench import ProbeGroup, require_equal
from xebench.roofline.search import Form, Measurement
from xebench.session.device_memory import Array, allocate

_MOST_BYTES = 256 << 20
_MOST_QUICK_BYTES = 16 << 20
_ELEMENT = np.dtype(np.int64)


class Group(ProbeGroup):
    """One device array, and for each kind of host memory an array as large."""

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        source, _, destination = name.partition("_to_")
        kind = destination if source == "device" else source
        host, view = self._host_memory(kind)
        form = self._from_device if source == "device" else self._to_device
        return self._bench.search([form(host, view)])

    @cached_property
    def _device_array(self) -> Any:
        most = _MOST_QUICK_BYTES if self._bench.effort.quick else _MOST_BYTES
        return self._bench.session.alloc(min(self._bench.array_bytes(), most) // _ELEMENT.itemsize, _ELEMENT)

    @cached_property
    def _data(self) -> Array:
        return np.arange(1, 1 + self._device_array.size, dtype=_ELEMENT)

    def _host_memory(self, kind: str) -> tuple[Any, Array]:
        """What the runtime copies from or to, and the same memory as the host sees it."""
        size = self._device_array.size
        if kind == "pageable":
            array = np.zeros(size, _ELEMENT)
            return array, array
        array = allocate(size, _ELEMENT, self._bench.session.queue, kind)
        return array, np.ndarray(size, _ELEMENT, buffer=array.usm_data)

    def _to_device(self, host: Any, view: Array) -> Form:
        bench, device = self._bench, self._device_array

        def verify() -> None:
            view[:] = self._data
            bench.write(device, -1)
            bench.session.copy(device, host).wait()
            bench.require(device, self._data)

        return self._form(view, partial(bench.session.copy, device, host), verify)

    def _from_device(self, host: Any, view: Array) -> Form:
        bench, device = self._bench, self._device_array

        def verify() -> None:
            view[:] = -1
            bench.memory.write(device, self._data)
            bench.session.copy(host, device).wait()
            require_equal([(view, self._data)])

        return self._form(view, partial(bench.session.copy, host, device), verify)

    def _form(self, view: Array, submit: Callable[[], Any], verify: Callable[[], None]) -> Form:
        def run() -> float:
            view[:: 4096 // _ELEMENT.itemsize] = 0  # of each page an element
            return self._bench.session.measure(submit).host_ns

        return Form({"bytes": view.nbytes}, view.nbytes, run, verify)

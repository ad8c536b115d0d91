"""Probes of host and device together: the bandwidths of copies without what each copy costs.

The line through copies of several sizes is that of repeated medians, which one size that others disturbed does not bend
(A. F. Siegel, "Robust Regression Using Repeated Medians", 1982).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from statistics import median
from typing import Any, Final, NamedTuple

import numpy as np

from numba_sycl.sycl_types import Array
from xebench.roofs.bench import ProbeGroup, compared, require_equal
from xebench.roofs.search import Effort, Form, Measurement, Undetermined
from xebench.session.device_memory import PEER_ROUTE, DeviceMemory, allocate

_MOST_BYTES = 256 << 20
#: The copies' sizes: these parts of the array. The first is so small that its time is the fixed cost and little more.
_PARTS = (1024, 4, 2, 1)
_ELEMENT = np.dtype(np.int64)
_PAGEABLE = "pageable"

Timer = Callable[[Callable[[], Any]], float]


class Transfers(ProbeGroup):
    """Bandwidths of copies between host and device memory, and from device to device, without what every copy costs.

    Copies of several sizes are timed, and the line through them gives the bandwidth (`search_line`). Where the host's
    memory is USM, times are those of events. Drivers time a copy of pageable memory from anywhere between its first and
    its last piece, so the host's clock times such a copy. The host writes its memory before each copy, so that shared
    memory is where the host uses it.
    """

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
            for part in compared(view.size):
                view[part] = data[part]
                bench.write(device[part], -1)
            bench.session.copy(device, host).wait()
            for part in compared(view.size):
                bench.require(device[part], data[part])

        return self._form(view, partial(bench.session.copy, device, host), verify, run)

    def _from_device(self, host: Any, view: Array, run: Timer) -> Form:
        bench, device, data = self._bench, self._device_array[: view.size], self._data[: view.size]

        def verify() -> None:
            for part in compared(view.size):
                view[part] = -1
                bench.memory.write(device[part], data[part])
            bench.session.copy(host, device).wait()
            require_equal((view[part], data[part]) for part in compared(view.size))

        return self._form(view, partial(bench.session.copy, host, device), verify, run)

    def _between_devices(self) -> list[Form]:
        bench = self._bench
        first, last = bench.session.queues_on(2, kind="devices")
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


#: Both halves of the samples must give rates that differ by no more than this part.
AGREEMENT: Final = 0.05
#: Additional seconds to wait for halves that agree.
_EXTENSION_S: Final = 1.0


class Line(NamedTuple):
    """Time over amount: ``fixed_ns`` at no amount, never below 0, and ``slope_ns`` for each unit of it."""

    fixed_ns: float
    slope_ns: float


def search_line(forms: Sequence[Form], effort: Effort, clock: Callable[[], float] = time.monotonic) -> Measurement:
    """The largest form without its fixed cost, sampled in turns with smaller ones until both halves agree.

    Args:
        forms: two or more forms of different amounts in bytes, the largest last.
        effort: effort of the search.
        clock: clock in seconds.

    Raises:
        WrongResult: a form is wrong.
        Undetermined: the rates of both halves differ by more than `AGREEMENT`, or one half has no valid time.
    """
    largest = forms[-1]
    largest.verify()
    times: dict[Form, list[float]] = {form: [] for form in forms}
    begin, rounds = clock(), 0
    while True:
        for form, taken in times.items():
            taken.append(form.run())
        rounds, elapsed = rounds + 1, clock() - begin
        if rounds >= max(2, effort.patience) and elapsed >= effort.patience_s:
            first, second = _rate(times, slice(rounds // 2)), _rate(times, slice(rounds // 2, None))
            if abs(first - second) <= AGREEMENT * min(first, second):
                break
            if elapsed >= effort.most_s + _EXTENSION_S:
                if math.isnan(first + second):
                    raise Undetermined("half of its samples have no time that the host's clock confirms")
                raise Undetermined(f"two halves of its samples give {first:.3g} and {second:.3g} GB/s")
    largest.verify()
    fixed_ns = _line(times, slice(None)).fixed_ns
    without = tuple(taken - fixed_ns for taken in times[largest] if math.isfinite(taken))
    return Measurement({**largest.parameters, "fixed ns": round(fixed_ns)}, largest.amount, without)


def fitted(shortest: Mapping[float, float]) -> Line:
    """The line through the shortest time of each amount, in ns; two amounts at least.

    The fixed cost is no more than the whole time of the least amount.
    """
    points = sorted(shortest.items())
    slope = median(
        median((time_ns - other_ns) / (amount - other) for other, other_ns in points if other != amount)
        for amount, time_ns in points
    )
    fixed = median(time_ns - slope * amount for amount, time_ns in points)
    return Line(min(max(fixed, 0.0), points[0][1]), slope)


def _line(times: Mapping[Form, Sequence[float]], part: slice) -> Line:
    return fitted({form.amount: min(taken[part]) for form, taken in times.items()})


def _rate(times: Mapping[Form, Sequence[float]], part: slice) -> float:
    """The rate of a part of the samples, in amount a ns; NaN if a form has no trustworthy time in it."""
    if not all(math.isfinite(min(taken[part])) for taken in times.values()):
        return math.nan
    largest = max(times, key=lambda form: form.amount)
    return largest.amount / (min(times[largest][part]) - _line(times, part).fixed_ns)

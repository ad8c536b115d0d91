"""Our probes and the same limits in OpenCL C, launch by launch in turn: ``roofline_opencl.py DEVICE`` prints JSON.

The OpenCL C is written here and built by ``dpctl.program`` (OpenCL devices only), so that neither numba-dpex nor our
forms have a part in it: reading, copying, BabelStream's triad, and chains of fp32 multiply-adds.
"""

from __future__ import annotations

import ctypes
import json
import math
import random
import statistics
import sys
from collections.abc import Iterator
from typing import Any

from xebench.system import runtime

runtime.load()

import dpctl.program  # noqa: E402
import numpy as np  # noqa: E402

from xebench.dpex import DeviceEvent  # noqa: E402
from xebench.measuring.roofline.bench import Bench  # noqa: E402
from xebench.measuring.roofline.core_probes import Arithmetic  # noqa: E402
from xebench.measuring.roofline.memory_probes import GlobalMemory  # noqa: E402
from xebench.measuring.roofline.search import Form, WrongResult  # noqa: E402
from xebench.measuring.session.session import Session  # noqa: E402

#: T is float or a vector of floats.
SOURCE = """
__kernel void copy(__global T *a, __global const T *b)
{
    a[get_global_id(0)] = b[get_global_id(0)];
}
__kernel void triad(__global T *a, __global const T *b, __global const T *c)
{
    const size_t i = get_global_id(0);
    a[i] = b[i] + 0.4f * c[i];
}
__kernel void read(__global T *a, __global const T *b)
{
    size_t i = get_group_id(0) * get_local_size(0) * READS + get_local_id(0);
    T sum = 0;
    for (int k = 0; k < READS; ++k, i += get_local_size(0)) sum += b[i];
    a[get_global_id(0)] = sum;
}
__kernel void fp32(__global T *a, __global const T *b, const float factor)
{
    const T start = b[get_global_id(0)];
    T x[CHAINS];
    for (int k = 0; k < CHAINS; ++k) x[k] = start * (k + 1);
    for (int step = 0; step < STEPS; ++step)
        for (int k = 0; k < CHAINS; ++k) x[k] = mad(x[k], (T)factor, start);
    T sum = 0;
    for (int k = 0; k < CHAINS; ++k) sum += x[k];
    a[get_global_id(0)] = sum;
}
"""
ELEMENTS = 1 << 25  # BabelStream's own size
READS = 16
CHAINS = 8
STEPS = 512
ITEMS_PER_UNIT = 1 << 14
GROUPS = (16, 64, 256, 1024)
WIDTHS = (1, 4)
SCREENING = 4
FINALISTS = 2
RUNS = 100  # BabelStream's own number

#: Our probe for each kernel.
PROBES = {"copy": "stream_copy", "triad": "stream_triad", "read": "read", "fp32": "fp32"}


class OpenCL:
    """The kernels of the source on one device, timed by the same events as ours."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._a, self._b, self._c = (self._filled(value) for value in (0, 1, 2))

    def _filled(self, value: float) -> Any:
        array = self._bench.session.alloc(ELEMENTS, np.float32)
        self._bench.write(array, value)
        return array

    def forms(self, name: str) -> Iterator[Form]:
        """A kernel with each width and work-group."""
        for width in WIDTHS:
            floats = "float" if width == 1 else f"float{width}"
            options = f"-DT={floats} -DREADS={READS} -DCHAINS={CHAINS} -DSTEPS={STEPS} -cl-fast-relaxed-math"
            program = dpctl.program.create_program_from_source(self._bench.session.queue, SOURCE, options)
            kernel = program.get_sycl_kernel(name)
            for group in GROUPS:
                if group <= self._bench.device.max_work_group_size:
                    yield self._form(name, kernel, width, group)

    def _form(self, name: str, kernel: Any, width: int, group: int) -> Form:
        queue, b, c = self._bench.session.queue, self._b.usm_data, self._c.usm_data
        items, amount, wanted = self._work(name, width)
        others = {"triad": [b, c], "fp32": [b, ctypes.c_float(1)]}.get(name, [b])

        def launch() -> DeviceEvent:
            return DeviceEvent(queue.submit(kernel, [self._a.usm_data, *others], [items], [group]))

        def run() -> float:
            _, start_ns, end_ns = launch().times()
            return end_ns - start_ns

        def verify() -> None:
            self._bench.write(self._a, -1)
            launch().wait()
            if not np.allclose(self._bench.memory.read(self._a[: items * width]), wanted):
                raise WrongResult(f"{name} in OpenCL C is wrong")

        return Form({"work-group": group, "width": width}, amount, run, verify)

    def _work(self, name: str, width: int) -> tuple[int, float, float]:
        """Work-items, bytes or operations, and what every element of the output must be."""
        if name == "read":
            return ELEMENTS // width // READS, 4 * ELEMENTS, READS
        if name == "fp32":
            items = ITEMS_PER_UNIT * self._bench.compute_units
            return items, 2 * items * width * CHAINS * STEPS, CHAINS * (CHAINS + 1) / 2 + CHAINS * STEPS
        copies = name == "copy"
        return ELEMENTS // width, (8 if copies else 12) * ELEMENTS, 1 if copies else 1.8


def in_turn(sides: dict[str, list[Form]]) -> dict[str, float]:
    """The fastest launch of each side, and the median of its best form, in GB/s or GFLOP/s."""
    times: dict[Form, list[float]] = {form: [] for forms in sides.values() for form in forms}
    for form in times:
        form.verify()

    def sample(count: int) -> None:
        for _ in range(count):
            for form in random.sample([*times], len(times)):
                times[form].append(form.run())

    def fastest(side: str) -> list[Form]:
        return sorted(sides[side], key=lambda form: min(times[form]) / form.amount)[:FINALISTS]

    sample(SCREENING)
    sides = {side: fastest(side) for side in sides}
    times = {form: times[form] for forms in sides.values() for form in forms}
    sample(RUNS)
    numbers = {}
    for side in sides:
        best, *_ = fastest(side)
        numbers[side] = best.amount / min(times[best])
        numbers[f"{side} median"] = best.amount / statistics.median(filter(math.isfinite, times[best]))
    return numbers


def measure(device: str) -> dict[str, dict[str, float]]:
    """Both sides of every kernel."""
    bench = Bench(Session.on(device))
    opencl, memory, rates = OpenCL(bench), GlobalMemory(bench), Arithmetic(bench)
    groups = {name: rates if name == "fp32" else memory for name in PROBES}
    return {
        name: in_turn({"xebench": list(groups[name].forms(probe)), "opencl": list(opencl.forms(name))})
        for name, probe in PROBES.items()
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))

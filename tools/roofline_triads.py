"""Our triad and BabelStream's, launch by launch in turn in one process: ``roofline_triads.py DEVICE`` prints JSON.

BabelStream's is the same loop in OpenCL C, written here and built by ``dpctl.program`` (OpenCL devices only).
"""

from __future__ import annotations

import json
import math
import random
import statistics
import sys

from harness import runtime

runtime.load()

import dpctl.program  # noqa: E402
import numpy as np  # noqa: E402

from harness.dpex import DeviceEvent  # noqa: E402
from harness.roofline.bench import Bench  # noqa: E402
from harness.roofline.probes.global_memory import Group  # noqa: E402
from harness.roofline.search import Form, WrongResult  # noqa: E402
from harness.session.session import Session  # noqa: E402

SOURCE = """
__kernel void triad(__global float *a, __global const float *b, __global const float *c)
{
    const size_t i = get_global_id(0);
    a[i] = b[i] + 0.4f * c[i];
}
"""
ELEMENTS = 1 << 25  # BabelStream's own size
GROUPS = (64, 256, 1024)
SCREENING = 4
FINALISTS = 2
RUNS = 100  # BabelStream's own number


def babelstream(bench: Bench) -> list[Form]:
    """BabelStream's triad in a few work-groups, timed by the same events as ours."""
    queue = bench.session.queue
    kernel = dpctl.program.create_program_from_source(queue, SOURCE, "").get_sycl_kernel("triad")
    a, b, c = (bench.memory.upload(np.full(ELEMENTS, value, np.float32)) for value in (0, 1, 2))

    def form(group: int) -> Form:
        def launch() -> DeviceEvent:
            return DeviceEvent(queue.submit(kernel, [x.usm_data for x in (a, b, c)], [ELEMENTS], [group]))

        def run() -> float:
            _, start_ns, end_ns = launch().times()
            return end_ns - start_ns

        def verify() -> None:
            launch().wait()
            if not np.allclose(bench.memory.read(a), 1.8):
                raise WrongResult("BabelStream's triad is wrong")

        return Form({"work-group": group}, 12 * ELEMENTS, run, verify)

    return [form(group) for group in GROUPS if group <= bench.device.max_work_group_size]


def measure(device: str) -> dict[str, float]:
    """Of each side the fastest launch, and the median of its best form, in GB/s."""
    bench = Bench(Session.on(device))
    sides = {"xebench": list(Group(bench).forms("stream_triad")), "babelstream": babelstream(bench)}
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


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))

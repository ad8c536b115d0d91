"""The cost of an empty kernel: on the host, between submission and start, and on the device.

The launch is prepared, as the harness's own launches are: compiled, built, its arguments flattened.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

import math
import time
from functools import cached_property
from typing import Any

import numpy as np

from xebench.dpex import PreparedLaunch, build, compile_kernel, kernel
from xebench.dpex import kernel_api as kapi
from xebench.measuring.roofline.bench import ProbeGroup, nd_range
from xebench.measuring.roofline.search import Measurement, WrongResult
from xebench.tables.analysis.metrics import CLOCK_TOLERANCE

LAUNCHES = 300
QUICK_LAUNCHES = 50
#: The first launches pay for threads that wake up and pages that appear.
WARM_UP = 20


@kernel
def _nothing(item: kapi.NdItem, x: Any) -> None:
    pass


class Group(ProbeGroup):
    """The three probes, which share their launches."""

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        valid = tuple(time_ns for time_ns in self._times[name] if math.isfinite(time_ns))
        if not valid:
            raise WrongResult("the events' times contradict one another")
        return Measurement({"work-items": 1}, 1, valid)

    @cached_property
    def _times(self) -> dict[str, list[float]]:
        bench = self._bench
        queue, x, space = bench.session.queue, bench.session.alloc(1, np.int32), nd_range(1, 1)
        launch = PreparedLaunch(build(compile_kernel(_nothing, space, (x,)), queue), queue, space, (x,))
        times: dict[str, list[float]] = {"launch_host": [], "launch_queue": [], "launch_device": []}
        last_end_ns = 0
        for _ in range(WARM_UP + (QUICK_LAUNCHES if bench.effort.quick else LAUNCHES)):
            begin_ns = time.perf_counter_ns()
            event = launch.submit()
            event.wait()
            host_ns = time.perf_counter_ns() - begin_ns
            submit_ns, start_ns, end_ns = event.times()
            in_order = last_end_ns <= start_ns <= end_ns and submit_ns <= start_ns
            last_end_ns = end_ns
            # nothing is believed of a launch that was longer on the device than the host waited
            valid = in_order and end_ns - submit_ns <= (1 + CLOCK_TOLERANCE) * host_ns
            times["launch_host"].append(host_ns if valid else math.inf)
            times["launch_queue"].append(start_ns - submit_ns if valid else math.inf)
            times["launch_device"].append(end_ns - start_ns if valid else math.inf)
        return {name: taken[WARM_UP:] for name, taken in times.items()}

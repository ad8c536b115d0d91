"""The instrument's own error, measured on a run's device before the first pattern.

It lives with the worker, since it samples as the worker does: the same session, launches, blocks and rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from numba_sycl import kernel
from numba_sycl import kernel_api as kapi
from xebench.measuring.sampling import Sampling, sample_family
from xebench.records.events import EventTimes
from xebench.results.analysis.intervals import Interval, speedup
from xebench.results.analysis.metrics import queue_ns, union_ns
from xebench.results.analysis.speedups import log_speedups
from xebench.session.device_memory import DeviceMemory
from xebench.session.recorder import MeasuredSample
from xebench.session.session import Session

#: Launches whose submission is timed.
TIMED_LAUNCHES = 60


def _launch_ns(session: Session, launch: Callable[[], Any]) -> int:
    session.begin()
    begin = time.perf_counter_ns()
    event = launch()
    end = time.perf_counter_ns()
    event.wait()
    return end - begin


GROUP = 64

EMPTY_LAUNCHES = 200

#: Wanted device time of its shortest form, in ns.
SHORTEST_NS = 100_000
#: Steps towards it, each at most this factor: a timer of large quanta may show nothing at first.
TUNING_STEPS = 4

MOST_GROWTH = 100
#: Blocks of the pair of equal variants.
PAIR_BLOCKS = 40


@kernel
def _nothing(item: kapi.NdItem, x: Any) -> None:
    pass


@kernel
def _known_length(item: kapi.NdItem, x: Any, factor: Any, trips: Any) -> None:
    # each step needs the one before, and the compiler does not know the factor, so it cannot skip steps
    i = item.get_global_id(0)
    a = start = x[i]
    for _ in range(trips):
        a = a * factor + start
    x[i] = a


def measure_instrument(session: Session) -> dict[str, float | None]:
    """Columns of the table ``devices`` that say how exact the instrument is here; takes well under a second.

    Only the session's queue is used; kernels and rows of patterns are not touched.
    """
    nothing, space, x = empty_launch(session)
    launch = partial(session.launch, nothing, space, x)
    samples = _empty_samples(session, launch)
    loop = _LoopKernel(session, space, x)
    aa = loop.pair_with_itself()
    launch_ns = median(_launch_ns(session, launch) for _ in range(TIMED_LAUNCHES))
    session.release()
    return {
        **_empty_kernel_columns(samples),
        "launch_overhead_ns": launch_ns,
        "aa_speedup": aa.estimate,
        "aa_low": aa.low if aa.known else None,
        "aa_high": aa.high if aa.known else None,
    }


def measure_empty_kernel(session: Session) -> dict[str, float]:
    """The columns of an empty kernel alone (see `measure_instrument`); takes a few hundredths of a second."""
    nothing, space, x = empty_launch(session)
    columns = _empty_kernel_columns(_empty_samples(session, partial(session.launch, nothing, space, x)))
    session.release()
    return columns


def _empty_samples(session: Session, launch: Callable[[], Any]) -> list[MeasuredSample]:
    session.measure(launch)
    return [session.measure(launch) for _ in range(EMPTY_LAUNCHES)]


def _empty_kernel_columns(samples: Sequence[MeasuredSample]) -> dict[str, float]:
    return {
        "empty_kernel_ns": median(union_ns(_events(sample)) for sample in samples),
        "empty_kernel_queue_ns": median(queue_ns(_events(sample)) for sample in samples),
        "empty_kernel_host_ns": median(sample.host_ns for sample in samples),
    }


def empty_launch(session: Session) -> tuple[Any, Any, Any]:
    """A kernel that does nothing, an index space with a work-group for each compute unit, and an array."""
    items = GROUP * int(session.device.max_compute_units)
    array = DeviceMemory(session.queue).upload(np.full(items, 0.5, np.float32))
    return _nothing, kapi.NdRange((items,), (GROUP,)), array


class _LoopKernel:
    """A kernel whose length is proportional to its trip count, with a trip count that takes a tenth of a ms."""

    def __init__(self, session: Session, space: Any, x: Any) -> None:
        self._session = session
        self._launch = partial(session.launch, _known_length, space, x, np.float32(0.5))
        trips = 1000
        for _ in range(TUNING_STEPS):
            trips = max(1, round(trips * min(SHORTEST_NS / max(self._time_ns(trips), 1), MOST_GROWTH)))
        self._trips = trips

    def _time_ns(self, trips: int) -> int:
        return union_ns(_events(self._session.measure(lambda: self._launch(np.int64(trips)))))

    def pair_with_itself(self) -> Interval:
        """The speed-up of one variant over an equal one, sampled as every family is."""
        taken: dict[str, Sequence[float]] = {}

        def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
            return float(self._time_ns(self._trips))

        def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
            taken.update(values)
            return "enough" if len(values["a"]) >= PAIR_BLOCKS else None

        sample_family(("a", "b"), measure, decide, Sampling(max_blocks=PAIR_BLOCKS), seed=0)
        return speedup(list(log_speedups(taken, "a").values()))


def _events(sample: MeasuredSample) -> list[EventTimes]:
    return list(sample.events)

"""The instrument's own error, measured on the device before any pattern: what a result cannot be better than.

It lives with the worker, since it samples as the worker does: the same session, launches, blocks and rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from xebench.dpex import kernel
from xebench.dpex import kernel_api as kapi
from xebench.measuring.overhead import sample_overheads
from xebench.measuring.sampling.blocks import sample_family
from xebench.measuring.sampling.limits import Sampling
from xebench.measuring.session.device_memory import DeviceMemory
from xebench.measuring.session.recorder import MeasuredSample
from xebench.measuring.session.session import Session
from xebench.tables.analysis.intervals import Interval, speedup
from xebench.tables.analysis.metrics import EventTimes, queue_ns, union_ns
from xebench.tables.analysis.timer_quality import Linearity, linearity, timer_quantum

GROUP = 64
EMPTY_LAUNCHES = 200
CLOCK_READS = 2000
#: Trip counts of the kernel of known length, in units of the first, and how often each is measured.
LENGTHS = (1, 2, 3, 4)
LENGTH_ROUNDS = 15
#: Wanted device time of its shortest form.
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
    # each step needs the one before, and the factor is not known to the compiler: no step can be saved
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
    samples = _empty_samples(session, partial(session.launch, nothing, space, x))
    device_ns = [union_ns(_events(sample)) for sample in samples]
    loop = _LoopKernel(session, space, x)
    aa = loop.pair_with_itself()
    line = loop.linearity()
    clock_quantum_ns, clock_overhead_ns = host_clock()
    overheads = sample_overheads(session, nothing, space, x)
    session.release()
    return {
        "timer_quantum_ns": timer_quantum(device_ns),
        "clock_quantum_ns": clock_quantum_ns,
        "clock_overhead_ns": clock_overhead_ns,
        **_empty_kernel_columns(samples),
        "launch_overhead_ns": overheads.launch_ns,
        "length_r2": line.r2,
        "length_residual": line.residual,
        "aa_speedup": aa.estimate,
        "aa_low": aa.low if aa.known else None,
        "aa_high": aa.high if aa.known else None,
        "sample_overhead_ns": overheads.sample_ns,
        "bare_overhead_ns": overheads.bare_ns,
    }


def measure_empty_kernel(session: Session) -> dict[str, float]:
    """Those of these columns that are of an empty kernel, for who needs no more; takes a few hundredths of a second."""
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

    def linearity(self) -> Linearity:
        """The medians of each length against a straight line."""
        rounds = [[self._time_ns(self._trips * length) for length in LENGTHS] for _ in range(LENGTH_ROUNDS)]
        return linearity(LENGTHS, np.median(rounds, axis=0))

    def pair_with_itself(self) -> Interval:
        """The speed-up of one variant over an equal one, sampled as every family is."""
        taken: dict[str, Sequence[float]] = {}

        def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
            return float(self._time_ns(self._trips))

        def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
            taken.update(values)
            return "enough" if len(values["a"]) >= PAIR_BLOCKS else None

        sample_family(("a", "b"), measure, decide, Sampling(max_blocks=PAIR_BLOCKS), seed=0)
        return speedup(taken["a"], taken["b"])


def _events(sample: MeasuredSample) -> list[EventTimes]:
    return list(sample.events)


def host_clock(clock: Callable[[], int] = time.perf_counter_ns) -> tuple[float | None, float]:
    """Smallest step of the host's clock that was seen, and the time to read it."""
    reads = np.array([clock() for _ in range(CLOCK_READS)])
    steps = np.diff(reads)
    return (float(steps[steps > 0].min()) if (steps > 0).any() else None), float(reads[-1] - reads[0]) / steps.size

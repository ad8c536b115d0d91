"""The instrument's own error, measured on a run's device before the first pattern.

It lives with the worker, since it samples as the worker does: the same session, launches, blocks and rows.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from xebench.dpex import build, compile_kernel, kernel
from xebench.dpex import kernel_api as kapi
from xebench.dpex.signature import index_space_extents
from xebench.measuring.local_functions import FunctionPlace
from xebench.measuring.samples import RowStream, Rules, SampleTaker
from xebench.measuring.sampling import Sampling, sample_family
from xebench.measuring.stopping import decide
from xebench.patterns.pattern import Variant
from xebench.results.analysis.intervals import Interval, speedup
from xebench.results.analysis.metrics import EventTimes, queue_ns, union_ns
from xebench.session.device_memory import DeviceMemory
from xebench.session.recorder import MeasuredSample
from xebench.session.session import Session
from xebench.system.children.worker import Sender
from xebench.system.sycl_types import UsmArray
from xebench.vocabulary import Metric, Role

#: Samples in a round; the rounds of the two sides are taken in turns.
SAMPLES = 60
#: Rounds of each side.
ROUNDS = 6


@dataclass(frozen=True)
class Overheads:
    """Host time for one sample beside its device time: medians over rounds, in ns.

    Attributes:
        sample_ns: time in the harness: order of the blocks, launch, wait, reading times, rules, rows into the pipe, the
            stopping rule.
        bare_ns: time in a plain loop: dpctl's submit and wait, and reading times.
        launch_ns: time of ``session.launch`` alone.
    """

    sample_ns: float
    bare_ns: float
    launch_ns: float


def sample_overheads(
    session: Session, kernel: Any, index_space: Any, array: UsmArray, *, rounds: int = ROUNDS
) -> Overheads:
    """Measure both sides in turns.

    Args:
        session: session of the samples; the plain loop uses its queue.
        kernel: takes one one-dimensional array.
        index_space: a ``kernel_api.NdRange`` of one dimension.
        array: the argument.
        rounds: number of rounds of each side.
    """
    launch = partial(session.launch, kernel, index_space, array)
    bare = _bare_loop(session, kernel, index_space, array)
    bare(), session.measure(launch)
    taken = [(_harness_ns(session, launch), bare()) for _ in range(rounds)]
    sample_ns, bare_ns = (median(values) for values in zip(*taken, strict=True))
    return Overheads(sample_ns, bare_ns, median(_launch_ns(session, launch) for _ in range(SAMPLES)))


def _harness_ns(session: Session, launch: Callable[[], Any]) -> float:
    """One round of a family of two equal variants, sampled as the patterns' are."""
    names = ("a", "b")
    variants = {name: Variant(name, Role.BASELINE, launch, (), (), "") for name in names}
    place = FunctionPlace(session, dict.fromkeys(names, launch), Metric.DEVICE)
    place.begin()
    for name in names:
        place.start(name, None)
    device_ns: list[float] = []
    with _nowhere() as sender:
        rows = RowStream(sender, {name: name for name in names}, 0)
        taker = SampleTaker(rows, lambda: Rules(Metric.DEVICE, 1))

        def measure(variant: str, *, batch: int, **of_sample: Any) -> float:
            device_ns.append(taker.take(variants[variant], partial(place.sample, variant, batch), batch, **of_sample))
            return device_ns[-1]

        blocks = SAMPLES // len(names)
        sampling = Sampling(precision=1e-9, budget_s=60, max_blocks=blocks)
        begin = time.perf_counter_ns()
        sample_family(names, measure, partial(decide, baseline="a", sampling=sampling), sampling, seed=0)
        elapsed_ns = time.perf_counter_ns() - begin
    return elapsed_ns / len(device_ns) - median(device_ns)


def _bare_loop(session: Session, kernel: Any, index_space: Any, array: UsmArray) -> Callable[[], float]:
    """A round of dpctl alone: submit, wait, read the three times."""
    extents, local = index_space_extents(index_space)
    queue, ranges = session.queue, [list(extents), list(local or ())]
    bare_kernel = build(compile_kernel(kernel, index_space, (array,)), queue).kernel
    numbers = [ctypes.c_longlong(value) for value in (array.size, array.itemsize, *array.shape, *array.strides)]
    # numba-dpex's order of an array: elements, their size, the pointer, extents, strides in bytes
    numbers[-1].value *= array.itemsize
    arguments = [*numbers[:2], array.usm_data, *numbers[2:]]

    def one_round() -> float:
        device_ns: list[int] = []
        begin = time.perf_counter_ns()
        for _ in range(SAMPLES):
            event = queue.submit_async(bare_kernel, arguments, *ranges)
            event.wait()
            event.profiling_info_submit  # noqa: B018
            device_ns.append(event.profiling_info_end - event.profiling_info_start)
        return (time.perf_counter_ns() - begin) / SAMPLES - median(device_ns)

    return one_round


@contextmanager
def _nowhere() -> Iterator[Sender]:
    """A sender whose rows no one reads."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    try:
        yield Sender(descriptor)
    finally:
        os.close(descriptor)


def _launch_ns(session: Session, launch: Callable[[], Any]) -> int:
    session.begin()
    begin = time.perf_counter_ns()
    event = launch()
    end = time.perf_counter_ns()
    event.wait()
    return end - begin


GROUP = 64

EMPTY_LAUNCHES = 200

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


def measure_instrument(session: Session, *, rounds: int = ROUNDS) -> dict[str, float | None]:
    """Columns of the table ``devices`` that say how exact the instrument is here; takes well under a second.

    Only the session's queue is used; kernels and rows of patterns are not touched. ``rounds``: see `sample_overheads`.
    """
    nothing, space, x = empty_launch(session)
    samples = _empty_samples(session, partial(session.launch, nothing, space, x))
    loop = _LoopKernel(session, space, x)
    aa = loop.pair_with_itself()
    overheads = sample_overheads(session, nothing, space, x, rounds=rounds)
    session.release()
    return {
        **_empty_kernel_columns(samples),
        "launch_overhead_ns": overheads.launch_ns,
        "aa_speedup": aa.estimate,
        "aa_low": aa.low if aa.known else None,
        "aa_high": aa.high if aa.known else None,
        "sample_overhead_ns": overheads.sample_ns,
        "bare_overhead_ns": overheads.bare_ns,
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
        return speedup(taken["a"], taken["b"])


def _events(sample: MeasuredSample) -> list[EventTimes]:
    return list(sample.events)

"""Measurements of a run's device before the first pattern: the roofs, and the instrument's own error.

It lives with the worker, since it samples as the worker does: the same session, launches, blocks and rows.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any, Final

import numpy as np

from xebench.dpex import build, compile_kernel, kernel
from xebench.dpex import kernel_api as kapi
from xebench.dpex.signature import index_space_extents
from xebench.measuring.local_functions import FunctionPlace
from xebench.measuring.machine_monitor import LOAD_CHANGE, MachineMonitor
from xebench.measuring.samples import RowStream, Rules, SampleTaker
from xebench.measuring.sampling import Sampling, sample_family
from xebench.measuring.stopping import decide
from xebench.patterns.pattern import Variant
from xebench.results.analysis.intervals import Interval, speedup
from xebench.results.analysis.metrics import EventTimes, queue_ns, union_ns
from xebench.results.analysis.statistics import Linearity, linearity, timer_quantum
from xebench.results.device_facts import MIXES, Roof
from xebench.roofs.bench import EMPTY_KERNEL, quick_result, quick_results
from xebench.roofs.catalogue import ROUTES, WORKING_SETS, level_name
from xebench.roofs.measure import (
    ProbeResult,
    cached_bytes,
    known_caches,
    measured_levels,
    named_levels,
    roof_columns,
)
from xebench.roofs.search import BRIEF, QUICK, RUN, Effort
from xebench.session.device_memory import DeviceMemory, Flusher, cache_bytes
from xebench.session.recorder import MeasuredSample
from xebench.session.session import Session
from xebench.system.children.worker import Sender
from xebench.system.sycl_types import UsmArray
from xebench.vocabulary import DeviceClass, Metric, Role

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
    device_ns = [union_ns(_events(sample)) for sample in samples]
    loop = _LoopKernel(session, space, x)
    aa = loop.pair_with_itself()
    line = loop.linearity()
    clock_quantum_ns, clock_overhead_ns = host_clock()
    overheads = sample_overheads(session, nothing, space, x, rounds=rounds)
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
    return EMPTY_KERNEL, kapi.NdRange((items,), (GROUP,)), array


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


#: How much faster than a quick look memory may be: that tries few forms for a moment, and others of the same device
#: have been up to a third faster.
QUICK_LOOK_MISSES: Final = 4 / 3
#: Ends of a probe that leave a roof unknown which the device has.
_NO_ROOF: Final = ("failed", "undetermined")
#: A process that measures all roofs of a CPU occupies less than so many of the largest arrays: four, and its libraries.
PROCESS_ARRAYS: Final = 8
#: A brief look measures every so manieth working set.
_BRIEF_STEP: Final = 2


def measure_roofs(
    session: Session, *, brief: bool = False, memory_bytes: float = math.inf
) -> dict[str, float | str | None]:
    """Measure the device's roofs, and the instrument's own error.

    Args:
        session: session on the device.
        brief: True to measure briefly, without mixes and copies.
        memory_bytes: memory limit of this process. There is no memory roof if arrays beyond the caches need more.

    Returns:
        Columns of the table ``devices``: the roofs, None where the device lacks something or computes wrong, and those
        of :func:`xebench.measuring.instrument.measure_instrument`.
    """
    device_class = DeviceClass.CPU if session.device.is_cpu else DeviceClass.GPU
    # copies of data beyond the caches take most of the time, and copies in smoke runs are far smaller
    routes = () if brief else ROUTES
    looked_at = [roof for roof in Roof if not (brief and (roof in MIXES or roof.probes[0] in ROUTES))]
    # all probes that `xebench roofline` has of a roof: with fewer, a run's roof would be lower
    roofs = [probe for roof in looked_at for probe in roof.probes[: 1 if brief else None]]
    levels = [level_name(size) for size in WORKING_SETS[:: _BRIEF_STEP if brief else 1]]
    effort = _within(BRIEF if brief else RUN, memory_bytes)
    with closing(MachineMonitor(device_class)) as monitor:
        results = quick_results(session.device.filter_string, [*roofs, *levels, *routes], effort)
        state, _ = monitor.observe()
    busy = device_class == DeviceClass.CPU and max(state["contended"] or 0, state["stolen"] or 0) > LOAD_CHANGE
    by_roof = {roof: results[roof.probes[0]] for roof in looked_at}
    by_name: dict[str, ProbeResult] = {roof: one for roof, one in by_roof.items() if one.probe not in ROUTES}
    by_name |= {route: results[route] for route in routes}
    failures = [
        f"{name}: {result.reason}"
        for name, result in by_name.items()
        if result.status in _NO_ROOF or (name == Roof.BANDWIDTH and not result.value)  # which every device has
    ]
    values = {name: result.value for name, result in results.items()}
    caches = known_caches(device_class, int(session.device.global_mem_cache_size))
    columns = roof_columns(values, caches)
    return {
        **columns,
        "bandwidth_levels": named_levels(measured_levels(values), columns[Roof.BANDWIDTH.column], caches),
        "link_roofs": json.dumps({route: values[route] for route in routes}),
        "roofs_disturbed": _disturbed(by_roof, busy=busy),
        "roofs_from": "; ".join(["this run", *failures]),
        **measure_instrument(session, rounds=2 if brief else ROUNDS),
    }


def _disturbed(results: Mapping[Roof, ProbeResult], *, busy: bool) -> str:
    """The roofs that may be too low: all of them when others used the cores."""
    # repeats of a copy differ on a quiet machine, too; a link whose halves differ has no roof
    told = {roof for roof, result in results.items() if busy or (roof is not Roof.HOST_LINK and result.disturbed)}
    return ", ".join(roof for roof, result in results.items() if result.value and roof in told)


def _within(effort: Effort, memory_bytes: float) -> Effort:
    """The effort with arrays that a process of so much memory can have."""
    return replace(effort, most_bytes=min(effort.most_bytes, memory_bytes / PROCESS_ARRAYS))


def cold_limit_gbps(session: Session, memory_bytes: float = math.inf) -> float:
    """The bandwidth above which data did not come from the memory; 0 if unknown."""
    memory = Roof.BANDWIDTH.probes[0]
    return QUICK_LOOK_MISSES * (
        quick_result(session.device.filter_string, memory, _within(QUICK, memory_bytes)).value or 0.0
    )


def make_flusher(session: Session, memory_bytes: float = math.inf) -> Flusher:
    """Make the flusher of the device's caches; measure their size if no driver reports it.

    Args:
        session: session on the device.
        memory_bytes: memory limit of this process.
    """
    told = cache_bytes(session.device)
    return Flusher(session.queue, cold_limit_gbps(session, memory_bytes), told or _measured_cache_bytes(session))


def _measured_cache_bytes(session: Session) -> int | None:
    memory = Roof.BANDWIDTH.probes[0]
    names = [memory, *map(level_name, WORKING_SETS)]
    results = quick_results(session.device.filter_string, names, BRIEF)
    measured = {name: result.value for name, result in results.items()}
    return cached_bytes(measured_levels(measured), measured[memory])

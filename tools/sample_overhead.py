"""Host time that a sample costs beside its commands, against a plain dpctl loop over the same launches.

Imported when the SYCL runtime is loaded.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from numba_sycl import build, compile_kernel
from numba_sycl.signature import index_space_extents
from numba_sycl.sycl_types import UsmArray
from xebench.measuring.local_functions import FunctionPlace
from xebench.measuring.samples import RowStream, Rules, SampleTaker
from xebench.measuring.sampling import Sampling, sample_family
from xebench.measuring.stopping import Instances
from xebench.patterns.pattern import Variant
from xebench.session.session import Session
from xebench.system.children.worker import Sender
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
    """

    sample_ns: float
    bare_ns: float


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
    return Overheads(sample_ns, bare_ns)


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
        sampling = Sampling(precision=1e-9, budget_s=60, max_blocks=blocks, min_instances=1)
        begin = time.perf_counter_ns()
        sample_family(names, measure, Instances(sampling, "a").decide, sampling, seed=0)
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

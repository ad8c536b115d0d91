"""Find the best form of a probe, on problems so large that they measure what they are meant to. No SYCL in here."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from xebench.errors import TooLarge, Unsupported
from xebench.roofs.catalogue import size_text

#: STREAM's own rule: an array has at least four times the size of the last-level caches.
CACHES = 4
#: The same factor for small memories.
_FEWEST_CACHES = 2

_LEAST_BYTES = 64 << 20
#: Size assumed for a last-level cache that the driver does not describe.
_UNKNOWN_CACHE_BYTES = 64 << 20
#: Larger arrays make launches no cheaper, and take long to fill.
_MOST_BYTES = 1 << 30
#: An array takes no more than one over this of the device's memory.
_PART_OF_MEMORY = 16
#: Elements of a block that any form of a kernel divides into whole work-groups.
BLOCK = 1 << 16
#: Bytes of a working set that a work-group reads in a pass.
AGAIN_BLOCK_BYTES = 1 << 14
#: Most passes through a working set: above it the float sums were not exact.
MOST_PASSES = 1 << 12
#: Most steps of a multiply-add chain: above it the sum of 16 chains that start at up to 2 were not exact in float32.
MOST_STEPS = 1 << 18


def largest_array_bytes(memory_bytes: int, max_alloc_bytes: int) -> int:
    """The size of the largest array on a device."""
    return min(memory_bytes // _PART_OF_MEMORY, max_alloc_bytes)


def beyond_bytes(cache_bytes: int) -> int:
    """A size so much larger than the last-level cache that the cache does not matter; a cache of 0 bytes is unknown."""
    return CACHES * (cache_bytes or _UNKNOWN_CACHE_BYTES)


def grown_array_bytes(start_bytes: int, largest_bytes: int) -> int:
    """The size to which an array for bandwidth may grow on a fast device."""
    return min(largest_bytes, max(start_bytes, _MOST_BYTES))


def array_bytes(cache_bytes: int, largest_bytes: int) -> int:
    """Size of an array for bandwidth: four times the last-level cache, or twice if memory is small.

    Args:
        cache_bytes: size of the last-level cache; 0 if unknown.
        largest_bytes: the largest array that may be allocated.

    Raises:
        Unsupported: the memory is too small for arrays that the cache does not hold.
    """
    size = min(max(_LEAST_BYTES, beyond_bytes(cache_bytes)), largest_bytes)
    if size < _FEWEST_CACHES * cache_bytes:
        raise Unsupported(
            f"the largest array here, of {size_text(size)}, would fit into the cache ({size_text(cache_bytes)})"
        )
    return size


def whole_blocks(elements: int) -> int:
    """The largest multiple of a block that is not above ``elements``; at least one block."""
    return max(1, elements // BLOCK) * BLOCK


def next_power_of_two(number: int) -> int:
    """The smallest power of two that is not below ``number``."""
    return 1 << (number - 1).bit_length()


def far_shift(blocks: int) -> int:
    """The shift from block to block with which few steps go over all of a working set: an odd part of it, golden."""
    return round(blocks * (5**0.5 - 1) / 2) | 1


def require_working_set(working_set_bytes: int, cache_bytes: int, array_bytes: int) -> None:
    """Refuse a working set that would show nothing on a device; a cache of 0 bytes is an unknown one.

    Raises:
        Unsupported: it is larger than the array that stands for the memory, or far larger than the caches.
    """
    if working_set_bytes > array_bytes:
        raise Unsupported(f"larger than the array that stands for the memory here ({size_text(array_bytes)})")
    if cache_bytes and working_set_bytes > CACHES * cache_bytes:
        raise Unsupported(f"{size_text(CACHES * cache_bytes)} exceeds all caches")


#: Problems are enlarged until a run takes so long that the cost of a launch does not count.
SHORTEST_NS: Final = 1_000_000
#: How many samples a form may take until one of them can be trusted.
_SECOND_CHANCES: Final = 8
#: Number of runs that test whether a problem is long enough.
_LENGTH_RUNS: Final = 3
#: Largest growth of a problem in one step, since a time of few quanta is a poor estimate.
_MOST_GROWTH: Final = 8
#: The exceptions of a form that needs something which the device lacks.
_REFUSALS: Final[tuple[type[Exception], ...]] = (Unsupported, TooLarge)


class WrongResult(Exception):
    """A kernel did not compute what it should, so its time means nothing."""


class NoForm(Exception):
    """No form of a probe works on this device, although one should."""


class Undetermined(Exception):
    """The samples contradict one another, so no number of them is a roof."""


@dataclass(frozen=True, eq=False)
class Form:
    """One form of a probe.

    Attributes:
        parameters: parameters that distinguish the form, for the record.
        amount: bytes, operations or steps of one run.
        run: function that runs it once and returns its time in ns; infinity if the time is invalid.
        verify: function that poisons the outputs, runs it once and compares; raises :class:`WrongResult`.
    """

    parameters: Mapping[str, int | str]
    amount: float
    run: Callable[[], float]
    verify: Callable[[], None]

    @property
    def label(self) -> str:
        """The form in one line."""
        return ", ".join(f"{name} {value}" for name, value in self.parameters.items())


@dataclass(frozen=True)
class Effort:
    """The effort of a measurement.

    Attributes:
        screening_s: seconds of the first round after which no further forms are tried; those that come first differ
            most from one another.
        finalists: number of forms in the second round.
        patience: samples of each finalist without improvement after which the second round ends.
        patience_s: seconds without improvement, required as well, since changing load outlasts a few samples.
        confirmations: samples close to the best one, required as well, since a single one may be luck.
        most_s: most seconds of the second round.
        gain: relative improvement of the best time that counts; smaller differences are close to it.
    """

    screening_s: float = 0.7
    finalists: int = 2
    patience: int = 8
    patience_s: float = 0.25
    confirmations: int = 3
    most_s: float = 1.0
    gain: float = 0.01

    def with_patience(self, part: float) -> Effort:
        """The same with a part of the patience, for one of many similar probes."""
        return replace(self, patience_s=part * self.patience_s, most_s=part * self.most_s)


#: All forms are tried, since the best one decides by more than a per cent, and few samples taken of each.
EFFORT: Final = Effort()


@dataclass(frozen=True)
class Measurement:
    """The best form of a probe and its times.

    Attributes:
        form: parameters of the best form.
        amount: amount of one run.
        times_ns: times of all its samples.
        rejected: forms that failed or computed wrong results, each with its reason.
    """

    form: Mapping[str, int | str]
    amount: float
    times_ns: tuple[float, ...]
    rejected: tuple[str, ...] = ()

    @property
    def best_ns(self) -> float:
        """The time of the fastest sample."""
        return min(self.times_ns)

    @property
    def median_ns(self) -> float:
        """The median time of all samples."""
        return statistics.median(self.times_ns)


def search(
    forms: Iterable[Form],
    effort: Effort,
    *,
    failures: tuple[type[Exception], ...] = (WrongResult,),
    clock: Callable[[], float] = time.monotonic,
) -> Measurement:
    """The form with the least time for its amount.

    Args:
        forms: forms, made lazily one after another.
        effort: effort of the search.
        failures: exceptions that mark a form as failed on this device.
        clock: clock in seconds.

    Raises:
        NoForm: no form works, though at least one should.
        Unsupported: the device lacks a capability for each form.
        WrongResult: the best form was right at first and is wrong now.
    """
    times, rejected = _screen(forms, effort, failures)
    if not times:
        reason = "; ".join(dict.fromkeys(form.reason for form in rejected)) or "no form fits this device"
        raise NoForm(reason) if any(form.failed for form in rejected) else Unsupported(reason)
    finalists = sorted(times, key=lambda form: min(times[form]) / form.amount)[: effort.finalists]
    _refine({form: times[form] for form in finalists}, effort, clock)
    best = min(finalists, key=lambda form: min(times[form]) / form.amount)
    best.verify()
    valid = tuple(time_ns for time_ns in times[best] if math.isfinite(time_ns))
    return Measurement(best.parameters, best.amount, valid, tuple(map(str, rejected)))


@dataclass(frozen=True)
class _Rejected:
    form: str
    reason: str
    failed: bool

    def __str__(self) -> str:
        return f"{self.form}: {self.reason}"


def _screen(
    forms: Iterable[Form], effort: Effort, failures: tuple[type[Exception], ...]
) -> tuple[dict[Form, list[float]], list[_Rejected]]:
    """Take a sample of each form with right results; return the reasons for the others."""
    times: dict[Form, list[float]] = {}
    rejected: list[_Rejected] = []
    spent_ns = 0.0
    for form in forms:
        if spent_ns > 1e9 * effort.screening_s:
            break
        try:
            form.verify()
            times[form] = [form.run()]
            spent_ns += times[form][0] if math.isfinite(times[form][0]) else 0
        except (*_REFUSALS, *failures) as error:
            rejected.append(_Rejected(form.label, str(error), failed=not isinstance(error, _REFUSALS)))
    for _ in range(_SECOND_CHANCES):
        for form, taken in times.items():
            if not any(map(math.isfinite, taken)):
                taken.append(form.run())
    for form in [form for form, taken in times.items() if not any(map(math.isfinite, taken))]:
        rejected.append(_Rejected(form.label, "its times cannot be trusted", failed=True))
        del times[form]
    return times, rejected


def _refine(times: Mapping[Form, list[float]], effort: Effort, clock: Callable[[], float]) -> None:
    """Sample the finalists in turn until none gets faster, or the time is up."""
    begin = improved = clock()
    best = _best_cost(times)
    stale = 0
    while clock() < begin + effort.most_s:
        patient = stale >= effort.patience and clock() >= improved + effort.patience_s
        if patient and _confirmations(times, best, effort.gain) >= effort.confirmations:
            break
        for form, taken in times.items():
            taken.append(form.run())
        reached = _best_cost(times)
        stale += 1
        if reached < best * (1 - effort.gain):
            stale, improved = 0, clock()
        best = reached


def _best_cost(times: Mapping[Form, list[float]]) -> float:
    return min(min(taken) / form.amount for form, taken in times.items())


def _confirmations(times: Mapping[Form, list[float]], best: float, gain: float) -> int:
    """The number of samples, of any form, that are practically equal to the best one, which counts too."""
    return sum(time_ns / form.amount * (1 - gain) <= best for form, taken in times.items() for time_ns in taken)


def grown(start: int, limit: int, time_of: Callable[[int], float]) -> int:
    """The smallest size, ``start`` times a power of two, whose runs are long enough, or the largest up to ``limit``.

    Args:
        start, limit: first and largest size of the problem.
        time_of: function that runs a problem of a size and returns its time; infinity if the time is unconfirmed.
    """
    size = start
    while 2 * size <= limit and (factor := _growth(partial(time_of, size))) > 1:
        size *= min(factor, 1 << (limit // size).bit_length() - 1)
    return size


def _growth(run: Callable[[], float]) -> int:
    """The factor by which a problem should grow, a power of two; 1 if it is long enough.

    One whose times are never confirmed is doubled: the longer a run, the surer its time.
    """
    times: list[float] = []
    for _ in range(_LENGTH_RUNS * _SECOND_CHANCES):
        times += filter(math.isfinite, [run()])
        if len(times) == _LENGTH_RUNS:
            break
    if not times:
        return 2
    wanted = SHORTEST_NS / max(min(times), 1)
    return 1 if wanted <= 1 else 1 << (math.ceil(min(wanted, _MOST_GROWTH)) - 1).bit_length()

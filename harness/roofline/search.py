"""Find the best form of a probe: try all, go on with the fastest few until they get no faster. No SYCL in here."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.errors import Unsupported

#: How many times as many samples a form may take until enough of them can be trusted.
_SECOND_CHANCES: Final = 8
#: How often a problem is run to see whether it is long enough.
_LENGTH_RUNS: Final = 3


class WrongResult(Exception):
    """A kernel did not compute what it should, so its time means nothing."""


class NoForm(Exception):
    """No form of a probe works on this device, although it should."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One form of a probe.

    Attributes:
        form: what distinguishes it, for the record.
        amount: bytes, operations or steps of one run.
        run: runs it once and gives its time in ns; infinity if that cannot be trusted.
        verify: poisons the outputs, runs it once, compares; raises :class:`WrongResult`.
    """

    form: Mapping[str, int | str]
    amount: float
    run: Callable[[], float]
    verify: Callable[[], None]

    @property
    def label(self) -> str:
        """The form in one line."""
        return ", ".join(f"{name} {value}" for name, value in self.form.items())


@dataclass(frozen=True)
class Effort:
    """How long to look.

    Attributes:
        screening: samples of each form in the first round.
        finalists: forms that go on to the second.
        patience: the second round is over when so many samples of each finalist brought no improvement,
        patience_s: and so many seconds; load that comes and goes outlasts a few samples.
        confirmations: and so many samples came close to the best: one alone may have been luck.
        most_s: end of the second round, in any case.
        gain: what counts as an improvement of the best time, and not as close to it.
        shortest_ns: problems are enlarged until a run takes this long.
        all_forms: try every form, not only the most likely few.
    """

    screening: int
    finalists: int
    patience: int
    patience_s: float
    confirmations: int
    most_s: float
    gain: float
    shortest_ns: float
    all_forms: bool


FULL: Final = Effort(
    screening=3,
    finalists=3,
    patience=12,
    patience_s=0.5,
    confirmations=3,
    most_s=4.0,
    gain=0.01,
    shortest_ns=1_000_000,
    all_forms=True,
)
#: For a device that others use as well: moments in which they rest must be caught.
PATIENT: Final = replace(FULL, patience_s=2.0, most_s=6.0)
QUICK: Final = Effort(
    screening=1,
    finalists=1,
    patience=3,
    patience_s=0.0,
    confirmations=1,
    most_s=0.3,
    gain=0.02,
    shortest_ns=200_000,
    all_forms=False,
)
EFFORTS: Final = {"full": FULL, "patient": PATIENT, "quick": QUICK}


@dataclass(frozen=True)
class Found:
    """The best form and its times.

    Attributes:
        form: of the best candidate.
        amount: of one of its runs.
        times_ns: of all its samples.
        rejected: forms that could not be run, or were wrong, each with its reason.
    """

    form: Mapping[str, int | str]
    amount: float
    times_ns: tuple[float, ...]
    rejected: tuple[str, ...] = ()

    @property
    def best_ns(self) -> float:
        """Of the fastest sample."""
        return min(self.times_ns)

    @property
    def median_ns(self) -> float:
        """Of all samples."""
        return statistics.median(self.times_ns)


def search(
    candidates: Iterable[Candidate],
    effort: Effort,
    *,
    refusals: tuple[type[Exception], ...] = (Unsupported,),
    failures: tuple[type[Exception], ...] = (WrongResult,),
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """The candidate with the least time for its amount.

    Args:
        candidates: made one after another, each only when it is tried.
        effort: how long to look.
        refusals: what a form raises that this device lacks something for.
        failures: what a form raises that this device should run, and does not.
        clock: in seconds.

    Raises:
        NoForm: none works, and one at least should.
        Unsupported: the device lacks something for each of them.
    """
    times, rejected = _screen(candidates, effort, refusals, failures)
    if not times:
        reason = "; ".join(dict.fromkeys(one.reason for one in rejected)) or "no form fits this device"
        raise NoForm(reason) if any(one.failed for one in rejected) else Unsupported(reason)
    finalists = sorted(times, key=lambda one: min(times[one]) / one.amount)[: effort.finalists]
    _refine({one: times[one] for one in finalists}, effort, clock)
    best = min(finalists, key=lambda one: min(times[one]) / one.amount)
    best.verify()
    valid = tuple(time_ns for time_ns in times[best] if math.isfinite(time_ns))
    return Found(best.form, best.amount, valid, tuple(map(str, rejected)))


@dataclass(frozen=True)
class _Rejected:
    form: str
    reason: str
    failed: bool

    def __str__(self) -> str:
        return f"{self.form}: {self.reason}"


def _screen(
    candidates: Iterable[Candidate],
    effort: Effort,
    refusals: tuple[type[Exception], ...],
    failures: tuple[type[Exception], ...],
) -> tuple[dict[Candidate, list[float]], list[_Rejected]]:
    """A few samples of each form that is right, taken in turn; and why the others are not."""
    right: list[Candidate] = []
    rejected: list[_Rejected] = []
    for one in candidates:
        try:
            one.verify()
            right.append(one)
        except refusals as error:
            rejected.append(_Rejected(one.label, str(error), failed=False))
        except failures as error:
            rejected.append(_Rejected(one.label, str(error), failed=True))
    times: dict[Candidate, list[float]] = {one: [] for one in right}
    for _ in range(effort.screening * _SECOND_CHANCES):
        for one, taken in times.items():
            if sum(map(math.isfinite, taken)) < effort.screening:
                taken.append(one.run())
    for one in right:
        if not any(map(math.isfinite, times[one])):
            rejected.append(_Rejected(one.label, "its times cannot be trusted", failed=True))
            del times[one]
    return times, rejected


def _refine(times: Mapping[Candidate, list[float]], effort: Effort, clock: Callable[[], float]) -> None:
    """Sample the finalists in turn until none gets faster, or the time is up."""
    begin = improved = clock()
    best = _best_cost(times)
    stale = 0
    while clock() < begin + effort.most_s:
        patient = stale >= effort.patience and clock() >= improved + effort.patience_s
        if patient and _confirmations(times, best, effort.gain) >= effort.confirmations:
            break
        for one, taken in times.items():
            taken.append(one.run())
        reached = _best_cost(times)
        stale += 1
        if reached < best * (1 - effort.gain):
            stale, improved = 0, clock()
        best = reached


def _best_cost(times: Mapping[Candidate, list[float]]) -> float:
    return min(min(taken) / one.amount for one, taken in times.items())


def _confirmations(times: Mapping[Candidate, list[float]], best: float, gain: float) -> int:
    """How many samples, of any form, came as near to the best as makes no difference; the best is one of them."""
    return sum(time_ns / one.amount * (1 - gain) <= best for one, taken in times.items() for time_ns in taken)


def grown(start: int, limit: int, shortest_ns: float, time_of: Callable[[int], float]) -> int:
    """The first of start, twice, four times ... start of which no run is shorter, or the last below ``limit``."""
    size = start
    while 2 * size <= limit and min(time_of(size) for _ in range(_LENGTH_RUNS)) < shortest_ns:
        size *= 2
    return size

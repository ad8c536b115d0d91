"""A rate from copies of several sizes: a straight line through their shortest times, whose slope has no fixed cost.

The line is that of repeated medians, which one size that others disturbed does not bend (A. F. Siegel, "Robust
Regression Using Repeated Medians", 1982). No SYCL in here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from xebench.measuring.roofline.search import Effort, Form, Measurement, Undetermined

#: Both halves of the samples must give rates that differ by no more than this part.
AGREEMENT: Final = 0.05
#: How much longer than usual to wait for halves that agree, in seconds.
_EXTENSION_S: Final = 1.0


class Line(NamedTuple):
    """Time over amount: ``fixed_ns`` at no amount, never below 0, and ``slope_ns`` for each unit of it."""

    fixed_ns: float
    slope_ns: float


def search_line(forms: Sequence[Form], effort: Effort, clock: Callable[[], float] = time.monotonic) -> Measurement:
    """The largest form without its fixed cost, sampled in turns with smaller ones until both halves agree.

    Args:
        forms: of different amounts in bytes, the largest last; two at least.
        effort: how long to look.
        clock: in seconds.

    Raises:
        WrongResult: a form is wrong.
        Undetermined: the rates of both halves differ by more than `AGREEMENT`, or one half has no time to trust.
    """
    largest = forms[-1]
    largest.verify()
    times: dict[Form, list[float]] = {form: [] for form in forms}
    begin, rounds = clock(), 0
    while True:
        for form, taken in times.items():
            taken.append(form.run())
        rounds, elapsed = rounds + 1, clock() - begin
        if rounds >= max(2, effort.patience) and elapsed >= effort.patience_s:
            first, second = _rate(times, slice(rounds // 2)), _rate(times, slice(rounds // 2, None))
            if abs(first - second) <= AGREEMENT * min(first, second):
                break
            if elapsed >= effort.most_s + _EXTENSION_S:
                if math.isnan(first + second):
                    raise Undetermined("half of its samples have no time that the host's clock confirms")
                raise Undetermined(f"two halves of its samples give {first:.3g} and {second:.3g} GB/s")
    largest.verify()
    fixed_ns = _line(times, slice(None)).fixed_ns
    without = tuple(taken - fixed_ns for taken in times[largest] if math.isfinite(taken))
    return Measurement({**largest.parameters, "fixed ns": round(fixed_ns)}, largest.amount, without)


def fitted(shortest: Mapping[float, float]) -> Line:
    """The line through the shortest time of each amount, in ns; two amounts at least.

    The fixed cost is no more than the whole time of the least amount.
    """
    points = sorted(shortest.items())
    slope = median(
        median((time_ns - other_ns) / (amount - other) for other, other_ns in points if other != amount)
        for amount, time_ns in points
    )
    fixed = median(time_ns - slope * amount for amount, time_ns in points)
    return Line(min(max(fixed, 0.0), points[0][1]), slope)


def _line(times: Mapping[Form, Sequence[float]], part: slice) -> Line:
    return fitted({form.amount: min(taken[part]) for form, taken in times.items()})


def _rate(times: Mapping[Form, Sequence[float]], part: slice) -> float:
    """The rate of a part of the samples, in amount a ns; NaN if a form has no trustworthy time in it."""
    if not all(math.isfinite(min(taken[part])) for taken in times.values()):
        return math.nan
    largest = max(times, key=lambda form: form.amount)
    return largest.amount / (min(times[largest][part]) - _line(times, part).fixed_ns)

"""Numbers as people read them."""

from __future__ import annotations

import math


def duration(ns: float | None) -> str:
    """Nanoseconds with three digits and a fitting unit."""
    if ns is None or math.isnan(ns):
        return "-"
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= factor:
            return f"{ns / factor:.3g} {unit}"
    return f"{ns:.3g} ns"


def ratio(value: float | None) -> str:
    """A speed-up; more digits near 1, where they matter."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f}x" if value < 10 else f"{value:.3g}x"


def interval(low: float | None, high: float | None) -> str:
    """The ends of an interval of speed-ups."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "-"
    digits = 2 if high < 10 else 1 if high < 100 else 0
    if high - low < 0.02:
        digits = 3
    return f"{low:.{digits}f} - {high:.{digits}f}"


def percent(fraction: float | None) -> str:
    """A fraction as a percentage."""
    if fraction is None or math.isnan(fraction):
        return "-"
    return f"{100 * fraction:.3g} %"

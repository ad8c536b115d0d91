"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xebench.records.device_facts import Roof


def figure(value: float, digits: int = 3) -> str:
    """A number with so many digits, zeros among them, and never an exponent where it is large."""
    text = f"{value:#.{digits}g}".removesuffix(".") if value else "0"
    return f"{value:.0f}" if "e+" in text else text


def duration(ns: float | None) -> str:
    """Nanoseconds with three digits and a fitting unit."""
    if ns is None or math.isnan(ns):
        return "-"
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= factor:
            return f"{figure(ns / factor)} {unit}"
    return f"{figure(ns)} ns"


def long_time(seconds: float) -> str:
    """A duration for people: ``19 s``, ``3 min 52 s``, ``2 h 5 min``."""
    minutes, rest_s = divmod(round(seconds), 60)
    hours, rest_min = divmod(minutes, 60)
    if hours:
        return f"{hours} h {rest_min} min"
    return f"{minutes} min {rest_s} s" if minutes else f"{rest_s} s"


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A speed-up; more digits near 1, where they matter, and as many as its interval if that is known."""
    if value is None or math.isnan(value):
        return "-"
    digits = _digits(low, high)
    if digits is not None:
        return f"{value:.{digits}f}x"
    return f"{value:.2f}x" if value < 10 else f"{figure(value)}x"


def interval(low: float | None, high: float | None) -> str:
    """The ends of an interval of speed-ups."""
    digits = _digits(low, high)
    return "-" if digits is None else f"{low:.{digits}f} - {high:.{digits}f}"


def _digits(low: float | None, high: float | None) -> int | None:
    """Decimals for an interval of speed-ups; None if it is unknown."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return None
    if high - low < 0.02:
        # two digits other than zero, for programs that take many times as long
        return max(3, 1 - math.floor(math.log10(high))) if high > 0 else 3
    return 2 if high < 10 else 1 if high < 100 else 0


def occupancy(fraction: float, is_upper_bound: bool) -> str:
    """An occupancy as text; ``<= 12 %`` where a launch does not fill one wave."""
    return f"{'<= ' if is_upper_bound else ''}{percent(fraction)}"


def percent(fraction: float | None) -> str:
    """A fraction as a percentage."""
    if fraction is None or math.isnan(fraction):
        return "-"
    # tiny shares mean that a program hardly uses the device; columns hold five characters and the sign
    if 0 < fraction < 1e-4:
        return "<0.01 %"
    return f"{figure(100 * fraction, digits=3 if fraction > 1e-3 else 2)} %"


def binary_size(size_bytes: int) -> str:
    """Bytes as ``64K``, where that is exact."""
    return f"{size_bytes // 1024}K" if size_bytes and size_bytes % 1024 == 0 else str(size_bytes)


def roofs(values: Mapping[Roof, float | None], digits: int = 3) -> str:
    """The known roofs: ``37.4 GB/s, 235 GFLOP/s fp32``."""
    return ", ".join(
        f"{figure(value, digits)} {roof.unit} {'' if roof is Roof.BANDWIDTH else roof}".rstrip()
        for roof, value in values.items()
        if value
    )

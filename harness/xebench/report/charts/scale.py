"""One axis of a chart: from values to pixels, and which values are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

#: Largest over smallest value from which an axis is logarithmic.
WIDE: Final = 8.0


@dataclass(frozen=True)
class Scale:
    """An axis.

    Attributes:
        low, high: values at its ends; of a logarithmic axis both are above 0.
        begin, end: pixels at its ends; of an axis that points up ``begin`` is the larger one.
        logarithmic: whether equal ratios are equally long.
    """

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Where a value lies; at the nearer end where it is beyond the axis."""
        inside = min(max(value, self.low), self.high)
        low, high, own = (self._measure(each) for each in (self.low, self.high, inside))
        return self.begin + (self.end - self.begin) * (own - low) / (high - low)

    def holds(self, value: float) -> bool:
        """True if a value is not beyond the axis."""
        return self.low <= value <= self.high

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the axis, some of them, in order."""
        if not self.logarithmic or self.high / self.low < WIDE / 2:
            return self._even(most)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1,)):
            found = [digit * 10.0**power for power in powers for digit in digits if self.holds(digit * 10.0**power)]
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]

    def ratios(self, most: int = 7) -> list[float]:
        """Powers of two on the axis, 1 among them where it is there."""
        powers = range(math.ceil(math.log2(self.low) - 1e-9), math.floor(math.log2(self.high) + 1e-9) + 1)
        step = max(1, math.ceil(len(powers) / most))
        return [2.0**power for power in powers if power % step == 0]

    def _even(self, most: int) -> list[float]:
        rough = (self.high - self.low) / max(1, most - 1)
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def _measure(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value


def around(
    values: Iterable[float], begin: float, end: float, *, logarithmic: bool | None = None, room: float = 0.06
) -> Scale:
    """An axis that holds all of some values.

    Args:
        values: at least one, all of them finite.
        begin, end: pixels, as in `Scale`.
        logarithmic: by default where all are above 0 and the largest is `WIDE` times the smallest, or more.
        room: free part of the axis at each end.
    """
    known = [*values]
    low, high = min(known), max(known)
    if logarithmic is None:
        logarithmic = low > 0 and high / low >= WIDE
    if logarithmic:
        factor = max((high / low) ** room, 1.02)
        return Scale(low / factor, high * factor, begin, end, logarithmic=True)
    free = room * (high - low) or abs(high) * room or 1.0
    return Scale(max(0.0, low - free) if low >= 0 else low - free, high + free, begin, end)


def ratio_text(value: float) -> str:
    """A power of two beside an axis: ``1/4``, ``16``."""
    return f"1/{1 / value:g}" if value < 1 else f"{value:g}"


def time_unit(largest_ns: float) -> tuple[float, str]:
    """The unit for an axis of times: how many ns it has, and its name."""
    return next((known for known in ((1e9, "s"), (1e6, "ms"), (1e3, "us")) if largest_ns >= known[0]), (1.0, "ns"))

"""Lay a device's clock beside the host's, by what both saw.

A command starts after the host began to submit it, and ends before the host has waited for it. So each command says
that the host's time at its start is not before the one moment, and at its end not after the other. The offset of the
clocks lies where all commands agree, and half of what is left is its uncertainty. That is about the shortest way of a
command to the device and back, half of it. Where no offset suits all, the clocks run apart: then a rate is sought, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

#: Clocks that drivers convert with a rounded period (52 ns for 52.08, 83 for 83.33) differ by up to 0.4 %.
MOST_DRIFT: Final = 0.01
_STEPS: Final = 100


class Seen(NamedTuple):
    """A command: its times on the device's clock, and on the host's clock what surely came before and after; in ns."""

    start_ns: int
    end_ns: int
    began_host_ns: int
    over_host_ns: int


@dataclass(frozen=True)
class Alignment:
    """The mapping of a device's times to the host's clock.

    Attributes:
        origin_ns: on the device's clock.
        offset_ns: what is added there; 0 where that suits all commands: the device has the host's clock.
        drift: what is added for each ns after it.
        uncertainty_ns: by how much a time may be wrong, either way. Where not even a rate suits all commands
            (``is_consistent``), half of what they contradict each other by.
        is_consistent: whether all commands agree.
    """

    origin_ns: int
    offset_ns: int
    drift: float
    uncertainty_ns: float
    is_consistent: bool

    def on_host(self, device_ns: int) -> int:
        """A time of the device on the host's clock, in ns."""
        return device_ns + self.offset_ns + round(self.drift * (device_ns - self.origin_ns))


def align(seen: Sequence[Seen]) -> Alignment:
    """The alignment that all commands agree on; there is at least one."""
    origin = seen[0].start_ns
    low = max(each.began_host_ns - each.start_ns for each in seen)
    high = min(each.over_host_ns - each.end_ns for each in seen)
    if low <= 0 <= high:
        return Alignment(origin, 0, 0.0, 0.0, is_consistent=True)
    if low <= high:
        return Alignment(origin, (low + high) // 2, 0.0, (high - low) / 2, is_consistent=True)
    # in small numbers, which floats hold exactly
    starts, ends = (np.array([each[at] - origin for each in seen], float) for at in (0, 1))
    least = np.array([each.began_host_ns - each.start_ns - low for each in seen], float)
    most = np.array([each.over_host_ns - each.end_ns - low for each in seen], float)

    def bounds(drift: float) -> tuple[float, float]:
        return float((least - drift * starts).max()), float((most - drift * ends).min())

    def room(drift: float) -> float:
        lowest, highest = bounds(drift)
        return highest - lowest

    left, right = -MOST_DRIFT, MOST_DRIFT  # the room is a concave function of the drift
    for _ in range(_STEPS):
        third = (right - left) / 3
        if room(left + third) < room(right - third):
            left += third
        else:
            right -= third
    drift = (left + right) / 2
    lowest, highest = bounds(drift)
    offset = low + round((lowest + highest) / 2)
    return Alignment(origin, offset, drift, abs(highest - lowest) / 2, is_consistent=highest >= lowest)

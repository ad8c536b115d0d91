"""A clock that leaves out the time in which the process was stopped, and what the seconds of a visit go into.

A laptop's lid, a debugger or a batch system stops every process of a run at once. That is no variant's fault, and it
takes nothing from the budget for sampling.
"""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from xebench.measuring.sampling.limits import Clock
from xebench.vocabulary import VisitPart

#: Seconds of sleep that count: what two clocks say one after the other differs by far less.
_ASLEEP_S: Final = 0.1


class _Stops:
    """The stops of this process."""

    ended = 0


def note_stops() -> None:
    """Note from now on when this process goes on after it was stopped; for the main thread of a process of ours."""
    signal.signal(signal.SIGCONT, _continued)


def _continued(number: int, frame: FrameType | None) -> None:
    _Stops.ended += 1


class RunningClock:
    """Seconds, without those between two looks at it between which the process was stopped or the machine slept."""

    def __init__(self) -> None:
        self._left_out_s = 0.0
        self._looked_s = time.monotonic()
        self._stops = _Stops.ended, _asleep_s()

    def __call__(self) -> float:
        """Seconds since any point in time."""
        self.was_stopped()
        return self._looked_s - self._left_out_s

    @contextmanager
    def stands_still(self) -> Iterator[None]:
        """Leave out what is done in here, too."""
        begin = self()
        try:
            yield
        finally:
            self._left_out_s += self() - begin

    def was_stopped(self) -> bool:
        """True if the process was stopped, or the machine slept, since the last call."""
        before, (times, asleep_s) = self._looked_s, self._stops
        self._looked_s, self._stops = time.monotonic(), (_Stops.ended, _asleep_s())
        stopped = self._stops[0] != times or self._stops[1] - asleep_s > _ASLEEP_S
        if stopped:
            self._left_out_s += self._looked_s - before
        return stopped


def _asleep_s() -> float:
    """Seconds for which the machine has slept since it was started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


class VisitClock:
    """Adds up the seconds of a visit by its parts; every second belongs to one of them.

    Args:
        clock: seconds, for tests.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._part, self._since = VisitPart.ENDING, clock()
        self._seconds: dict[str, float] = defaultdict(float)

    def enter(self, part: VisitPart) -> VisitPart:
        """Begin a part; returns the one before."""
        before, now = self._part, self._clock()
        self._seconds[before] += now - self._since
        self._part, self._since = part, now
        return before

    @contextmanager
    def during(self, part: VisitPart) -> Iterator[None]:
        """Count this block as a part, and what follows it as the part before."""
        before = self.enter(part)
        try:
            yield
        finally:
            self.enter(before)

    def count_as(self, part: VisitPart, seconds: float) -> None:
        """Seconds of the part that is under way belong to another."""
        self._seconds[self._part] -= seconds
        self._seconds[part] += seconds

    def seconds(self) -> dict[str, float]:
        """So far, by part."""
        self.enter(self._part)
        return dict(self._seconds)

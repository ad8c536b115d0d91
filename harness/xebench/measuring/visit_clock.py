"""The parts of a visit on which its seconds are spent."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from xebench.measuring.sampling.limits import Clock
from xebench.vocabulary import VisitPart


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

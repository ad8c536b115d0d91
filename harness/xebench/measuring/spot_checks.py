"""Choose the samples that a check of the results follows: a few at random, at little cost."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

#: Part of the time that checks may take, beside the first of each variant.
PART: Final = 0.03


class SpotChecks:
    """Chooses when a variant is checked among its samples; seldomer the longer it is sampled.

    Args:
        source: of random numbers.
        blocks: each variant is checked once in the first so many, and in those of each instance if there is time.
        clock: seconds.
    """

    def __init__(self, source: random.Random, blocks: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._blocks = blocks
        self._clock = clock
        self._begin = clock()
        self._spent_s = 0.0
        self._checked: set[str] = set()
        self._taken: Counter[str] = Counter()
        self._next: dict[str, int] = {}

    def new_instance(self) -> None:
        """Begin to count again, except for variants that were not checked yet."""
        for variant in self._checked:
            self._taken[variant] = 0
            self._next.pop(variant, None)

    def due(self, variant: str) -> bool:
        """True if a check follows the sample of a variant that was taken just now."""
        taken = self._taken[variant]
        self._taken[variant] += 1
        if taken < self._next.setdefault(variant, self._source.randrange(self._blocks)):
            return False
        if variant in self._checked and self._spent_s > PART * (self._clock() - self._begin):
            return False
        self._checked.add(variant)
        self._next[variant] = taken + 1 + self._source.randrange(taken + self._blocks)
        return True

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of a check."""
        begin = self._clock()
        try:
            yield
        finally:
            self._spent_s += self._clock() - begin

    def sampling_clock(self) -> float:
        """The clock without the time of checks, which is no sampling."""
        return self._clock() - self._spent_s

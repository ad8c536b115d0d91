"""The order in which a family's variants are sampled, and when to stop.

Variants are sampled in blocks: each block holds every variant once. A block's order is random and the next block
runs it backwards, so that a steady drift falls on all variants alike.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from xebench.measuring.sampling.limits import Clock, Sampling
from xebench.vocabulary import State

#: Blocks grow by this part between two looks at the interval: who looks often stops at luck.
LOOK_AGAIN = 0.2


class Decide(Protocol):
    """Why sampling may stop now, or None; a reason, or the wish for another instance."""

    def __call__(self, values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None: ...


class Measure(Protocol):
    """Take one sample of a variant and give its metric in ns for one execution.

    NaN when the sample cannot be used; None when the variant failed and drops out.
    """

    def __call__(self, variant: str, *, state: str, block: int, order: int, batch: int) -> float | None: ...


class ChooseBatch(Protocol):
    """Executions in a sample, from the times of the last block of warm-up and how long that block took."""

    def __call__(self, times_ns: Mapping[str, float], block_s: float) -> int: ...


def singly(times_ns: Mapping[str, float], block_s: float) -> int:
    """No batches."""
    return 1


@dataclass(frozen=True)
class SamplingEnd:
    """The end of sampling: the reason that ``decide`` gave ("" if no variant was left), and the next free block."""

    stopped_by: str
    next_block: int


def block_orders(variants: Sequence[str], seed: int) -> Iterator[list[str]]:
    """Endless orders of a block: a random permutation, then the same backwards, then the next.

    A variant that is taken out of ``variants`` is left out from the next block on.
    """
    source = random.Random(seed)
    while True:
        order = list(variants)
        source.shuffle(order)
        yield order
        yield [name for name in reversed(order) if name in variants]


def sample_family(
    variants: Sequence[str],
    measure: Measure,
    decide: Decide,
    sampling: Sampling,
    *,
    seed: int,
    state: State = State.HOT,
    first_block: int = 0,
    choose_batch: ChooseBatch = singly,
    clock: Clock = time.monotonic,
) -> SamplingEnd:
    """Warm up, then sample in blocks until ``decide`` gives a reason or every variant has dropped out.

    Args:
        variants: names of the variants that were found right.
        measure: takes one sample.
        decide: the stopping rule.
        sampling: limits, of this state.
        seed: of the block orders.
        state: of the samples after the warm-up.
        first_block: number of the first block.
        choose_batch: called once, after the warm-up.
        clock: seconds, for tests.
    """
    blocks = _Blocks(variants, measure, seed, first_block)
    begin = clock()
    batch = choose_batch(*_warm_up(blocks, sampling, begin, clock))
    values: dict[str, list[float]] = {name: [] for name in variants}
    taken, next_look = 0, float(sampling.min_blocks)
    while blocks.variants:
        for name, value in blocks.take(state, batch).items():
            values[name].append(value)
        taken += 1
        elapsed_s = clock() - begin
        if taken >= min(next_look, sampling.max_blocks) or elapsed_s >= sampling.budget_s:
            reason = decide({name: values[name] for name in blocks.variants}, elapsed_s) if blocks.variants else ""
            if reason is not None:
                return SamplingEnd(reason, blocks.number)
            next_look = taken * (1 + LOOK_AGAIN)
    return SamplingEnd("", blocks.number)


class _Blocks:
    """Takes block after block of the variants that have not failed."""

    def __init__(self, variants: Sequence[str], measure: Measure, seed: int, number: int) -> None:
        self.variants = list(variants)
        self.number = number
        self._measure = measure
        self._orders = block_orders(self.variants, seed)

    def take(self, state: str, batch: int = 1) -> dict[str, float]:
        """The metric of each variant that is still there after the block."""
        values: dict[str, float] = {}
        for order, name in enumerate(next(self._orders)):
            value = self._measure(name, state=state, block=self.number, order=order, batch=batch)
            if value is None:
                self.variants.remove(name)
            else:
                values[name] = value
        self.number += 1
        return values


def _warm_up(blocks: _Blocks, sampling: Sampling, begin: float, clock: Clock) -> tuple[dict[str, float], float]:
    """Take blocks as long as times fall, and those of a known slow start. Returns the times of the last one and the
    seconds that it took.

    Times that fall set one record after the other; of times that only vary, each next one is less likely to be the
    shortest so far (Foster and Stuart 1954, "Distribution-free tests in time-series based on the breaking of records").
    """
    shortest: dict[str, float] = {}
    more = 2 + sampling.start_blocks  # the first block can set no record, and one must follow that sets none
    while more:
        started = clock()
        now = blocks.take(State.WARMUP)
        ended = clock()
        falling = any(0 < time * (1 + sampling.record_part) < shortest.get(name, 0) for name, time in now.items())
        shortest |= {name: min(time, shortest.get(name, math.inf)) for name, time in now.items() if time > 0}
        more -= not falling
        if not blocks.variants or ended - begin > sampling.budget_s / 4:
            break
    return now, ended - started

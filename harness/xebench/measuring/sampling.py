"""Sample a family in blocks: their order, the size of a sample, and when to stop.

All variants of a family have the same batch. With a batch of its own each, a short variant's sample would be the mean
of many executions and a long one's a single execution: delays that hit one execution in ten are in every mean and in
no median of single ones, so the short variant would look slower than it is.

Variants are sampled in blocks: each block holds every variant once. A block's order is random and the next block
runs it backwards, so that a steady drift falls on all variants alike.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from xebench.results.analysis.moderation import ENOUGH_INSTANCES
from xebench.vocabulary import State, metric_named

Clock = Callable[[], float]

#: Fewest blocks before the stopping rule applies. Intervals of fewer blocks are valid, but
#: stopping on a width picks those that are narrow by chance (`xebench.results.analysis.intervals`).
MIN_BLOCKS: Final = 10

#: Blocks of the first instance before it is left: a slow start of up to half as many is seen in it
#: (`xebench.results.analysis.statistics`). An instance that is alone ends no sooner, since from fewer blocks on those
#: that are narrow by chance end the sampling too often (`tools.studies.intervals`).
FIRST_BLOCKS: Final = 32

#: Fewest instances of a family before the stopping rule applies, except in quick runs.
MIN_INSTANCES: Final = ENOUGH_INSTANCES

#: Fewest if the run's other pairs show how much instances differ (`xebench.results.analysis.moderation`).
FEW_INSTANCES: Final = 3


@dataclass(frozen=True)
class Sampling:
    """The limits of sampling.

    Attributes:
        precision: wanted half-width of the 95 % interval of the log speed-up.
        budget_s: seconds for the samples of one family, warm-up included.
        min_blocks: blocks before a decision.
        max_blocks: blocks at most.
        first_blocks: blocks of the first instance before it is left, where they take little time.
        record_part: warm-up ends with a block in which no variant is faster than ever before by this part.
        start_blocks: blocks of warm-up after that: what is known of a slow start.
        min_instances: instances of the family, with new arrays and kernels, before a decision.
        few_instances: the same, if the run's other pairs make the interval narrow enough.
        instances: instances of this round, time permitting; None: as many as the family needs.
        alone_s: seconds for the least blocks of an instance above which it stays the only one, since others would cost
            too much; 0: it does not.
        longest_s: seconds until which the budget waits for the first instance with blocks enough for an interval, and
            for the other instances of this round; 0: it does not.
        states: hot (as the samples before left the caches), cold (after a flush of the caches), or both; none: what the
            pattern asks for.
    """

    precision: float = 0.01
    budget_s: float = 6.0
    min_blocks: int = MIN_BLOCKS
    max_blocks: int = 1000
    first_blocks: int = FIRST_BLOCKS
    record_part: float = 0.1
    start_blocks: int = 0
    min_instances: int = MIN_INSTANCES
    few_instances: int = MIN_INSTANCES
    instances: int | None = None
    alone_s: float = 0.0
    longest_s: float = 0.0
    states: Sequence[State] = (State.HOT,)

    @property
    def round_instances(self) -> int:
        """Instances of this round, time permitting."""
        return self.instances or self.min_instances

    def for_each_state(self) -> Sampling:
        """The limits of each state: budget and blocks are shared, so a family never takes more than it may."""
        states = len(self.states)
        return replace(
            self,
            budget_s=self.budget_s / states,
            longest_s=self.longest_s / states,
            max_blocks=self.max_blocks // states,
        )


#: Quanta of the device's timer that a sample should last: an error of one quantum is then 1 %.
QUANTA: Final = 100

#: Host time that a sample should last, by the wall metric: waking up the waiting thread varies by microseconds.
WALL_NS: Final = 100_000

#: Most executions in a sample, since the times of each command are kept.
MAX_BATCH: Final = 64


def least_ns(metric: str, resolution_ns: float) -> float:
    """The least duration of a sample, all executions together."""
    return QUANTA * resolution_ns if metric_named(metric).on_device_clock else WALL_NS


def block_limit_s(part: Sampling) -> float:
    """Seconds that a block may take: there are enough blocks for a decision within half of the budget."""
    return part.budget_s / (2 * part.min_blocks)


def batch_size(times_ns: Mapping[str, float], least: float, *, block_s: float, limit_s: float) -> int:
    """Executions in a sample, for all variants of a family.

    Args:
        times_ns: metric of one execution of each variant, in the warm-up.
        least: see :func:`least_ns`.
        block_s: seconds of a block of single executions.
        limit_s: longest block in seconds.
    """
    shortest = min((time for time in times_ns.values() if time > 0), default=math.inf)
    wanted = math.ceil(least / shortest)
    affordable = int(limit_s / block_s) if block_s > 0 else MAX_BATCH
    return max(1, min(wanted, affordable, MAX_BATCH))


#: Relative growth in blocks between two looks at the interval: frequent looks would stop at a narrow one by chance.
LOOK_AGAIN = 0.2


class Decide(Protocol):
    """Return why sampling may stop now: a reason of `StopReason`, or that another instance should begin; or None."""

    def __call__(self, values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None: ...


class Measure(Protocol):
    """Take one sample of a variant and give its metric in ns for one execution.

    NaN when the sample cannot be used; None when the variant failed and drops out.
    """

    def __call__(self, variant: str, *, state: str, block: int, order: int, batch: int) -> float | None: ...


class ChooseBatch(Protocol):
    """Return the executions in a sample, from the times and the duration of the last block of warm-up."""

    def __call__(self, times_ns: Mapping[str, float], block_s: float) -> int: ...


def singly(times_ns: Mapping[str, float], block_s: float) -> int:
    """Return 1: one execution in each sample."""
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
        variants: names of the variants with right results.
        measure: function that takes one sample.
        decide: stopping rule.
        sampling: limits for this state.
        seed: seed of the block orders.
        state: state of the samples after the warm-up.
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

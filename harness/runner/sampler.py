"""The order in which a family's variants are sampled, and when to stop.

Variants are sampled in blocks: each block holds every variant once. A block's order is random and the next block
runs it backwards, so that a steady drift falls on all variants alike.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

Clock = Callable[[], float]


@dataclass(frozen=True)
class Sampling:
    """How long to sample.

    Attributes:
        precision: wanted half-width of the 95 % interval of the log speed-up.
        budget_s: seconds for the samples of one family, warm-up included.
        min_blocks: blocks before a decision.
        max_blocks: blocks at most.
        warmup_agreement: warm-up ends when successive blocks agree within this fraction.
        max_warmup_blocks: blocks of warm-up at most.
    """

    precision: float = 0.01
    budget_s: float = 6.0
    min_blocks: int = 10
    max_blocks: int = 400
    warmup_agreement: float = 0.1
    max_warmup_blocks: int = 8


class Decide(Protocol):
    """Why sampling may stop now, or None; see :func:`harness.analysis.stopping.decide`."""

    def __call__(self, values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None: ...


class Measure(Protocol):
    """Take one sample of a variant and give its metric in ns."""

    def __call__(self, variant: str, *, state: str, block: int, order: int) -> float: ...


def block_orders(variants: Sequence[str], seed: int) -> Iterator[list[str]]:
    """Endless orders of a block: a random permutation, then the same backwards, then the next."""
    source = random.Random(seed)
    while True:
        order = list(variants)
        source.shuffle(order)
        yield order
        yield order[::-1]


def sample_family(
    variants: Sequence[str],
    measure: Measure,
    decide: Decide,
    sampling: Sampling,
    *,
    seed: int,
    end_of_block: Callable[[int, int], None] = lambda block, warmups: None,
    clock: Clock = time.monotonic,
) -> str:
    """Warm up, then sample in blocks until ``decide`` gives a reason.

    Args:
        variants: names of the variants that were found right.
        measure: takes one sample.
        decide: the stopping rule.
        sampling: limits.
        seed: of the block orders.
        end_of_block: called after each block with its number and the number of warm-up blocks.
        clock: seconds, for tests.

    Returns:
        Why it stopped: the reason that ``decide`` gave.
    """
    begin = clock()
    orders = block_orders(variants, seed)
    warmups = _warm_up(orders, measure, sampling, end_of_block, begin, clock)
    values: dict[str, list[float]] = {name: [] for name in variants}
    block = warmups
    while True:
        for order, name in enumerate(next(orders)):
            values[name].append(measure(name, state="hot", block=block, order=order))
        end_of_block(block, warmups)
        block += 1
        reason = decide(values, clock() - begin)
        if reason is not None:
            return reason


def _warm_up(
    orders: Iterator[list[str]],
    measure: Measure,
    sampling: Sampling,
    end_of_block: Callable[[int, int], None],
    begin: float,
    clock: Clock,
) -> int:
    """Blocks until two successive ones agree; they are kept as warm-up. Gives their number."""
    before: dict[str, float] | None = None
    for block in range(sampling.max_warmup_blocks):
        now: dict[str, float] = {}
        for order, name in enumerate(next(orders)):
            now[name] = measure(name, state="warmup", block=block, order=order)
        end_of_block(block, block + 1)
        if before is not None and _agree(before, now, sampling.warmup_agreement):
            return block + 1
        if clock() - begin > sampling.budget_s / 4:
            return block + 1
        before = now
    return sampling.max_warmup_blocks


def _agree(before: Mapping[str, float], now: Mapping[str, float], within: float) -> bool:
    changes = [abs(np.log(now[name] / before[name])) for name in now if now[name] > 0 and before[name] > 0]
    return bool(changes) and max(changes) <= np.log1p(within)

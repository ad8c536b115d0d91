"""How long to sample, and how many executions are timed together when one alone is too short for the clock.

All variants of a family have the same batch. With a batch of its own each, a short variant's sample would be the mean
of many executions and a long one's a single execution: delays that hit one execution in ten are in every mean and in
no median of single ones, so the short variant would look slower than it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from xebench.tables.analysis.moderation import ENOUGH_INSTANCES
from xebench.vocabulary import State, metric_named

Clock = Callable[[], float]

#: Fewest blocks before the rule may say that the speed-up is known. Intervals of fewer blocks are valid, but
#: stopping on a width picks those that are narrow by chance (`xebench.tables.analysis.intervals`).
MIN_BLOCKS: Final = 10

#: Blocks of the first instance before it is left: a slow start of up to half as many is seen in it
#: (`xebench.tables.analysis.statistics`). An instance that is alone ends no sooner, since from fewer blocks on those
#: that are narrow by chance end the sampling too often (`tools.studies.intervals`).
FIRST_BLOCKS: Final = 32

#: Fewest instances of a family before the rule may say that the speed-up is known, but for a quick look.
MIN_INSTANCES: Final = ENOUGH_INSTANCES

#: Fewest where the run's other pairs say how much instances differ (`xebench.tables.analysis.moderation`).
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
        passes: times that a run comes to the family; each takes its part of the instances.
        longest_s: seconds until which the budget waits for the first instance with blocks enough for an interval; 0: it
            does not.
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
    passes: int = 1
    longest_s: float = 0.0
    states: Sequence[State] = (State.HOT,)

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

#: Most executions in a sample; the times of each of their commands are kept.
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
        block_s: how long a block of single executions took.
        limit_s: how long a block may take.
    """
    shortest = min((time for time in times_ns.values() if time > 0), default=math.inf)
    wanted = math.ceil(least / shortest)
    affordable = int(limit_s / block_s) if block_s > 0 else MAX_BATCH
    return max(1, min(wanted, affordable, MAX_BATCH))

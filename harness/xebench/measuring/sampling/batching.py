"""The number of executions that are timed together as one sample, if one alone is too short for the clock.

All variants of a family have the same batch. With a batch of its own each, a short variant's sample would be the mean
of many executions and a long one's a single execution: delays that hit one execution in ten are in every mean and in
no median of single ones, so the short variant would look slower than it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from xebench.measuring.sampling.limits import Sampling
from xebench.vocabulary import metric_named

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

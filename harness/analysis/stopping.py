"""When to stop sampling a family: once the answer is known, the budget spent, or all blocks used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from numpy.typing import ArrayLike

from harness.analysis.intervals import grouped_interval, median_interval

#: Fewest blocks before the rule may say that the speed-up is known. Intervals of fewer blocks are valid, but
#: stopping on a width picks those that are narrow by chance (`harness.analysis.intervals`).
MIN_BLOCKS: Final = 10

#: Fewest instances of a family before the rule may say that the speed-up is known, but for a quick look.
MIN_INSTANCES: Final = 6

PRECISION: Final = "precision"
BUDGET: Final = "budget"
MAX_BLOCKS: Final = "max blocks"

StopReason = Literal["precision", "budget", "max blocks"]


@dataclass(frozen=True)
class Limits:
    """What ends the sampling of a family.

    Attributes:
        precision: Half-width of the 95 % interval of the log speed-up to reach (0.01 is 1 %).
        budget_s: Seconds that the family may take.
        max_blocks: Most blocks to run.
        min_blocks: Fewest blocks before `precision` may end it; the budget ends it at any time.
    """

    precision: float
    budget_s: float
    max_blocks: int
    min_blocks: int = MIN_BLOCKS


def narrow(groups: Iterable[Sequence[ArrayLike]], precision: float) -> bool:
    """Whether the interval over instances of every series is narrower than a half-width.

    Args:
        groups: For each pair its log speed-ups, by instance.
        precision: The half-width.
    """
    return all(grouped_interval(instances).half_width < precision for instances in groups)


def decide(logarithms: Iterable[ArrayLike], *, blocks: int, elapsed_s: float, limits: Limits) -> StopReason | None:
    """The reason to stop now, or None to run another block.

    Args:
        logarithms: For each pair its log speed-up in each block so far (`intervals.log_ratios`), in the order
            of the blocks; for a family of one variant the logarithms of its times.
        blocks: Blocks run so far, those without valid samples too.
        elapsed_s: Seconds spent on the family so far.
        limits: What ends it.

    Returns:
        "precision" when the interval of every series is narrow enough, else "budget", else "max blocks".
    """
    if blocks >= limits.min_blocks and all(
        median_interval(values).half_width < limits.precision for values in logarithms
    ):
        return PRECISION
    return spent(blocks=blocks, elapsed_s=elapsed_s, limits=limits)


def spent(*, blocks: int, elapsed_s: float, limits: Limits) -> StopReason | None:
    """The reason to stop although the speed-up is not known: "budget", else "max blocks"; None to go on."""
    if elapsed_s >= limits.budget_s:
        return BUDGET
    return MAX_BLOCKS if blocks >= limits.max_blocks else None

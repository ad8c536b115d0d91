"""Decide when one instance of a family has been sampled enough, and when all of them together.

`InstanceRule` ends the sampling of an instance, in the process that takes the samples, within limits that follow from
the instances before. `Instances` sets these limits, and decides whether another instance follows.

Where arrays and the code of kernels lie in memory makes a difference between variants that stays for as long as they
lie there, up to 20 % on a CPU device. So many samples of one instance give a narrow interval that the next run does not
confirm (Mytkowicz et al. 2009, "Producing wrong data without doing anything obviously wrong"). A family is therefore
sampled in several instances, each with new arrays and kernels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from xebench.measuring.sampling import Clock, Sampling
from xebench.results.analysis.intervals import MIN_SAMPLES, grouped_interval, median_interval
from xebench.results.analysis.moderation import NOTHING, Prior, moderate
from xebench.results.analysis.speedups import log_speedups
from xebench.results.analysis.statistics import Floats, SeriesStart, settled, start_of
from xebench.vocabulary import StopReason

#: Reasons to begin the next instance before the speed-ups are known.
NEXT_INSTANCE: Final = "next instance"

#: Reasons for the end of sampling, the least satisfying first: a family sampled in two states keeps the first of its
#: two.
_ENDS: Final = (StopReason.ROUND, StopReason.BUDGET, StopReason.MAX_BLOCKS, StopReason.PRECISION)


def narrow(groups: Iterable[Sequence[ArrayLike]], precision: float) -> bool:
    """True if the interval over instances of every series is narrower than a half-width.

    Args:
        groups: log speed-ups of each pair, by instance.
        precision: the half-width.
    """
    return all(grouped_interval(instances).half_width < precision for instances in groups)


def spent(blocks: int, elapsed_s: float, sampling: Sampling) -> StopReason | None:
    """The reason to stop before the precision is reached: max blocks, else budget, which more time would mend; None to
    go on.
    """
    if blocks >= sampling.max_blocks:
        return StopReason.MAX_BLOCKS
    return StopReason.BUDGET if elapsed_s >= sampling.budget_s else None


#: Fewest instances for an estimate of their spread.
FEWEST_MEDIANS: Final = 3

#: Share of the precision that an interval of few instances must reach, since it may be narrow by chance.
FEW_MARGIN: Final = 0.7

#: Seconds that are given to look for a slow start in the first instance. With 32 blocks of everything, however slow,
#: a run on a GPU took twice as long for its samples.
LOOK_S: Final = 0.25

#: Blocks of warm-up per block of an observed slow start, whose length varies between instances.
START_MARGIN: Final = 1.25


class InstanceLimits(msgspec.Struct, frozen=True):
    """The limits of one instance, given those before it.

    Attributes:
        sampling: its part of the family's limits, in one state; warm-up includes the blocks of a known slow start.
        left_s: seconds left for all instances of the round.
        longest_s: the same as long as this instance has too few blocks.
        half_width: half-width of a log speed-up within this instance below which other instances say more.
        half_widths: the same for variants whose instances are known to differ by more.
        looked: True if an earlier instance was long enough to show a slow start.
        has_interval: True if an earlier instance has enough blocks for an interval, or none is waited for.
    """

    sampling: Sampling
    left_s: float = math.inf
    longest_s: float = 0.0
    half_width: float = 0.0
    half_widths: Mapping[str, float] = {}
    looked: bool = False
    has_interval: bool = True


class InstanceRule:
    """Decides when to leave an instance.

    Args:
        limits: limits of the instance.
        baseline: baseline of the speed-ups.
        compared: variants, each with another that it is compared with.
        clock: seconds of the round; the instance has begun now.

    Attributes:
        speedups: log speed-ups in each block, at the last decision.
        blocks: number of blocks at the last decision.
        seconds: seconds since the instance began, at the last decision.
        enough: True if more blocks would show less than another instance.
    """

    def __init__(
        self,
        limits: InstanceLimits,
        baseline: str,
        compared: Sequence[tuple[str, str]] = (),
        clock: Clock = time.monotonic,
    ) -> None:
        self._limits, self._sampling = limits, limits.sampling
        self._baseline, self._compared = baseline, compared
        self._clock, self._begin = clock, clock()
        self.speedups: Mapping[str, Floats] = {}
        self.blocks, self.seconds, self.enough = 0, 0.0, False

    def decide(self, values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        """Return `NEXT_INSTANCE` to leave the instance, or None to go on.

        Args:
            values: time of each variant in each block of this instance; NaN when there is none.
            elapsed_s: seconds of sampling of this instance.
        """
        self.speedups = log_speedups(values, self._baseline, self._compared)
        self.blocks = len(next(iter(values.values())))
        self.seconds = self._clock() - self._begin
        self.enough = self._enough(elapsed_s)
        over = self.seconds >= max(self._limits.left_s, self._limits.longest_s)
        return NEXT_INSTANCE if self.enough or over else None

    def _enough(self, elapsed_s: float) -> bool:
        sampling, blocks = self._sampling, self.blocks
        if blocks >= sampling.max_blocks:
            return True
        if elapsed_s >= sampling.budget_s:
            return blocks >= MIN_SAMPLES or self._limits.has_interval
        own = {name: Series(ratios) for name, ratios in self.speedups.items()}
        if blocks < sampling.min_blocks or any(
            median_interval(each.settled).half_width >= self._wanted(name) for name, each in own.items()
        ):
            return False
        # long enough to show a slow start and its end
        settled = blocks >= sampling.first_blocks and all(each.start.over for each in own.values())
        return self._limits.looked or elapsed_s >= LOOK_S or settled

    def _wanted(self, name: str) -> float:
        return self._limits.half_widths.get(name, self._limits.half_width)


@dataclass(frozen=True)
class Series:
    """The log speed-ups of a variant in one instance, with what several looks at them need."""

    ratios: Floats

    @cached_property
    def start(self) -> SeriesStart:
        """The slow start, in which the two sides do not yet differ as they will in the end."""
        return start_of(self.ratios)

    @cached_property
    def settled(self) -> Floats:
        """Without a start that is over."""
        return settled(self.ratios, self.start)


class Instances:
    """Decides for a family in one state, instance after instance of a round.

    Args:
        sampling: limits of the round for this state.
        earlier: log speed-ups of earlier rounds' instances.
        last: True for the last round, which takes as many instances as the speed-ups need. Others end after their
            number of instances, with the reason `StopReason.ROUND`.
        prior: spread between instances in the run's other pairs.
    """

    def __init__(
        self,
        sampling: Sampling,
        earlier: Sequence[Mapping[str, Series]] = (),
        *,
        last: bool = True,
        prior: Prior = NOTHING,
    ) -> None:
        fewest = sampling.round_instances
        self._share = replace(
            sampling,
            budget_s=sampling.budget_s / fewest,
            min_blocks=min(sampling.min_blocks, sampling.max_blocks // fewest) or 1,
            max_blocks=max(1, sampling.max_blocks // fewest),
        )
        self._sampling, self._fewest, self._last, self._prior = sampling, fewest, last, prior
        self._known = list(earlier)
        self._taken = self._blocks = 0
        self._seconds = 0.0

    @property
    def limits(self) -> InstanceLimits:
        """Limits of the next instance: its part, and no more blocks than the others have left.

        One that may stay alone has as many blocks as its interval needs to be believed at the stop. All but the first
        warm up for as long as a slow start that was seen.
        """
        most = max(1, min(self._share.max_blocks, self._sampling.max_blocks - self._blocks))
        least = self._share.min_blocks
        if not self._taken and (self._sampling.min_instances == 1 or self._sampling.alone_s):
            least = max(least, self._share.first_blocks)
            most = max(most, min(least, self._sampling.max_blocks))
        starts = [one.start.length for known in self._known for one in known.values() if one.start.over]
        share = replace(
            self._share,
            max_blocks=most,
            min_blocks=min(least, most),
            start_blocks=math.ceil(START_MARGIN * max(starts, default=0)),
        )
        agreeing = self._sampling.precision * math.sqrt(self._sampling.min_instances)
        return InstanceLimits(
            share,
            self._sampling.budget_s - self._seconds,
            max(0.0, self._sampling.longest_s - self._seconds),
            agreeing,
            {name: width for name, width in self._spreads().items() if width > agreeing},
            looked=bool(self._taken) or any(_shortest(one) >= self._share.first_blocks for one in self._known),
            has_interval=self._has_interval,
        )

    def add(self, speedups: Mapping[str, Series], blocks: int, seconds: float, *, enough: bool) -> str:
        """Take a finished instance; return `NEXT_INSTANCE`, or why the round ends: a reason of `StopReason`.

        Args:
            speedups: its log speed-ups.
            blocks: number of its blocks.
            seconds: seconds that it took.
            enough: True if it was left because other instances say more; else its time was over.
        """
        self._known.append(speedups)
        self._taken, self._blocks = self._taken + 1, self._blocks + blocks
        self._seconds += seconds
        if enough and self._is_precise(speedups):
            return StopReason.PRECISION
        alone_s = self._sampling.alone_s
        if alone_s and len(self._known) == 1 and seconds * self._share.min_blocks > blocks * alone_s:
            return StopReason.BUDGET  # other instances would take too long
        over = spent(self._blocks, self._seconds, self._sampling)
        lacking_s = max(0, self._fewest - self._taken) * self._share.budget_s
        if over == StopReason.BUDGET and 0 < lacking_s <= self._sampling.longest_s - self._seconds:
            over = None  # fewer instances than the round's decide nothing
        if over is not None or not enough:
            return over or StopReason.BUDGET
        # an instance of fewer blocks would weigh as much as the others with less information
        if self._sampling.max_blocks - self._blocks < self._share.min_blocks:
            return StopReason.MAX_BLOCKS
        return NEXT_INSTANCE if self._last or self._taken < self._fewest else StopReason.ROUND

    def lose(self, seconds: float) -> None:
        """Count seconds of an instance that was lost with its worker."""
        self._seconds += seconds

    @property
    def _has_interval(self) -> bool:
        awaited = self._sampling.longest_s or self._sampling.alone_s
        return not awaited or any(_shortest(one) >= MIN_SAMPLES for one in self._known)

    def _spreads(self) -> dict[str, float]:
        """How much instances of each variant differ, where enough are known."""
        names = {name for one in self._known for name in one}
        medians = {name: [np.median(one) for one in self._settled(name) if one.size] for name in names}
        return {name: float(np.std(own, ddof=1)) for name, own in medians.items() if len(own) >= FEWEST_MEDIANS}

    def _settled(self, name: str) -> list[Floats]:
        """A variant's log speed-ups in each instance, of earlier rounds too, after its start."""
        return [one[name].settled for one in self._known if name in one]

    def _is_precise(self, last: Iterable[str]) -> bool:
        """True if the variants of the last instance are known as precisely as wanted."""
        groups = [self._settled(name) for name in last]
        if len(self._known) >= self._sampling.min_instances:
            return narrow(groups, self._sampling.precision)
        if len(self._known) < self._sampling.few_instances or not self._prior.freedom:
            return False
        widths = (moderate(grouped_interval(instances), self._prior).half_width for instances in groups)
        return all(width < FEW_MARGIN * self._sampling.precision for width in widths)


def _shortest(instance: Mapping[str, Series]) -> int:
    """Number of blocks that all log speed-ups of an instance have."""
    return min((own.ratios.size for own in instance.values()), default=0)


def end_of_round(ends: Sequence[str], *, last: bool) -> str:
    """The reason for the end of a round, from those of its states.

    Args:
        ends: reasons, one a state; "" where no variant was left.
        last: True for the last round: others end by their own part of the budget and blocks, not by the family's.
    """
    own = next((reason for reason in _ENDS if reason in ends), "")
    return own if last or set(ends) == {StopReason.PRECISION} else StopReason.ROUND

"""Decide when one instance of a family has been sampled enough, and when all of them together.

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

import numpy as np
from numpy.typing import ArrayLike

from xebench.measuring.sampling import Clock, Sampling
from xebench.results.analysis.intervals import MIN_SAMPLES, grouped_interval, log_ratios, median_interval
from xebench.results.analysis.moderation import NOTHING, Prior, moderate
from xebench.results.analysis.statistics import Floats, SeriesStart, settled, start_of
from xebench.vocabulary import StopReason

#: Reasons to begin the next instance before the speed-ups are known.
NEXT_INSTANCE: Final = "next instance"


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


def log_speedups(
    values: Mapping[str, Sequence[float]], baseline: str, compared: Iterable[tuple[str, str]] = ()
) -> dict[str, Floats]:
    """The log speed-up of each variant in each block, by name, without blocks in which a side has no valid sample.

    Without a baseline, or with nothing beside it, the logarithms of the times.

    Args:
        values: time of each variant in each block; NaN or 0 when there is none.
        baseline: baseline of the speed-ups.
        compared: variants, each with another that it is compared with: named ``variant/other``.
    """
    times = {name: np.array(own, float) for name, own in values.items()}
    pairs = {name: (baseline, name) for name in times if baseline in times and name != baseline}
    pairs |= {f"{name}/{other}": (other, name) for name, other in compared if name in times and other in times}
    if not pairs:
        return {name: np.log(own[own > 0]) for name, own in times.items()}
    both = {name: (times[base], times[own]) for name, (base, own) in pairs.items()}
    valid = {name: (base > 0) & (own > 0) for name, (base, own) in both.items()}
    return {name: log_ratios(base[valid[name]], own[valid[name]]) for name, (base, own) in both.items()}


#: Fewest instances for an estimate of their spread.
FEWEST_MEDIANS: Final = 3

#: Share of the precision that an interval of few instances must reach, since it may be narrow by chance.
FEW_MARGIN: Final = 0.7

#: Seconds that are given to look for a slow start in the first instance. With 32 blocks of everything, however slow,
#: a run on a GPU took twice as long for its samples.
LOOK_S: Final = 0.25

#: Blocks of warm-up per block of an observed slow start, whose length varies between instances.
START_MARGIN: Final = 1.25

#: Log speed-ups by variant, for each instance.
Earlier = Sequence[Mapping[str, Sequence[float]]]


@dataclass(frozen=True)
class _Series:
    """The log speed-ups of a variant in one instance, with what several looks at them need."""

    ratios: Floats

    @cached_property
    def start(self) -> SeriesStart:
        return start_of(self.ratios)

    @cached_property
    def settled(self) -> Floats:
        return settled(self.ratios, self.start)


class Instances:
    """Decides for a family in one state, instance after instance.

    Args:
        sampling: limits of this state, all instances together.
        baseline: baseline of the speed-ups.
        earlier: log speed-ups of the instances of earlier rounds.
        clock: seconds; the budget begins now.
        last: True for the family's last round.
        prior: spread between instances in the run's other pairs.
        compared: variants, each with another variant to compare with in addition to the baseline.
    """

    def __init__(
        self,
        sampling: Sampling,
        baseline: str,
        earlier: Earlier = (),
        clock: Clock = time.monotonic,
        last: bool = True,
        prior: Prior = NOTHING,
        compared: Sequence[tuple[str, str]] = (),
    ) -> None:
        fewest = sampling.round_instances
        self._share = replace(
            sampling,
            budget_s=sampling.budget_s / fewest,
            min_blocks=min(sampling.min_blocks, sampling.max_blocks // fewest) or 1,
            max_blocks=max(1, sampling.max_blocks // fewest),
        )
        self._sampling = sampling
        self._baseline = baseline
        self._compared = compared
        self._clock = clock
        self._begin = clock()
        self._fewest = fewest
        self._last = last
        self._prior = prior
        self._earlier = [{name: _Series(np.asarray(own, float)) for name, own in one.items()} for one in earlier]
        self._has_interval = not sampling.longest_s or any(_makes_interval(one) for one in self._earlier)
        self._left: list[Mapping[str, _Series]] = []
        self._left_blocks = 0
        self._looked, self._start_blocks = False, 0.0
        for one in self._earlier:
            self._learn(one)

    @property
    def share(self) -> Sampling:
        """Limits of the instance that is sampled now: its part, and no more blocks than the others have left.

        One that stays alone has as many blocks as its interval needs to be believed at the stop. All but the first warm
        up for as long as a slow start that was seen.
        """
        most = max(1, min(self._share.max_blocks, self._sampling.max_blocks - self._left_blocks))
        alone = self._sampling.min_instances == 1 and not self._left
        least = max(self._share.min_blocks, self._share.first_blocks) if alone else self._share.min_blocks
        return replace(
            self._share, max_blocks=most, min_blocks=min(least, most), start_blocks=math.ceil(self._start_blocks)
        )

    def decide(self, values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        """Return why to stop sampling this instance: a reason of `StopReason`, `NEXT_INSTANCE`, or None to go on.

        Args:
            values: time of each variant in each block of this instance; NaN when there is none.
            elapsed_s: seconds spent on this instance.
        """
        speedups = log_speedups(values, self._baseline, self._compared)
        own = {name: _Series(ratios) for name, ratios in speedups.items()}
        blocks = len(next(iter(values.values())))
        enough = self._enough(own, blocks, elapsed_s)
        reason = self._reason(own, blocks, enough)
        if reason is not None:
            self._left.append(own)
            self._left_blocks += blocks
            self._learn(own)
            self._looked = True
            self._has_interval = self._has_interval or _makes_interval(own)
        return reason

    def taken(self) -> list[dict[str, list[float]]]:
        """Log speed-ups of each instance of this round, for the next one."""
        return [{name: own.ratios.tolist() for name, own in left.items()} for left in self._left]

    def _learn(self, instance: Mapping[str, _Series]) -> None:
        """Take note of a slow start of an instance that was left."""
        shortest = min((own.ratios.size for own in instance.values()), default=0)
        self._looked = self._looked or shortest >= self._share.first_blocks
        starts = [own.start.length for own in instance.values() if own.start.over]
        self._start_blocks = max(self._start_blocks, START_MARGIN * max(starts, default=0))

    def _reason(self, own: Mapping[str, _Series], blocks: int, enough: bool) -> str | None:
        if enough and self._known(own):
            return StopReason.PRECISION
        elapsed_s = self._clock() - self._begin
        taken = self._left_blocks + blocks
        over = spent(taken, elapsed_s, self._sampling)
        if over == StopReason.BUDGET and not enough and elapsed_s < self._sampling.longest_s:
            return None
        if over is not None or not enough:
            return over
        # an instance of fewer blocks would weigh as much as the others with less information
        if self._sampling.max_blocks - taken < self._share.min_blocks:
            return StopReason.MAX_BLOCKS
        whole = len(self._left) + 1 >= self._fewest
        return NEXT_INSTANCE if self._last or not whole else StopReason.ROUND

    def _enough(self, own: Mapping[str, _Series], blocks: int, elapsed_s: float) -> bool:
        """True if more blocks of this instance would show less than another instance."""
        if blocks >= self.share.max_blocks:
            return True
        if elapsed_s >= self.share.budget_s:
            return blocks >= MIN_SAMPLES or self._has_interval
        narrow_enough = blocks >= self.share.min_blocks and all(
            median_interval(each.settled).half_width < self._wanted(name) for name, each in own.items()
        )
        return narrow_enough and (self._looked or elapsed_s >= LOOK_S or self._settled(own, blocks))

    def _settled(self, own: Mapping[str, _Series], blocks: int) -> bool:
        """True if an instance is long enough to show a slow start and its end."""
        return blocks >= self._share.first_blocks and all(each.start.over for each in own.values())

    def _wanted(self, name: str) -> float:
        """Half-width within an instance below which others of them say more.

        It is what makes the wanted precision when all instances agree, or else how much they differ.
        """
        agreeing = self._sampling.precision * math.sqrt(self._sampling.min_instances)
        medians = [float(np.median(ratios)) for ratios in self._known_of(name) if ratios.size]
        return agreeing if len(medians) < FEWEST_MEDIANS else max(agreeing, float(np.std(medians, ddof=1)))

    def _known(self, own: Mapping[str, _Series]) -> bool:
        taken = len(self._earlier) + len(self._left) + 1
        groups = [[*self._known_of(name), each.settled] for name, each in own.items()]
        if taken >= self._sampling.min_instances:
            return narrow(groups, self._sampling.precision)
        if taken < self._sampling.few_instances or not self._prior.freedom:
            return False
        widths = (moderate(grouped_interval(instances), self._prior).half_width for instances in groups)
        return all(width < FEW_MARGIN * self._sampling.precision for width in widths)

    def _known_of(self, name: str) -> list[Floats]:
        """A variant's log speed-ups in each instance that was left, of earlier rounds too, after its start."""
        return [left[name].settled for left in (*self._earlier, *self._left) if name in left]


def _makes_interval(instance: Mapping[str, _Series]) -> bool:
    """True if each log speed-up has enough blocks for an interval in this instance alone."""
    return all(own.ratios.size >= MIN_SAMPLES for own in instance.values())

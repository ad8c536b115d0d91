"""xebench: its sampler, its stopping rule, its interval and its outcome, all with their default settings but one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tools.studies.noise.instruments.observation import Observation, Program, ProgramTimes
from xebench.measuring.sampling import stopping
from xebench.measuring.sampling.blocks import sample_family
from xebench.measuring.sampling.limits import Sampling
from xebench.tables.analysis import answer, intervals
from xebench.tables.analysis.statistics import start_of

_FIRST, _SECOND = "first", "second"


def xebench(
    first: Program,
    second: Program,
    budget_s: float,
    *,
    wall_ns: Callable[[Program], int],
    seed: int,
    precision: float = Sampling.precision,
) -> Observation:
    """Sample both side by side until the speed-up is known, or the budget spent.

    Args:
        first: The pair's first program: the baseline.
        second: Its second.
        budget_s: Seconds for both together.
        wall_ns: A session's host time of one execution.
        seed: Of the orders of the blocks.
        precision: ``--precision``.
    """
    programs = {_FIRST: first, _SECOND: second}
    sampling = Sampling(precision=precision, budget_s=budget_s)
    taken: dict[str, Sequence[float]] = {}

    def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
        return float(wall_ns(programs[variant]))

    def decide(values: Mapping[str, Sequence[float]], elapsed_s: float) -> str | None:
        taken.update(values)
        return stopping.decide(values, elapsed_s, baseline=_FIRST, sampling=sampling)

    sampled = sample_family((_FIRST, _SECOND), measure, decide, sampling, seed=seed)
    return conclude(taken[_FIRST], taken[_SECOND], sampled.stopped_by, answer.same_within(precision))


def conclude(
    first: Sequence[float],
    second: Sequence[float],
    stopped_by: str,
    band: float = answer.SAME_WITHIN,
) -> Observation:
    """The speed-up, its interval and the outcome of times by block, as the table `pairs` has them."""
    start = start_of(intervals.log_ratios(first, second))
    later = first[start.length :], second[start.length :]
    kept = later if start.over else (first, second)
    speedup = intervals.speedup(*kept)
    ratios = [before / after for before, after in zip(*kept, strict=True)]
    circumstances = answer.Circumstances(
        stopped_by=stopped_by, drift=intervals.drift(ratios), start=start, later=intervals.speedup(*later)
    )
    judged = answer.judge(speedup, None, circumstances, band)
    return Observation(
        ProgramTimes.of(first),
        ProgramTimes.of(second),
        speedup=speedup.estimate,
        low=speedup.low,
        high=speedup.high,
        outcome=judged.outcome,
        reason=judged.reason,
        stopped_by=stopped_by,
    )

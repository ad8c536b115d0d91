"""Derive an outcome from an interval, and an answer from an outcome and a claim. Every answer has a reason.

Each launch costs the device a time that no amount of work explains, about that of an empty kernel or twice as much. It
is in both sides of a speed-up and draws it towards 1: kernels of 10 us of which one does twice the work of the other
measured 1.7 to 1.8 times on a GPU whose empty kernel takes 2.9 us.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from xebench.records.claim import Claim
from xebench.records.points import Row
from xebench.results.analysis.intervals import MIN_SAMPLES, UNKNOWN, Interval, median_interval
from xebench.results.analysis.statistics import NO_START, Floats, SeriesStart
from xebench.vocabulary import (
    REMEDIES,
    Answer,
    DeviceClass,
    Flag,
    Metric,
    Outcome,
    Reason,
    StopReason,
)

#: Advice in reasons, as options of the command line and as arguments of a script's call.
RAISE_BUDGET: Final = "raise --budget"

LARGER_PRESET: Final = "use a larger preset"

MORE_INSTANCES: Final = "take --instances 6"

#: By how much the speed-up of one instance usually differs from that of the others, as a relative size: 95 % of
#: instances stay below 31 % in results/cpu-epyc-2-cores, and below 7 % in results/h200-default
#: (`python -m tools.studies.instances`).
INSTANCES_DIFFER: Final = {DeviceClass.CPU: 0.3, DeviceClass.GPU: 0.1}

#: Least bias by waiting for cores that leaves a pair undecided, as a log speed-up.
BIAS: Final = 0.1

#: Part of a side's core time that others had from which nothing is decided: a bias can no longer be told. At a load of
#: 25 on two cores, where it was 0.95, a kernel was 151 and 889 times as fast as two calls of dpnp; it is 17 times.
STARVED: Final = 0.75

#: Multiple of an empty kernel's time above which the fixed cost needs no remark: it is 10 % of the shorter side there.
FEW: Final = 10.0
#: Host time that a single command may cost, in launches of an empty kernel; `allowed_ns` has several commands. The two
#: sides of 70 pairs on a CPU device differed by at most 5.3 (a kernel with SLM from one without), those of 125 pairs on
#: a discrete GPU by 2.2.
LAUNCHES_ALLOWED: Final = {DeviceClass.CPU: 6, DeviceClass.GPU: 3}

#: Host times contradict the recorded ones if they differ by more than this part of the difference of the recorded
#: times (of the shorter time if these are the same).
PART: Final = 1 / 4

#: The next step. The same sentence suits a script that calls `compare` on functions.
RECORD_IT: Final = "submit all work with session.launch, session.copy or session.call, or use the metric wall"


def with_fixed_cost(pair: Row, empty_kernel_ns: float | None) -> Row:
    """A row of the table `pairs` with `times_empty_kernel`, and a remark in its reason where that is few.

    Args:
        pair: the row; only times on the device's clock are compared with an empty kernel's.
        empty_kernel_ns: device time of an empty kernel; None where it was not measured.
    """
    if pair["metric"] != Metric.DEVICE or pair["variant_ns"] is None or not empty_kernel_ns:
        return {**pair, "times_empty_kernel": None}
    times = float(min(pair["baseline_ns"], pair["variant_ns"])) / empty_kernel_ns
    remark = (
        f"; times are only {times:.1f} times an empty kernel's ({empty_kernel_ns / 1000:.2g} us): fixed cost is in the "
        f"ratio; {LARGER_PRESET}"
    )
    return {**pair, "times_empty_kernel": times, "reason": pair["reason"] + (remark if times < FEW else "")}


#: Speed-ups from 1 / (1 + this) to 1 + this are the same in practice, in runs that lack a band of their own.
SAME_WITHIN: Final = 0.02

#: Share of blocks in another state of the machine that explains an inconclusive pair.
THROTTLED_SHARE: Final = 0.1

#: Smallest ratio that is written as a factor instead of percent.
TWICE: Final = 2

#: Relative change between the two halves of the blocks that counts as drift.
NOTABLE_DRIFT: Final = 0.02

#: Outcomes with a difference.
SURE: Final = (Outcome.FASTER, Outcome.SLOWER)


@dataclass(frozen=True)
class Side:
    """The host times of one side of a pair, for one execution.

    Attributes:
        name: "the variant" or "the baseline".
        beside: host time that neither the recorded commands nor the session's calls explain, in ns.
        allowed_ns: the part of it that launches may cost (`allowed_ns`); NaN in runs that lack it.
        recorded_ns: the time of the commands.
    """

    name: str
    beside: Interval
    allowed_ns: float
    recorded_ns: float

    def contradiction(self) -> tuple[Reason, str] | None:
        """The reason to distrust all times of its commands: a code and a sentence; None if there is none."""
        most_ns = self.recorded_ns + self.allowed_ns
        if not self.beside.estimate > most_ns:
            return None
        times = f"the {self.recorded_ns / 1e3:.0f} us of its commands and their launches ({self.allowed_ns / 1e3:.0f})"
        if self.beside.known and self.beside.low <= most_ns:
            low, high = self.beside.low / 1e3, self.beside.high / 1e3
            why = f"is {low:.0f} to {high:.0f} us, too noisy to tell whether it is more than {times}"
            return Reason.NOISE, f"{self.name}'s host time besides its commands {why}; run again on a quieter machine"
        told = f"besides its commands {self.name} takes {self.beside.estimate / 1e3:.0f} us on the host"
        return Reason.UNRECORDED, f"{told}, more than {times}: {RECORD_IT}"


@dataclass(frozen=True)
class HostTimes:
    """The host times of a pair, for one execution: do they contradict what the recorded commands say?

    The host waits for all that a sample does. So its time is that of the recorded commands, of what it costs to submit
    them and to wait, and of work that was not recorded. A pair is undecided when such work may be longer than a side's
    own commands, or when it may make up the difference of the two sides.

    All of this is judged by the same estimate as the speed-up, the mean over instances of the medians of their blocks:
    whoever hides work in too few samples for the one hides it in too few for the other. The upper end of the interval
    would be stricter, and would leave undecided 44 of 152 pairs of a run on a GPU, by noise alone
    (`docs/measurement.md`).

    Attributes:
        baseline, variant: each side by itself.
        more: the variant's host time besides its commands less the baseline's, in ns.
    """

    baseline: Side
    variant: Side
    more: Interval

    def contradiction(self, outcome: Outcome) -> tuple[Reason, str] | None:
        """The reason to distrust an outcome of the recorded times: a code and a sentence; None if there is none.

        One that is inconclusive is judged as one of no difference: a claim of its own width may hold of it. A side that
        is certainly contradicted is named before one whose times are too noisy to decide.
        """
        of_sides = filter(None, (self.variant.contradiction(), self.baseline.contradiction()))
        return min(of_sides, key=lambda found: found[0] == Reason.NOISE, default=None) or self._difference(outcome)

    def _difference(self, outcome: Outcome) -> tuple[Reason, str] | None:
        recorded = self.baseline.recorded_ns, self.variant.recorded_ns
        differ = outcome in (Outcome.FASTER, Outcome.SLOWER)
        gain_ns = abs(recorded[0] - recorded[1]) if differ else min(recorded)
        # NaN (the run lacks the cost of launches) is never exceeded
        least_ns = np.max([PART * gain_ns, self.baseline.allowed_ns, self.variant.allowed_ns])
        if outcome != Outcome.SLOWER and self.more.estimate > least_ns:
            side, more_ns = self.variant, self.more.estimate
        elif outcome != Outcome.FASTER and -self.more.estimate > least_ns:
            side, more_ns = self.baseline, -self.more.estimate
        else:
            return None
        return Reason.UNRECORDED, (
            f"besides its commands {side.name} takes {more_ns / 1e3:.0f} us more on the host than the other side: "
            f"{RECORD_IT}"
        )


def doubt(
    name: str,
    time_ns: Floats,
    beside_ns: Floats,
    *,
    device_class: str,
    empty_kernel_ns: float | None,
    commands: float,
) -> str | None:
    """The reason to distrust a time that is not part of a pair, as one line; None if there is none.

    Args:
        name: label of the time, used in the reason.
        time_ns: time of one execution's commands in each sample.
        beside_ns: host time of one execution in each sample, less the commands' time and the session's calls.
        device_class, empty_kernel_ns, commands: see `allowed_ns`.
    """
    allowed = allowed_ns(device_class, empty_kernel_ns, commands)
    found = Side(name, median_interval(beside_ns), allowed, float(np.median(time_ns))).contradiction()
    return found and f"{found[0]}: {found[1]}"


def allowed_ns(device_class: str, empty_kernel_ns: float | None, commands: float) -> float:
    """Host time that the launches of one execution may cost besides their commands and the session's own calls.

    Many commands may cost a measured launch each: drivers leave gaps between short ones.

    Args:
        device_class: gpu or cpu.
        empty_kernel_ns: host time to launch an empty kernel and wait for it; None if not measured.
        commands: number of commands in one execution, barriers excluded.
    """
    of_one = LAUNCHES_ALLOWED[DeviceClass(device_class)]
    return min(of_one * (1 + commands) / 2, 5 * of_one + commands) * (empty_kernel_ns or math.nan)


@dataclass(frozen=True)
class Circumstances:
    """Circumstances that may have kept a pair from a conclusion.

    Attributes:
        stopped_by: Rule that ended the sampling, if known.
        drift: Change of the blocks' speed-up from the first half to the second (`intervals.drift`).
        throttled: Part of the blocks in which the machine was in another state.
        quantum: Error that the timer's quantum makes in the speed-up, as a relative size. The interval holds it
            (`intervals.blurred`).
        host: The pair by the host's clock, if the metric is the device's.
        disturbance: The flag of most of the blocks in which the machine was in another state.
        start: The unsteady first blocks of each instance. The interval leaves them out if the sides became steady.
        later: The speed-up after these blocks, if the sides did not become steady.
        spoilt: Reason why most samples of a side are invalid; None if most are valid.
        alone_decides: True if one instance may decide, as where no others can be made; its interval must be as wide as
            instances usually differ.
        bias: Change of the log speed-up if neither side had waited for cores; NaN where that is unknown.
        most_waited: Part of its core time that others had, of the side that waited more; NaN where that is unknown.
    """

    stopped_by: str | None = None
    drift: Interval = UNKNOWN
    throttled: float = 0.0
    quantum: float = 0.0
    host: HostTimes | None = None
    disturbance: Flag = Flag.CONTENTION
    start: SeriesStart = NO_START
    later: Interval = UNKNOWN
    spoilt: str | None = None
    alone_decides: bool = False
    bias: float = 0.0
    most_waited: float = 0.0

    def biased(self, interval: Interval) -> tuple[Reason | Flag, str] | None:
        """The reason to distrust the speed-up if waiting for cores changed it by more than its interval shows.

        Load that hits both sides alike cancels in the speed-up, and widens its interval. Load that hits one of them
        does not: threads that hand work to each other wait for a core each time, where one that just computes does not.
        """
        if self.most_waited > STARVED:
            why = f"others had {self.most_waited:.0%} of the core time that a side wanted"
        elif abs(self.bias) > max(BIAS, math.log(interval.high / interval.low) / 2):
            without = _digits(interval.estimate * math.exp(self.bias), 2)
            why = f"one side waited for cores more than the other, without which the speed-up may be {without}"
        else:
            return None
        return Flag.CONTENTION, f"{why}; {REMEDIES[Flag.CONTENTION]}, and run again"

    def drifting(self, interval: Interval, band: float) -> bool:
        """True if the sides drift apart and it matters: too little is left after their start, or the drift lasts to the
        end, and the later blocks say something else.
        """
        if self.start.over:
            return self.start.length > 0 and not interval.known
        outside = not interval.low <= self.later.estimate <= interval.high
        return outside and outcome_of(interval, band) != outcome_of(self.later, band)


def outcome_of(interval: Interval, band: float = SAME_WITHIN) -> Outcome:
    """Outcome of the interval of a speed-up: faster or slower when it excludes 1, however near to 1 it is.

    An interval that holds 1 is same when it lies within the band around 1, and inconclusive when it leaves the band or
    is unknown.
    """
    if not interval.known:
        return Outcome.INCONCLUSIVE
    if interval.low > 1:
        return Outcome.FASTER
    if interval.high < 1:
        return Outcome.SLOWER
    return Outcome.SAME if _within(interval, band) else Outcome.INCONCLUSIVE


def _within(interval: Interval, band: float) -> bool:
    return interval.low >= 1 / (1 + band) and interval.high <= 1 + band


def same_within(precision: float) -> float:
    """The band around 1 that goes with a precision: twice as wide on the logarithmic scale, as precision is.

    An interval of a half-width below the precision then lies within the band, or excludes 1: nothing is left open.
    """
    return math.expm1(2 * precision)


@dataclass(frozen=True)
class Judgement:
    """The verdict of the samples on a claim.

    Attributes:
        outcome: faster, slower, same, inconclusive, or none when there is no speed-up to judge.
        answer: holds, inverts, no effect, same program, undecided, no claim, skipped or not asked.
        code: why, one of `xebench.vocabulary.REASON_CODES`.
        reason: why, one line for people.
    """

    outcome: Outcome
    answer: Answer
    code: str
    reason: str


def judge(
    interval: Interval,
    claim: Claim | None,
    circumstances: Circumstances,
    band: float = SAME_WITHIN,
    least: float = 1.0,
) -> Judgement:
    """The answer to a claim about time, for a pair whose two sides computed the right result.

    Args:
        interval: The speed-up with its interval over blocks.
        claim: None when nothing is claimed of this pair.
        circumstances: Further facts about the blocks.
        band: Relative difference below which two times are the same in practice (`same_within`).
        least: smallest ratio that the claim promises on this device.
    """
    trusted, outcome, code, reason = _conclude(interval, circumstances, band)
    if claim is None:
        return Judgement(outcome, Answer.NO_CLAIM, code, reason)
    answer = _answer(interval, outcome, claim, band, least) if trusted else Answer.UNDECIDED
    return Judgement(outcome, answer, code, reason)


def _answer(interval: Interval, outcome: Outcome, claim: Claim, band: float, least: float) -> Answer:
    """The answer to a claim of time by an interval that can be trusted."""
    if claim.word == Outcome.SAME:
        wanted = claim.within or band
        if _within(interval, wanted):
            return Answer.HOLDS
        outside = interval.low > 1 + wanted or interval.high < 1 / (1 + wanted)
        # a certain difference inverts a claim of "same"; a claim with its own `within` is inverted only outside of it
        return Answer.INVERTS if outside or (not claim.within and outcome in SURE) else Answer.UNDECIDED
    if _within(interval, band):  # a difference that is sure and too small to matter
        return Answer.NO_EFFECT
    if outcome not in SURE:
        return Answer.UNDECIDED
    if outcome != claim.word:
        return Answer.INVERTS
    most = max(interval.high, 1 / interval.low)
    return Answer.HOLDS if most >= least else Answer.NO_EFFECT


def _conclude(interval: Interval, circumstances: Circumstances, band: float) -> tuple[bool, Outcome, str, str]:
    """Conclude from the interval: an outcome, its code, and a sentence."""
    if circumstances.drifting(interval, band):
        why = f"the first {circumstances.start.length} blocks of an instance differ from those that follow"
        left = describe(interval, "blocks") if interval.known else f"{interval.n} blocks"
        advice = f"take more in each, by --min-samples {4 * circumstances.start.length} and a longer budget"
        return False, Outcome.INCONCLUSIVE, Reason.DRIFT, f"{Reason.DRIFT}: {why} ({left}); {advice}"
    if not interval.known:
        in_between = circumstances.stopped_by == StopReason.ROUND  # the run ended, with more rounds to come
        ended = f", ended by {circumstances.stopped_by}" if circumstances.stopped_by and not in_between else ""
        advice = circumstances.spoilt or ("continue with --resume" if in_between else RAISE_BUDGET)
        return (
            False,
            Outcome.INCONCLUSIVE,
            Reason.FEW_BLOCKS,
            f"{Reason.FEW_BLOCKS}: {interval.n} of the {MIN_SAMPLES} that an interval needs{ended}; {advice}",
        )
    outcome = outcome_of(interval, band)
    measured = describe(interval, "blocks")
    of_host = circumstances.host and circumstances.host.contradiction(outcome)
    contradiction = of_host or circumstances.biased(interval)
    alone = interval.groups == 1 and not circumstances.alone_decides
    if outcome == Outcome.INCONCLUSIVE or (alone and not contradiction):
        # a wide interval refutes nothing: host times are as noisy as its cause
        code, why = _obstacle(interval, circumstances)
        return not (alone or contradiction), Outcome.INCONCLUSIVE, code, f"{code}: {why} ({measured})"
    if contradiction:
        doubt, told = contradiction
        return False, Outcome.INCONCLUSIVE, doubt, f"{doubt}: {told} ({measured})"
    if outcome == Outcome.SAME:
        return True, outcome, Reason.MEASURED, f"{measured}, same within {100 * band:.3g} %"
    return True, outcome, Reason.MEASURED, f"{size(interval.estimate)}: {measured}"


def size(speedup: float) -> str:
    """A difference in words: ``faster by 1.6 %``, ``slower by 25 %``, ``3.2 times as fast``, ``3.2 times as long``.

    By how much the longer time exceeds the shorter one; from twice on how many times it is as long.
    """
    ratio = max(speedup, 1 / speedup)
    if ratio < TWICE:
        return f"{'faster' if speedup >= 1 else 'slower'} by {_digits(100 * (ratio - 1), 2)} %"
    return f"{_digits(ratio, 3)} times as {'fast' if speedup >= 1 else 'long'}"


def _digits(value: float, digits: int) -> str:
    """A number with so many digits, without an exponent where it is large."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text


def describe(interval: Interval, unit: str) -> str:
    """A speed-up in words: ``1.312, 95 % interval 1.280 to 1.345, 84 blocks of 6 instances``."""
    of = f" of {interval.groups} instances" if interval.groups > 1 else f" of {Reason.ONE_INSTANCE}"
    return f"{interval.estimate:.3f}, 95 % interval {interval.low:.3f} to {interval.high:.3f}, {interval.n} {unit}{of}"


_ALONE: Final = f"another has its arrays and code elsewhere in memory, and may differ; {MORE_INSTANCES}"

_TOO_SHORT: Final[Mapping[str | None, str]] = {
    StopReason.ROUND: "the run ended before the interval was narrow enough; continue with --resume",
    StopReason.BUDGET: f"the time ran out before the interval was narrow enough; {RAISE_BUDGET}",
}


def _obstacle(interval: Interval, circumstances: Circumstances) -> tuple[str, str]:
    """The reason why the interval does not decide, the likeliest cause first: a code, and a sentence with advice."""
    if interval.groups == 1:
        return Reason.ONE_INSTANCE, _ALONE
    if _mostly_quantum(interval, circumstances.quantum):
        return Reason.TIMER, f"its quantum makes an error of {circumstances.quantum:.1%}; {LARGER_PRESET}"
    if circumstances.throttled >= THROTTLED_SHARE:
        flag, part = circumstances.disturbance, circumstances.throttled
        return flag, f"the machine was disturbed in {part:.0%} of the blocks; {REMEDIES[flag]}, and run again"
    moved = circumstances.drift
    if moved.known and not moved.low <= 1 <= moved.high and abs(moved.estimate - 1) > NOTABLE_DRIFT:
        return Reason.DRIFT, f"the speed-up moved by {moved.estimate - 1:+.1%} between the halves; run again"
    if circumstances.stopped_by in _TOO_SHORT:
        return Reason.BUDGET, _TOO_SHORT[circumstances.stopped_by]
    return Reason.NOISE, "the interval is too wide to decide; run again on a quieter machine"


def _mostly_quantum(interval: Interval, quantum: float) -> bool:
    """True if the timer's quantum makes at least half of the interval.

    It was squared and added (`intervals.blurred`): half of the square is its own then.
    """
    half_width = math.log(interval.high / interval.low) / 2
    return 0 < half_width <= math.sqrt(2) * math.log1p(quantum)

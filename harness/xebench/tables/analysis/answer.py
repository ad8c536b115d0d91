"""From an interval to an outcome, and from an outcome and a claim to an answer. Every answer has a reason.

Each launch costs the device a time that no amount of work explains, about that of an empty kernel or twice as much. It
is in both sides of a speed-up and draws it towards 1: kernels of 10 us of which one does twice the work of the other
measured 1.7 to 1.8 times on a GPU whose empty kernel takes 2.9 us.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from xebench.tables.analysis.claim import LARGER_PRESET, RAISE_BUDGET, STATUS_WORDS, Claim, Judgement
from xebench.tables.analysis.intervals import MIN_SAMPLES, UNKNOWN, Interval
from xebench.tables.analysis.points import Row
from xebench.tables.analysis.statistics import NO_START, SeriesStart
from xebench.tables.analysis.unrecorded import HostTimes
from xebench.vocabulary import (
    MAY_BE_WRONG,
    NEVER_RUN,
    REMEDIES,
    Answer,
    Flag,
    Metric,
    Outcome,
    Reason,
    Status,
    StopReason,
)

#: Times of an empty kernel from which the fixed cost is no remark worth: it is 10 % of the shorter side there.
FEW: Final = 10.0


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


#: Speed-ups from 1 / (1 + this) to 1 + this are the same in practice, in runs that do not tell their band.
SAME_WITHIN: Final = 0.02

#: Part of the blocks under another state of the machine from which this is why a pair is inconclusive.
THROTTLED_SHARE: Final = 0.1

#: Ratio from which a difference is told in times instead of percent.
TWICE: Final = 2

#: Relative change from the first half of the blocks to the second from which a drift is worth a reason.
NOTABLE_DRIFT: Final = 0.02

#: Outcomes that say that there is a difference.
SURE: Final = (Outcome.FASTER, Outcome.SLOWER)


@dataclass(frozen=True)
class Circumstances:
    """Circumstances that may have kept a pair from a conclusion.

    Attributes:
        stopped_by: Which rule ended the sampling, if known.
        drift: Change of the blocks' speed-up from the first half to the second (`intervals.drift`).
        throttled: Part of the blocks in which the machine was in another state.
        quantum: Error that the timer's quantum makes in the speed-up, as a relative size. The interval holds it
            (`intervals.blurred`).
        host: What the host's clock says of the pair, where the metric is the device's.
        disturbance: The flag of most of the blocks in which the machine was in another state.
        start: The first blocks of each instance, in which the sides were not steady yet. They are not in the interval
            if that came to an end.
        later: The speed-up after these blocks, where it did not.
        spoilt: What became of a side most of whose samples are not valid.
    """

    stopped_by: str | None = None
    drift: Interval = UNKNOWN
    throttled: float = 0.0
    quantum: float = 0.0
    host: HostTimes | None = None
    disturbance: Flag = Flag.THROTTLED
    start: SeriesStart = NO_START
    later: Interval = UNKNOWN
    spoilt: str | None = None

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


def judge(
    interval: Interval,
    claim: Claim | None,
    circumstances: Circumstances,
    band: float = SAME_WITHIN,
    least: float = 1.0,
) -> Judgement:
    """The answer to a claim of time, of a pair whose both sides ran and computed the right result.

    Args:
        interval: The speed-up with its interval over blocks.
        claim: None when nothing is claimed of this pair.
        circumstances: What else is known of the blocks.
        band: Relative difference below which two times are the same in practice (`same_within`).
        least: the smallest ratio that is promised here.
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
        # a difference that is sure inverts a claim of none; with a width of the claim's own it must leave that
        return Answer.INVERTS if outside or (not claim.within and outcome in SURE) else Answer.UNDECIDED
    if _within(interval, band):  # a difference that is sure and too small to matter
        return Answer.NO_EFFECT
    if outcome not in SURE:
        return Answer.UNDECIDED
    if outcome != claim.word:
        return Answer.INVERTS
    most = max(interval.high, 1 / interval.low)
    return Answer.HOLDS if most >= least else Answer.NO_EFFECT


def judge_end(status: str, why: str | None, claim: Claim) -> Judgement:
    """The answer to a claim that a variant's result is wrong, or that it is refused."""
    if status == Status.OK:
        by_chance = claim.word == MAY_BE_WRONG
        told = Answer.UNDECIDED if by_chance else Answer.NO_EFFECT
        right = "it computes the right result here" + (", as a data race may" if by_chance else "")
        return Judgement(Outcome.NONE, told, Reason.MEASURED, right)
    happened = _end(status, why)
    if claim.expects(status, why):
        return Judgement(Outcome.NONE, Answer.HOLDS, status, happened)
    if status in NEVER_RUN:
        return Judgement(Outcome.NONE, Answer.SKIPPED, status, happened)
    expected = f"; claimed with {claim.kind!r}" if claim.kind else ""
    return Judgement(Outcome.NONE, Answer.UNDECIDED, status, happened + expected)


def judge_accuracy(error_ulp: float | None, other_ulp: float | None, against: str, claim: Claim) -> Judgement:
    """The answer to a claim that a variant's largest error is smaller than another's.

    Args:
        error_ulp: the variant's, in units in the last place; None where it is not known.
        other_ulp: that of the variant that it is compared with.
        against: the name of that one.
        claim: what is claimed.
    """
    if error_ulp is None or other_ulp is None:
        why = f"{Reason.NO_ERRORS}: results that are finite, and a reference in higher precision, tell them"
        return Judgement(Outcome.NONE, Answer.UNDECIDED, Reason.NO_ERRORS, why)
    found = f"errs by {error_ulp:.3g} ulp, {against} by {other_ulp:.3g} ulp"
    if error_ulp > other_ulp:
        told = Answer.INVERTS
    else:
        told = Answer.HOLDS if error_ulp < other_ulp >= claim.at_least * error_ulp else Answer.NO_EFFECT
    return Judgement(Outcome.NONE, told, Reason.MEASURED, found)


def same_program(against: str) -> Judgement:
    """The answer of a pair of one program: it is no question of time, and nothing is measured of it.

    Args:
        against: the name of the other side.
    """
    why = f"the same program as {against}: machine code, sizes, arguments, queues and waits are equal"
    return Judgement(Outcome.NONE, Answer.SAME_PROGRAM, Reason.SAME_PROGRAM, why)


def without_speedup(status: str, why: str | None, baseline: str, claim: Claim | None) -> Judgement:
    """The answer of a pair one side of which is not ok.

    Args:
        status: Status of that side's case; ok when both ran, but no sample can be used.
        why: Its reason.
        baseline: The name of the other side where the status is its own; "" for the variant itself.
        claim: See `judge`.
    """
    code = Reason.NO_SAMPLE if status == Status.OK else Reason.BASELINE if baseline else status
    word = STATUS_WORDS.get(status, status)
    reason = f"baseline {baseline} {word}" + (f": {why}" if why else "") if baseline else _end(status, why)
    if status in NEVER_RUN:
        answer = Answer.SKIPPED
    else:
        answer = Answer.NO_CLAIM if claim is None else Answer.UNDECIDED
    return Judgement(Outcome.NONE, answer, code, reason)


def _end(status: str, why: str | None) -> str:
    """How a side ended; for a skipped one only the reason, as the answer has the rest."""
    word = Reason.NO_SAMPLE if status == Status.OK else STATUS_WORDS.get(status, status)
    return str(word) if not why else why if status == Status.SKIPPED else f"{word}: {why}"


def _conclude(interval: Interval, circumstances: Circumstances, band: float) -> tuple[bool, Outcome, str, str]:
    """Conclude from the interval: an outcome, its code, and a sentence."""
    if circumstances.drifting(interval, band):
        why = f"the first {circumstances.start.length} blocks of an instance differ from those that follow"
        left = describe(interval, "blocks") if interval.known else f"{interval.n} blocks"
        advice = f"take more in each, by --min-samples {4 * circumstances.start.length} and a longer budget"
        return False, Outcome.INCONCLUSIVE, Reason.DRIFT, f"{Reason.DRIFT}: {why} ({left}); {advice}"
    if not interval.known:
        in_between = circumstances.stopped_by == StopReason.PASS  # the run ended, with more visits to come
        ended = f", ended by {circumstances.stopped_by}" if circumstances.stopped_by and not in_between else ""
        advice = circumstances.spoilt or ("go on with --resume" if in_between else RAISE_BUDGET)
        return (
            False,
            Outcome.INCONCLUSIVE,
            Reason.FEW_BLOCKS,
            f"{Reason.FEW_BLOCKS}: {interval.n} of the {MIN_SAMPLES} that an interval needs{ended}; {advice}",
        )
    outcome = outcome_of(interval, band)
    measured = describe(interval, "blocks")
    if circumstances.host is not None and (contradiction := circumstances.host.contradiction(outcome)):
        doubt, told = contradiction
        return False, Outcome.INCONCLUSIVE, doubt, f"{doubt}: {told} ({measured})"
    if outcome == Outcome.INCONCLUSIVE:
        code, why = _obstacle(interval, circumstances)
        return True, outcome, code, f"{code}: {why} ({measured})"
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
    of = f" of {interval.groups} instances" if interval.groups > 1 else ""
    return f"{interval.estimate:.3f}, 95 % interval {interval.low:.3f} to {interval.high:.3f}, {interval.n} {unit}{of}"


def _obstacle(interval: Interval, circumstances: Circumstances) -> tuple[str, str]:
    """Why the interval does not decide, the most telling cause first: a code, and a sentence with what to do."""
    if _mostly_quantum(interval, circumstances.quantum):
        return Reason.TIMER, f"its quantum makes an error of {circumstances.quantum:.1%}; {LARGER_PRESET}"
    if circumstances.throttled >= THROTTLED_SHARE:
        flag, part = circumstances.disturbance, circumstances.throttled
        return flag, f"the machine's state changed in {part:.0%} of the blocks; {REMEDIES[flag]}, and run again"
    moved = circumstances.drift
    if moved.known and not moved.low <= 1 <= moved.high and abs(moved.estimate - 1) > NOTABLE_DRIFT:
        return Reason.DRIFT, f"the speed-up moved by {moved.estimate - 1:+.1%} between the halves; run again"
    if circumstances.stopped_by == StopReason.PASS:
        return Reason.BUDGET, "the run ended before the interval was narrow enough; go on with --resume"
    if circumstances.stopped_by == StopReason.BUDGET:
        return Reason.BUDGET, f"the time was spent before the interval was narrow enough; {RAISE_BUDGET}"
    return Reason.NOISE, "the interval is too wide to decide; run again on a quieter machine"


def _mostly_quantum(interval: Interval, quantum: float) -> bool:
    """True if the timer's quantum makes at least half of the interval.

    It was squared and added (`intervals.blurred`): half of the square is its own then.
    """
    half_width = math.log(interval.high / interval.low) / 2
    return 0 < half_width <= math.sqrt(2) * math.log1p(quantum)

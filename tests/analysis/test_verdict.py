"""Outcomes from intervals, verdicts from claims: every branch, and always a reason of one line."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis import verdict
from harness.analysis.intervals import UNKNOWN, Interval, blurred
from harness.analysis.verdict import Circumstances, judge, outcome_of, without_speedup
from harness.vocabulary import Flag, Outcome, Verdict


def interval(low: float, high: float, n: int = 20) -> Interval:
    return Interval(math.sqrt(low * high), low, high, n)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.01, 1.05, "faster"),
        (0.95, 0.99, "slower"),
        (0.99, 1.01, "same"),
        (1.0001, 1.0002, "faster"),  # sure is sure, however little it is
        (0.985, 0.995, "slower"),
        (1 / 1.02, 1.02, "same"),
        (0.97, 1.01, "inconclusive"),
        (0.9, 1.2, "inconclusive"),
    ],
)
def test_outcome(low: float, high: float, outcome: str) -> None:
    assert outcome_of(interval(low, high)) == outcome


@given(st.floats(0.2, 5), st.floats(1.0, 3))
def test_outcome_is_mirrored_when_the_sides_are_swapped(low: float, widening: float) -> None:
    mirrored = {"faster": "slower", "slower": "faster", "same": "same", "inconclusive": "inconclusive"}
    # just inside the edges: 1 / (1 / x) is not always x
    high = low * widening
    there = outcome_of(Interval(low, low * (1 + 1e-9), high * (1 + 2e-9), 9))
    back = outcome_of(Interval(1 / low, 1 / (high * (1 + 2e-9)), 1 / (low * (1 + 1e-9)), 9))
    assert back == mirrored[there]


@pytest.mark.parametrize(
    ("low", "high", "claim", "expected"),
    [
        (1.1, 1.2, "faster", "confirmed"),
        (0.8, 0.9, "faster", "refuted"),
        (0.99, 1.01, "faster", "refuted"),
        (0.9, 1.1, "faster", "inconclusive"),
        (0.99, 1.01, "same", "confirmed"),
        (1.1, 1.2, "same", "refuted"),
        (0.8, 0.9, "slower", "confirmed"),
        (1.1, 1.2, None, "not applicable"),
        (0.9, 1.1, None, "not applicable"),
    ],
)
def test_verdict(low: float, high: float, claim: str | None, expected: str) -> None:
    found = judge(interval(low, high), claim, "gpu", Circumstances())
    assert found.verdict == expected
    assert found.outcome == outcome_of(interval(low, high))


DRIFTED = Interval(1.2, 1.1, 1.3, 10)


@pytest.mark.parametrize(
    ("circumstances", "code"),
    [
        (Circumstances(), "noise"),
        (Circumstances(stopped_by="precision"), "noise"),
        (Circumstances(stopped_by="budget"), "budget"),
        (Circumstances(stopped_by="budget", drift=DRIFTED), "drift"),
        (Circumstances(drift=Interval(1.01, 1.005, 1.015, 10)), "noise"),
        (Circumstances(drift=Interval(1.2, 0.9, 1.5, 10)), "noise"),
        (Circumstances(stopped_by="budget", drift=DRIFTED, throttled=0.2), "throttled"),
        (Circumstances(throttled=0.2, disturbance=Flag.CONTENTION), "contention"),
        (Circumstances(throttled=0.2, quantum=0.3), "timer"),
    ],
)
def test_an_inconclusive_verdict_names_its_cause(circumstances: Circumstances, code: str) -> None:
    found = judge(interval(0.9, 1.1), "faster", "gpu", circumstances)
    assert found.verdict == "inconclusive"
    assert found.reason.startswith(f"{code}: ")


def test_too_few_blocks_come_first() -> None:
    found = judge(Interval(3.0, math.nan, math.nan, 4), "faster", "gpu", Circumstances(stopped_by="budget"))
    assert (found.outcome, found.verdict) == ("inconclusive", "inconclusive")
    assert found.reason.startswith("too few blocks: 4 of the 6")
    assert "budget" in found.reason


def test_a_coarse_timer_takes_a_conclusion_away() -> None:
    def judged(low: float, high: float) -> verdict.Judgement:
        return judge(blurred(interval(low, high), 0.5), "faster", "gpu", Circumstances(quantum=0.5))

    assert judge(interval(1.1, 1.2), "faster", "gpu", Circumstances()).verdict == "confirmed"
    assert judged(1.1, 1.2).verdict == "inconclusive"
    assert judged(1.1, 1.2).reason.startswith("timer: its quantum makes an error of 50.0%")
    assert judged(5, 6).verdict == "confirmed"


def test_a_quantum_that_is_small_beside_the_noise_is_not_the_cause() -> None:
    wide = blurred(interval(0.7, 1.4), 0.1)
    assert judge(wide, "faster", "gpu", Circumstances(quantum=0.1)).reason.startswith("noise: ")


@pytest.mark.parametrize("precision", [0.002, 0.01, 0.1, 0.3])
def test_an_interval_of_the_wanted_precision_leaves_nothing_open(precision: float) -> None:
    band, half = verdict.same_within(precision), 0.999 * precision
    for middle in np.linspace(-3 * precision, 3 * precision, 601):
        low, high = math.exp(middle - half), math.exp(middle + half)
        assert outcome_of(Interval(math.exp(middle), low, high, 20), band) != "inconclusive"


def test_the_band_is_short_in_words() -> None:
    assert judge(interval(0.999, 1.001), "same", "gpu", Circumstances(), verdict.same_within(0.01)).reason.endswith(
        ", same within 2.02 %"
    )
    assert judge(interval(0.999, 1.001), "same", "gpu", Circumstances()).reason.endswith(", same within 2 %")


@pytest.mark.parametrize(
    ("status", "why", "side", "claim", "verdict_", "reason"),
    [
        ("wrong", "3 of 64 elements differ", "", "faster", "inconclusive", "wrong result: 3 of 64 elements differ"),
        ("crashed", None, "baseline plain", "faster", "inconclusive", "baseline plain crashed"),
        ("skipped", "needs fp64", "", "faster", "not applicable", "skipped: needs fp64"),
        ("refused", "needs 9 GiB", "baseline plain", None, "not applicable", "baseline plain refused: needs 9 GiB"),
        ("ok", "no block", "", "faster", "inconclusive", "no valid sample: no block"),
        (
            "error",
            "boom",
            "",
            None,
            "not applicable",
            "failed: boom; the guide makes no claim of this variant on a cpu device",
        ),
    ],
)
def test_without_a_speedup(
    status: str, why: str | None, side: str, claim: str | None, verdict_: str, reason: str
) -> None:
    found = without_speedup(status, why, side, claim, "cpu")
    assert (found.outcome, found.verdict, found.reason) == ("none", verdict_, reason)


@given(
    st.floats(0.1, 10),
    st.floats(1, 2),
    st.sampled_from(["faster", "slower", "same", None]),
    st.builds(
        Circumstances,
        stopped_by=st.sampled_from([None, "budget", "precision", "max blocks"]),
        drift=st.sampled_from([UNKNOWN, DRIFTED]),
        throttled=st.floats(0, 1),
        quantum=st.floats(0, 1),
    ),
)
def test_every_verdict_has_a_reason_of_one_line(
    low: float, width: float, claim: str | None, circumstances: Circumstances
) -> None:
    for one in (interval(low, low * width), Interval(low, math.nan, math.nan, 2)):
        found = judge(one, claim, "cpu", circumstances)
        assert found.reason.strip()
        assert "\n" not in found.reason
        assert found.outcome in {Outcome.FASTER, Outcome.SLOWER, Outcome.SAME, Outcome.INCONCLUSIVE}
        assert found.verdict in {Verdict.CONFIRMED, Verdict.REFUTED, Outcome.INCONCLUSIVE, Verdict.NOT_APPLICABLE}

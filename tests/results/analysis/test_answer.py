"""Outcomes from intervals, answers to claims: every branch, and always a reason of one line."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xebench.records.claim import Claim, Figure
from xebench.results.analysis import answer
from xebench.results.analysis.answer import (
    Circumstances,
    Judgement,
    judge,
    outcome_of,
)
from xebench.results.analysis.intervals import UNKNOWN, Interval, blurred
from xebench.results.analysis.judge import Pair, in_brief, judge_accuracy, judge_end, without_speedup
from xebench.vocabulary import ANSWERED, REASON_CODES, Answer, Flag, Outcome

FASTER = Claim("faster")


def interval(low: float, high: float, n: int = 20) -> Interval:
    return Interval(math.sqrt(low * high), low, high, n, groups=6)


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
        (1.1, 1.2, FASTER, "holds"),
        (0.8, 0.9, FASTER, "inverts"),
        (0.99, 1.01, FASTER, "no effect"),
        (0.9, 1.1, FASTER, "undecided"),
        (1.0001, 1.0002, FASTER, "no effect"),  # sure, and too little to matter
        (0.9998, 0.9999, FASTER, "no effect"),
        (1.019, 1.03, FASTER, "holds"),
        (0.8, 0.9, Claim("slower"), "holds"),
        (1.1, 1.2, Claim("slower"), "inverts"),
        (0.99, 1.01, Claim("same"), "holds"),
        (1.0001, 1.0002, Claim("same"), "holds"),
        (1.1, 1.2, Claim("same"), "inverts"),
        (0.8, 0.9, Claim("same"), "inverts"),
        (0.9, 1.1, Claim("same"), "undecided"),
        # with a width of its own it may be surely faster and still the same
        (1.05, 1.08, Claim("same", within=0.1), "holds"),
        (0.97, 1.05, Claim("same", within=0.1), "holds"),
        (1.05, 1.2, Claim("same", within=0.1), "undecided"),
        (1.2, 1.3, Claim("same", within=0.1), "inverts"),
        (1.1, 1.2, None, "no claim"),
        (0.9, 1.1, None, "no claim"),
    ],
)
def test_answer(low: float, high: float, claim: Claim | None, expected: str) -> None:
    found = judge(interval(low, high), claim, Circumstances())
    assert found.answer == expected
    assert found.outcome == outcome_of(interval(low, high))


def test_how_much_is_judged_where_somebody_promises_it() -> None:
    figure = Figure(3.0, device="Max 1550", line="G 1")
    guides, ours = Claim("faster", figure=figure), Claim("faster", at_least=1.5)
    case = {"preset": "guide", "parameters": "{}", "preset_parameters": "{}", "metric": "device", "same_within": 0.02}
    little, much, unsure = interval(1.1, 1.2), interval(2.4, 2.5), interval(1.4, 2.6)

    def answers(claim: Claim, *, here: bool) -> list[str]:
        device = {"name": "Intel(R) Data Center GPU Max 1550" if here else "Arc"}
        pair = Pair({}, case, claim)
        return [pair.judge(one, device, Circumstances()).answer for one in (little, much, unsure)]

    def slowed(low: float, high: float) -> str:
        pair = Pair({}, case, Claim("slower", figure=Figure(1 / 3, device="Max 1550", line="G 1")))
        return pair.judge(interval(low, high), {"name": "Max 1550"}, Circumstances()).answer

    assert (slowed(0.8, 0.9), slowed(0.4, 0.5)) == ("no effect", "holds"), "0.8 of the figure, either way"
    assert answers(guides, here=False) == ["holds", "holds", "holds"], "another device promises nothing"
    assert answers(guides, here=True) == ["no effect", "holds", "holds"]
    assert answers(ours, here=False) == ["no effect", "holds", "holds"]
    assert judge(little, ours, Circumstances(), least=1.5).reason.startswith("faster by 15 %")
    slower = Claim("slower")
    assert judge(interval(0.5, 0.6), slower, Circumstances(), least=1.5).answer == "holds"
    assert judge(interval(0.8, 0.9), slower, Circumstances(), least=1.5).answer == "no effect"


@pytest.mark.parametrize("word", ["faster", "same", "wrong", "error", "accurate"])
@pytest.mark.parametrize("status", ["ok", "wrong", "skipped"])
def test_what_is_claimed_of_other_devices_is_not_asked(word: str, status: str) -> None:
    claim = Claim(word, not_asked="made of devices with stacks=2")
    case = {"status": status, "reason": None, "same_within": 0.02, "error_ulp": 1.0, "variant": "naive"}
    pair = Pair({**case, "status": "ok"}, case, claim)
    found = pair.ended() or pair.judge(interval(1.5, 1.6), {}, Circumstances())
    assert (found.answer, found.code, found.reason) == ("not asked", "other device", "made of devices with stacks=2")
    assert in_brief(found.answer, found.code, found.reason, word=word, baseline="naive") == found.reason
    assert not claim.expects(status, None), "an end that nobody claims here is a failure"


@pytest.mark.parametrize("word", ["faster", "same", "accurate"])
def test_one_program_is_compared_with_nothing_but_its_errors(word: str) -> None:
    case = {"status": "ok", "reason": "", "variant": "v", "program": "p", "error_ulp": 1.0, "same_within": None}
    claim = Claim(word)
    found = Pair(case, case, claim).ended(blocks=30)
    assert found is not None
    expected = {"faster": "same program", "same": "holds", "accurate": "no effect"}
    assert (found.answer, found.outcome) == (expected[word], "none")
    for other in ({**case, "program": "q"}, {**case, "program": None}):
        assert Pair(other, case, Claim("faster")).ended(blocks=30) is None
    assert Pair(case, case, None).ended(blocks=30) is None, "equal programs are how a run is looked at"
    assert Pair({**case, "program": None}, case, None).same_program is None
    failed = Pair(case, {**case, "status": "wrong"}, claim).ended(blocks=30)
    assert failed is not None and failed.answer != "same program"


@pytest.mark.parametrize(
    ("claim", "status", "why", "expected"),
    [
        (Claim("wrong"), "wrong", "3 of 64 elements differ", "holds"),
        (Claim("wrong"), "ok", None, "no effect"),
        (Claim("wrong"), "crashed", "signal 11", "undecided"),
        (Claim("wrong"), "skipped", "needs fp64", "skipped"),
        (Claim("may be wrong"), "wrong", "3 of 64 elements differ", "holds"),
        (Claim("may be wrong"), "ok", None, "undecided"),
        (Claim("error"), "error", "check: boom", "holds"),
        (Claim("error"), "refused", "needs 9 GiB", "holds"),
        (Claim("error"), "skipped", "a work-group of 9999", "holds"),
        (Claim("error"), "ok", None, "no effect"),
        (Claim("error"), "wrong", "3 of 64 elements differ", "undecided"),
        (Claim("error", kind="work-group"), "skipped", "a work-group of 9999", "holds"),
        (Claim("error", kind="work-group"), "error", "check: boom", "undecided"),
    ],
)
def test_a_claim_of_the_end(claim: Claim, status: str, why: str | None, expected: str) -> None:
    found = judge_end(status, why, claim)
    assert (found.outcome, found.answer) == ("none", expected)
    assert found.code == ("measured" if status == "ok" else status)
    assert (why or "right result") in found.reason


@pytest.mark.parametrize(
    ("own", "other", "least", "expected"),
    [
        (0.5, 47.0, 1, "holds"),
        (0.5, 47.0, 90, "holds"),
        (0.5, 47.0, 100, "no effect"),
        (2.0, 2.0, 1, "no effect"),
        (0.0, 0.0, 1, "no effect"),
        (0.0, 0.1, 1, "holds"),
        (3.0, 2.0, 1, "inverts"),
        (None, 2.0, 1, "undecided"),
        (2.0, None, 1, "undecided"),
    ],
)
def test_a_claim_of_accuracy(own: float | None, other: float | None, least: float, expected: str) -> None:
    found = judge_accuracy(own, other, "native_log", Claim("accurate", at_least=least))
    assert (found.outcome, found.answer) == ("none", expected)
    assert found.code == ("errors are not known" if expected == "undecided" else "measured")
    assert ("native_log by" in found.reason) == (expected != "undecided")


DRIFTED = Interval(1.2, 1.1, 1.3, 10)


@pytest.mark.parametrize(
    ("circumstances", "code"),
    [
        (Circumstances(), "noise"),
        (Circumstances(stopped_by="precision"), "noise"),
        (Circumstances(stopped_by="budget"), "budget"),
        (Circumstances(stopped_by="round"), "budget"),
        (Circumstances(stopped_by="budget", drift=DRIFTED), "drift"),
        (Circumstances(drift=Interval(1.01, 1.005, 1.015, 10)), "noise"),
        (Circumstances(drift=Interval(1.2, 0.9, 1.5, 10)), "noise"),
        (Circumstances(stopped_by="budget", drift=DRIFTED, throttled=0.2), "contention"),
        (Circumstances(throttled=0.2, disturbance=Flag.CONTENTION), "contention"),
        (Circumstances(throttled=0.2, quantum=0.3), "timer"),
    ],
)
def test_an_undecided_answer_names_its_cause(circumstances: Circumstances, code: str) -> None:
    found = judge(interval(0.9, 1.1), FASTER, circumstances)
    assert (found.answer, found.code) == ("undecided", code)
    assert found.reason.startswith(f"{code}: ")


@pytest.mark.parametrize(
    ("bias", "low", "high", "expected"),
    [
        (math.nan, 1.9, 2.1, "holds"),
        (0.02, 1.9, 2.1, "holds"),
        (-0.15, 1.9, 2.1, "undecided"),
        (0.15, 1.9, 2.1, "undecided"),
        (-0.15, 1.2, 2.1, "holds"),  # the interval is wider than the bias
        (-3.0, 500.0, 1500.0, "undecided"),
    ],
)
def test_waiting_for_cores_that_changes_the_speed_up_undecides(
    bias: float, low: float, high: float, expected: str
) -> None:
    found = judge(interval(low, high), FASTER, Circumstances(bias=bias))
    assert (found.answer, found.code) == (expected, "measured" if expected == "holds" else "contention")
    assert ("without which the speed-up may be" in found.reason) == (expected == "undecided")


def test_too_few_blocks_come_first() -> None:
    found = judge(Interval(3.0, math.nan, math.nan, 4), FASTER, Circumstances(stopped_by="budget"))
    assert (found.outcome, found.answer) == ("inconclusive", "undecided")
    assert found.code == "too few blocks" and found.reason.startswith("too few blocks: 4 of the 6")
    assert "budget" in found.reason


def test_a_coarse_timer_takes_a_conclusion_away() -> None:
    def judged(low: float, high: float) -> Judgement:
        return judge(blurred(interval(low, high), 0.5), FASTER, Circumstances(quantum=0.5))

    assert judge(interval(1.1, 1.2), FASTER, Circumstances()).answer == "holds"
    assert judged(1.1, 1.2).answer == "undecided"
    assert judged(1.1, 1.2).reason.startswith("timer: its quantum makes an error of 50.0%")
    assert judged(5, 6).answer == "holds"


def test_a_quantum_that_is_small_beside_the_noise_is_not_the_cause() -> None:
    wide = blurred(interval(0.7, 1.4), 0.1)
    assert judge(wide, FASTER, Circumstances(quantum=0.1)).reason.startswith("noise: ")


@pytest.mark.parametrize("precision", [0.002, 0.01, 0.1, 0.3])
def test_an_interval_of_the_wanted_precision_leaves_nothing_open(precision: float) -> None:
    band, half = answer.same_within(precision), 0.999 * precision
    for middle in np.linspace(-3 * precision, 3 * precision, 601):
        low, high = math.exp(middle - half), math.exp(middle + half)
        assert outcome_of(Interval(math.exp(middle), low, high, 20), band) != "inconclusive"


def test_the_band_is_short_in_words() -> None:
    assert judge(interval(0.999, 1.001), Claim("same"), Circumstances(), answer.same_within(0.01)).reason.endswith(
        ", same within 2.02 %"
    )
    assert judge(interval(0.999, 1.001), Claim("same"), Circumstances()).reason.endswith(", same within 2 %")


@pytest.mark.parametrize(
    ("status", "why", "baseline", "claim", "expected", "reason", "brief"),
    [
        ("wrong", "3 differ", "", FASTER, "undecided", "wrong result: 3 differ", "wrong result"),
        ("crashed", None, "plain", FASTER, "undecided", "baseline plain crashed", "no result of plain"),
        ("skipped", "no (Item<1>, x): y; z", "", FASTER, "skipped", "no (Item<1>, x): y; z", "no (Item<1>, x): y; z"),
        (
            "refused",
            "9 GiB",
            "plain",
            None,
            "skipped",
            "baseline plain refused: 9 GiB",
            "baseline plain refused: 9 GiB",
        ),
        ("ok", "no block", "", FASTER, "undecided", "no valid sample: no block", "no valid sample"),
        ("error", "boom: x", "", None, "no claim", "failed: boom: x", "failed"),
        ("interrupted", "the run ended", "", FASTER, "undecided", "interrupted: the run ended", "interrupted"),
    ],
)
def test_without_a_speedup(
    status: str, why: str | None, baseline: str, claim: Claim | None, expected: str, reason: str, brief: str
) -> None:
    found = without_speedup(status, why, baseline, claim)
    assert (found.outcome, found.answer, found.reason) == ("none", expected, reason)
    assert found.code == ("no valid sample" if status == "ok" else "baseline" if baseline else status)
    word = claim.word if claim else None
    assert in_brief(found.answer, found.code, found.reason, word=word, baseline="plain") == brief


@given(
    st.floats(0.1, 10),
    st.floats(1, 2),
    st.sampled_from([FASTER, Claim("slower"), Claim("same"), Claim("same", within=0.3), None]),
    st.builds(
        Circumstances,
        stopped_by=st.sampled_from([None, "budget", "round", "precision", "max blocks"]),
        drift=st.sampled_from([UNKNOWN, DRIFTED]),
        throttled=st.floats(0, 1),
        quantum=st.floats(0, 1),
    ),
)
def test_every_answer_has_a_reason_of_one_line(
    low: float, width: float, claim: Claim | None, circumstances: Circumstances
) -> None:
    for one in (interval(low, low * width), Interval(low, math.nan, math.nan, 2)):
        found = judge(one, claim, circumstances)
        assert found.reason.strip() and found.code in REASON_CODES
        assert "\n" not in found.reason
        assert found.outcome in {Outcome.FASTER, Outcome.SLOWER, Outcome.SAME, Outcome.INCONCLUSIVE}
        assert found.answer in (ANSWERED if claim else {Answer.NO_CLAIM})


@pytest.mark.parametrize(
    ("speedup", "words"),
    [
        (1.016, "faster by 1.6 %"),
        (0.8, "slower by 25 %"),
        (1 / 1.996, "slower by 100 %"),
        (3.2, "3.2 times as fast"),
        (1 / 3.2, "3.2 times as long"),
        (1234.5, "1234 times as fast"),
    ],
)
def test_a_difference_in_words_has_no_exponent(speedup: float, words: str) -> None:
    assert answer.size(speedup) == words


def test_one_instance_decides_nothing_but_where_no_others_can_be_made() -> None:
    alone = Interval(1.5, 1.4, 1.6, 20)
    found = judge(alone, FASTER, Circumstances())
    assert (found.outcome, found.answer, found.code) == ("inconclusive", "undecided", "one instance")
    assert found.reason.startswith("one instance: ") and "--instances 6" in found.reason
    assert judge(alone, Claim("same", within=0.9), Circumstances()).answer == "undecided"
    allowed = judge(alone, FASTER, Circumstances(alone_decides=True))
    assert allowed.answer == "holds" and "of one instance" in allowed.reason
    wide = judge(Interval(1.1, 0.9, 1.3, 20), FASTER, Circumstances(alone_decides=True))
    assert (wide.answer, wide.code) == ("undecided", "one instance")

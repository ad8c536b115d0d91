"""Host time that the recorded commands do not explain, against what the commands say."""

import math
import re
from typing import Any

import pytest
from synthetic import Synthetic, noisy

from xebench.records.claim import Claim
from xebench.results.analysis.answer import Circumstances, HostTimes, Side, allowed_ns, judge
from xebench.results.analysis.intervals import Interval
from xebench.vocabulary import Answer, Outcome, Reason, StopReason

FASTER, SLOWER, SAME = Outcome.FASTER, Outcome.SLOWER, Outcome.SAME


def about(estimate: float, half: float = 20) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, 10)


def host_times(
    baseline: Interval, variant: Interval, recorded: tuple[float, float] = (1000, 500), allowed_ns: float = 60
) -> HostTimes:
    sides = (
        Side("the baseline", baseline, allowed_ns, recorded[0]),
        Side("the variant", variant, allowed_ns, recorded[1]),
    )
    return HostTimes(*sides, about(variant.estimate - baseline.estimate))


@pytest.mark.parametrize(
    ("times", "outcome", "code", "words"),
    [
        (host_times(about(50), about(550)), FASTER, Reason.UNRECORDED, "the variant takes 0 us more"),
        (host_times(about(50), about(600)), FASTER, Reason.UNRECORDED, "the variant takes 1 us on the host, more than"),
        (host_times(about(50), about(570, half=400)), FASTER, Reason.NOISE, "the variant's host time .* too noisy"),
        # a side that sleeps, whichever it is: what its commands say is of another state of the device
        (host_times(about(5000), about(50)), FASTER, Reason.UNRECORDED, "the baseline takes 5 us on the host"),
        (host_times(about(5000), about(5000)), SAME, Reason.UNRECORDED, "the variant takes 5 us on the host"),
        # one side is certain, though the other is noisy
        (host_times(about(5000), about(570, half=400)), FASTER, Reason.UNRECORDED, "the baseline takes 5 us on"),
        # the difference: a quarter of what was gained, or of the shorter time
        (host_times(about(50), about(170)), FASTER, None, ""),
        (host_times(about(50), about(190)), FASTER, Reason.UNRECORDED, "the variant takes 0 us more"),
        (host_times(about(190), about(50)), FASTER, None, ""),  # it gained more than is said
        (host_times(about(190), about(50)), SAME, Reason.UNRECORDED, "the baseline takes 0 us more"),
        (host_times(about(190), about(50), (500, 1000)), SLOWER, Reason.UNRECORDED, "the baseline takes 0 us more"),
        (host_times(about(50), about(190), (500, 1000)), SLOWER, None, ""),
        (host_times(about(50), about(190), (1000, 999)), Outcome.INCONCLUSIVE, None, ""),
        (host_times(about(50), about(310), (1000, 999)), Outcome.INCONCLUSIVE, Reason.UNRECORDED, "us more"),
        # launches cost differently by as much; a run that does not tell what they cost
        (host_times(about(50), about(190), allowed_ns=150), FASTER, None, ""),
        (host_times(about(50), about(9000), allowed_ns=math.nan), FASTER, None, ""),
        # a wide interval opens nothing
        (host_times(about(50), about(5000, half=9000)), FASTER, Reason.NOISE, "too noisy to tell"),
    ],
)
def test_contradiction(times: HostTimes, outcome: Outcome, code: Reason | None, words: str) -> None:
    found = times.contradiction(outcome)
    assert (found and found[0]) == code
    if found:
        assert re.search(words, found[1]), found[1]


@pytest.mark.parametrize("hidden_ns", [0, 5000])
def test_an_interval_that_decides_nothing_accuses_nobody(hidden_ns: float) -> None:
    """Nor does it answer a claim of a width of its own where the host's clock contradicts the commands."""
    host = host_times(about(50), about(50 + hidden_ns))
    wide = Interval(1.0, 0.6, 1.7, 10, groups=6)
    found = judge(wide, Claim("same", within=0.9), Circumstances(stopped_by=StopReason.BUDGET, host=host))
    assert found.answer == (Answer.UNDECIDED if hidden_ns else Answer.HOLDS)
    assert found.code == Reason.BUDGET and "unrecorded" not in found.reason


def test_what_launches_may_cost() -> None:
    assert allowed_ns("cpu", 10.0, 1) == 60 and allowed_ns("gpu", 10.0, 1) == 30
    assert allowed_ns("cpu", 10.0, 3) == 120 and allowed_ns("gpu", 10.0, 3) == 60, "half for each that follows"
    assert allowed_ns("cpu", 10.0, 1000) == 10300 and allowed_ns("gpu", 10.0, 1000) == 10150, "a launch each"
    assert math.isnan(allowed_ns("gpu", None, 2)), "not measured"


def pair_of(
    hidden_ns: float, events: int | None = 1, *, naive_hidden_ns: float = 0, varies: float = 0
) -> dict[str, Any]:
    """A variant that is ten times as fast by its commands, with work that only the host saw."""
    made = Synthetic(empty_kernel_host_ns=20_000)
    for variant, role, time_ns, extra in (("a", "naive", 1e6, naive_hidden_ns), ("b", "optimized", 1e5, hidden_ns)):
        case = made.case(variant, role)
        for block, device_ns in enumerate(noisy(time_ns, seed=block_seed(variant))):
            host_ns = device_ns + 50_000 + extra * (1 + varies * math.sin(2 * block))
            own = {"instance": block // 4, "batch": 1, "events": events}
            made.sample(case, block=block, device_ns=device_ns, host_ns=host_ns, **own)
    return {str(name): value for name, value in made.run().pairs.iloc[0].items()}


def block_seed(variant: str) -> int:
    return ord(variant)


def test_host_times_that_agree_leave_the_answer() -> None:
    pair = pair_of(hidden_ns=0)
    assert pair["speedup"] == pytest.approx(10, rel=0.05)
    assert (pair["outcome"], pair["answer"]) == ("faster", "holds")


def test_hidden_work_leaves_the_pair_undecided() -> None:
    pair = pair_of(hidden_ns=9e5)
    assert (pair["outcome"], pair["answer"]) == ("inconclusive", "undecided")
    assert str(pair["reason"]).startswith("unrecorded work?: besides its commands the variant takes 950 us on the host")


def test_half_a_gain_of_ten_times_is_not_hidden() -> None:
    """Four times its own commands: the speed-up would be two."""
    assert pair_of(hidden_ns=4e5)["reason_code"] == Reason.UNRECORDED


def test_a_naive_side_that_sleeps_leaves_the_pair_undecided() -> None:
    pair = pair_of(hidden_ns=0, naive_hidden_ns=3e6)
    assert pair["reason_code"] == Reason.UNRECORDED and "the baseline takes 3050 us" in str(pair["reason"])


def test_work_on_the_host_in_most_samples_is_seen_however_its_time_varies() -> None:
    """Its interval reaches from nothing to ten times the commands' time."""
    pair = pair_of(hidden_ns=5e5, varies=0.98)
    assert pair["reason_code"] in (Reason.UNRECORDED, Reason.NOISE), pair["reason"]


def test_a_run_that_does_not_tell_its_events_is_judged_by_its_times_alone() -> None:
    assert pair_of(hidden_ns=9e5, events=None)["outcome"] == "faster"

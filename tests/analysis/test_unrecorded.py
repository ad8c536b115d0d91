"""Host time that the recorded commands do not explain, against what the commands say."""

import math

import pytest
from synthetic import Synthetic, noisy

from xebench.analysis.intervals import Interval
from xebench.analysis.unrecorded import HostTimes, allowed_ns
from xebench.vocabulary import Outcome


def host_times(
    low: float, high: float, allowed_ns: float = 60, baseline: float = 1000, variant: float = 500
) -> HostTimes:
    return HostTimes(Interval((low + high) / 2, low, high, 10), allowed_ns, baseline, variant)


@pytest.mark.parametrize(
    ("times", "outcome", "side"),
    [
        (host_times(260, 400), Outcome.FASTER, "the variant"),  # more than half of the 500 gained
        (host_times(240, 400), Outcome.FASTER, None),
        (host_times(-400, -260), Outcome.FASTER, None),  # the baseline's: the variant gained more than is said
        (host_times(-400, -260, baseline=500, variant=1000), Outcome.SLOWER, "the baseline"),
        (host_times(260, 400, baseline=500, variant=1000), Outcome.SLOWER, None),
        (host_times(260, 400, variant=1000), Outcome.SAME, "the variant"),  # more than a quarter of 1000
        (host_times(-400, -260, variant=1000), Outcome.SAME, "the baseline"),
        (host_times(260, 400, allowed_ns=300), Outcome.FASTER, None),  # launches cost differently by as much
        (host_times(260, 400, allowed_ns=math.nan), Outcome.FASTER, None),  # a run that does not tell
        (host_times(260, 400), Outcome.INCONCLUSIVE, None),
    ],
)
def test_contradiction(times: HostTimes, outcome: Outcome, side: str | None) -> None:
    contradiction = times.contradiction(outcome)
    assert (contradiction is None) == (side is None)
    assert side is None or f"commands {side} takes 0 us" in str(contradiction)


def test_what_launches_may_cost() -> None:
    assert allowed_ns("cpu", 10.0, 2) == 120 and allowed_ns("gpu", 10.0, 2) == 60
    assert math.isnan(allowed_ns("gpu", None, 2)), "not measured"


def pair_of(hidden_ns: float, events: int | None = 1) -> dict[str, object]:
    """A variant that is ten times as fast by its commands, with work that only the host saw."""
    made = Synthetic(empty_kernel_host_ns=20_000)
    for variant, role, time_ns, extra in (("a", "naive", 1e6, 0), ("b", "optimized", 1e5, hidden_ns)):
        case = made.case(variant, role)
        for block, device_ns in enumerate(noisy(time_ns, seed=block_seed(variant))):
            host_ns = device_ns + 50_000 + extra
            made.sample(case, block=block, batch=1, device_ns=device_ns, host_ns=host_ns, events=events)
    return made.run().pairs.iloc[0].to_dict()


def block_seed(variant: str) -> int:
    return ord(variant)


def test_a_pair_has_the_speed_up_of_the_host_beside_that_of_the_device() -> None:
    pair = pair_of(hidden_ns=0)
    assert pair["speedup"] == pytest.approx(10, rel=0.05)
    assert pair["wall_speedup"] == pytest.approx(1.05e6 / 1.5e5, rel=0.05)
    assert pair["wall_speedup_low"] < pair["wall_speedup"] < pair["wall_speedup_high"]
    assert (pair["outcome"], pair["answer"]) == ("faster", "holds")


def test_hidden_work_leaves_the_pair_undecided() -> None:
    pair = pair_of(hidden_ns=9e5)
    assert (pair["outcome"], pair["answer"]) == ("inconclusive", "undecided")
    assert str(pair["reason"]).startswith("unrecorded work?: beside its commands the variant takes 900 us more")


def test_a_run_that_does_not_tell_its_events_is_judged_by_its_times_alone() -> None:
    assert pair_of(hidden_ns=9e5, events=None)["outcome"] == "faster"

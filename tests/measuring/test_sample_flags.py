"""What is wrong with a sample, with made-up times."""

from __future__ import annotations

import pytest

from xebench.measuring.samples import Rules
from xebench.records.events import EventTimes
from xebench.results.analysis import metrics
from xebench.session.recorder import MeasuredSample
from xebench.vocabulary import Flag, is_valid


def measured(*times: tuple[int, int, int], host_ns: int = 10_000_000, late_ns: int = 0) -> MeasuredSample:
    return MeasuredSample(host_ns, late_ns, [[EventTimes(*one, "kernel", "k", 0) for one in times]])


def broken(rules: Rules, sample: MeasuredSample, *, limit_gbps: float | None = None) -> tuple[str, ...]:
    times = list(sample.events)
    total_ns = sample.host_ns if rules.metric == "wall" else metrics.union_ns(times)
    return rules.broken("v", sample, times, total_ns, limit_gbps)


def test_a_good_sample_has_no_flag() -> None:
    rules = Rules("device", resolution_ns=1)
    assert broken(rules, measured((0, 10, 5_000))) == ()
    assert broken(rules, measured((5_000, 5_010, 9_000))) == ()


@pytest.mark.parametrize(
    ("sample", "flag"),
    [
        (measured((20, 10, 5_000)), Flag.ORDER),
        (measured((0, 10, 5)), Flag.ORDER),
        (measured((0, 10, 10)), Flag.ZERO),
        (measured((0, 10, 5_000), host_ns=100), Flag.OUTSIDE_HOST),
        (measured((0, 10, 5_000), (0, 20, 6_000)), Flag.OVERLAP),
        (measured((0, 10, 15)), Flag.SHORT),
    ],
)
def test_broken_rules_are_named(sample: MeasuredSample, flag: str) -> None:
    assert flag in broken(Rules("device", resolution_ns=1), sample)


def test_a_clock_that_goes_backwards_and_times_of_an_earlier_sample_are_seen() -> None:
    rules = Rules("device", resolution_ns=1)
    first = measured((100_000, 100_010, 105_000))
    assert broken(rules, first) == ()
    assert broken(rules, first) == (Flag.STALE, Flag.BACKWARDS)
    assert broken(rules, measured((0, 10, 5_000))) == (Flag.BACKWARDS,), "a clock that wrapped"
    # a sample without commands has no times to compare with
    assert broken(rules, measured()) == ()
    assert broken(rules, measured((6_000, 6_010, 9_000))) == ()


def test_a_sample_far_below_the_length_that_its_metric_asks_for_is_short() -> None:
    assert broken(Rules("device", resolution_ns=1), measured((0, 10, 10 + 40))) == (Flag.SHORT,)
    assert broken(Rules("device", resolution_ns=1), measured((0, 10, 10 + 60))) == ()
    assert broken(Rules("wall", resolution_ns=1), measured((0, 10, 5_000), host_ns=20_000)) == (Flag.SHORT,)
    assert broken(Rules("device", resolution_ns=1000), measured((0, 10, 5_010))) == (Flag.SHORT,), "one flag, once"


def test_a_cold_sample_above_the_roof_was_not_cold() -> None:
    rules = Rules("device", resolution_ns=1, bytes_moved=1_000_000)
    sample = measured((0, 10, 10_010))  # 100 GB/s
    assert broken(rules, sample, limit_gbps=50.0) == (Flag.NOT_COLD,)
    assert broken(Rules("device", 1, 1_000_000), sample, limit_gbps=120.0) == ()
    assert broken(Rules("device", 1, 1_000_000), sample) == (), "a hot sample may come from the cache"
    assert broken(Rules("device", 1, None), sample, limit_gbps=50.0) == (), "nothing is known of its traffic"


def test_a_queue_that_is_still_busy_means_unrecorded_work_when_it_happens_again() -> None:
    rules = Rules("device", resolution_ns=1)
    times = [(n * 10_000, n * 10_000 + 10, n * 10_000 + 5_000) for n in range(5)]
    late = [broken(rules, measured(one, host_ns=50_000, late_ns=30_000)) for one in times[:2]]
    assert late == [(), (Flag.UNSYNCHRONISED,)], "the first may be the system's doing"
    assert broken(rules, measured(times[2], host_ns=50_000, late_ns=1_000)) == ()
    assert broken(rules, measured(times[3], host_ns=50_000, late_ns=30_000)) == ()
    # late for much less than the sample took
    assert broken(rules, measured(times[4], host_ns=5_000_000, late_ns=30_000)) == ()


def test_what_may_not_be_used() -> None:
    for metric in ("device", "span", "wall"):
        assert is_valid((Flag.SHORT, Flag.OVERLAP, Flag.CLOCK), metric)
        assert not is_valid((Flag.NOT_COLD,), metric)
        assert not is_valid((Flag.SHORT, Flag.UNSYNCHRONISED), metric)


def test_times_of_a_check_between_two_samples_are_stale_in_the_next() -> None:
    rules = Rules("device", resolution_ns=1)
    assert broken(rules, measured((0, 10, 5_000))) == ()
    rules.remember([EventTimes(6_000, 6_010, 9_000)])
    rules.remember([])
    assert broken(rules, measured((6_000, 6_010, 9_000))) == (Flag.STALE, Flag.BACKWARDS)

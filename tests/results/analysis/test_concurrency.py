"""Which part of the time of a sample's commands overlaps: by hand, and against a count of every single nanosecond."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some
from synthetic import Synthetic

from xebench.records.events import EventTimes
from xebench.results import frame
from xebench.results.analysis import metrics
from xebench.results.analysis.metrics import span_ns, union_ns

Interval = tuple[int, int]

INTERVALS = some.lists(some.tuples(some.integers(0, 40), some.integers(0, 40)), max_size=8)


def events(*samples: list[Interval], kind: str = "kernel", offset: int = 0) -> pd.DataFrame:
    """The table of some samples' commands."""
    made = Synthetic()
    case = made.case("v", "naive")
    for intervals in samples:
        made.sample(case)
        made.event(*((start + offset, end + offset) for start, end in intervals), kind=kind)
    return frame("events", made.events)


@pytest.mark.parametrize(
    ("name", "intervals", "busy_ns", "overlap_ns", "work_ns"),
    [
        ("one", [(0, 10)], 10, 0, 10),
        ("disjoint", [(0, 10), (20, 30)], 20, 0, 20),
        ("one after the other without a gap", [(0, 10), (10, 30)], 30, 0, 30),
        ("nested", [(0, 100), (10, 30)], 100, 20, 120),
        ("nested twice", [(0, 100), (10, 90), (20, 30)], 100, 80, 190),
        ("equal", [(0, 10), (0, 10), (0, 10)], 10, 10, 30),
        ("a chain", [(0, 20), (10, 30), (20, 40)], 40, 20, 60),
        ("out of order", [(30, 50), (0, 10), (5, 40)], 50, 15, 65),
        ("without a length", [(5, 5), (0, 10), (9, 3)], 10, 0, 10),
    ],
)
def test_intervals_by_hand(name: str, intervals: list[Interval], busy_ns: int, overlap_ns: int, work_ns: int) -> None:
    (found,) = metrics.concurrency_of_samples(events(intervals)).itertuples()
    assert (found.busy_ns, found.overlap_ns, found.work_ns) == (busy_ns, overlap_ns, work_ns)
    assert found.overlap == pytest.approx(overlap_ns / busy_ns)
    assert found.concurrency == pytest.approx(work_ns / busy_ns)


@given(some.lists(INTERVALS, max_size=4), some.sampled_from([0, 1 << 55]), some.integers(0, 99))
def test_every_nanosecond_is_counted(samples: list[list[Interval]], offset: int, seed: int) -> None:
    table = events(*samples, offset=offset).sample(frac=1, random_state=seed)
    found = metrics.concurrency_of_samples(table)
    for number, intervals in enumerate(samples):
        running = Counter(moment for start, end in intervals for moment in range(start, end))
        if not running:
            assert number not in found.index
            continue
        row = found.loc[number]
        assert row["busy_ns"] == len(running)
        assert row["overlap_ns"] == sum(count > 1 for count in running.values())
        assert row["work_ns"] == running.total()


@given(INTERVALS.filter(lambda intervals: any(end > start for start, end in intervals)))
def test_the_times_of_a_sample_agree_with_the_metrics(intervals: list[Interval]) -> None:
    times = [EventTimes(start, start, end) for start, end in intervals]
    found: Any
    (found,) = metrics.concurrency_of_samples(events(intervals)).itertuples()
    forwards = [time for time in times if time.end_ns > time.start_ns]
    assert found.busy_ns == union_ns(times) <= span_ns(forwards)
    assert 0 <= found.overlap_ns <= found.busy_ns <= found.work_ns
    assert 0 <= found.overlap <= 1 <= found.concurrency <= len(intervals)
    assert (found.overlap == 0) == (found.concurrency == 1)


RAN = some.lists(some.tuples(some.integers(0, 40), some.integers(1, 40)), min_size=1, max_size=8).map(
    lambda listed: [(start, start + length) for start, length in listed]
)


def found(intervals: list[Interval]) -> tuple[int, int, int]:
    """Of one sample: time in which any ran, in which two or more did, and the sum of all durations."""
    row: Any
    (row,) = metrics.concurrency_of_samples(events(intervals)).itertuples()
    return row.busy_ns, row.overlap_ns, row.work_ns


@given(RAN, some.randoms(use_true_random=False), some.integers(0, 1 << 60))
def test_neither_order_nor_the_zero_of_the_clock_matters(intervals: list[Interval], random: Random, zero: int) -> None:
    moved = [(start + zero, end + zero) for start, end in random.sample(intervals, len(intervals))]
    assert found(moved) == found(intervals)


@given(RAN, some.integers(0, 7), some.integers(1, 39))
def test_a_command_cut_in_two_is_the_same_work(intervals: list[Interval], which: int, after: int) -> None:
    start, end = cut = intervals[which % len(intervals)]
    middle = min(start + after, end)
    rest = list(intervals)
    rest.remove(cut)
    assert found([*rest, (start, middle), (middle, end)]) == found(intervals)


@given(RAN)
def test_overlap_lies_between_what_the_sum_and_the_number_allow(intervals: list[Interval]) -> None:
    busy, overlap, work = found(intervals)
    # of what ran beside the first, each moment of overlap holds one command at least, and all but one at most
    assert overlap <= work - busy <= (len(intervals) - 1) * overlap
    if len(intervals) == 2:
        assert overlap == work - busy


@given(RAN, some.integers(1, 3))
def test_one_command_after_the_other_on_each_queue_is_at_most_one_a_queue(
    intervals: list[Interval], count: int
) -> None:
    queues: list[list[Interval]] = [[] for _ in range(count)]
    for number, (start, end) in enumerate(intervals):
        queue = queues[number % count]
        begin = max(start, queue[-1][1] if queue else 0)
        queue.append((begin, begin + end - start))
    row: Any
    (row,) = metrics.concurrency_of_samples(events([each for queue in queues for each in queue])).itertuples()
    assert row.concurrency <= count
    if count == 1:
        assert row.overlap == 0


def test_what_two_clocks_tell_is_not_compared() -> None:
    table = events([(0, 10), (5, 15)], [(0, 10), (5, 15)])
    table["clock"] = pd.array([0, 1, 1, 1], dtype="Int64")
    (row,) = metrics.concurrency_of_samples(table).itertuples()
    assert (row.Index, row.busy_ns, row.overlap_ns) == (1, 15, 5), "one clock alone can be told, whichever it is"


def test_a_case_on_two_devices_has_no_overlap_and_says_why() -> None:
    made = Synthetic()
    case, other = made.case("two_devices", "naive"), made.case("one", "optimized")
    for mine, clocks in ((case, (0, 1)), (other, (1, 1))):
        made.sample(mine, device_ns=1.0)
        made.event((0, 10), (5, 15))
        for event, clock in zip(made.events[-2:], clocks, strict=True):
            event["clock"] = clock
    found = made.run().summaries.set_index("variant")
    assert pd.isna(found["overlap"]["two_devices"])
    assert found.loc["two_devices", "overlap_note"] == "unknown: its devices' clocks are not one clock"
    assert found.loc["one", "overlap"] == pytest.approx(1 / 3)
    assert pd.isna(found["overlap_note"]["one"])


def test_a_barrier_is_no_work() -> None:
    table = pd.concat([events([(0, 10)]), events([(0, 30)], kind="barrier")])
    (found,) = metrics.concurrency_of_samples(table).itertuples()
    assert (found.busy_ns, found.overlap) == (10, 0)
    assert metrics.concurrency_of_samples(events([(0, 30)], kind="barrier")).empty


def test_a_command_without_times_is_left_out() -> None:
    table = events([(0, 10), (5, 15)])
    table.loc[1, "start_ns"] = pd.NA
    (found,) = metrics.concurrency_of_samples(table).itertuples()
    assert (found.busy_ns, found.overlap_ns) == (10, 0)


def test_a_summary_has_the_typical_sample_that_counts() -> None:
    made = Synthetic()
    case, other = made.case("together", "naive"), made.case("alone", "optimized")
    for late, changed in ((0, {}), (10, {}), (20, {}), (0, {"checked": False}), (0, {"state": "warmup"})):
        made.sample(case, device_ns=1.0, **changed)
        made.event((0, 40), (late, 40 + late))
    made.sample(other, device_ns=1.0)
    made.event((0, 40), (40, 80))
    made.sample(made.case("nothing", "optimized", metric="wall"), host_ns=5.0)
    found = made.run().summaries.set_index("variant")
    assert found.loc["together", "overlap"] == pytest.approx(30 / 50)
    assert found.loc["together", "concurrency"] == pytest.approx(80 / 50)
    assert tuple(found.loc["alone", ["overlap", "concurrency"]]) == (0, 1)
    assert found.loc["nothing", ["overlap", "concurrency"]].isna().all()

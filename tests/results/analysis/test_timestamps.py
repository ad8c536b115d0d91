"""Times computed from events, and the rules that timestamps must satisfy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xebench.records.events import EventTimes
from xebench.results.analysis import metrics
from xebench.vocabulary import Flag, is_valid

CLEAN = [EventTimes(100, 200, 1200), EventTimes(150, 1200, 2000)]


@st.composite
def proper_events(draw: st.DrawFn) -> list[EventTimes]:
    steps = st.tuples(st.integers(0, 60), st.integers(0, 20), st.integers(0, 20))
    return [EventTimes(a, a + b, a + b + c) for a, b, c in draw(st.lists(steps, min_size=1, max_size=12))]


@given(proper_events())
def test_union_is_the_number_of_busy_quanta(events: list[EventTimes]) -> None:
    busy = {tick for event in events for tick in range(event.start_ns, event.end_ns)}
    assert metrics.union_ns(events) == len(busy)


@given(proper_events(), st.randoms(use_true_random=False))
def test_union_does_not_depend_on_the_order_of_submission(events: list[EventTimes], shuffle) -> None:
    mixed = list(events)
    shuffle.shuffle(mixed)
    assert metrics.union_ns(mixed) == metrics.union_ns(events)


@given(proper_events())
def test_union_queue_and_span_fit_together(events: list[EventTimes]) -> None:
    total = sum(event.end_ns - event.start_ns for event in events)
    assert max(event.end_ns - event.start_ns for event in events) <= metrics.union_ns(events) <= total
    assert 0 <= metrics.union_ns(events) <= metrics.span_ns(events)
    assert 0 <= metrics.queue_ns(events) <= metrics.span_ns(events)


@given(proper_events(), st.integers(-(10**15), 10**15))
def test_the_epoch_of_the_device_clock_does_not_matter(events: list[EventTimes], epoch: int) -> None:
    later = []
    for event in events:
        assert event.submit_ns is not None
        later.append(EventTimes(event.submit_ns + epoch, event.start_ns + epoch, event.end_ns + epoch))
    for measure in (metrics.union_ns, metrics.span_ns, metrics.queue_ns):
        assert measure(later) == measure(events)


def test_times_of_a_worked_example() -> None:
    assert metrics.union_ns(CLEAN) == 1800
    assert metrics.span_ns(CLEAN) == 1900
    assert metrics.queue_ns(CLEAN) == 100
    assert [measure([]) for measure in (metrics.union_ns, metrics.span_ns, metrics.queue_ns)] == [0, 0, 0]


def test_a_clean_sample_has_no_flags() -> None:
    found = metrics.flags(CLEAN, host_ns=5000, resolution_ns=1, earlier_starts={10, 20}, earlier_end_ns=90)
    assert found == ()
    assert metrics.flags([], host_ns=5000, resolution_ns=1) == ()


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([EventTimes(300, 200, 1200)], (Flag.ORDER,)),
        ([EventTimes(100, 1200, 200)], (Flag.ORDER, Flag.ZERO)),
        ([EventTimes(2**32 - 10, 2**32 - 5, 40)], (Flag.ORDER, Flag.ZERO)),  # a 32-bit clock wrapped
        ([EventTimes(100, 200, 200)], (Flag.ZERO,)),
        ([EventTimes(100, 200, 209)], (Flag.SHORT,)),
        ([EventTimes(0, 7, 1000)], (Flag.STALE, Flag.BACKWARDS)),
        ([EventTimes(0, 8, 1000)], (Flag.BACKWARDS,)),
        ([EventTimes(100, 200, 9000)], (Flag.OUTSIDE_HOST,)),
        ([EventTimes(100, 200, 300), EventTimes(100, 8900, 9000)], (Flag.OUTSIDE_HOST,)),
        ([EventTimes(100, 9200, 9900)], (Flag.STALE_SUBMIT,)),
        ([EventTimes(9100, 9200, 9900), EventTimes(100, 9300, 9900)], (Flag.STALE_SUBMIT, Flag.OVERLAP)),
        ([EventTimes(100, 200, 1200), EventTimes(100, 700, 1700)], (Flag.OVERLAP,)),
    ],
)
def test_each_broken_rule_has_its_flag(events: list[EventTimes], expected: tuple[str, ...]) -> None:
    found = metrics.flags(events, host_ns=5000, resolution_ns=1, earlier_starts={7}, earlier_end_ns=50)
    assert found == expected


def test_a_device_clock_may_differ_a_little_from_the_hosts() -> None:
    event = [EventTimes(0, 0, 1_000_500)]
    assert metrics.flags(event, host_ns=1_000_000, resolution_ns=1) == ()
    assert metrics.flags(event, host_ns=990_000, resolution_ns=1) == (Flag.OUTSIDE_HOST,)


def test_a_submission_long_before_the_host_began_is_noticed() -> None:
    event = EventTimes(5, 10**9, 10**9 + 1000)
    found = metrics.flags([event], host_ns=20_000, resolution_ns=1, earlier_end_ns=10**9 - 4000)
    assert found == (Flag.STALE_SUBMIT,)
    # the span counts from there; start and end do not depend on it, nor does what the host saw
    assert [is_valid(found, metric) for metric in ("span", "device", "wall")] == [False, True, True]


def test_what_invalidates_depends_on_the_metric() -> None:
    assert not is_valid((Flag.STALE,), "device")
    assert not is_valid((Flag.OUTSIDE_HOST,), "wall")
    assert is_valid((Flag.ZERO,), "wall")
    assert is_valid((Flag.SHORT, Flag.OVERLAP, Flag.CLOCK), "device")
    assert is_valid((), "span")


def test_every_flag_is_explained() -> None:
    assert all("," not in flag and flag.meaning for flag in Flag)

"""When a call on other data shows by itself that a variant does all of its work each time."""

from __future__ import annotations

import pytest

from xebench.measuring.less_work import (
    NOISE_NS,
    TIMES_AS_LONG,
    does_no_more,
    does_what_samples_lack,
    usual_commands,
)
from xebench.measuring.place import Call
from xebench.measuring.samples import WAKING_NS
from xebench.measuring.session.recorder import MeasuredSample
from xebench.tables.analysis.metrics import EventTimes
from xebench.vocabulary import Metric

MS = 1_000_000


def call(took_ns: int, kernels: int = 1, executions: int = 1, beside_ns: int = 0) -> Call:
    """Executions of so many kernels that take so long together, after a barrier, and work of the host beside them."""
    part = took_ns // kernels
    times = [EventTimes(0, k * part, (k + 1) * part) for k in range(kernels)]
    commands = [EventTimes(0, 0, 0, "barrier"), *times]
    return Call(MeasuredSample((took_ns + beside_ns) * executions, 0, [commands] * executions), executions)


@pytest.mark.parametrize(
    ("checked", "no_more"),
    [
        (call(MS), True),
        (call(int(TIMES_AS_LONG * MS) + WAKING_NS), True),
        (call(int(TIMES_AS_LONG * MS) + WAKING_NS + 1), False),
        (call(MS, kernels=2), False),
        (call(MS, beside_ns=MS + WAKING_NS), True),
        (call(MS, beside_ns=MS + WAKING_NS + 1), False),
    ],
)
def test_a_call_is_compared_with_the_shortest_sample_and_the_fewest_commands(checked: Call, no_more: bool) -> None:
    samples = [call(5 * MS, kernels=2), call(MS, executions=3), call(9 * MS, kernels=3)]
    assert does_no_more(checked, samples, Metric.DEVICE) is no_more


@pytest.mark.parametrize("more_ns", [0, 1])
def test_a_short_call_is_compared_with_half_of_the_samples(more_ns: int) -> None:
    samples = [call(1_000), call(2_000), call(WAKING_NS)]
    assert does_no_more(call(4_000 + NOISE_NS + more_ns), samples, Metric.DEVICE) is (more_ns == 0)


def test_one_short_sample_or_none_asks_for_another_call() -> None:
    assert not does_no_more(call(MS), [call(MS), call(MS // 10)], Metric.DEVICE)
    assert not does_no_more(call(MS), [], Metric.DEVICE)


def test_time_between_commands_is_no_work() -> None:
    """Threads of a CPU device may fall asleep between short commands in a check, though not in samples."""
    close, apart = (
        [EventTimes(0, k * every_ns, k * every_ns + 1_000) for k in range(8)] for every_ns in (1_500, 20_000)
    )
    samples = [Call(MeasuredSample(MS // 5, 0, [close]), 1)] * 6
    checked = Call(MeasuredSample(MS // 5, 0, [apart]), 1)
    assert does_no_more(checked, samples, Metric.SPAN)
    assert not does_what_samples_lack(checked, checked, samples, Metric.SPAN, anew=False)
    assert does_what_samples_lack(checked, call(MS), samples, Metric.SPAN, anew=False)


@pytest.mark.parametrize("calls", range(1, 9))
@pytest.mark.parametrize("first", [0, 1])
def test_what_every_second_call_does_is_usual(calls: int, first: int) -> None:
    clears, works = ("fill", ""), ("kernel", "work")
    done = [{works, clears} if call % 2 == first else {works} for call in range(calls)]
    assert {*usual_commands(done)} == ({works} if calls == first == 1 else {works, clears})


def test_what_most_calls_leave_out_is_not_usual() -> None:
    assert usual_commands([{("kernel", "work")}, set(), set(), set()]) == []
    assert usual_commands([]) == []

"""Time in which the process was stopped takes nothing from a budget."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from xebench.measuring import machine_monitor
from xebench.measuring.machine_monitor import RunningClock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Seconds since the start, and for how many of them the machine has slept."""
    times = [100.0, 7.0]
    monkeypatch.setattr(time, "monotonic", lambda: times[0])
    monkeypatch.setattr(machine_monitor, "_asleep_s", lambda: times[1])
    before = signal.getsignal(signal.SIGCONT)
    machine_monitor.note_stops()
    yield times
    signal.signal(signal.SIGCONT, before)


def test_a_process_that_runs_loses_no_time(now: list[float]) -> None:
    clock = RunningClock()
    begin = clock()
    now[0] += 20
    assert clock() - begin == 20 and not clock.was_stopped()


def test_what_lies_between_two_looks_is_left_out_when_the_process_was_stopped(now: list[float]) -> None:
    clock = RunningClock()
    begin = clock()
    now[0] += 3
    assert clock() - begin == 3
    os.kill(os.getpid(), signal.SIGCONT)
    now[0] += 17
    assert clock.was_stopped() and not clock.was_stopped()
    assert clock() - begin == 3
    now[0] += 2
    assert clock() - begin == 5


def test_a_wait_is_left_out_likewise(now: list[float]) -> None:
    clock = RunningClock()
    begin = clock()
    with clock.stands_still():
        now[0] += 4
    now[0] += 1
    assert clock() - begin == 1


def test_so_is_a_step_in_which_the_machine_slept(now: list[float]) -> None:
    clock = RunningClock()
    begin = clock()
    now[:] = [now[0] + 0.5, now[1] + 1e-6]
    assert clock() - begin == 0.5, "two clocks are not read at one moment"
    now[:] = [now[0] + 0.5, now[1] + 3600]
    assert clock.was_stopped() and clock() - begin == 0.5

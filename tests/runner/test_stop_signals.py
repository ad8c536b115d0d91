"""When a signal ends a run, and when it must wait."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from signals_kit import signals_heeded

from xebench.runner.resource_limits import Stopped, StoppedEarly, StopSignals, exit_code


@pytest.fixture(autouse=True)
def _heeded() -> Iterator[None]:
    with signals_heeded():
        yield


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_and_later_ones_are_ignored(number: signal.Signals) -> None:
    with StopSignals() as signals:
        with pytest.raises(Stopped) as caught:
            os.kill(os.getpid(), number)
        assert caught.value.name == number.name
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        signals.raise_caught()


def test_a_held_signal_waits_for_the_next_check() -> None:
    reached = []
    with StopSignals() as signals, pytest.raises(Stopped), signals.held():
        os.kill(os.getpid(), signal.SIGTERM)
        reached.append("after the signal")
        signals.raise_caught()
        reached.append("after the check")
    assert reached == ["after the signal"]


def test_a_held_signal_is_not_forgotten() -> None:
    with StopSignals() as signals, pytest.raises(Stopped), signals.held():
        os.kill(os.getpid(), signal.SIGINT)


def test_a_run_that_is_over_is_not_stopped() -> None:
    with StopSignals() as signals:
        signals.ignore()
        os.kill(os.getpid(), signal.SIGTERM)
        signals.raise_caught()


def test_handlers_are_put_back_and_what_was_ignored_stays_ignored() -> None:
    before = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_may_be_in_a_thread() -> None:
    done = []

    def run() -> None:
        with StopSignals() as signals, signals.held():
            done.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done


def test_exit_codes_are_those_of_a_shell() -> None:
    assert (exit_code("SIGINT"), exit_code("SIGTERM")) == (130, 143)
    assert StoppedEarly("SIGTERM").exit_code == 143

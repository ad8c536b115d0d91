"""Rows on their way to the manager, with a fake sender, clock and watch."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import pytest

from xebench.measuring.messages import TableRows

pytestmark = pytest.mark.device  # importing the row stream loads dpctl


class Sender:
    def __init__(self) -> None:
        self.sent: list[tuple[str, list[dict[str, Any]]]] = []

    def send(self, message: TableRows) -> None:
        self.sent.append((message.table, list(message.rows)))

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [row for name, rows in self.sent for row in rows if name == table]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Watch:
    def __init__(self, *changes: tuple[str, ...]) -> None:
        self.changes = list(changes)

    def observe(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        return {"load_average": 1.0}, self.changes.pop(0)


def make() -> tuple[Any, Sender, Clock]:
    from xebench.measuring.samples import RowStream

    sender, clock = Sender(), Clock()
    return RowStream(sender, {"a": "p/a", "b": "p/b"}, 10, clock), sender, clock


def measured(**changed: Any) -> dict[str, Any]:
    return {"block": 0, "state": "hot", "device_ns": 1.0, "valid": True, "sample_flags": "", **changed}


def test_samples_and_their_commands_are_numbered() -> None:
    from xebench.records.events import EventTimes

    rows, sender, _ = make()
    rows.add_sample("a", measured(), [EventTimes(0, 5, 9, "kernel", "k", 1), EventTimes(None, 6, 7, "copy", "m", 0)])
    rows.add_sample("b", measured(), [])
    assert sender.sent == [], "nothing is sent within a range of samples"
    rows.flush()
    assert [(row["case_id"], row["sample_id"]) for row in sender.rows("samples")] == [("p/a", 10), ("p/b", 11)]
    assert [(row["sample_id"], row["sequence"], row["queue"], row["submit_ns"]) for row in sender.rows("events")] == [
        (10, 0, "q1", 0),
        (10, 1, "q0", None),
    ]
    assert sender.rows("machine") == [], "nobody watches"
    rows.flush()
    assert len(sender.sent) == 2


def test_rows_do_not_wait_longer_than_a_crash_may_cost() -> None:
    from xebench.measuring.samples import FLUSH_AFTER_S

    rows, sender, clock = make()
    rows.add_sample("a", measured(), [])
    clock.now += FLUSH_AFTER_S / 2
    rows.add_sample("a", measured(), [])
    assert sender.sent == []
    clock.now += FLUSH_AFTER_S
    rows.add_sample("a", measured(), [])
    assert [row["sample_id"] for row in sender.rows("samples")] == [10, 11, 12]


def test_a_range_of_samples_under_another_state_of_the_machine_is_marked() -> None:
    rows, sender, _ = make()
    with rows.watched(Watch((), ("contended", "cpu_mhz", "gpu_limit_mhz"))):
        rows.add_sample("a", measured(), [])
        rows.add_sample("b", measured(), [])
        rows.flush()
        rows.add_sample("a", measured(sample_flags="short"), [])
        rows.add_sample("b", measured(), [])
    rows.flush()
    assert [row["sample_flags"] for row in sender.rows("samples")] == [
        *("", ""),
        *("short,contention,clock", "contention,clock"),
    ]
    assert sender.rows("machine") == [
        {"first_sample": 10, "last_sample": 11, "load_average": 1.0, "changed": ""},
        {"first_sample": 12, "last_sample": 13, "load_average": 1.0, "changed": "contended,cpu_mhz,gpu_limit_mhz"},
    ]


def test_a_sample_that_hangs_holds_back_no_row_of_those_before() -> None:
    rows, sender, clock = make()
    with rows.watched(Watch((), ())):
        rows.add_sample("a", measured(), [])
        clock.now += 1
        # this thread is the one that hangs now
        deadline = time.monotonic() + 60
        while not sender.rows("machine") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [row["sample_id"] for row in sender.rows("samples")] == [10]
    assert len(sender.rows("samples")) == 1


def throttled(*looks: bool) -> tuple[Any, Sender, Clock, list[float], Any]:
    rows, sender, clock = make()
    waited: list[float] = []
    rows.sleep = waited.append
    return rows, sender, clock, waited, Watch(*(("throttled",) if look else () for look in looks))


def test_samples_of_a_throttled_device_do_not_count_and_it_is_waited_for() -> None:
    from xebench.measuring.samples import COOLING_LOOK_S, FLUSH_AFTER_S

    rows, sender, clock, waited, watch = throttled(True, True, False, False)
    with rows.watched(watch):
        assert rows.add_sample("a", measured(), [])
        clock.now += 2 * FLUSH_AFTER_S
        assert not rows.add_sample("b", measured(), []) and rows.is_throttled
        rows.let_cool()
        assert waited == [COOLING_LOOK_S] * 2 and not rows.is_throttled
        assert rows.add_sample("a", measured(), [])
    assert [row["valid"] for row in sender.rows("samples")] == [False, False, True]
    assert [row["sample_flags"] for row in sender.rows("samples")] == ["throttling", "throttling", ""]


def test_a_device_that_does_not_cool_is_measured_as_it_is() -> None:
    from xebench.measuring.samples import COOLING_S, FLUSH_AFTER_S

    rows, sender, clock, waited, watch = throttled(*[True] * 100)
    with rows.watched(watch):
        for _ in range(2):
            clock.now += 2 * FLUSH_AFTER_S
            rows.add_sample("a", measured(), [])
            rows.let_cool()
    assert sum(waited) == COOLING_S
    assert [(row["valid"], row["sample_flags"]) for row in sender.rows("samples")] == [
        (False, "throttling"),
        (True, "throttling"),
    ]


def test_rows_of_an_error_within_are_sent_and_nobody_watches_on() -> None:
    rows, sender, _ = make()
    with pytest.raises(ZeroDivisionError), rows.watched(Watch(())):
        rows.add_sample("a", measured(), [])
        raise ZeroDivisionError
    assert len(sender.rows("samples")) == len(sender.rows("machine")) == 1
    rows.add_sample("a", measured(), [])
    rows.flush()
    assert len(sender.rows("machine")) == 1


def test_compilation_has_a_row_for_each_stage_and_one_for_the_rest() -> None:
    from xebench.session.session_kernels import Compilation

    rows, sender, _ = make()
    rows.add_compilations("a", [Compilation("k", "typing", 30, False), Compilation("k", "build", 20, False)], 100)
    rows.flush()
    assert [(row["stage"], row["host_ns"]) for row in sender.rows("samples")] == [
        ("typing", 30),
        ("build", 20),
        ("launch", 50),
    ]


def test_rows_of_compilation_are_sent_at_once_and_once_only() -> None:
    from xebench.measuring.samples import RowStream
    from xebench.session.session_kernels import Compilation

    sender = Sender()
    rows: Any = RowStream(sender, {"a": "p/a", "b": "p/b"}, 10, Clock(), compiled=["b"])
    rows.add_compilations("a", [Compilation("k", "build", 30, False)], 100)
    rows.add_compilations("b", [Compilation("k", "build", 30, False)], 100)
    ((table, sent),) = sender.sent
    assert table == "samples" and [(row["case_id"], row["stage"]) for row in sent] == [
        ("p/a", "build"),
        ("p/a", "launch"),
    ]


def test_every_row_fits_its_table() -> None:
    from xebench.measuring.machine_monitor import MachineMonitor
    from xebench.results import schema
    from xebench.session.session_kernels import Compilation

    rows, sender, _ = make()
    with closing(MachineMonitor("cpu")) as watch, rows.watched(watch):
        rows.add_compilations("a", [Compilation("k", "typing", 30, False)], 100)
    for table in ("samples", "machine"):
        assert [schema.measured_row(table, row) for row in sender.rows(table)]

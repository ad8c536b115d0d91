"""One sample: what happens before the clock starts, and its row, with fakes."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest

from xebench.vocabulary import Flag

pytestmark = pytest.mark.device  # importing the session loads dpctl


class Log:
    """Place, flusher and rows in one, to see the order of what is asked of them."""

    def __init__(self, executions: Any, host_ns: int) -> None:
        self.executions = executions
        self.host_ns = host_ns
        self.done: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.limit_gbps = 10.0
        self.covers = True
        self.waited_part: float | None = None

    def flush(self) -> None:
        self.done.append("flush")

    def sample(self, variant: str, batch: int, flush: Any) -> Any:
        from xebench.session.recorder import MeasuredSample

        if flush is not None:
            flush()
        self.done.append(f"measure {batch}")
        return MeasuredSample(self.host_ns, 0, self.executions)

    def begin_sample(self) -> None:
        self.done.append("watch")

    def waited(self, *, on_device_clock: bool) -> float | None:
        return self.waited_part

    def add_sample(self, variant: str, row: dict[str, Any], commands: Any) -> bool:
        self.rows.append({"variant": variant, **row, "kept": len(commands)})
        return bool(row["valid"])


def take(log: Log, metric: str, *, cold: bool = False, batch: int = 1) -> float:
    from xebench.measuring.samples import Rules, SampleTaker
    from xebench.patterns.pattern import Variant

    anything: Any = log
    taker = SampleTaker(anything, lambda: Rules(metric, 1, bytes_moved=1_000_000), log if cold else None)
    variant = Variant("v", "naive", print, (), (), "")
    sample = partial(log.sample, variant.name, batch, taker.flush)
    return taker.take(variant, sample, batch, state="cold" if cold else "hot", block=3, order=1)


def kernel(submit: int, start: int, end: int) -> Any:
    from xebench.records.events import EventTimes

    return EventTimes(submit, start, end, "kernel", "k", 0)


def test_caches_are_flushed_before_the_clock_starts_where_samples_are_cold() -> None:
    log = Log([[kernel(0, 10, 1_000_010)]], 1_100_000)
    assert take(log, "device", cold=True) == 1_000_000
    assert log.done == ["watch", "flush", "measure 1"]
    assert (log.rows[0]["state"], log.rows[0]["block"], log.rows[0]["order"]) == ("cold", 3, 1)
    hot = Log([[kernel(0, 10, 1_000_010)]], 1_100_000)
    take(hot, "device")
    assert hot.done == ["watch", "measure 1"]


@pytest.mark.parametrize(("metric", "expected"), [("device", 1000.0), ("span", 1105.0), ("wall", 2500.0)])
def test_the_times_of_a_batch_are_those_of_one_execution(metric: str, expected: float) -> None:
    log = Log([[kernel(0, 100, 1000)], [kernel(2000, 2110, 3210)]], 5000)
    assert take(log, metric, batch=2) == expected
    (row,) = log.rows
    assert (row["batch"], row["host_ns"], row["device_ns"], row["span_ns"], row["queue_ns"]) == (
        2,
        2500.0,
        1000.0,
        1105.0,
        105.0,
    )
    assert (row["events"], row["kept"]) == (1, 2), "the commands of every execution are kept"


def test_gaps_between_executions_do_not_count() -> None:
    log = Log([[kernel(0, 10, 1010)], [kernel(900_000, 900_010, 901_010)]], 1_000_000)
    assert take(log, "span", batch=2) == 1010


def test_a_sample_that_cannot_be_trusted_has_a_row_and_no_value() -> None:
    log = Log([[kernel(0, 10, 5_000)]], 100)
    assert math.isnan(take(log, "device"))
    assert log.rows[0]["valid"] is False and log.rows[0]["sample_flags"] == Flag.OUTSIDE_HOST


def test_a_sample_in_which_the_process_was_stopped_does_not_count() -> None:
    from xebench.measuring import machine_monitor

    class Stopped(Log):
        def sample(self, variant: str, batch: int, flush: Any) -> Any:
            machine_monitor._continued(18, None)
            return super().sample(variant, batch, flush)

    one, metrics = [kernel(0, 10, 17_000_000_010)], ("device", "span", "wall")
    for metric in metrics:
        assert math.isnan(take(log := Stopped([one], 17_100_000_000), metric))
        assert log.rows[0]["sample_flags"] == Flag.STOPPED and not log.rows[0]["valid"]
    assert take(Log([one], 17_100_000_000), "device") == 17_000_000_000, "a long one is not taken for that"


def test_a_cold_sample_faster_than_the_memory_is_no_cold_sample() -> None:
    log = Log([[kernel(0, 10, 10_010)]], 20_000)  # 1 MB in 10 us: 100 GB/s
    assert math.isnan(take(log, "device", cold=True))
    assert log.rows[0]["sample_flags"] == "not cold"
    log.limit_gbps = 200.0
    assert take(log, "device", cold=True) == 10_000
    log.covers = False
    assert take(log, "device", cold=True) == 10_000, "it counts, and says what is not known"
    assert log.rows[-1]["sample_flags"] == "cache size unknown"


def test_the_clock_of_another_process_may_have_another_zero() -> None:
    from xebench.measuring.samples import Rules, SampleTaker
    from xebench.patterns.pattern import Variant

    here, ranks = (Variant(name, "naive", print, (), (), "", ranks=count) for name, count in (("v", 0), ("r", 2)))
    other, same = (Variant(name, "naive", print, (), (), "", {"B": "2", "A": "1"}) for name in ("w", "x"))
    no_rows: Any = None
    taker = SampleTaker(no_rows, lambda: Rules("device", 1.0))
    assert taker.rules_of(other) is taker.rules_of(same) is taker.rules_of(other)
    assert len({id(taker.rules_of(variant)) for variant in (here, ranks, other)}) == 3


@pytest.mark.parametrize(("waited", "flags"), [(None, ""), (0.05, ""), (0.2, "contention")])
def test_a_sample_whose_cores_others_had_is_flagged(waited: float | None, flags: str) -> None:
    log = Log([[kernel(0, 10, 1_000_010)]], 1_100_000)
    log.waited_part = waited
    take(log, "device")
    assert (log.rows[0]["waited"], log.rows[0]["sample_flags"], log.rows[0]["valid"]) == (waited, flags, True)

"""What becomes of a worker that crashes or hangs, with fake workers that follow a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from harness.errors import BrokenEnvironment, XebenchError
from harness.patterns.info import PatternInfo, VariantInfo
from harness.patterns.plan import Family
from harness.runner.manager import Manager
from harness.runner.process import WorkerDied, WorkerHung
from harness.runner.sampler import Sampling

INFO = PatternInfo(
    name="p",
    family="f",
    guide="g",
    lesson="l",
    catalogue=("E1",),
    metric="device",
    claim={},
    presets={"smoke": {}},
    axes={},
    variants=tuple(VariantInfo(n, r, {"gpu": "faster"}, "") for n, r in (("a", "naive"), ("b", "optimized"))),
    source="p.py",
)
FAMILY = Family(INFO, "smoke", {}, {})


class Beacon:
    def __init__(self) -> None:
        self.state: tuple[int | None, str] = (None, "idle")

    def read(self) -> tuple[int | None, str]:
        return self.state


class ScriptedWorker:
    """Answers with the steps of a script: messages, exceptions, or what the beacon shows from then on."""

    def __init__(self, script: Iterator[Any]) -> None:
        self.script = script
        self.beacon = Beacon()
        self.asked: list[Mapping[str, Any]] = []
        self.closed = False

    def ask(self, kind: str, **content: Any) -> None:
        self.asked.append({"kind": kind, **content})

    def listen(self, timeout_s: float) -> Mapping[str, Any]:
        step = next(self.script)
        if isinstance(step, tuple):
            self.beacon.state = step
            return self.listen(timeout_s)
        if isinstance(step, BaseException):
            raise step
        return step

    def close(self) -> None:
        self.closed = True


class Sink:
    def __init__(self) -> None:
        self.rows: list[tuple[str, dict[str, Any]]] = []

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows += [(table, dict(row)) for row in rows]

    def last_cases(self) -> dict[str, tuple[str, str]]:
        return {row["variant"]: (row["status"], row["reason"]) for table, row in self.rows if table == "cases"}


READY, DONE = {"kind": "ready"}, {"kind": "done"}


def case(variant: str, status: str = "ok") -> dict[str, Any]:
    return {"kind": "case", "variant": variant, "status": status, "reason": ""}


def samples(*numbers: int) -> dict[str, Any]:
    return {"kind": "rows", "table": "samples", "rows": [{"sample": number} for number in numbers]}


def manage(*scripts: Sequence[Any]) -> tuple[Manager, Sink, list[ScriptedWorker]]:
    workers = [ScriptedWorker(iter(script)) for script in scripts]
    waiting = iter(workers)
    sink = Sink()
    manager = Manager(
        {"device": "opencl:cpu:0", "device_class": "cpu"},
        sink,
        sampling=Sampling(),
        timeout_s=1,
        seed=1,
        make_worker=lambda device: next(waiting),  # type: ignore[arg-type, return-value]
    )
    return manager, sink, workers


def test_a_family_that_goes_well_is_asked_for_once() -> None:
    manager, sink, (worker,) = manage([READY, samples(0, 1), case("a"), case("b"), DONE])
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}
    assert worker.asked[0]["variants"] == ["a", "b"]
    assert [table for table, _ in sink.rows] == ["cases", "cases", "samples", "samples", "cases", "cases"]
    assert sink.rows[0][1]["claim"] is None, "a claim for GPUs must not be counted for a CPU device"


def test_a_crash_costs_the_variant_that_was_at_work() -> None:
    manager, sink, workers = manage(
        [READY, samples(0), (0, "check"), WorkerDied("signal SIGABRT")],
        [READY, samples(1), case("b"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "ok"}
    assert sink.last_cases()["a"] == ("crashed", "check: signal SIGABRT")
    assert workers[0].closed
    assert workers[1].asked[0]["variants"] == ["b"]
    assert workers[1].asked[0]["first_sample"] == 1, "numbers of samples must not repeat"
    assert workers[1].asked[0]["first_block"] > 0, "blocks of two attempts must not be mixed"


def test_a_hang_is_told_from_a_crash() -> None:
    manager, sink, _ = manage(
        [READY, (1, "sample"), WorkerHung("no answer for 1 s")],
        [READY, case("a"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "timeout"}
    assert sink.last_cases()["b"] == ("timeout", "sample: no answer for 1 s")


def test_a_crash_before_any_variant_costs_the_family_but_not_the_next_one() -> None:
    manager, sink, _ = manage(
        [READY, (None, "problem"), WorkerDied("signal SIGKILL")],
        [READY, case("a"), case("b"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "crashed"}
    assert sink.last_cases()["b"] == ("crashed", "problem: signal SIGKILL")
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}


def test_every_variant_may_crash() -> None:
    manager, _, _ = manage(
        [READY, (0, "check"), WorkerDied("x")],
        [READY, (0, "check"), WorkerDied("y")],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "crashed"}


def test_cases_are_on_disk_before_they_are_measured() -> None:
    manager, sink, _ = manage([READY, KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        manager.run_family(FAMILY)
    assert sink.last_cases()["a"] == ("interrupted", "the run ended before this case did")
    assert json.loads(sink.rows[0][1]["axes"]) == {}


def test_a_worker_that_cannot_start_ends_the_run_with_its_reason() -> None:
    manager, _, _ = manage([{"kind": "failed", "reason": "no device 'x'", "exit_code": 3}])
    with pytest.raises(XebenchError, match="no device 'x'") as caught:
        manager.run_family(FAMILY)
    assert caught.value.exit_code == 3
    manager, _, _ = manage([WorkerDied("exit status 127")])
    with pytest.raises(BrokenEnvironment, match="exit status 127"):
        manager.run_family(FAMILY)

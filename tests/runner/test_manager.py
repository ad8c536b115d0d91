"""What becomes of a worker that crashes or hangs, with fake workers that follow a script."""

from __future__ import annotations

import json
import signal
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from xebench.errors import BrokenEnvironment, NoDevice, XebenchError
from xebench.measuring.case_rows import CaseResult, Work, fixed_columns
from xebench.measuring.device_worker import DeviceWorker
from xebench.measuring.messages import (
    Done,
    Failed,
    Finished,
    FinishFamily,
    Instance,
    MeasureInstance,
    Ready,
    Stage,
    Step,
    TableRows,
)
from xebench.measuring.sampling import Sampling
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.patterns.registry import builtin_files
from xebench.records.claim import Claim, from_json
from xebench.results.analysis.summaries import CheckRow
from xebench.runner.family_progress import FamilyProgress
from xebench.runner.manager import END_GRACE_S, GRACE_S, Manager
from xebench.runner.resource_limits import Stopped
from xebench.runner.round_plan import Round
from xebench.system.children.worker import WorkerDied, WorkerHung, WorkerKilled
from xebench.vocabulary import State, Status

CLAIMS = {"a": (), "b": (Claim("faster", against="a", on=("gpu",)),)}
INFO = PatternInfo(
    name="p",
    chapter="f",
    guide="g",
    lesson="l",
    catalogue=("E1",),
    metric="device",
    presets={"smoke": {}},
    axes={},
    variants=tuple(VariantInfo(n, r, CLAIMS[n], "") for n, r in (("a", "naive"), ("b", "optimized"))),
    source="p.py",
)
FAMILY = Family(INFO, "smoke", {}, {})


#: Limits by which a family is over after one instance.
ONE = Sampling(min_instances=1, few_instances=1)


#: The same after two rounds of an instance each.
TWO_ROUNDS = Sampling(min_instances=2, few_instances=2)


class Activity:
    def __init__(self) -> None:
        self.state: tuple[int | None, str] = (None, "idle")

    def read(self, names: Sequence[str]) -> tuple[str | None, str]:
        number, stage = self.state
        return None if number is None else names[number], stage


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class ScriptedWorker:
    """Answers with the steps of a script: messages, exceptions, what it is doing from then on, seconds to pass.

    It finishes a family by itself, unless the next step is a list of those to do instead.
    """

    def __init__(self, script: Iterable[Any], clock: Clock) -> None:
        self.script = deque(script)
        self.clock = clock
        self.timeouts: list[float] = []
        self.activity = Activity()
        self.is_large = False
        self.asked: list[MeasureInstance] = []
        self.finished: list[FinishFamily] = []
        self.closed = False
        self.killed = False
        self._last: dict[str, CaseResult] = {}
        self._replies: list[Any] = []

    def ask(self, request: MeasureInstance | FinishFamily) -> None:
        if isinstance(request, FinishFamily):
            self.finished.append(request)
            own = self.script[0] if self.script and isinstance(self.script[0], list) else None
            self._replies = [Finished(self._last, {}), DONE] if own is None else list(self.script.popleft())
        else:
            self.asked.append(request)

    def listen(self, timeout_s: float, look: Callable[[], None] = lambda: None) -> Any:
        step = self._replies.pop(0) if self._replies else self.script.popleft()
        if isinstance(step, Instance):
            self._last = dict(step.results)
        if isinstance(step, tuple | float):
            if isinstance(step, tuple):
                self.activity.state = step
            else:
                self.clock.now += step
            look()
            return self.listen(timeout_s, look)
        self.timeouts.append(timeout_s)
        if isinstance(step, BaseException):
            raise step
        return step

    def kill(self) -> None:
        self.killed = True

    def close(self) -> None:
        self.closed = True


class Sink:
    def __init__(self) -> None:
        self.rows: list[tuple[str, dict[str, Any]]] = []

    def append(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.rows += [(table, dict(row)) for row in rows]

    def append_checks(self, checks: Iterable[CheckRow]) -> None:
        self.append("checks", [check._asdict() for check in checks])

    def last_cases(self) -> dict[str, tuple[str, str]]:
        return {row["variant"]: (row["status"], row["reason"]) for table, row in self.rows if table == "cases"}


READY, DONE = Ready(), Done()
ALL_MADE = Step(None, Stage.CHECK)


def got(variants: str = "ab", state: State = State.HOT, **fields: Any) -> Instance:
    """An instance of these variants, which are ok unless their status is given."""
    statuses = {name: Status(fields.pop(name, "ok")) for name in variants}
    results = {name: CaseResult(status, "") for name, status in statuses.items()}
    return Instance(**{"number": 0, "state": state, "results": results, **fields})


def compiled(variant: str, number: int) -> TableRows:
    row = {"case_id": f"p/{variant}/smoke/-/cpu", "state": "compile", "block": -1, "instance": None, "sample_flags": ""}
    return TableRows("samples", [{**row, "sample_id": number}])


def samples(*numbers: int, block: int = 0, flags: str = "") -> TableRows:
    key = {"case_id": "p/a/smoke/-/cpu", "state": "hot", "block": block, "instance": 0, "sample_flags": flags}
    return TableRows("samples", [{**key, "sample_id": number} for number in numbers])


def manage(*scripts: Sequence[Any], **options: Any) -> tuple[Manager, Sink, list[ScriptedWorker]]:
    clock = Clock()
    workers = [ScriptedWorker(script, clock) for script in scripts]
    waiting = iter(workers)
    sink = Sink()
    manager = Manager(
        {"device": "opencl:cpu:0", "device_class": "cpu"},
        sink,
        DeviceWorker(lambda environment: next(waiting)),  # type: ignore[arg-type]
        **{"sampling": ONE, "timeout_s": 1, **options},
        seed=1,
        clock=clock,
    )
    return manager, sink, workers


def test_a_family_that_goes_well_is_asked_for_once() -> None:
    manager, sink, (worker,) = manage([READY, samples(0, 1), got(), DONE])
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}
    assert worker.asked[0].variants == ["a", "b"]
    tables = [table for table, _ in sink.rows]
    of_round = ["cases", "cases"]  # with its seconds
    assert tables == ["cases", "cases", "samples", "samples", "checks", "checks", "cases", "cases", *of_round]
    assert [from_json(row["claims"]) for _, row in sink.rows[:2]] == [[], [*CLAIMS["b"]]]


def test_a_crash_costs_the_variant_that_was_at_work() -> None:
    manager, sink, workers = manage(
        [READY, samples(0, block=17), (0, "sample"), WorkerDied("signal SIGABRT")],
        [READY, samples(1, block=18), got("b"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "ok"}
    assert sink.last_cases()["a"] == ("crashed", "sample: signal SIGABRT")
    assert workers[0].closed
    assert workers[1].asked[0].variants == ["b"]
    assert workers[1].asked[0].first_sample == 1, "numbers of samples must not repeat"
    assert workers[1].asked[0].first_block == 18, "blocks of two attempts must not be mixed"


def test_a_hang_is_told_from_a_crash() -> None:
    manager, sink, _ = manage(
        [READY, (1, "sample"), WorkerHung("no answer for 1 s")],
        [READY, got("a"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "timeout"}
    assert sink.last_cases()["b"] == ("timeout", "sample: no answer for 1 s")


def test_a_crash_before_any_variant_costs_the_family_but_not_the_next_one() -> None:
    manager, sink, _ = manage(
        [READY, (None, "problem"), WorkerDied("signal SIGKILL")],
        [READY, got(), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "crashed"}
    assert sink.last_cases()["b"] == ("crashed", "problem: signal SIGKILL")
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}


def test_an_instance_that_a_worker_told_before_it_fell_stands() -> None:
    manager, sink, _ = manage(
        [READY, (1, "recheck"), WorkerDied("signal SIGSEGV")],
        [READY, got("a"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "crashed"}
    assert sink.last_cases()["a"] == ("ok", "")
    manager, sink, workers = manage([READY, got(), (None, "idle"), WorkerDied("exit status 1")])
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}
    assert workers[0].closed


def test_what_was_measured_before_a_worker_fell_is_not_measured_again() -> None:
    manager, sink, _ = manage(
        [READY, samples(0), got(speedups={"b": [0.1] * 9}), DONE, samples(1), (1, "sample"), WorkerDied("x")],
        [READY, samples(2), got("a"), DONE],
        sampling=Sampling(min_instances=2, few_instances=2),
    )
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "crashed"}
    assert checks(sink) == [(A, 0, 1, "passed"), (B, 0, 1, "passed"), (A, 2, 3, "passed")]
    progress = manager.progress_of(FAMILY)
    assert progress is not None and len(progress.instances) == 2


def test_an_instance_is_on_disk_before_the_next_one_begins() -> None:
    manager, sink, _ = manage(
        [READY, samples(0), got(), DONE, samples(1), Stopped(2), WorkerDied("signal SIGKILL")],
        sampling=Sampling(min_instances=2, few_instances=2),
    )
    with pytest.raises(Stopped):
        manager.run_family(FAMILY)
    assert set(sink.last_cases().values()) == {("ok", "")}
    stopped_by = [row["stopped_by"] for table, row in sink.rows if table == "cases"]
    assert stopped_by[-2:] == ["round"] * 2, "another session comes to it again"


BUILTIN = [Family(msgspec.structs.replace(INFO, source=str(file)), "smoke", {}, {}) for file in builtin_files()[:2]]


@pytest.mark.parametrize(
    "failure",
    [
        [got(b="wrong"), DONE],
        [got(a="error"), DONE],
        [(0, "sample"), WorkerDied("signal SIGABRT")],
        [(1, "check"), WorkerHung("no answer for 1 s")],
        [Failed("no memory", 1)],
    ],
)
def test_a_failure_that_may_be_another_files_is_tried_again_in_a_new_worker(failure: Sequence[Any]) -> None:
    other, family = BUILTIN
    good = [got(), DONE]
    manager, sink, workers = manage([READY, *good, samples(0), *failure], [READY, samples(1), *good])
    assert manager.run_family(other) == {"a": "ok", "b": "ok"}
    assert manager.run_family(family) == {"a": "ok", "b": "ok"}
    assert workers[0].closed and workers[1].asked[0].variants == ["a", "b"], "a pair has both sides in one worker"
    assert [row["first_sample"] for table, row in sink.rows if table == "checks"][-2:] == [1, 1]
    assert {status for status, _ in sink.last_cases().values()} == {"ok"}


def test_a_failure_in_a_worker_that_served_no_other_file_counts() -> None:
    other, family = BUILTIN
    wrong = [got(b="wrong"), DONE]
    manager, _, workers = manage([READY, *wrong, *wrong], [READY, *wrong])
    assert manager.run_family(other)["b"] == "wrong" and len(workers[0].asked) == 1
    assert manager.run_family(family)["b"] == "wrong"
    assert len(workers[0].asked) == 2 and len(workers[1].asked) == 1


def test_a_failure_that_is_claimed_is_not_tried_again() -> None:
    variants = (INFO.variants[0], VariantInfo("b", "antipattern", (Claim("wrong"),), ""))
    other, family = (
        Family(msgspec.structs.replace(one.pattern, variants=variants), "smoke", {}, {}) for one in BUILTIN
    )
    wrong = [got(b="wrong"), DONE]
    manager, _, workers = manage([READY, *wrong, *wrong])
    assert manager.run_family(other) == manager.run_family(family) == {"a": "ok", "b": "wrong"}
    assert len(workers) == 1 and len(workers[0].asked) == 2


def test_a_worker_that_ends_when_all_is_told_has_failed_with_nothing() -> None:
    other, family = BUILTIN
    good = [got(), DONE]
    manager, *_ = manage([READY, *good, *good[:2], (None, "idle"), WorkerDied("exit status 1")])
    assert manager.run_family(other) == manager.run_family(family) == {"a": "ok", "b": "ok"}


def test_variables_that_no_worker_starts_with_are_the_error_of_their_pattern() -> None:
    info = msgspec.structs.replace(INFO, environment={"OCL_ICD_FILENAMES": "/none"})
    manager, sink, _ = manage([Failed("no device", NoDevice.exit_code)], [READY, got(), DONE])
    assert manager.run_family(Family(info, "smoke", {}, {})) == {"a": "error", "b": "error"}
    reason = "with environment={'OCL_ICD_FILENAMES': '/none'}: the worker failed: no device"
    assert set(sink.last_cases().values()) == {("error", reason)}
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}, "it is another family, with no variables"


def test_a_file_that_was_changed_during_the_run_is_measured_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    manager, sink, _ = manage([READY, got(), DONE])
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}
    monkeypatch.setattr("xebench.runner.manager.is_as_declared", lambda info: False)
    assert manager.run_family(FAMILY, Round(1)) == {"a": "ok", "b": "ok"}, "what was found before stands"
    progress = manager.progress_of(FAMILY)
    assert progress is not None and progress.is_over
    manager, sink, _ = manage()
    assert manager.run_family(FAMILY) == {"a": "error", "b": "error"}
    reason = "not measured: the pattern file was changed during the run: measure it again"
    assert set(sink.last_cases().values()) == {("error", reason)}
    builtin = Family(msgspec.structs.replace(INFO, source=str(builtin_files()[0])), "smoke", {}, {})
    manager, *_ = manage([READY, got(), DONE])
    assert manager.run_family(builtin) == {"a": "ok", "b": "ok"}, "no run reads a built-in file alone"


def test_exhausted_memory_is_recorded_as_such() -> None:
    manager, sink, _ = manage(
        [READY, (0, "check"), WorkerDied("out of memory: 9 GiB")],
        [READY, got("b"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "ok"}
    assert sink.last_cases()["a"] == ("crashed", "check: out of memory: 9 GiB")


def test_a_variant_whose_worker_is_killed_from_outside_waits_for_another_session() -> None:
    killed = WorkerKilled("killed from outside (signal SIGKILL)")
    manager, sink, workers = manage(
        [READY, (0, "sample"), killed],
        [READY, got("b"), DONE, got("b"), DONE],
        sampling=TWO_ROUNDS,
    )
    assert manager.run_family(FAMILY, Round(0, 1.0, 1)) == {"a": "interrupted", "b": "ok"}
    assert manager.run_family(FAMILY, Round(1)) == {"a": "interrupted", "b": "ok"}
    assert sink.last_cases()["a"] == ("interrupted", "sample: killed from outside (signal SIGKILL)")
    assert [request.variants for worker in workers for request in worker.asked] == [["a", "b"], ["b"], ["b"]]


def test_no_file_is_to_blame_for_a_kill_from_outside_and_a_line_tells_of_it() -> None:
    said: list[str] = []
    other, family = BUILTIN
    killed = WorkerKilled("killed from outside (signal SIGKILL)")
    manager, *_ = manage([READY, got(), DONE, killed], [READY, got(), DONE], say=said.append)
    manager.run_family(other)
    assert manager.run_family(family) == {"a": "interrupted", "b": "interrupted"}, "all waited for the worker"
    assert manager.worker_was_killed
    assert said == ["p: a worker was killed from outside (signal SIGKILL)"]


def test_a_kill_when_all_is_measured_costs_nothing_but_a_line_tells_of_it() -> None:
    said: list[str] = []
    killed = WorkerKilled("killed from outside (signal SIGKILL)")
    manager, *_ = manage([READY, got(), DONE, [(0, "sample"), killed]], say=said.append)
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}
    assert said == ["p: a worker was killed from outside (signal SIGKILL)"]


def test_a_variant_that_crashes_when_it_is_traced_is_crashed() -> None:
    manager, _, _ = manage([READY, got(), DONE, [(1, "sample"), WorkerDied("signal SIGSEGV")]])
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "crashed"}
    manager, _, _ = manage([READY, got(), DONE, [(None, "idle"), WorkerDied("signal SIGSEGV")]])
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}, "at an odd size nothing is lost"


def test_the_budget_that_ends_after_a_kill_does_not_take_its_reason() -> None:
    manager, sink, _ = manage([READY, (0, "check"), 6.0, WorkerKilled("out of memory: the system killed the worker")])
    assert manager.run_family(FAMILY, budget_s=5.0) == {"a": "interrupted", "b": "interrupted"}
    assert sink.last_cases()["a"] == ("interrupted", "check: out of memory: the system killed the worker")


def test_what_a_problem_states_outlasts_a_round_in_which_it_cannot_be_made() -> None:
    work = Work(bytes_moved=8, operations=None, operation_kind="fp32", slm_bytes=None)
    first = got(results={name: CaseResult(Status.OK, "", work=work) for name in "ab"})
    manager, sink, _ = manage([READY, first, DONE, got(a="error", b="error"), DONE], sampling=TWO_ROUNDS)
    manager.run_family(FAMILY, Round(0, 1.0, 1))
    assert manager.run_family(FAMILY, Round(1)) == {"a": "error", "b": "error"}
    assert sink.rows[-1][1]["bytes_moved"] == 8


def test_a_worker_that_gives_up_costs_the_family_but_not_the_run() -> None:
    manager, sink, _ = manage(
        [READY, Failed("the pattern file is gone", 2)],
        [READY, got(), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "error", "b": "error"}
    assert sink.last_cases()["b"] == ("error", "the pattern file is gone")
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "ok"}


def test_a_stop_keeps_what_the_worker_had_sent() -> None:
    stop = Stopped(signal.SIGTERM)
    manager, sink, (worker,) = manage([READY, samples(0), stop, samples(1, 2), WorkerDied("signal SIGKILL")])
    with pytest.raises(Stopped):
        manager.run_family(FAMILY)
    assert worker.killed
    assert [row["sample_id"] for table, row in sink.rows if table == "samples"] == [0, 1, 2]
    assert sink.last_cases()["a"][0] == "interrupted"


def test_a_resumed_run_goes_on_counting() -> None:
    manager, _, (worker,) = manage([READY, samples(70, block=31), got(), DONE, got(), DONE], first=(70, 30))
    manager.run_family(FAMILY)
    manager.run_family(FAMILY)
    asked = [(request.first_sample, request.first_block) for request in worker.asked]
    assert asked == [(70, 30), (71, 30)], "families may share block numbers, sessions may not"


def test_sampling_takes_no_longer_than_the_run_has_left() -> None:
    manager, _, (worker,) = manage([READY, got(), DONE, got(), DONE])
    manager.run_family(FAMILY, budget_s=1.5)
    manager.run_family(FAMILY)
    assert [request.limits.left_s for request in worker.asked] == [1.5, ONE.budget_s]


def test_samples_are_marked_while_something_disturbs_them() -> None:
    flags = iter([(), ("shared device",)])
    manager, sink, _ = manage(
        [READY, samples(0), samples(1, flags="short"), got(), DONE], sample_flags=lambda: next(flags)
    )
    manager.run_family(FAMILY)
    assert [row["sample_flags"] for table, row in sink.rows if table == "samples"] == ["", "short,shared device"]


def test_families_are_announced_with_the_reason_for_which_they_have_no_result() -> None:
    manager, sink, _ = manage()
    manager.announce([FAMILY], "not measured: no time")
    assert sink.last_cases() == dict.fromkeys("ab", ("interrupted", "not measured: no time"))


def test_every_variant_may_crash() -> None:
    manager, _, _ = manage(
        [READY, (0, "check"), WorkerDied("x")],
        [READY, (1, "check"), WorkerDied("y")],
    )
    assert manager.run_family(FAMILY) == {"a": "crashed", "b": "crashed"}


def test_cases_are_on_disk_before_they_are_measured() -> None:
    manager, sink, _ = manage([READY, KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        manager.run_family(FAMILY)
    assert sink.last_cases()["a"] == ("interrupted", "the run ended before this case did")
    assert json.loads(sink.rows[0][1]["preset_parameters"]) == {}


def test_a_worker_that_cannot_start_ends_the_run_with_its_reason() -> None:
    manager, _, _ = manage([Failed("no device 'x'", 3)])
    with pytest.raises(XebenchError, match="no device 'x'") as caught:
        manager.run_family(FAMILY)
    assert caught.value.exit_code == 3
    manager, _, _ = manage([WorkerDied("exit status 127")])
    with pytest.raises(BrokenEnvironment, match="exit status 127"):
        manager.run_family(FAMILY)
    manager, _, _ = manage([READY, WorkerDied("signal SIGSEGV")])
    with pytest.raises(BrokenEnvironment, match="instrument failed: signal SIGSEGV"):
        manager.measure_instrument()


def test_a_later_round_goes_on_with_what_is_good() -> None:
    first = got(b="wrong", speedups={"b": [0.1, 0.2]}, blocks=8, seconds=2.0)
    manager, _, (worker,) = manage(
        [
            *(READY, compiled("a", 0), compiled("b", 1), samples(2, 3, block=7), first),
            *(DONE, samples(4), got("a", enough=False, seconds=7.0), DONE),
        ],
        sampling=Sampling(budget_s=9.0, max_blocks=90),
    )
    assert manager.run_family(FAMILY, Round(0, 3.0, 1)) == {"a": "ok", "b": "wrong"}
    progress = manager.progress_of(FAMILY)
    assert progress is not None and progress.results["a"].stopped_by == "round"
    assert manager.run_family(FAMILY, Round(1, 8.0, 1)) == {"a": "ok", "b": "wrong"}
    one, two = worker.asked
    assert (one.variants, two.variants) == (["a", "b"], ["a"])
    assert (one.first_block, two.first_block) == (0, 8)
    assert (one.number, two.number) == (0, 1)
    assert (one.compiled, two.compiled) == ([], ["a"])
    assert one.limits.left_s == 3.0
    assert two.limits.left_s == 7.0, "no round takes more than the family has left"
    assert one.limits.sampling.max_blocks == 15, "blocks and time for one instance of six"
    assert progress.results["a"].stopped_by == "budget"
    assert [request.first for request in worker.finished] == [True, True], "nothing was traced"


def test_what_crashes_in_a_later_round_is_crashed() -> None:
    manager, sink, _ = manage(
        [
            *(READY, got(), DONE),
            *((0, "sample"), WorkerDied("signal SIGSEGV")),
        ],
        [READY, got("b"), DONE],
        sampling=TWO_ROUNDS,
    )
    manager.run_family(FAMILY, Round(0, 1.0, 1))
    before = len(sink.rows)
    assert manager.run_family(FAMILY, Round(1)) == {"a": "crashed", "b": "ok"}
    assert all(row["status"] != "interrupted" for table, row in sink.rows[before:] if table == "cases")
    assert sink.last_cases()["a"] == ("crashed", "sample: signal SIGSEGV")
    crashed, _ = [row for table, row in sink.rows if table == "cases" and row["status"] == "crashed"]
    assert crashed["stopped_by"] == "", "no round is waited for"


def test_a_stop_in_a_later_round_leaves_what_was_found() -> None:
    manager, sink, _ = manage([READY, got(), DONE, Stopped(2), WorkerDied("signal SIGKILL")], sampling=TWO_ROUNDS)
    manager.run_family(FAMILY, Round(0, 1.0, 1))
    with pytest.raises(Stopped):
        manager.run_family(FAMILY, Round(1))
    assert {status for status, _ in sink.last_cases().values()} == {"ok"}


def test_a_family_of_an_earlier_session_gets_its_last_round() -> None:
    sampling = Sampling(budget_s=9.0, min_instances=2, few_instances=2)
    manager, sink, (worker,) = manage([READY, samples(70, block=31), got(), DONE], sampling=sampling, first=(70, 30))
    fixed = fixed_columns(FAMILY, {"device": "opencl:cpu:0", "device_class": "cpu"}, 1)
    manager.restore(
        FamilyProgress(
            FAMILY,
            fixed,
            sampling,
            next_block=30,
            next_instance=4,
            instances=[got(speedups={"b": [0.1, 0.2, 0.3]})],
            results=dict.fromkeys("ab", CaseResult(Status.OK, "", facts={"traced": "{}"})),
            lost_s=6.0,
            compiled={"a", "b"},
        )
    )
    assert manager.run_family(FAMILY, Round(2)) == {"a": "ok", "b": "ok"}
    (asked,) = worker.asked
    assert (asked.first_block, asked.number, asked.compiled) == (30, 4, ["a", "b"])
    assert asked.limits.left_s == pytest.approx(3.0)
    assert [request.first for request in worker.finished] == [False]
    assert sink.rows[0][0] == "samples", "its cases are not announced again"


def test_rows_of_compilation_are_asked_for_once() -> None:
    manager, _, workers = manage(
        [READY, compiled("a", 0), (1, "check"), WorkerDied("signal SIGSEGV")],
        [READY, got("a"), DONE],
    )
    assert manager.run_family(FAMILY) == {"a": "ok", "b": "crashed"}
    assert [worker.asked[0].compiled for worker in workers] == [[], ["a"]]


def test_a_lost_worker_has_spent_its_part_of_the_budget_but_for_its_silence() -> None:
    over = got("b", seconds=0.5, enough=False)
    manager, _, workers = manage(
        [READY, 30.0, samples(0), 4.0, samples(1), (0, "sample"), 120.0, WorkerHung("no answer for 120 s")],
        [READY, over, DONE, got("b", enough=False, seconds=4.5), DONE],
        sampling=Sampling(budget_s=9.0, min_instances=2, few_instances=2),
        timeout_s=120,
    )
    manager.run_family(FAMILY, Round(0, 4.5, 1))
    manager.run_family(FAMILY, Round(1))
    asked = [request.limits.left_s for worker in workers for request in worker.asked]
    assert asked == [4.5, 0.5, 4.5], "what is left of the round, and then of all"


def test_the_budget_of_the_run_is_of_all_attempts() -> None:
    manager, sink, workers = manage(
        [READY, (0, "check"), 3.0, WorkerDied("x")],
        [READY, (1, "check"), 3.0, WorkerDied("y")],
    )
    assert manager.run_family(FAMILY, budget_s=5.0) == {"a": "crashed", "b": "crashed"}
    assert [worker.asked[0].limits.left_s for worker in workers] == [5.0, 2.0]
    manager, sink, workers = manage([READY, (0, "check"), 6.0, WorkerDied("x")])
    assert manager.run_family(FAMILY, budget_s=5.0) == {"a": "crashed", "b": "interrupted"}
    assert sink.last_cases()["b"] == ("interrupted", "not measured: the budget for the run is spent")


def test_a_hang_does_not_outlast_the_budget_of_the_run() -> None:
    hung = WorkerHung("no answer for 6 s")
    manager, sink, (worker,) = manage([READY, 2.0, samples(0), (1, "sample"), 6.0, hung], timeout_s=600)
    assert manager.run_family(FAMILY, budget_s=5.0) == {"a": "interrupted", "b": "interrupted"}
    assert worker.timeouts[1:] == [END_GRACE_S + 5, END_GRACE_S + 3]
    assert worker.closed
    why = "not measured: the budget for the run is spent (b in sample: no answer for 6 s)"
    assert sink.last_cases() == dict.fromkeys("ab", ("interrupted", why)), "nobody knows whether it hangs"


def test_a_worker_that_goes_on_and_on_does_not_outlast_the_budget_of_the_run_either() -> None:
    steps = [step for number in range(3) for step in (2.0, samples(number))]
    manager, _, (worker,) = manage([READY, *steps, 2.0, WorkerHung("no answer for 0 s")], timeout_s=600)
    assert manager.run_family(FAMILY, budget_s=3.5) == {"a": "interrupted", "b": "interrupted"}
    left_s = END_GRACE_S + 3.5
    assert worker.timeouts[1:] == [left_s, left_s - 2, left_s - 4, left_s - 6]


def test_a_hang_takes_its_share_of_the_budget_of_the_run_and_leaves_the_rest_to_other_families() -> None:
    manager, sink, (worker,) = manage(
        [READY, ALL_MADE, (0, "check"), 20.0, WorkerHung("no answer for 20 s")],
        timeout_s=600,
    )
    assert manager.run_family(FAMILY, Round(patience_s=10.0), 500.0) == {"a": "interrupted", "b": "interrupted"}
    assert worker.timeouts[2:] == [GRACE_S + 10]
    why = "not measured: this family's share of the budget for the run is spent (a in check: no answer for 20 s)"
    assert sink.last_cases() == dict.fromkeys("ab", ("interrupted", why)), "nobody knows whether it hangs"
    assert not manager.worker_was_killed


def test_a_round_that_took_long_is_not_given_up_for_a_silence_that_is_shorter() -> None:
    manager, _, (worker,) = manage([READY, ALL_MADE, 30.0, samples(0), 5.0, samples(1), got(), DONE], timeout_s=600)
    assert manager.run_family(FAMILY, Round(patience_s=10.0), 500.0) == {"a": "ok", "b": "ok"}
    assert worker.timeouts[2:5] == [GRACE_S + 10, 30.0, 35.0]


def test_a_worker_that_makes_data_is_given_the_timeout_at_each_step_whatever_its_share() -> None:
    manager, _, (worker,) = manage(
        [READY, 40.0, Step(None, Stage.REFERENCE), 50.0, ALL_MADE, samples(0), got(), DONE], timeout_s=60
    )
    assert manager.run_family(FAMILY, Round(patience_s=1.0), 500.0) == {"a": "ok", "b": "ok"}
    assert worker.timeouts[1:3] == [60.0, 60.0], "it makes the problem, and then the reference"


def test_data_are_not_made_beyond_the_budget_of_the_run() -> None:
    manager, _, (worker,) = manage([READY, 8.0, WorkerHung("no answer for 8 s")], timeout_s=60)
    assert manager.run_family(FAMILY, budget_s=5.0) == {"a": "interrupted", "b": "interrupted"}
    assert worker.timeouts[1:] == [END_GRACE_S + 5]


def of_variants(names: str) -> Family:
    roles = ["naive", *["optimized"] * (len(names) - 1)]
    variants = tuple(VariantInfo(name, role, (), "") for name, role in zip(names, roles, strict=True))
    return Family(msgspec.structs.replace(INFO, variants=variants), "smoke", {}, {})


CHECKED_A = compiled("a", 0)


def hang(seconds: float) -> tuple[float, WorkerHung]:
    return seconds, WorkerHung(f"no answer for {seconds:g} s")


def test_after_a_hang_the_others_get_what_answers_of_their_family_took() -> None:
    manager, sink, workers = manage(
        [READY, (None, "reference"), 3.0, (0, "check"), 0.5, CHECKED_A, (1, "check"), *hang(120.0)],
        [READY, CHECKED_A, (1, "check"), 2.0, Step("c", Stage.CHECK), got("ac"), DONE],
        timeout_s=120,
    )
    assert manager.run_family(of_variants("abc")) == {"a": "ok", "b": "timeout", "c": "ok"}
    assert set(workers[0].timeouts[1:]) == {120}
    assert set(workers[1].timeouts[1:]) == {10 * 3.0}, "ten times the slowest step"
    assert sink.last_cases()["b"] == ("timeout", "check: no answer for 120 s")


def test_a_short_timeout_stays_what_it_is_after_a_hang() -> None:
    manager, _, workers = manage(
        [READY, (0, "check"), *hang(4.0)],
        [READY, got("b"), DONE],
        timeout_s=4,
    )
    assert manager.run_family(FAMILY) == {"a": "timeout", "b": "ok"}
    assert set(workers[1].timeouts[1:]) == {4}


def test_hangs_of_a_family_cost_half_a_timeout_more_than_one_and_what_answers_is_measured() -> None:
    manager, sink, workers = manage(
        [READY, CHECKED_A, (1, "check"), *hang(60.0)],
        *([READY, CHECKED_A, (number, "check"), *hang(10.0)] for number in (2, 3, 4)),
        [READY, CHECKED_A, got("a"), DONE],
        timeout_s=60,
    )
    assert "".join(manager.run_family(of_variants("abcdef"))) == "abcdef"
    cases = sink.last_cases()
    assert {name: status for name, (status, _) in cases.items()} == {
        "a": "ok",
        **dict.fromkeys("bcde", "timeout"),
        "f": "error",
    }
    asked = ["".join(worker.asked[0].variants) for worker in workers]
    assert asked == ["abcdef", "acdef", "adef", "aef", "a"]
    assert cases["c"][1] == "check: no answer for 10 s, after b had hung"
    assert cases["f"][1] == "not measured: b, c, d, e of this family hung; fix them first"


def test_hangs_in_later_rounds_leave_what_was_found() -> None:
    manager, sink, _ = manage(
        [READY, *(compiled(name, 0) for name in "abc"), got("abc"), DONE, (0, "sample"), *hang(8.0)],
        [READY, (1, "sample"), *hang(8.0)],
        timeout_s=8,
        sampling=TWO_ROUNDS,
    )
    family = of_variants("abc")
    manager.run_family(family, Round(0, 1.0, 1))
    assert manager.run_family(family, Round(1)) == {"a": "timeout", "b": "timeout", "c": "ok"}
    assert sink.rows[-1][1]["stopped_by"] == "", "no round is waited for"


def test_a_hang_is_told_while_it_lasts() -> None:
    said: list[str] = []
    manager, _, _ = manage(
        [READY, (0, "check"), 9.0, 3.0, 30.0, 40.0, *hang(38.0)],
        [READY, (None, "problem"), 11.0, got("b"), DONE],
        timeout_s=120,
        say=said.append,
    )
    manager.run_family(FAMILY)
    assert said == [
        "p: a (check): no answer for 12 s, waiting up to 120 s",
        "p: a (check): no answer for 82 s, waiting up to 120 s",
        "p (problem): no answer for 11 s, waiting up to 12 s",
    ]


def test_a_hang_of_the_whole_timeout_is_one_though_the_run_is_over_as_well() -> None:
    manager, sink, (worker,) = manage([READY, (1, "sample"), 8.0, WorkerHung("no answer for 8 s")], timeout_s=8)
    assert manager.run_family(FAMILY, budget_s=5.0) == {"a": "interrupted", "b": "timeout"}
    assert worker.timeouts[1:] == [8]
    assert sink.last_cases()["b"] == ("timeout", "sample: no answer for 8 s")


def test_a_later_round_that_the_run_has_no_time_for_leaves_what_was_found() -> None:
    manager, sink, _ = manage(
        [READY, got(), DONE, (0, "sample"), 15.0, WorkerHung("no answer for 15 s")],
        timeout_s=600,
        sampling=TWO_ROUNDS,
    )
    manager.run_family(FAMILY, Round(0, 1.0, 1))
    assert set(manager.run_family(FAMILY, Round(1), 5.0).values()) == {"interrupted"}
    assert {status for status, _ in sink.last_cases().values()} == {"ok"}


def test_no_round_begins_when_all_samples_are_taken() -> None:
    answers = [[samples(number, block=number), got(blocks=1), DONE] for number in range(6)]
    manager, _, (worker,) = manage(
        [READY, *(step for answer in answers for step in answer)], sampling=Sampling(max_blocks=6)
    )
    for number in range(20):
        assert manager.run_family(FAMILY, Round(number, 0.1, 1)) == {"a": "ok", "b": "ok"}
    assert [request.limits.sampling.max_blocks for request in worker.asked] == [1] * 6
    progress = manager.progress_of(FAMILY)
    assert progress is not None and progress.is_over


def test_each_state_gets_a_block_and_no_more_than_there_are() -> None:
    both = Sampling(max_blocks=7, states=(State.HOT, State.COLD))
    states = [State.HOT, State.COLD] * 3
    answers = [[samples(n, block=n), got(state=state, blocks=1), DONE] for n, state in enumerate(states)]
    manager, _, (worker,) = manage([READY, *(step for answer in answers for step in answer)], sampling=both)
    for number in range(5):
        manager.run_family(FAMILY, Round(number, 0.1, 1))
    assert [request.state for request in worker.asked] == states
    assert [request.limits.sampling.max_blocks for request in worker.asked] == [1] * 6


A, B = "p/a/smoke/-/cpu", "p/b/smoke/-/cpu"


def checks(sink: Sink) -> list[CheckRow]:
    return [CheckRow(**row) for table, row in sink.rows if table == "checks"]


def test_samples_are_checked_when_their_worker_has_told_of_their_case() -> None:
    manager, sink, _ = manage([READY, samples(70, 71), got(), DONE], first=(70, 0))
    manager.run_family(FAMILY)
    assert checks(sink) == [(A, 70, 72, "passed"), (B, 70, 72, "passed")]
    tables = [table for table, row in sink.rows if table != "cases" or row["status"] == "ok"]
    assert tables[:6] == ["samples", "samples", "checks", "checks", "cases", "cases"], "killed between, nothing is lost"


def test_samples_of_a_lost_worker_stay_unchecked() -> None:
    manager, sink, _ = manage(
        [READY, samples(0, 1), (1, "sample"), WorkerDied("x")],
        [READY, samples(2), got("a"), DONE],
    )
    manager.run_family(FAMILY)
    assert checks(sink) == [(A, 2, 3, "passed")]


@pytest.mark.parametrize("status", ["error", "skipped", "refused"])
def test_a_variant_that_came_to_no_check_has_none(status: str) -> None:
    manager, sink, _ = manage([READY, samples(0), got(b=status), DONE])
    manager.run_family(FAMILY)
    assert checks(sink) == [(A, 0, 1, "passed")]


def test_a_variant_that_is_wrong_after_its_samples_has_a_check_that_says_so() -> None:
    manager, sink, _ = manage([READY, samples(0), got(b="wrong"), DONE])
    manager.run_family(FAMILY)
    assert checks(sink) == [(A, 0, 1, "passed"), (B, 0, 1, "wrong")]


def test_samples_of_a_round_that_a_stop_cuts_off_stay_unchecked() -> None:
    manager, sink, _ = manage(
        [READY, samples(0), got(), DONE, samples(1), Stopped(2), samples(2), WorkerDied("killed")],
        sampling=TWO_ROUNDS,
    )
    manager.run_family(FAMILY, Round(0, 1.0, 1))
    with pytest.raises(Stopped):
        manager.run_family(FAMILY, Round(1))
    assert checks(sink) == [(A, 0, 1, "passed"), (B, 0, 1, "passed")]


def test_cases_have_their_sizes_and_those_that_are_not_the_presets() -> None:
    manager, sink, _ = manage()
    info = msgspec.structs.replace(INFO, presets={"smoke": {"n": 384, "m": 2}})
    manager.announce([Family(info, "smoke", {"n": 64, "m": 2}, {"n": 384, "m": 2})])
    (row, _) = (row for _, row in sink.rows)
    assert (row["parameters"], row["preset_parameters"]) == ('{"m": 2, "n": 64}', '{"m": 2, "n": 384}')
    assert row["case_id"] == "p/a/smoke/n=64/cpu"


def test_the_seconds_of_rounds_are_in_each_case_by_what_they_went_into() -> None:
    manager, sink, _ = manage(
        [
            *(READY, 2.0, got(parts={"sampling": 1.25, "checking": 0.5}), DONE),
            *(1.0, got(parts={"sampling": 0.25}), DONE),
        ],
        sampling=TWO_ROUNDS,
    )
    manager.run_family(FAMILY, Round(0, 3.0, 1))
    first = {row["variant"]: json.loads(row["round_seconds"]) for _, row in sink.rows[-2:]}
    assert first == {name: {"starting": 0.25, "sampling": 1.25, "checking": 0.5} for name in "ab"}
    manager.run_family(FAMILY, Round(1, 3.0, 1))
    (again,) = {row["round_seconds"] for _, row in sink.rows[-2:]}
    assert json.loads(again) == {"starting": 1.0, "sampling": 1.5, "checking": 0.5}

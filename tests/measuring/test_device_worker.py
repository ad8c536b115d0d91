"""A worker that is lost is told as what it is, and the next one takes its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from xebench.errors import BrokenEnvironment, NoDevice, XebenchError
from xebench.measuring.device_worker import DeviceWorker, Lost
from xebench.measuring.messages import Call, Done, Failed, Ready, Returned, Stage, Step, pickled
from xebench.patterns.registry import builtin_files
from xebench.system.children.worker import WorkerDied, WorkerEnded, WorkerHung, WorkerKilled
from xebench.vocabulary import Status

OWN, OTHER = (str(file) for file in builtin_files()[:2])
READY, DONE, CHECKED = Ready(), Done(), Step("a", Stage.CHECK)


class Process:
    """Says what it is given, one after the other."""

    def __init__(self, *script: Any, at_work: tuple[str | None, str] = ("b", "sample")) -> None:
        self.script = list(script)
        self.activity = self
        self.at_work = at_work
        self.is_large = False
        self.done: list[str] = []

    def ask(self, request: Any) -> None:
        self.done.append("ask")

    def listen(self, timeout_s: float, look: Callable[[], None] = lambda: None) -> Any:
        look()
        answer = self.script.pop(0)
        if isinstance(answer, WorkerEnded):
            raise answer
        return answer

    def read(self, names: Sequence[str]) -> tuple[str | None, str]:
        return self.at_work

    def kill(self) -> None:
        self.done.append("kill")

    def close(self) -> None:
        self.done.append("close")


def worker(*processes: Process) -> DeviceWorker:
    waiting = list(processes)
    return DeviceWorker(lambda environment: waiting.pop(0))  # type: ignore[arg-type, return-value]


def answers(of: DeviceWorker, silence_s: float = 5) -> list[Any]:
    return list(of.answers(Call("instrument", pickled(())), ("a", "b"), silence_s=lambda: silence_s))


def test_one_process_answers_request_after_request() -> None:
    process = Process(READY, CHECKED, DONE, DONE)
    used = worker(process)
    assert answers(used) == [CHECKED] and answers(used) == []
    used.close()
    used.close()
    assert process.done == ["ask", "ask", "close"]


@pytest.mark.parametrize(
    ("end", "status", "silent_s"),
    [
        (WorkerDied("ended by SIGSEGV"), Status.CRASHED, None),
        (WorkerKilled("killed from outside"), Status.INTERRUPTED, None),
        (WorkerHung("no answer for 5 s"), Status.TIMEOUT, 5),
    ],
)
def test_a_lost_worker_is_told_with_the_variant_at_work(
    end: WorkerEnded, status: Status, silent_s: float | None
) -> None:
    process = Process(READY, end)
    used = worker(process, Process(READY, DONE))
    with pytest.raises(Lost) as caught:
        answers(used)
    assert (caught.value.variant, caught.value.status, caught.value.silent_s) == ("b", status, silent_s)
    assert str(caught.value) == f"sample: {end}"
    assert process.done[-1] == "close"
    assert answers(used) == [], "the next one takes its place"


def test_a_device_is_tested_by_the_worker_that_measures_on_it() -> None:
    wrong = "atomic add: 7 of 7 wrong"
    used = worker(
        Process(READY, Returned(pickled([])), DONE, CHECKED, DONE),
        Process(READY, Returned(pickled([wrong])), DONE, WorkerDied("ended by SIGSEGV")),
    )
    assert used.self_test() == [] and answers(used) == [CHECKED]
    used.close()
    assert used.self_test() == [wrong]
    assert used.self_test() == ["self-test: ended by SIGSEGV"]


def test_what_a_silent_worker_is_at_can_be_seen() -> None:
    seen: list[tuple[str | None, str, float]] = []
    used = worker(Process(READY, CHECKED, DONE))
    look = used.answers(
        Call("instrument", pickled(())), ("a", "b"), silence_s=lambda: 7, look=lambda *at: seen.append(at)
    )
    assert list(look) == [CHECKED]
    assert seen == [("b", "sample", 7), ("b", "sample", 7)]


def test_a_worker_that_gives_up_is_lost_with_all_variants() -> None:
    used = worker(Process(READY, Failed("the pattern file is gone", 2)))
    with pytest.raises(Lost) as caught:
        answers(used)
    assert (caught.value.variant, caught.value.status) == (None, Status.ERROR)
    assert str(caught.value) == "the pattern file is gone"


@pytest.mark.parametrize(
    ("first", "error", "words"),
    [
        (WorkerDied("ended with status 127"), BrokenEnvironment, "did not start: ended with status 127; try"),
        (Failed("no device 'x'", NoDevice.exit_code), NoDevice, "the worker failed: no device 'x'"),
        (Failed("RuntimeError", 1), XebenchError, "the worker failed: RuntimeError"),
    ],
)
def test_a_worker_that_does_not_start_is_an_error(first: Any, error: type[XebenchError], words: str) -> None:
    process = Process(first)
    with pytest.raises(error, match=words):
        worker(process).ready()
    assert process.done == ["close"]


def test_what_a_worker_had_sent_is_heard_when_it_is_ended() -> None:
    process = Process(READY, CHECKED, CHECKED, WorkerKilled("by us"))
    used = worker(process)
    assert list(used.rest()) == [], "there is none yet"
    used.ready()
    assert list(used.rest()) == [CHECKED, CHECKED]
    assert process.done == ["kill"]


def test_each_set_of_variables_has_a_process_that_is_kept() -> None:
    asked: list[dict[str, str]] = []
    processes = [Process(READY, DONE, DONE, DONE), Process(READY, DONE, DONE), Process(READY, DONE, DONE)]

    def start(environment: Mapping[str, str]) -> Any:
        asked.append(dict(environment))
        return processes[len(asked) - 1]

    used: DeviceWorker = DeviceWorker(start)
    off = {"NEO_CACHE_PERSISTENT": "0"}
    shared = []
    for variables, source in (({}, OWN), ({}, OTHER), (off, OWN), ({}, OWN), (off, OWN), ({}, "/a.py"), ({}, "/a.py")):
        used.use(variables, source)
        assert answers(used) == []
        shared.append(used.is_shared)
    assert asked == [{}, off, {}]
    assert shared == [False, True, False, True, False, False, False]
    assert [process.done for process in processes] == [["ask"] * 3, ["ask"] * 2, ["ask"] * 2]
    used.use({}, OWN)
    assert processes[2].done[-1] == "close", "a user's file leaves nothing behind"
    used.close()
    assert [process.done[-1] for process in processes] == ["close", "ask", "close"]
    used.close_all()
    assert [process.done[-1] for process in processes] == ["close"] * 3
    assert asked == [{}, off, {}]


def test_a_file_of_the_users_shares_no_process_with_another_file() -> None:
    processes = [Process(READY, DONE, DONE), Process(READY, DONE), Process(READY, DONE, DONE)]
    used, shared = worker(*processes), []
    for source in ("/a.py", "/a.py", "/b.py", OWN, OTHER):
        used.use({}, source)
        assert answers(used) == []
        shared.append(used.is_shared)
    assert [process.done for process in processes] == [["ask", "ask", "close"], ["ask", "close"], ["ask", "ask"]]
    assert shared == [False, False, False, False, True], "the project's own files share one"


def test_a_worker_that_has_grown_is_replaced() -> None:
    first, second = Process(READY, DONE, DONE), Process(READY, DONE)
    used = worker(first, second)
    for first.is_large in (False, True):
        assert answers(used) == []
        used.close_if_large()
    assert first.done == ["ask", "ask", "close"]
    assert answers(used) == [] and second.done == ["ask"]


def test_roofs_need_no_process_of_their_own() -> None:
    used = worker(process := Process(READY, DONE, DONE))
    assert answers(used) == []
    used.use({}, "/a.py")
    assert answers(used) == [] and process.done == ["ask", "ask"]

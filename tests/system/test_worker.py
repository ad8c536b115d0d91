"""A worker from its parent's side: however it ends, and whatever it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import obedient_worker
import pytest
from obedient_worker import Answer, Execute, Said

from xebench.system.children.worker import (
    WorkerDied,
    WorkerEnded,
    WorkerHung,
    WorkerKilled,
    WorkerProcess,
)

KITS = Path(obedient_worker.__file__).parent

#: Long enough for a process to start on a loaded machine.
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _kits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(KITS))


@contextmanager
def worker(**options: Any) -> Iterator[WorkerProcess[Answer]]:
    process: WorkerProcess[Answer] = WorkerProcess("obedient_worker", (), Answer, **options)
    try:
        yield process
    finally:
        process.close()


def end_of(code: str, timeout_s: float = PATIENCE_S, **options: Any) -> WorkerEnded:
    with worker(**options) as process:
        process.ask(Execute(code))
        with pytest.raises(WorkerEnded) as caught:
            process.listen(timeout_s)
    return caught.value


def wait_until_gone(pid: int) -> None:
    """Until nobody has this number; a killed orphan stays until init has taken notice."""
    status = Path(f"/proc/{pid}/status")
    deadline = time.monotonic() + PATIENCE_S
    try:
        while "State:\tZ" not in status.read_text():
            assert time.monotonic() < deadline, f"process {pid} is still there"
            time.sleep(0.01)
    except (FileNotFoundError, ProcessLookupError):
        return


def test_it_answers_what_it_is_asked_and_shows_what_it_does() -> None:
    with worker() as process:
        assert process.activity.read() == (None, "start")
        process.ask(Execute("parent.activity.show(1, 'check'); parent.answers.send(Said('one'))"))
        process.ask(Execute("parent.answers.send(Said('two'))"))
        assert [process.listen(PATIENCE_S) for _ in range(2)] == [Said("one"), Said("two")]
        assert process.activity.read(("a", "b")) == ("b", "check")
    wait_until_gone(process.pid)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("import os; os.abort()", WorkerDied, "ended by SIGABRT"),
        ("import os; os._exit(3)", WorkerDied, "ended with status 3"),
        ("import sys; sys.exit('no such file')", WorkerDied, "ended with status 1 (no such file)"),
        ("1 / 0", WorkerDied, "ended with status 1 (ZeroDivisionError: division by zero)"),
        ("import os; os.kill(os.getpid(), 9)", WorkerKilled, "killed from outside (signal SIGKILL)"),
    ],
)
def test_an_end_is_told_as_what_it_is(code: str, kind: type[WorkerEnded], words: str) -> None:
    end = end_of(code)
    assert type(end) is kind and str(end) == words


@pytest.mark.parametrize(
    "line", ["b'}{\\n'", "b'\\xff\\n'", 'b\'{"type":"Said"}\\n\'', 'b\'{"type":"Counted","number":"one"}\\n\'']
)
def test_a_worker_that_sends_what_is_no_message_is_lost(line: str) -> None:
    end = end_of(f"import os; os.write(parent.answers._descriptor, {line})")
    assert type(end) is WorkerDied
    assert str(end).startswith("the worker sent a message that cannot be read: '")


def test_a_worker_that_is_silent_for_too_long_hangs() -> None:
    end = end_of("import time; time.sleep(1000)", timeout_s=0.3)
    assert type(end) is WorkerHung and str(end) == "no answer for 0.3 s"


def test_a_worker_with_too_much_memory_is_ended() -> None:
    end = end_of("import time; taken = b'x' * (300 << 20); time.sleep(1000)", memory_limit_bytes=200 << 20)
    assert type(end) is WorkerDied
    assert "may have 0.2 GiB (--memory-limit)" in str(end)


def test_what_was_sent_before_the_end_is_heard() -> None:
    with worker() as process:
        process.ask(Execute("import os; parent.answers.send(Said('last')); os.abort()"))
        assert process.listen(PATIENCE_S) == Said("last")
        with pytest.raises(WorkerDied, match="SIGABRT"):
            process.listen(PATIENCE_S)
        process.ask(Execute("too late"))


FORK = "import os, time\npid = os.fork()\nif not pid:\n    time.sleep(1000)\nparent.answers.send(Said(str(pid)))\n"
PROGRAM = "import subprocess\nparent.answers.send(Said(str(subprocess.Popen(['sleep', '1000']).pid)))\n"


@pytest.mark.parametrize("code", [FORK, PROGRAM])
def test_what_a_worker_has_started_ends_with_it(code: str) -> None:
    with worker() as process:
        process.ask(Execute(code))
        answer = process.listen(PATIENCE_S)
        assert isinstance(answer, Said)
        assert Path(f"/proc/{answer.text}").exists()
    wait_until_gone(int(answer.text))


def test_a_crash_is_seen_though_something_else_holds_the_pipe() -> None:
    holds = (
        "import os, subprocess\nfd = parent.answers._descriptor\nsubprocess.Popen(['sleep', '1000'], pass_fds=[fd])\n"
    )
    end = end_of(holds + "os.abort()")
    assert type(end) is WorkerDied and "SIGABRT" in str(end)


def test_a_fork_that_comes_back_does_nothing_twice() -> None:
    with worker() as process:
        process.ask(Execute("import os; pid = os.fork(); parent.answers.send(Said(str(pid)))"))
        process.ask(Execute("import os; pid = os.fork(); parent.activity.show(pid and 1, 'check')"))
        process.ask(Execute("parent.answers.send(Said('once'))"))
        first, second = (process.listen(PATIENCE_S) for _ in range(2))
        assert isinstance(first, Said) and int(first.text) > 0
        assert second == Said("once")
        assert process.activity.read(("a", "b")) == ("b", "check")
        with pytest.raises(WorkerHung):
            process.listen(0.5)


def test_a_worker_and_its_forks_die_with_a_parent_that_is_killed() -> None:
    program = f"""
from xebench.system.children.worker import WorkerProcess
from obedient_worker import Answer, Execute
worker = WorkerProcess("obedient_worker", (), Answer)
worker.ask(Execute({FORK!r}))
print(worker.pid, worker.listen({PATIENCE_S}).text, flush=True)
worker.listen(1000)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2 and all(Path(f"/proc/{pid}").exists() for pid in pids)
        os.kill(parent.pid, signal.SIGKILL)
    for pid in pids:
        wait_until_gone(pid)


def test_a_fork_ends_though_its_parent_was_killed_before_it_could_ask_for_that() -> None:
    late = """
import os, signal, time
from xebench.system.children import process
os.register_at_fork(after_in_child=lambda: time.sleep(0.5))
def main(arguments):
    if os.fork():
        os.kill(os.getpid(), signal.SIGKILL)
    print("outlived", flush=True)
    return 0
process.run_as_child(main)
"""
    done = subprocess.run([sys.executable, "-c", late], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, "", "")


def test_exit_handlers_are_left_out() -> None:
    with worker() as process:
        process.ask(Execute("import atexit, os; atexit.register(os.abort); parent.answers.send(Said('armed'))"))
        assert process.listen(PATIENCE_S) == Said("armed")
        process.ask(Execute("import sys; sys.stdout.write('done'); raise ArithmeticError('no abort')"))
        with pytest.raises(WorkerDied, match=r"ended with status 1 \(ArithmeticError: no abort\)"):
            process.listen(PATIENCE_S)


def test_it_is_looked_after_while_it_is_listened_to() -> None:
    looks: list[float] = []
    end_of("import time; time.sleep(1000)", timeout_s=0.7, poll=lambda: looks.append(time.monotonic()))
    assert len(looks) >= 2


def test_time_in_which_the_parent_did_not_run_is_no_silence_of_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_s, looks = 0.0, 0
    clocks = {"monotonic": time.monotonic, "perf_counter": time.perf_counter}
    for name, clock in clocks.items():
        monkeypatch.setattr(time, name, lambda clock=clock: clock() + stopped_s)

    def look() -> None:
        nonlocal stopped_s, looks
        looks += 1
        if looks == 2:
            stopped_s = 10 * PATIENCE_S  # it and its worker are stopped, and go on

    with worker() as process:
        process.ask(Execute("import time; time.sleep(1.5); parent.answers.send(Said('late'))"))
        assert process.listen(PATIENCE_S, look) == Said("late") and looks > 2
        with pytest.raises(WorkerHung, match="no answer for 0.3 s"):
            process.listen(0.3)

"""Programs that threads have called end when one of them fails or the command is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from xebench.system.children.process import end, in_threads, run, start


def test_results_are_in_the_items_order(tmp_path: Path) -> None:
    def said(text: str) -> str:
        return run(["sh", "-c", f"pwd; echo {text}; echo also >&2"], folder=tmp_path).stdout

    assert in_threads(said, "abc", 2) == [f"{tmp_path}\n{text}\nalso\n" for text in "abc"]
    assert run(["sh", "-c", "echo no >&2; exit 3"], errors=subprocess.PIPE).stderr == "no\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_exception_takes_running_programs_along(error: type[BaseException], tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def work(number: int) -> None:
        if number:
            # the program that its shell starts must end, too
            run(["sh", "-c", f"sleep 600 & echo $! > {pid}; wait"])
        else:
            while not pid.is_file() or not pid.read_text().endswith("\n"):
                time.sleep(0.01)
            raise error

    with pytest.raises(error):
        in_threads(work, [0, 1, 2, 3], 2)
    _wait_until_gone(int(pid.read_text()))
    assert run(["true"]).returncode == 0, "the next command is not stopped"


def test_a_signal_that_another_thread_is_given_is_answered(tmp_path: Path) -> None:
    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def work(number: int) -> None:
        time.sleep(0.3)  # the main thread is asleep by now
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        run(["sh", "-c", f"sleep 10; touch {tmp_path}/ended"])

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_threads(work, [0], 1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not (tmp_path / "ended").exists(), "the program was not waited for"


def _wait_until_gone(pid: int) -> None:
    """Until nobody has this number any more; a killed orphan stays until init has taken notice."""
    status = Path(f"/proc/{pid}/status")
    while status.is_file() and "State:\tZ" not in status.read_text():
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}/exe").exists()


def test_what_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sh", "-c", f"echo $$ > {tmp_path}/pid; sleep 600"], 0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_a_program_leaves_running_ends_with_it() -> None:
    left = run(["sh", "-c", "sleep 600 > /dev/null 2>&1 & echo $!"]).stdout
    _wait_until_gone(int(left))


#: Starts a program in a session of its own from a child that ends at once, and does nothing then.
LEAVES_A_DAEMON = """
import os, subprocess, sys, time
from xebench.system.children import process

def main(arguments):
    daemon = "import subprocess; print(subprocess.Popen(['sleep', '600'], stdout=-3, start_new_session=True).pid)"
    subprocess.run([sys.executable, "-c", daemon])
    time.sleep(600)

process.run_as_child(main)
"""


def test_what_a_worker_leaves_in_another_session_ends_with_it() -> None:
    worker = start([sys.executable, "-c", LEAVES_A_DAEMON], output=subprocess.PIPE, errors=subprocess.DEVNULL)
    assert worker.stdout is not None
    left = int(worker.stdout.readline())
    assert Path(f"/proc/{left}/status").is_file()
    end(worker)
    worker.stdout.close()
    _wait_until_gone(left)

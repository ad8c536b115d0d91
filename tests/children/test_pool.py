"""Programs that threads have called end when one of them fails or the command is stopped."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from harness.children.pool import in_threads, run


def test_results_are_in_the_items_order(tmp_path: Path) -> None:
    def said(text: str) -> str:
        return run(["sh", "-c", f"echo {text}; echo also >&2"], tmp_path).stdout

    assert in_threads(said, "abc", 2) == ["a\nalso\n", "b\nalso\n", "c\nalso\n"]
    assert run(["sh", "-c", "echo no >&2; exit 3"], tmp_path, stderr=subprocess.PIPE).stderr == "no\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_exception_takes_running_programs_along(error: type[BaseException], tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def work(number: int) -> None:
        if number:
            # the program that its shell starts must end, too
            run(["sh", "-c", f"sleep 600 & echo $! > {pid}; wait"], tmp_path)
        else:
            while not pid.is_file() or not pid.read_text().endswith("\n"):
                time.sleep(0.01)
            raise error

    with pytest.raises(error):
        in_threads(work, [0, 1, 2, 3], 2)
    _wait_until_gone(int(pid.read_text()))
    assert run(["true"], tmp_path).returncode == 0, "the next command is not stopped"


def _wait_until_gone(pid: int) -> None:
    """Until nobody has this number any more; a killed orphan stays until init has taken notice."""
    status = Path(f"/proc/{pid}/status")
    while status.is_file() and "State:\tZ" not in status.read_text():
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}/exe").exists()


def test_what_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sh", "-c", f"echo $$ > {tmp_path}/pid; sleep 600"], tmp_path, 0.2)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)

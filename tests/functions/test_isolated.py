"""Functions in a process of their own: a crash of one costs neither the others nor the caller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import isolated_functions as functions
import pytest
from signals_kit import HEEDING_SIGNALS

import xebench
from xebench.errors import XebenchError

pytestmark = pytest.mark.device

#: The precision ends it, on a busy machine, too.
BRIEF: dict[str, Any] = {"device": "cpu", "budget_s": 10, "precision": 0.5, "instances": 1, "isolated": True}


def test_a_crash_is_told_and_the_others_are_compared() -> None:
    named = {"twice": functions.twice, "crash": functions.crash, "product": functions.product}
    compared = xebench.compare(named, setup=functions.make_array, **BRIEF)
    cases = compared.run.cases.set_index("variant")
    assert cases["status"].to_dict() == {"twice": "ok", "crash": "crashed", "product": "ok"}
    assert cases["reason"]["crash"].startswith("its process ended by SIGSEGV in /")
    assert "crash: crashed: its process ended by SIGSEGV in " in repr(compared)
    product = compared.pairs.set_index("variant").loc["product"]
    assert product["speedup_low"] <= product["speedup"] <= product["speedup_high"]


def test_arguments_may_be_others_each_time() -> None:
    named = {"twice": functions.twice, "sum": functions.sum_of_two}
    compared = xebench.compare(named, setup=functions.make_random_array, **BRIEF)
    assert compared.run.cases.set_index("variant")["status"].to_dict() == {"twice": "ok", "sum": "ok"}


def test_a_function_that_wants_to_end_the_program_fails_alone() -> None:
    named = {"parent": os.getppid, "leaves": functions.leave, "again": os.getppid}
    compared = xebench.compare(named, metric="wall", check=False, **{**BRIEF, "instances": None})
    cases = compared.run.cases.set_index("variant")
    assert cases["status"].to_dict() == {"parent": "ok", "leaves": "error", "again": "ok"}
    assert "SystemExit: 3" in str(cases.loc["leaves", "reason"])


def test_a_child_of_the_caller_calls_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XEBENCH_TEST_CALLER", str(os.getpid()))
    named = {"caller": functions.caller, "parent": os.getppid}
    compared = xebench.compare(named, metric="wall", check=True, **{**BRIEF, "instances": None})
    assert set(compared.run.cases["status"]) == {"ok"}
    assert not compared.samples.empty and compared.events.empty


@pytest.mark.parametrize(
    ("function", "arguments", "error", "words"),
    [
        (functions.crash, {"setup": functions.make_array}, XebenchError, "crash: its process ended by SIGSEGV"),
        (functions.fail, {"setup": functions.make_array}, ZeroDivisionError, "own"),
        (functions.early, {"setup": functions.make_array}, XebenchError, "^the device works for [0-9]+ us more"),
        (lambda x: x, {"setup": functions.make_array}, XebenchError, "define it with def at the top of a file"),
        (functions.twice, {"instances": None}, XebenchError, "give setup="),
        (functions.twice, {"queue": 3}, XebenchError, "leave out queue="),
    ],
)
def test_errors_are_the_callers(function: Any, arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        xebench.measure(function, **{**BRIEF, **({"instances": None} if "setup" not in arguments else {}), **arguments})
    assert "\n" not in str(caught.value)


def test_a_function_that_hangs_is_told_and_the_others_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    from xebench.functions import family

    monkeypatch.setattr(family, "PATIENCE_S", 5.0)
    named = {"parent": os.getppid, "hangs": functions.hang, "own": os.getpid}
    compared = xebench.compare(named, metric="wall", check=False, **{**BRIEF, "instances": None})
    cases = compared.run.cases.set_index("variant")
    assert cases["status"].to_dict() == {"parent": "ok", "hangs": "timeout", "own": "ok"}
    assert cases.loc["hangs", "reason"] == "its process gave no answer for 5 s"


@pytest.mark.parametrize("guard", ["", "if __name__ == '__main__': "])
def test_a_script_must_look_at_its_name(guard: str, tmp_path: Path) -> None:
    measure = "print(xebench.measure(one, metric='wall', device='cpu', isolated=True, budget_s=0.2, precision=0.5))"
    script = tmp_path / "script.py"
    script.write_text(f"import xebench\ndef one():\n    return 1\n{guard}{measure}\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode == 0) == bool(guard), done.stdout + done.stderr
    words = "one: " if guard else "begin a script's own work with if __name__ == '__main__':"
    assert words in (done.stdout if guard else done.stderr.splitlines()[-1])


def test_ctrl_c_does_not_wait_for_a_function_that_hangs(tmp_path: Path) -> None:
    script, called = tmp_path / "script.py", tmp_path / "called"
    script.write_text(
        "import pathlib, time, xebench\n"
        f"def hang():\n    pathlib.Path({str(called)!r}).touch()\n    time.sleep(1000)\n"
        "if __name__ == '__main__':\n    xebench.measure(hang, metric='wall', device='cpu', isolated=True)\n"
    )
    process = subprocess.Popen([*HEEDING_SIGNALS, sys.executable, script], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 200
    while not called.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert called.exists() and errors.endswith("KeyboardInterrupt\n")

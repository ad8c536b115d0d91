"""Asking a child process: answers, crashes, hangs and nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest

from xebench.system.children.process import ChildReply, ask


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "asked.py"


ANSWERING = """
from xebench.system.children.process import answer
from xebench.errors import NoDevice

def question(arguments):
    if arguments != ["1", "2"]:
        raise NoDevice(f"asked for {arguments}")
    SAY

if __name__ == "__main__":
    answer(question)
"""


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        (ANSWERING.replace("SAY", "return {'sum': 3}"), ChildReply({"sum": 3})),
        (ANSWERING.replace("SAY", "raise NoDevice('no device')"), ChildReply(failure="no device")),
        (ANSWERING.replace("SAY", "1 / 0"), ChildReply(failure="ZeroDivisionError: division by zero")),
        ("import sys; print('driver banner'); print([int(a) for a in sys.argv[1:]])", ChildReply([1, 2])),
        ("import os; os.abort()", ChildReply(failure="ended by SIGABRT")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", ChildReply(failure="ended by SIGSEGV")),
        ("raise SystemExit('first\\nno device')", ChildReply(failure="no device")),
        ("raise SystemExit(7)", ChildReply(failure="ended with status 7")),
        ("print('<html>')", ChildReply(failure="answered nonsense: '<html>'")),
        ("pass", ChildReply(failure="answered nonsense: ''")),
    ],
)
def test_every_end_is_an_answer(module: Path, code: str, answer: ChildReply) -> None:
    module.write_text(code)
    assert ask("asked", ["1", "2"], timeout_s=30) == answer


def test_a_hang_is_an_answer(module: Path) -> None:
    module.write_text("import time; time.sleep(60)")
    assert ask("asked", timeout_s=0.5) == ChildReply(failure="no answer within 0.5 s")

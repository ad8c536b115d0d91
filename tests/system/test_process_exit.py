"""How an end is told: the signal, and the line of the pattern or the last words before it."""

from __future__ import annotations

from pathlib import Path

import pytest

import xebench
from xebench.system.children.process import how_it_ended

LAUNCH = Path(xebench.__file__).parent / "dpex/launch.py"
CRASH = f"""\
loading
PLEASE submit a bug report to https://example.org and include the crash backtrace.
Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "{LAUNCH}", line 80 in submit
  File "/home/me/mine.py", line 7 in fast
  File "/home/me/other.py", line 9 in slow
"""


@pytest.mark.parametrize(
    ("code", "said", "expected"),
    [
        (-11, CRASH, "ended by SIGSEGV in /home/me/mine.py:7 (fast)"),
        (
            -11,
            CRASH.partition('  File "/home')[0],
            "ended by SIGSEGV in /usr/lib/python3.11/ctypes/__init__.py:519 (string_at)",
        ),
        (-6, "terminate called\nstd::bad_alloc\nPLEASE submit a bug report\n", "ended by SIGABRT (std::bad_alloc)"),
        (-6, "", "ended by SIGABRT"),
        (-9, "anything", "killed from outside (signal SIGKILL)"),
        (-40, "", "ended by signal 40"),
        (127, "\n  not found  \n\n", "ended with status 127 (not found)"),
        (1, "x" * 999, f"ended with status 1 ({'x' * 160})"),
    ],
)
def test_an_end_is_told_in_one_line(code: int, said: str, expected: str) -> None:
    assert how_it_ended(code, said) == expected

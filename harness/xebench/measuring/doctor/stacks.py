"""Findings on the two stacks: the one that this environment has, and what would bring the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xebench.system.runtime.findings import Finding
from xebench.system.runtime.pins import SETUP
from xebench.system.runtime.stack import Stack, stack

_ABOUT: Final = {
    Stack.PINNED: "compiles kernels, by numba-dpex on Python 3.11",
    Stack.CURRENT: "compiles kernels, by xebench's own target of numba on Python 3.11 or later, with today's dpctl",
}
_HOW_TO_HAVE: Final = {
    Stack.PINNED: f"to have numba-dpex too, run {SETUP} in a virtual environment with Python 3.11",
    Stack.CURRENT: "to have it too, install xebench by plain pip into another virtual environment",
}


def stack_findings() -> Iterator[Finding]:
    """The stack in use, then the other one; that it is absent is no problem."""
    used = stack()
    yield Finding("stack", "ok", str(used), f"in use; it {_ABOUT[used]}")
    (other,) = set(Stack) - {used}
    yield Finding("stack", "ok", str(other), f"not here; it {_ABOUT[other]}", _HOW_TO_HAVE[other])

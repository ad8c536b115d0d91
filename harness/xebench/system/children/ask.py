"""Put one question to a driver in a process of its own, since a bad driver may abort or hang."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from xebench.errors import XebenchError
from xebench.system.children.lifetime import run_as_child
from xebench.system.children.process import python_module, run
from xebench.system.children.process_exit import how_it_ended, last_line


@dataclass(frozen=True)
class ChildReply:
    """A child process's answer: decoded JSON, or why there is none (one line)."""

    value: Any = None
    failure: str | None = None


def ask(module: str, arguments: Sequence[str] = (), *, timeout_s: float) -> ChildReply:
    """Run ``python -m module arguments`` and decode the last line that it prints as JSON.

    A module that ends with a status of its own says why in the last line of its errors.
    """
    try:
        child = run(python_module(module, *arguments), timeout_s, errors=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return ChildReply(failure=f"no answer within {timeout_s:g} s")
    if child.returncode > 0 and (reason := last_line(child.stderr)):
        return ChildReply(failure=reason)
    if child.returncode:
        return ChildReply(failure=how_it_ended(child.returncode, child.stderr))
    # a driver may print lines of its own before ours
    line = last_line(child.stdout)
    try:
        return ChildReply(json.loads(line))
    except ValueError:
        return ChildReply(failure=f"answered nonsense: {line[:80]!r}")


def answer(question: Callable[[list[str]], Any]) -> NoReturn:
    """The main program of such a module: print what a function gives for its arguments as JSON.

    A `XebenchError` is one line on standard error and its exit status.
    """

    def main(arguments: list[str]) -> int:
        try:
            print(json.dumps(question(arguments)))
        except XebenchError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        return 0

    run_as_child(main)

"""The progress of a run: a live line in a terminal with the time that is left; and a line a family that stays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TextIO

from rich.progress import Progress, ProgressColumn, Task
from rich.spinner import Spinner
from rich.table import Column
from rich.text import Text

from xebench.report.console import ShownConsole
from xebench.report.units import long_time
from xebench.vocabulary import Answer


class ProgressLine:
    """The live line: the work at hand, the progress, and the time that is left; above it results so far, and notices.

    Where there is no terminal, only the lines that stay.
    """

    def __init__(self, stream: TextIO) -> None:
        self._console = ShownConsole(file=stream, emoji=False)
        self._bar = Progress(
            _HowFar(),
            console=self._console,
            transient=True,
            disable=not stream.isatty(),
        )
        self._task = self._bar.add_task("starting", total=None)
        self._name = ""
        self._when = ""

    def say(self, text: str) -> None:
        """Print a notice in a line of its own."""
        self._print(f"xebench: {text}")

    def stage(self, text: str) -> None:
        """Show what the run is at before the first family."""
        self._bar.update(self._task, description=text)

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        """Show the family that a visit begins to.

        Args:
            done: visits that are over.
            total: visits in all.
            name: of the family.
            left_s: seconds until the end of the run, as far as is known.
        """
        self._name = name
        self._when = f"{done + 1}/{total}" if left_s is None else f"{long_time(left_s)} left"
        end_s = None if left_s is None else time.monotonic() + left_s
        self._bar.update(self._task, total=total, completed=done, description=name, end_s=end_s)

    def variant(self, name: str) -> None:
        """Show the variant that is at work."""
        self._bar.update(self._task, description=f"{self._name}: {name}")

    def finished(self, name: str, answers: Sequence[tuple[str, str, str]]) -> None:
        """Print what was found of a family, in a line that stays: answers to claims, or else what was measured.

        Args:
            name: of the family.
            answers: variant, answer, and a few words such as ``1.97x``.
        """
        told = [answer for answer in answers if answer[1] != Answer.NO_CLAIM] or answers
        found = "; ".join(f"{variant} {_in_words(answer, words)}" for variant, answer, words in told)
        what = f"{name}: {found}" if found else name
        self._print(f"{self._when}, {what}" if self._when else what)

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


class _HowFar(ProgressColumn):
    """The progress: visits that are over, the time until the end if that is known, and the work at hand.

    In this order and in one column, so that a narrow terminal cuts off the end of the last.
    """

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))
        self._alive = Spinner("line")

    def render(self, task: Task) -> Text:
        """The line."""
        end_s = task.fields.get("end_s")
        left = None if end_s is None else f"{long_time(max(0.0, end_s - time.monotonic()))} left"
        visits = None if task.total is None else f"{task.completed:.0f}/{task.total:.0f}"
        line = "  ".join(filter(None, [visits, left, task.description]))
        return Text(f"{self._alive.render(task.get_time())} {line}")


def _in_words(answer: str, words: str) -> str:
    """``holds 1.97x``, and what is no figure after a colon: ``skipped: needs a GPU``."""
    if not words or words == answer:
        return answer
    return f"{answer} {words}" if words[0].isdigit() else f"{answer}: {words}"

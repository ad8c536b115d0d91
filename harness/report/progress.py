"""How far a run is: a live line in a terminal, nothing but notices elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class ProgressLine:
    """What is measured, how far, and the time that remains; notices above it."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, emoji=False)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not stream.isatty(),
        )
        self._task = self._bar.add_task("starting", total=None)
        self._name = ""

    def say(self, text: str) -> None:
        """Print a notice in a line of its own."""
        self._console.print(f"xebench: {text}", highlight=False, markup=False, soft_wrap=True)

    def stage(self, text: str) -> None:
        """Show what the run is at before the first family."""

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        """Show the family that begins."""
        self._name = name
        self._bar.update(self._task, total=total, completed=done, description=name)

    def variant(self, name: str) -> None:
        """Show the variant that was checked."""
        self._bar.update(self._task, description=f"{self._name}: {name}")

    def finished(self, name: str, answers: Sequence[tuple[str, str, str]]) -> None:
        """Show what a family answers."""

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

"""How far a run is: a live line in a terminal, nothing but notices elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TextIO

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class QuietProgress:
    """Notices only, one line each, for output that is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, text: str) -> None:
        """Print a notice."""
        click.echo(f"xebench: {text}", file=self._stream)

    def family(self, index: int, total: int, name: str) -> None:
        """Nothing: nobody watches."""

    def variant(self, name: str) -> None:
        """Nothing: nobody watches."""

    def __enter__(self) -> QuietProgress:
        return self

    def __exit__(self, *details: object) -> None:
        pass


class TerminalProgress:
    """A bar with what is measured, how far, and the time that remains."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._name = ""

    def say(self, text: str) -> None:
        """Print a notice above the bar."""
        self._console.print(f"xebench: {text}", highlight=False, markup=False)

    def family(self, index: int, total: int, name: str) -> None:
        """Show the family that begins."""
        self._name = name
        self._bar.update(self._task, total=total, completed=index, description=name)

    def variant(self, name: str) -> None:
        """Show the variant that was checked."""
        self._bar.update(self._task, description=f"{self._name}: {name}")

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


def progress_for(stream: TextIO) -> QuietProgress | TerminalProgress:
    """A bar for a terminal, notices for everything else."""
    return TerminalProgress(stream) if stream.isatty() else QuietProgress(stream)

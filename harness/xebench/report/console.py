"""Text for a terminal: lines and tables, which the views share, and the progress of a run."""

from __future__ import annotations

import io
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Final, Self, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn, Task
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Column, Table
from rich.text import Text

from xebench.errors import escape_controls, some_of
from xebench.report.units import long_time
from xebench.vocabulary import Answer

#: Beginning of the words of a variant without results.
_SKIPPED: Final = f"{Answer.SKIPPED}: "


class ShownConsole(Console):
    """A console that prints control characters of names and reasons as visible escapes."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The pieces of a line or a table."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


def terminal_width(least: int = 80, elsewhere: int = 80) -> int:
    """Columns to fill.

    Args:
        least: columns that are filled in any case.
        elsewhere: columns where there is no terminal.
    """
    return max(least, shutil.get_terminal_size((elsewhere, 24)).columns)


def plain_table() -> Table:
    """A table without lines."""
    return Table(box=None, pad_edge=False, show_edge=False)


def draw(parts: Iterable[str | Text | Table], width: int, *, colour: bool | None = False, wrap: bool = True) -> str:
    """Lines and tables, one below the other, without a newline at the end.

    Args:
        parts: strings, shown literally (brackets are not markup), and tables.
        width: columns of tables.
        colour: True to colour the output; None to colour it on a terminal.
        wrap: True to wrap longer lines; False to leave that to the terminal.
    """
    buffer = io.StringIO()
    console = ShownConsole(file=buffer, width=width, force_terminal=sys.stdout.isatty() if colour is None else colour)
    for part in parts:
        if isinstance(part, str):
            console.print(Text(escape_controls(part)), soft_wrap=not wrap)  # before lines are broken by their width
        else:
            console.print(part)
    return buffer.getvalue().rstrip("\n")


class ProgressLine:
    """The live line: the work at hand, the progress, and the time that is left; above it results so far, and notices.

    Where there is no terminal, only the lines that stay.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._console = ShownConsole(file=stream, emoji=False, quiet=quiet)
        self._in_terminal = stream.isatty()  # which would break words; a log keeps one line each
        self._bar = Progress(
            _Progress(),
            console=self._console,
            transient=True,
            disable=quiet or not self._in_terminal,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._name = ""
        self._left = ""
        self._done, self._total = 0, 0
        self._skipped: dict[str, list[str]] = {}

    def say(self, text: str) -> None:
        """Print a notice in a line of its own."""
        self._print(f"xebench: {text}".replace("\n", " "))

    def stage(self, text: str) -> None:
        """Show what the run is at before the first family, or after the last."""
        self._total, self._left = 0, ""
        self._bar.update(self._task, description=text)

    def family(self, done: int, total: int, name: str, left_s: float | None = None) -> None:
        """Show the family that has the next round.

        Args:
            done: number of finished families.
            total: number of all families.
            name: name of the family.
            left_s: seconds until the end of the run; None if unknown.
        """
        self._name = name
        self._done, self._total = done, total
        self._left = f"{long_time(left_s)} left" if left_s else ""
        end_s = None if left_s is None else time.monotonic() + left_s
        self._bar.update(self._task, total=total, completed=done, description=name, end_s=end_s)

    def variant(self, name: str) -> None:
        """Show the variant that is at work."""
        self._bar.update(self._task, description=f"{self._name}: {name}")

    def finished(self, name: str, results: Sequence[tuple[str, str]]) -> None:
        """Print the speed-ups of a family as a permanent line; families that were skipped are listed at the end.

        Args:
            name: name of the family.
            results: variants, each with a few words such as ``1.97x``, or ``skipped: needs a GPU``.
        """
        self._done += 1
        skipped = [words.removeprefix(_SKIPPED) for _, words in results if words.startswith(_SKIPPED)]
        if skipped and len(skipped) == len(results):
            self._skipped.setdefault("; ".join(dict.fromkeys(skipped)), []).append(name)
            return
        found = "; ".join(f"{variant}{' ' if words[0].isdigit() else ': '}{words}" for variant, words in results)
        what = f"{name}: {found}" if found else name
        count = f"{self._done}/{self._total}" if self._total else ""
        self._print(", ".join(filter(None, [count, self._left, what])))

    def _list_skipped(self) -> None:
        """Print a line for each reason."""
        for reason, names in self._skipped.items():
            self._print(f"skipped: {reason}: {some_of(names)}")

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=not self._in_terminal)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._list_skipped()
        self._bar.stop()


class _Progress(ProgressColumn):
    """The progress: families that are over, the time until the end if that is known, and the work at hand.

    In this order and in one column, so that a narrow terminal cuts off the end of the last.
    """

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))
        self._alive = Spinner("line")

    def render(self, task: Task) -> Text:
        end_s = task.fields.get("end_s")
        left = None if end_s is None else f"{long_time(max(0.0, end_s - time.monotonic()))} left"
        families = None if task.total is None else f"{task.completed:.0f}/{task.total:.0f}"
        line = "  ".join(filter(None, [families, left, task.description]))
        return Text(f"{self._alive.render(task.get_time())} {line}")

"""How a run ends, whatever ends it: what was measured is kept, and the folder says why it ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from xebench.errors import RunFolderError, XebenchError, named
from xebench.runner.run_options import Progress
from xebench.runner.stop_signals import Stopped, StopSignals
from xebench.tables import Run, RunWriter


@dataclass(frozen=True)
class RunEnd:
    """Leaves a finished folder.

    Attributes:
        writer: of the folder.
        progress: is told what is kept.
        signals: end the run, and are ignored while the folder is finished.
        how: options that a command which goes on needs beside ``--resume``.
    """

    writer: RunWriter
    progress: Progress
    signals: StopSignals
    how: str = ""

    def after(self, measure: Callable[[], str | None]) -> Run:
        """Measure, and finish the folder however that ends.

        Args:
            measure: gives why it ended before everything was measured; None when it did not.
        """
        try:
            ended_by = measure()
            self.signals.ignore()
        except Stopped as stop:
            ended_by = stop.name
            self.say_what_is_kept(f"stopped by {stop.name}")
        except BaseException as error:
            self.signals.ignore()
            self.say_what_is_kept("the run failed")
            with suppress(XebenchError):  # the first error says more
                self._finish(named(error))
            raise
        return self._finish(ended_by)

    def say_what_is_kept(self, cause: str) -> None:
        """Tell why the run ends early, and how it goes on."""
        again = f"'xebench run --resume {self.writer.path}{self.how}' goes on"
        self.progress.say(f"{cause}: what was measured is kept in {self.writer.path}; {again}")

    def _finish(self, ended_by: str | None) -> Run:
        try:
            self.writer.note(ended_by=ended_by)
            return self.writer.finish("interrupted" if ended_by else "complete")
        except RunFolderError as error:
            # a disk that is too full for the tables may have room for the manifest
            with suppress(RunFolderError):
                self.writer.note(ended_by=ended_by or named(error), state="interrupted")
            raise

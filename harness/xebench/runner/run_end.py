"""The end of a run, for any reason: results are kept, and the folder says why it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from xebench.errors import RunFolderError, XebenchError, describe_error
from xebench.measuring.sampling.limits import Clock
from xebench.runner.resource_limits import RunBudget
from xebench.runner.run_options import Progress
from xebench.runner.stop_signals import Stopped, StopSignals
from xebench.tables import Run, RunWriter
from xebench.vocabulary import RUN_BUDGET

#: The end of a run is tried again when the journal is so many times as long as at the last try.
GROWTH: Final = 2.0

#: What is not tried: the report is printed, which takes a part of what the tables do, and the worker ends.
REPORT_PART: Final = 0.5
LAST_S: Final = 2.0


@dataclass
class EndTrials:
    """Estimates how long the end of a run will take, from tries of it while the run goes on.

    The time grows with the rows, and is taken to be proportional to them until the next try. All tries together take
    about as long as the end.

    Attributes:
        writer: of the run's folder.
        clock: seconds, for tests.
    """

    writer: RunWriter
    clock: Clock = time.monotonic
    _took_s: float = 0.0
    _tried_bytes: int = 0

    def seconds(self) -> float:
        """Seconds that the end would take now.

        Raises:
            RunFolderError: the disk is full or unwritable.
        """
        if (size := self.writer.journal_bytes) >= GROWTH * self._tried_bytes:
            begin_s = self.clock()
            self.writer.write_tables()
            self._took_s, self._tried_bytes = self.clock() - begin_s, size
        tables_s = self._took_s * size / max(1, self._tried_bytes)
        return (1 + REPORT_PART) * tables_s + LAST_S


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
                self._finish(describe_error(error))
            raise
        return self._finish(ended_by)

    def say_what_is_kept(self, cause: str) -> None:
        """Print why the run ends early, and how it goes on."""
        again = f"'xebench run --resume {self.writer.path}{self.how}' goes on"
        self.progress.say(f"{cause}: what was measured is kept in {self.writer.path}; {again}")

    def say_what_lacks(self, budget: RunBudget, lacking: int, wide: int) -> str | None:
        """Print what the budget was too small for; returns why the run ends before everything was done, or None.

        Args:
            budget: of the run.
            lacking: families without results.
            wide: families that are less precise than was asked for.
        """
        if not lacking and not wide:
            return None
        if lacking and budget.left_s() > 0:
            self.say_what_is_kept(f"the budget of {budget.seconds:g} s for the run was too small for some families")
        elif lacking:
            self.say_what_is_kept(f"{budget.spent}, and {_families(lacking)} not measured")
        else:
            self.say_what_is_kept(f"{budget.spent}, and {_families(wide)} less precise than was asked for")
        return RUN_BUDGET

    def _finish(self, ended_by: str | None) -> Run:
        try:
            self.writer.note(ended_by=ended_by)
            return self.writer.finish("interrupted" if ended_by else "complete")
        except RunFolderError as error:
            # a disk that is too full for the tables may have room for the manifest
            with suppress(RunFolderError):
                self.writer.note(ended_by=ended_by or describe_error(error), state="interrupted")
            raise


def _families(count: int) -> str:
    return f"{count} {'family is' if count == 1 else 'families are'}"

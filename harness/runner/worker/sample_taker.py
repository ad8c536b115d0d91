"""Take one sample of a variant: reset and flush before the clock starts, check its times, make its row."""

from __future__ import annotations

import math
from itertools import chain
from typing import Protocol

from harness.analysis import metrics
from harness.runner.worker.row_stream import RowStream
from harness.runner.worker.sample_flags import Rules
from harness.runner.worker.variant_run import Candidate
from harness.session.session import Session
from harness.vocabulary import is_valid, metric_named


class Resettable(Protocol):
    """What is put back before each sample: a :class:`harness.runner.worker.bound_problem.Binding`."""

    def reset(self) -> None:
        """Put the initial contents of the in-out arrays back."""


class Flush(Protocol):
    """Empties the device's caches: a :class:`harness.session.cache_flush.Flusher`."""

    @property
    def limit_gbps(self) -> float:
        """Bandwidth that only a cache can exceed."""

    def flush(self) -> None:
        """Return when nothing of a problem is left in a cache."""


class SampleTaker:
    """Takes the samples of one family in one state.

    Args:
        session: where variants run.
        binding: reset before each sample.
        rows: takes the samples' rows.
        rules: what makes a sample suspect.
        flusher: for cold samples; None for hot ones.
        instance: number of the family's instance.
    """

    def __init__(
        self,
        session: Session,
        binding: Resettable,
        rows: RowStream,
        rules: Rules,
        flusher: Flush | None = None,
        instance: int = 0,
    ) -> None:
        self._session = session
        self._binding = binding
        self._rows = rows
        self._rules = rules
        self._flusher = flusher
        self._instance = instance

    def take(self, candidate: Candidate, *, state: str, block: int, order: int, batch: int) -> float:
        """One sample: its row is queued, its metric in ns for one execution is returned; NaN if it is not valid."""
        self._binding.reset()
        if self._flusher is not None:
            self._flusher.flush()
        measured = self._session.measure(candidate.timed, batch)
        executions = [[command.event_times() for command in execution] for execution in measured.executions]
        totals_ns = metrics.sample_times(executions, measured.host_ns)
        metric = metric_named(self._rules.metric)
        total_ns = totals_ns[metric]
        limit_gbps = self._flusher.limit_gbps if self._flusher is not None else None
        times = list(chain.from_iterable(executions))
        flags = self._rules.broken(candidate.name, measured, times, total_ns, limit_gbps)
        valid = is_valid(flags, metric)
        self._rows.add_sample(
            candidate.name,
            {
                "block": block,
                "order": order,
                "instance": self._instance,
                "state": state,
                "batch": batch,
                **{known.column: time_ns / batch for known, time_ns in totals_ns.items()},
                "queue_ns": sum(map(metrics.queue_ns, executions)) / batch,
                "valid": valid,
                "flags": ",".join(flags),
            },
            measured.commands,
        )
        return total_ns / batch if valid else math.nan

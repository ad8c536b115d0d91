"""Take one sample of a variant: reset and flush before the clock starts, check its times, make its row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from xebench.analysis import metrics
from xebench.errors import XebenchError
from xebench.measuring.row_stream import RowStream
from xebench.measuring.sample_flags import Rules
from xebench.measuring.variant_run import VariantRun
from xebench.session.cache_flush import Flusher
from xebench.session.session import Session
from xebench.vocabulary import Flag, Metric, is_valid, metric_named

NO_COMMAND: Final = (
    "the session saw no command of it: submit what it does by session.launch, session.copy or session.call"
)


@dataclass(frozen=True)
class SampleTaker:
    """Takes the samples of one family in one state.

    Attributes:
        session: where variants run.
        reset: puts the initial contents of in-out arrays back, before each sample.
        rows: takes the samples' rows.
        rules: what makes a sample suspect.
        flusher: for cold samples; None for hot ones.
        instance: number of the family's instance.
    """

    session: Session
    reset: Callable[[], None]
    rows: RowStream
    rules: Rules
    flusher: Flusher | None = None
    instance: int = 0

    def take(self, variant: VariantRun, *, state: str, block: int, order: int, batch: int) -> float:
        """One sample: its row is queued, its metric in ns for one execution is returned; NaN if it is not valid."""
        self.reset()
        if self.flusher is not None:
            self.flusher.flush()
        measured = self.session.measure(variant.sample, batch)
        by_clock = measured.times_by_clock()
        executions = by_clock[0]
        # devices with clocks of their own work side by side: the longest time is that of all
        totals = [metrics.sample_times(own, measured.host_ns, measured.build_ns) for own in by_clock]
        totals_ns = {kind: max(own[kind] for own in totals) for kind in Metric}
        metric = metric_named(self.rules.metric)
        if metric.on_device_clock and not measured.commands:
            raise XebenchError(NO_COMMAND)
        total_ns = totals_ns[metric]
        limit_gbps = self.flusher.limit_gbps if self.flusher is not None else None
        times = list(chain.from_iterable(executions))
        flags = self.rules.broken(variant.name, measured, times, total_ns, limit_gbps)
        if self.flusher is not None and not self.flusher.covers:
            flags = (*flags, Flag.CACHE_UNKNOWN)
        valid = is_valid(flags, metric)
        self.rows.add_sample(
            variant.name,
            {
                "block": block,
                "order": order,
                "instance": self.instance,
                "state": state,
                "batch": batch,
                "commands": len(measured.commands) // batch,
                **{kind.column: time_ns / batch for kind, time_ns in totals_ns.items()},
                "queue_ns": sum(map(metrics.queue_ns, executions)) / batch,
                "valid": valid,
                "flags": ",".join(flags),
            },
            measured.commands,
        )
        return total_ns / batch if valid else math.nan

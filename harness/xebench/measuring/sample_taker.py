"""Take one sample of a variant in its place, check its times, make its row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from xebench.errors import XebenchError
from xebench.measuring.place import CacheFlusher, Call, Calls
from xebench.measuring.row_stream import RowStream
from xebench.measuring.running_clock import RunningClock
from xebench.measuring.sample_flags import Rules
from xebench.measuring.session.recorder import MeasuredSample
from xebench.patterns.pattern import Variant
from xebench.tables.analysis import metrics
from xebench.vocabulary import Flag, Metric, is_valid, metric_named


def times_of(measured: MeasuredSample) -> dict[Metric, float]:
    """Every metric of a sample in ns, of all its executions together."""
    # devices with clocks of their own work side by side: the longest time is that of all
    totals = [metrics.sample_times(own, measured.host_ns, measured.build_ns) for own in measured.times_by_clock()]
    return {kind: max(own[kind] for own in totals) for kind in Metric}


@dataclass(frozen=True)
class SampleTaker:
    """Takes the samples of one family in one state and one instance.

    Attributes:
        rows: takes the samples' rows.
        new_rules: what makes a sample suspect.
        flusher: for cold samples; None for hot ones.
        instance: number of the family's instance.
        no_command: what to tell of a variant of which nothing was recorded; may hold its ``{name}``.
        data_set: number of the data; None where there are no data sets.
        clock: says whether the process was stopped meanwhile.
    """

    rows: RowStream
    new_rules: Callable[[], Rules]
    flusher: CacheFlusher | None = None
    instance: int = 0
    no_command: str = ""
    data_set: int | None = None
    clock: RunningClock = field(default_factory=RunningClock)
    _rules: dict[Any, Rules] = field(default_factory=dict)

    def rules_of(self, variant: Variant) -> Rules:
        """The rules of the process in which a variant runs; drivers may begin to count again in each process."""
        if variant.name not in self._rules:
            process = variant.ranks, tuple(sorted(variant.environment.items()))
            self._rules[variant.name] = self._rules.setdefault(process, self.new_rules())
        return self._rules[variant.name]

    @property
    def flush(self) -> Callable[[], None] | None:
        """Flush the caches before a sample."""
        return None if self.flusher is None else self.flusher.flush

    def take(self, variant: Variant, *, state: str, block: int, order: int) -> Calls[float]:
        """One sample: its row is queued, its metric in ns for one execution is returned; NaN if it is not valid.

        Raises:
            XebenchError: nothing was recorded.
        """
        flusher, rules = self.flusher, self.rules_of(variant)
        self.clock.was_stopped()  # before it: that is no matter of this sample
        yield (call := Call())
        measured, batch = call.measured, call.batch
        stopped = self.clock.was_stopped()
        executions = measured.times_by_clock()[0]
        totals_ns = times_of(measured)
        metric = metric_named(rules.metric)
        if metric.on_device_clock and not measured.events:
            raise XebenchError(self.no_command.format(name=variant.name))
        total_ns = totals_ns[metric]
        limit_gbps = None if flusher is None else flusher.limit_gbps
        times = list(chain.from_iterable(executions))
        flags = rules.broken(variant.name, measured, times, total_ns, limit_gbps)
        if flusher is not None and not flusher.covers:
            flags = (*flags, Flag.CACHE_UNKNOWN)
        if stopped:
            flags = (*flags, Flag.STOPPED)
        valid = is_valid(flags, metric)
        counts = self.rows.add_sample(
            variant.name,
            {
                "block": block,
                "order": order,
                "instance": self.instance,
                "state": state,
                "batch": batch,
                "data_set": self.data_set,
                "events": len(measured.events) // batch,
                **{kind.column: time_ns / batch for kind, time_ns in totals_ns.items()},
                "queue_ns": sum(map(metrics.queue_ns, executions)) / batch,
                "valid": valid,
                "sample_flags": ",".join(flags),
            },
            measured.events,
        )
        return total_ns / batch if counts else math.nan

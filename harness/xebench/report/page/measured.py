"""The two large tables for the page, each read once: samples by case, and one execution of each variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from xebench.report.charts.distribution import VariantSamples
from xebench.report.trace_events import Event, variants
from xebench.tables import Run, schema
from xebench.tables.analysis.rows import Row
from xebench.tables.analysis.times import usable
from xebench.tables.timeline import by_key, executions, median_ns
from xebench.vocabulary import SAMPLED_STATES, Metric

_COLUMNS = (
    *("case_id", "sample_id", "state", "instance", "events", "sample_flags", "valid", "checked"),
    *(metric.column for metric in Metric),
)


class RunSamples:
    """Samples and executions of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        samples = run.part("samples", _COLUMNS)
        counted = usable(run.cases, samples)
        self._groups = dict(iter(counted.groupby(["case_id", "state"], sort=False)[["time_ns", "instance"]]))
        self._medians = median_ns(counted)
        self._shown = executions(samples, counted[counted["events"].ne(0).fillna(value=True)])
        sampled = samples[samples["state"].isin(SAMPLED_STATES)]
        self._flags = sampled.groupby(["case_id", "sample_flags"], sort=False).size().reset_index()

    def samples(self, case_id: str, state: str, name: str) -> VariantSamples | None:
        """The samples of a case that count, in order; None where there are none."""
        own = self._groups.get((case_id, state))
        if own is None or own.empty:
            return None
        return VariantSamples(name, own["time_ns"].to_numpy(), own["instance"].to_numpy())

    def flags(self) -> Mapping[str, tuple[int, Counter[str]]]:
        """The number of samples of each case, and of those with each flag, by case_id."""
        found: dict[str, tuple[int, Counter[str]]] = {}
        for case_id, together, count in zip(*(self._flags[name] for name in self._flags), strict=True):
            total, counts = found.get(case_id, (0, Counter()))
            counts.update(dict.fromkeys(filter(None, together.split(",")), int(count)))
            found[case_id] = total + int(count), counts
        return found

    def executions(self, groups: Iterable[Sequence[Row]]) -> list[list[list[Event]]]:
        """One execution of each case, for several groups of rows of `cases`: the events are read once for all."""
        several = list(groups)
        wanted = [case["case_id"] for cases in several for case in cases]
        shown = self._shown[self._shown["case_id"].isin(wanted)]
        events = by_key(self._run.part("events", [*schema.columns("events")], shown["sample_id"].tolist()), "sample_id")
        own = by_key(shown, "case_id")
        return [variants(cases, own, events, self._medians) for cases in several]

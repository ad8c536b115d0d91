"""A run's data for the page: families in the order of reports, their samples, and whether their program is ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xebench.errors import XebenchError
from xebench.patterns import registry
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import discover
from xebench.records import points
from xebench.records.points import Row, rows
from xebench.report.page.program_charts import VariantSamples
from xebench.report.remarks import is_foreign
from xebench.report.result_rows import ResultRow, number, result_rows, text
from xebench.report.trace_events import Event, variants
from xebench.results import Run, schema
from xebench.results.analysis.answer import FEW
from xebench.results.analysis.summaries import usable
from xebench.results.speedup_charts import Estimate
from xebench.results.timeline import by_key, executions, median_ns
from xebench.vocabulary import JUDGED, SAMPLED_STATES, TIME_CLAIMS, Metric


class SourcePrograms:
    """The patterns at hand: the project's own, and files of the user's that this machine has read before.

    Nothing that a run folder names is executed or shown: what is kept of a file of the user's must have its hash.
    """

    def __init__(self) -> None:
        try:
            self._builtin = {info.name: info for info in discover()}
        except XebenchError:  # on a machine that cannot read patterns a run can be looked at all the same
            self._builtin = {}

    def today(self, case: Mapping[str, Any]) -> PatternInfo | None:
        """The present declaration of a pattern, even if it is not the one that was measured; None without one.

        Args:
            case: a row of the table `cases`.
        """
        pattern, source = case["pattern"], _file(case)
        if Path(source).is_absolute():
            return next((info for info in _kept(source) if info.name == pattern), None)
        return self._builtin.get(pattern)

    def measured(self, case: Mapping[str, Any]) -> PatternInfo | None:
        """The program of a row of `cases`, where it is still the one at hand."""
        info = self.today(case)
        known = text(case["source_sha256"])
        return info if info and known and info.source_sha256 == known else None

    def obstacle(self, case: Mapping[str, Any]) -> str:
        """Return why the code of a row of `cases` cannot be shown; "" if it can."""
        if self.measured(case):
            return ""
        if not self.today(case):
            return "the pattern's file is not at hand, so its code is not shown"
        if not text(case["source_sha256"]):
            return "older program: the run keeps no hash of its files, so the code that was measured is not known"
        return "older program: the pattern's file has changed since it was measured, so its code is not shown"


@cache
def _kept(source: str) -> tuple[PatternInfo, ...]:
    path = Path(source)
    return tuple(info for info in registry.last_read([path]) if registry.is_as_declared(info))


def _file(case: Mapping[str, Any]) -> str:
    """``cases.source`` without the line."""
    file, _, line = text(case["source"]).rpartition(":")
    return file if line.isdecimal() else text(case["source"])


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

    def samples(self, case_id: str, state: str, name: str, color: str) -> VariantSamples | None:
        """The samples of a case that count, in order; None where there are none."""
        own = self._groups.get((case_id, state))
        if own is None or own.empty:
            return None
        return VariantSamples(name, own["time_ns"].to_numpy(), own["instance"].to_numpy(), color)

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


@dataclass(frozen=True)
class Pair:
    """A variant and what it is compared with: the report's line, and the row of the table `pairs`."""

    line: ResultRow

    @property
    def row(self) -> Mapping[Any, Any]:
        """Its row of the table `pairs`."""
        return self.line.pair

    @property
    def estimate(self) -> Estimate | None:
        """The estimate for a chart; None if there is no speed-up."""
        return Estimate.of(self.row, self.line.label)

    @property
    def is_sure(self) -> bool:
        """True if the answer is decided, of several instances, and of kernels long enough for the fixed cost."""
        if self.line.answer not in JUDGED:
            return False
        instances, length = number(self.row["instances"]), number(self.row["times_empty_kernel"])
        several = None not in self.line.ends and instances is not None and instances > 1
        return text(self.row["claim"]) not in TIME_CLAIMS or (several and (length is None or length >= FEW))

    @property
    def token(self) -> str:
        """The word for the page's filter: the answer, ``!`` if it is sure, ``@`` if the claim is for other devices."""
        key = self.line.answer.replace(" ", "-")
        return f"{key}{'!' if self.is_sure else ''}{'@' if is_foreign(self.row) else ''}"


@dataclass(frozen=True)
class ReportFamily:
    """Variants that are compared with each other, or one that is compared with nothing.

    Attributes:
        family_id: its key in the tables.
        head: the baseline's line.
        pairs: pairs of the family, in the order of reports; none of a variant alone.
        summaries: rows of the table `summaries` in the family's state, the baseline's first.
        state: hot or cold; "" where nothing was sampled.
        preset: preset of its sizes.
        host: host that measured it; "" in a run on one host.
        point: parameters that distinguish the family from others of its pattern.
    """

    family_id: str
    head: ResultRow
    pairs: Sequence[Pair]
    summaries: Sequence[Row]
    state: str
    preset: str
    host: str
    point: Mapping[str, points.Value]


def by_pattern(run: Run) -> dict[str, list[ReportFamily]]:
    """The families of each pattern, patterns by chapter and name."""
    summaries: dict[tuple[str, str], list[Row]] = {}
    for row in rows(run.summaries):
        summaries.setdefault((row["family_id"], text(row["state"])), []).append(row)
    found: dict[str, list[ReportFamily]] = {}
    family: list[Pair] = []
    for line in result_rows(run):
        if not line.answer:  # a baseline begins its family
            family = []
            head = line
            if not line.summary:
                continue
        else:
            family.append(Pair(line))
            if len(family) > 1:
                continue
        first = line.summary or line.pair
        own = summaries.get((first["family_id"], text(first["state"])), [])
        own = [line.summary] if line.summary else sorted(own, key=lambda each: each["variant"] != head.variant)
        made = ReportFamily(
            family_id=str(first["family_id"]),
            head=head,
            pairs=family,
            summaries=own,
            state=text(first["state"]),
            preset=str(first["preset"]),
            host=text(first["host"]),
            point=points.point(first),
        )
        found.setdefault(line.pattern, []).append(made)
    return found

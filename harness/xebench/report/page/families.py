"""The families of a run in the order of reports: their rows as text, and the tables' rows that these are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from xebench.report.answer_words import is_foreign
from xebench.report.charts.forest import Estimate
from xebench.report.result_rows import ResultRow, number, result_rows, sorted_pairs, text
from xebench.tables import Run
from xebench.tables.analysis import points
from xebench.tables.analysis.fixed_cost import FEW
from xebench.tables.analysis.rows import Row, rows
from xebench.vocabulary import TIME_CLAIMS, Answer

#: Answers that say how it is.
DECIDED: Final = (Answer.HOLDS, Answer.INVERTS, Answer.NO_EFFECT)


@dataclass(frozen=True)
class Pair:
    """A variant and what it is compared with: the report's line, and the row of the table `pairs`."""

    line: ResultRow
    row: Mapping[Any, Any]

    @property
    def estimate(self) -> Estimate | None:
        """For a chart; None where there is no speed-up."""
        speedup, low, high = self.line.ends
        if speedup is None or speedup <= 0:
            return None
        guide = number(self.row["guide_speedup"])
        return Estimate(speedup, low, high, guide, self.line.answer, self.line.label)

    @property
    def is_sure(self) -> bool:
        """True if the answer is decided, of several instances, and of kernels long enough for the fixed cost."""
        if self.line.answer not in DECIDED:
            return False
        instances, length = number(self.row["instances"]), number(self.row["times_empty_kernel"])
        several = None not in self.line.ends and instances is not None and instances > 1
        return text(self.row["claim"]) not in TIME_CLAIMS or (several and (length is None or length >= FEW))

    @property
    def token(self) -> str:
        """For the page's filter: the answer, ``!`` where it is sure, ``@`` where it is claimed of other devices."""
        key = self.line.answer.replace(" ", "-")
        return f"{key}{'!' if self.is_sure else ''}{'@' if is_foreign(self.row) else ''}"


@dataclass(frozen=True)
class ReportFamily:
    """Variants that are compared with each other.

    Attributes:
        head: the baseline's line.
        pairs: in the order of reports.
        summaries: rows of the table `summaries` in the family's state, the baseline's first.
        state: hot or cold; "" where nothing was sampled.
        point: the parameters that tell it from the pattern's others.
    """

    head: ResultRow
    pairs: Sequence[Pair]
    summaries: Sequence[Row]
    state: str
    point: Mapping[str, points.Value]

    @property
    def family_id(self) -> str:
        """Its key in the tables."""
        return str(self.pairs[0].row["family_id"])


def by_pattern(run: Run) -> dict[str, list[ReportFamily]]:
    """The families of each pattern, patterns by chapter and name."""
    summaries: dict[tuple[str, str], list[Row]] = {}
    for row in rows(run.summaries):
        summaries.setdefault((row["family_id"], text(row["state"])), []).append(row)
    found: dict[str, list[ReportFamily]] = {}
    pairs = iter(sorted_pairs(run))
    family: list[Pair] = []
    for line in result_rows(run):
        if not line.answer:  # a baseline begins its family
            family = []
            head = line
            continue
        row = next(pairs)
        family.append(Pair(line, row))
        if len(family) == 1:
            own = summaries.get((row["family_id"], text(row["state"])), [])
            own = sorted(own, key=lambda each, name=head.variant: each["variant"] != name)  # type: ignore[misc]
            made = ReportFamily(head, family, own, text(row["state"]), points.point(row))
            found.setdefault(line.pattern, []).append(made)
    return found

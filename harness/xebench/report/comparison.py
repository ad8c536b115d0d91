"""Two runs, or two versions in one, side by side for a reader: what changed first, in each format."""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from markupsafe import Markup

from xebench.records import points
from xebench.records.points import rows
from xebench.report import units
from xebench.report.console import draw, terminal_width
from xebench.report.remarks import SIGNS
from xebench.report.run_summary import headline
from xebench.report.table_forms import escape, fill, table
from xebench.results import Run, compare_runs, compare_versions
from xebench.results.analysis.compare import DECIDED, Thresholds
from xebench.results.files import as_csv
from xebench.results.run_plot import vega
from xebench.results.schema import TableRow
from xebench.results.speedup_charts import Estimate, Spec, forest
from xebench.vocabulary import NEW_VERSION, OLD_VERSION, Answer, Outcome, State

On = Literal["time", "speedup", "answer"]

#: The order in which outcomes are shown: slower ones first.
_ORDER: Final = (Outcome.SLOWER, Outcome.FASTER, Outcome.NONE, Outcome.INCONCLUSIVE, Outcome.SAME)

#: Outcomes of which the mean is.
_SURE: Final = (Outcome.SLOWER, Outcome.FASTER, Outcome.SAME)

#: Outcomes in counts.
_COUNTED: Final[Mapping[str, str]] = {
    Outcome.SLOWER: "slower",
    Outcome.FASTER: "faster",
    Outcome.SAME: "the same",
    Outcome.INCONCLUSIVE: "undecided",
    Outcome.NONE: "not compared",
}

#: Outcomes in rows, if the word differs.
_WORDS: Final[Mapping[str, str]] = {**_COUNTED, Outcome.SAME: "same"}


@dataclass(frozen=True)
class RunComparison:
    """Two runs side by side.

    Attributes:
        before, after: the two runs; the same run twice for `xebench ab`, which measures both versions in one.
        on: subject of the comparison: times, speed-ups or answers.
        threshold: relative change that matters, or those of patterns by name or glob.
    """

    before: Run
    after: Run
    on: On
    threshold: Thresholds

    @cached_property
    def rows(self) -> Sequence[TableRow]:
        """The rows of the table that `xebench.results.compare_runs` makes, those that changed first."""
        made = self.table.iloc[:, : list(self.table).index("reason") + 1]
        if self.on == "answer":
            return sorted(rows(made), key=_answer_rank)
        return sorted(rows(made), key=lambda row: _ORDER.index(row["outcome"]))

    @cached_property
    def varying_parameters(self) -> Mapping[str, set[str]]:
        """The parameters that differ between the rows of each pattern."""
        seen: dict[str, dict[str, set[points.Value]]] = {}
        for row in self.rows:
            for name, value in points.parse(row["parameters"]).items():
                seen.setdefault(row["pattern"], {}).setdefault(name, set()).add(value)
        return {pattern: {name for name, values in each.items() if len(values) > 1} for pattern, each in seen.items()}

    @cached_property
    def table(self) -> Any:
        """The table that `rows` shows."""
        if self.before is self.after:
            return compare_versions(self.before, self.threshold)
        return compare_runs(self.before, self.after, self.threshold, on="time" if self.on == "time" else "speedup")

    def count_changes(self, what: str) -> int:
        """The number of changes of a kind.

        Args:
            what: ``slower``; ``answer``: one that was decided became another; ``missing``: a case that was measured
                before has no time after.
        """
        if what == "slower":
            return sum(row["outcome"] == Outcome.SLOWER for row in self.rows)
        if what == "answer":
            pairs = self.rows if self.on != "time" else self._on("answer").rows
            return sum(_answer_rank(row) == 0 for row in pairs)
        cases = self.rows if self.on == "time" else self._on("time").rows
        return sum(row["before_n"] > 0 and not row["after_n"] for row in cases)

    @cached_property
    def failed(self) -> tuple[list[str], list[str]]:
        """The cases that were wrong or ended in an error before and after, by the keys of those after."""
        before, after = ([*run.failed_cases["case_id"]] for run in (self.before, self.after))
        if self.before is self.after:
            before = [
                case_id.replace(f"/{OLD_VERSION}", f"/{NEW_VERSION}") for case_id in before if OLD_VERSION in case_id
            ]
            after = [case_id for case_id in after if NEW_VERSION in case_id]
        return before, after

    def newly_failed(self) -> list[str]:
        """The cases that failed after, and not before."""
        before, after = self.failed
        return [case_id for case_id in after if case_id not in before]

    def _on(self, on: On) -> RunComparison:
        return RunComparison(self.before, self.after, on, self.threshold)

    @property
    def changed(self) -> list[TableRow]:
        """The rows that a reader must see."""
        if self.on == "answer":
            return [row for row in self.rows if _answer_rank(row) < 2]
        if self.before is self.after:
            return [row for row in self.rows if row["outcome"] != Outcome.SAME]
        sides = ("before_ns", "after_ns") if self.on == "time" else ("before_speedup", "after_speedup")
        one_sided = [row for row in self.rows if (row[sides[0]] is None) != (row[sides[1]] is None)]
        return [row for row in self.rows if row["outcome"] in _ORDER[:2]] + one_sided

    @property
    def summary(self) -> str:
        """The counts in a sentence."""
        if self.on == "answer":
            kept = len(self.rows) - len(self.changed)
            return f"{len(self.rows)} answers: {self.count_changes('answer')} turned, {kept} as before"
        counts = Counter(row["outcome"] for row in self.rows)
        told = ", ".join(f"{counts[each]} {_COUNTED[each]}" for each in _ORDER if counts[each])
        decided = [row[self._ratio] for row in self.rows if row["outcome"] in _SURE]
        known = [math.log(value) for value in decided if value is not None]
        of = "" if len(known) == len(self.rows) else f" of the {len(known)} that are decided"
        mean = f"; geometric mean{of} {units.ratio(math.exp(sum(known) / len(known)))}" if known else ""
        what = ("case" if self.on == "time" else "speed-up") + ("" if len(self.rows) == 1 else "s")
        of_patterns = self.threshold if isinstance(self.threshold, Mapping) else {"*": self.threshold}
        least = ", ".join(
            f"{'' if name == '*' else f'{name} '}{100 * part:.3g} %" for name, part in reversed([*of_patterns.items()])
        )
        return f"{len(self.rows)} {what}, threshold {least}: {told}{mean}"

    @property
    def _ratio(self) -> str:
        return "speedup" if self.on == "time" else "change"


def _answer_rank(row: TableRow) -> int:
    """0 where a decided answer became another, 1 for every other change, 2 where it is as it was."""
    answers = _answers(row)
    return 2 if answers[0] == answers[1] else 0 if set(answers) <= DECIDED else 1


def _answers(row: TableRow) -> tuple[str | None, str | None]:
    return row["before_answer"], row["after_answer"]


class ComparisonLine(NamedTuple):
    """A row as it is read: all of it text."""

    outcome: str
    case: str
    old: str
    new: str
    difference: str
    change: str
    interval: str
    reason: str


def _line(row: TableRow, comparison: RunComparison) -> ComparisonLine:
    on = comparison.on
    outcome, difference = _WORDS[row["outcome"]], ""
    if on == "time":
        if row["speedup"] is not None:
            later = row["after_ns"] - row["before_ns"]
            difference = f"{'-' if later < 0 else '+'}{units.duration(abs(later))}"
        old, new = (units.duration(row[name]) for name in ("before_ns", "after_ns"))
        ratios = [row[name] for name in ("speedup", "speedup_low", "speedup_high")]
    else:
        old, new = (units.ratio(row[name]) for name in ("before_speedup", "after_speedup"))
        ratios = [row[name] for name in ("change", "change_low", "change_high")]
    if on == "answer":
        old, new = (f"{SIGNS.get(text, '')} {text}" if text else "-" for text in _answers(row))
        outcome = ("turned", "other", "as before")[_answer_rank(row)]
    name = _name(row, comparison.varying_parameters.get(row["pattern"], ()))
    change, interval = units.ratio(*ratios), units.interval(*ratios[1:])
    return ComparisonLine(outcome, name, old, new, difference, change, interval, row["reason"])


def _name(row: TableRow, varied: Container[str]) -> str:
    """``pattern/variant n=16, cold``: with the point and the state if they differ between rows."""
    against = f" against {row['baseline']}" if row.get("baseline") else ""
    point = {name: value for name, value in points.parse(row["parameters"]).items() if name in varied}
    state = "" if row["state"] in (None, State.HOT) else row["state"]
    return f"{row['pattern']}/{row['variant']}{against} {', '.join(filter(None, (points.words(point), state)))}".strip()


def _shown(comparison: RunComparison, every: bool) -> list[ComparisonLine]:
    return [_line(row, comparison) for row in (comparison.rows if every else comparison.changed)]


def _sides(comparison: RunComparison) -> list[str]:
    if comparison.before is comparison.after:
        run = comparison.after
        named = [f"{when}: {name}" for when, name in zip(("old", "new"), run.versions, strict=True)]
        return [*named, f"both in {_title(run)}"]
    return [f"{when}: {_title(run)}" for when, run in (("old", comparison.before), ("new", comparison.after))]


def _title(run: Run) -> str:
    begun = str(run.manifest.get("created") or "undated")
    return f"{run.path.name}, {begun[:16]}: {headline(run)}"


def as_text(comparison: RunComparison, *, every: bool = False, width: int | None = None) -> str:
    """The changes, or every row; whole reasons below their rows."""
    width = width or terminal_width(elsewhere=100)
    lines = _shown(comparison, every)
    told = [f"{line.case}: {line.reason}" for line in lines if line.outcome == "not compared" or ": " in line.reason]
    hidden = len(comparison.rows) - len(lines)
    more = f"{hidden} without a change: --verbose shows them" if hidden else ""
    parts = ["", *_table(lines, width)] if lines else []
    parts += ["", *told] if told else []
    return draw([*_sides(comparison), comparison.summary, *parts, *(["", more] if more else [])], width)


#: Columns from which differences in time have room beside ratios.
_ROOMY: Final = 80


def _table(lines: Sequence[ComparisonLine], width: int) -> Iterator[str]:
    """A row each; a name that is too long has lines of its own above its figures."""
    cells: list[tuple[str, ...]] = [
        ("outcome", "old", "new", "difference", "change", "95 % interval"),
        *((x[0], *x[2:7]) for x in lines),
    ]
    if width < _ROOMY or not any(line.difference for line in lines):
        cells = [(*cell[:3], *cell[4:]) for cell in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    room = min(max(len(line.case) for line in lines), width - sum(widths) - 2 * len(widths))
    for name, (outcome, *figures) in zip(("case", *(line.case for line in lines)), cells, strict=True):
        right = "  ".join(f"{figure:>{each}}" for figure, each in zip(figures, widths[1:], strict=True))
        *above, last = [name] if len(name) <= room else _broken(name, width)
        if len(last) > room:
            above, last = [*above, last], ""
        yield from above
        yield f"{last:{room}}  {outcome:{widths[0]}}  {right}"


def _broken(name: str, width: int) -> list[str]:
    """A name on several lines: its pattern, then its variant and point."""
    pattern, slash, rest = name.partition("/")
    return [pattern + slash, *textwrap.wrap(rest, width, initial_indent="  ", subsequent_indent="  ")]


def as_markdown(comparison: RunComparison, *, every: bool = False) -> str:
    """The same as a table for a pull request."""
    lines = _shown(comparison, every)
    headings = ("outcome", "case", "old", "new", "difference", "change", "95 % interval", "why")
    text = [*(f"- {escape(side)}" for side in _sides(comparison)), "", f"**{comparison.summary}**"]
    return "\n".join([*text, "", *table(headings, lines, range(2, 7))] if lines else text)


def as_html(comparison: RunComparison) -> str:
    """Every row as a page that needs nothing else."""
    lines = _shown(comparison, every=True)
    return fill(
        "xebench.report",
        "comparison.html.j2",
        title=f"Two {'versions' if comparison.before is comparison.after else 'runs'} side by side",
        sides=_sides(comparison),
        summary=comparison.summary,
        lines=lines,
        chart=_chart(comparison, lines),
        vega=Markup(vega()),
    )


#: Answers that outcomes look like in charts.
_LOOKS: Final[Mapping[str, str]] = {
    Outcome.FASTER: Answer.HOLDS,
    Outcome.SLOWER: Answer.INVERTS,
    Outcome.SAME: Answer.NO_EFFECT,
}


#: Most rows of the chart.
_DRAWN: Final = 40


def _chart(comparison: RunComparison, lines: Sequence[ComparisonLine]) -> Spec | None:
    """The chart of the first rows, those that changed; None if no ratio is known."""
    low, high = (f"{comparison._ratio}_{end}" for end in ("low", "high"))
    estimates = [
        Estimate(row[comparison._ratio], row[low], row[high], None, _LOOKS.get(row["outcome"], ""), line.case)
        for row, line in zip(comparison.rows, lines, strict=True)
        if row[comparison._ratio]
    ]
    return forest(estimates[:_DRAWN]) if estimates else None


def as_json(comparison: RunComparison) -> str:
    """The folders, the threshold, the summary and all rows of the table as objects."""
    return json.dumps(
        {
            "before": str(comparison.before.path),
            "after": str(comparison.after.path),
            "on": comparison.on,
            "threshold": comparison.threshold,
            "summary": comparison.summary,
            "rows": json.loads(comparison.table.to_json(orient="records")),
        },
        indent=2,
    )


def as_csv_text(comparison: RunComparison) -> str:
    """All rows of the table."""
    return as_csv(comparison.table).rstrip("\n")


#: Formats by name. Text and Markdown list the changes, or with ``every`` all rows as the other formats do.
FORMATS: Final[Mapping[str, Callable[..., str]]] = {
    "text": as_text,
    "markdown": as_markdown,
    "html": as_html,
    "json": as_json,
    "csv": as_csv_text,
}

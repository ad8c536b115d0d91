"""The gain of more minutes: answers and intervals against the time spent, ``python -m tools.studies.anytime [RUN]``."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pandas as pd

from xebench.cli.output import run_program
from xebench.errors import XebenchError
from xebench.measuring.sampling import FEW_INSTANCES, Sampling
from xebench.report.table_forms import table
from xebench.results import Run, schema
from xebench.results.analysis.answer import Circumstances, judge, same_within
from xebench.results.analysis.claim import Claim
from xebench.results.analysis.intervals import Interval, grouped_interval
from xebench.results.analysis.pairs import pairs
from xebench.runner.visiting import pair_state, ratio_of
from xebench.runner.visits import FamilyState, Visit, Visits
from xebench.vocabulary import ANSWERED, Answer, Status, StopReason

#: Moments of the run that are looked at, the last one its end.
MOMENTS: Final = 10


@dataclass(frozen=True)
class Moment:
    """The state of a run when a part of it was over.

    Attributes:
        minutes: of the run.
        visited: families that have a sample.
        answered: claims that hold, invert or have no effect.
        undecided: claims that have samples, but no answer.
        half_width: median of the half-widths of all intervals, relative to the speed-up.
    """

    minutes: float
    visited: int
    answered: int
    undecided: int
    half_width: float


def moments(run: Run, minutes: float, count: int = MOMENTS) -> Iterator[Moment]:
    """The run after equal parts of its time.

    Samples have no time of day. The run's time is divided among its samples in their order by the host's time that
    each took, compilation included; what a family takes beside them is so spread over the run.

    Args:
        run: that is over.
        minutes: how long it took.
        count: of the moments.
    """
    samples = run.samples.sort_values("sample_id", kind="stable")
    seconds = (samples["host_ns"] * samples["batch"].fillna(1)).fillna(0).to_numpy(float).cumsum()
    for part in np.arange(1, count + 1) / count:
        early = samples[seconds <= part * seconds[-1]] if part < 1 else samples
        yield _moment(run, early, part * minutes)


def _moment(run: Run, samples: pd.DataFrame, minutes: float) -> Moment:
    found = schema.frame("pairs", pairs(_cases_then(run, samples), samples, run.devices, ()))
    claims = found[found["claim"].notna()]
    decided = claims["answer"].isin(ANSWERED) & (claims["answer"] != Answer.UNDECIDED)
    known = found[found["speedup_low"].notna()]
    widths = np.log(known["speedup_high"] / known["speedup_low"].to_numpy()) / 2
    seen = samples[samples["instance"].notna()]["case_id"].unique()
    return Moment(
        minutes,
        visited=run.cases.loc[run.cases["case_id"].isin(seen), "family_id"].nunique(),
        answered=int(decided.sum()),
        undecided=int((~decided & (claims["answer"] == Answer.UNDECIDED) & claims["speedup"].notna()).sum()),
        half_width=float(np.expm1(widths.astype(float)).median()),
    )


def _cases_then(run: Run, samples: pd.DataFrame) -> pd.DataFrame:
    """The cases as they were: one that was to be visited again had not stopped for its precision."""
    last = run.samples.groupby("case_id")["sample_id"].max()
    last_then = samples.groupby("case_id")["sample_id"].max().reindex(last.index)
    cut = run.cases["case_id"].isin(last[last_then.fillna(-1) < last].index) & (run.cases["status"] == Status.OK)
    return run.cases.assign(stopped_by=run.cases["stopped_by"].mask(cut, StopReason.PASS))


FAMILIES: Final = 120
BUDGET_S: Final = 540.0
BESIDE_S: Final = 1.0
INSTANCE_S: Final = 0.5

_CLAIM: Final = Claim("faster")
_SAMPLING: Final = Sampling(few_instances=FEW_INSTANCES, passes=3)
_BAND: Final = same_within(_SAMPLING.precision)


@dataclass
class MadeUp:
    """A family: its true log speed-up, how much instances differ, and their medians so far."""

    truth: float
    spread: float
    medians: list[float] = field(default_factory=list)
    visits: int = 0

    def interval(self) -> Interval:
        """The interval of the log speed-up; for one instance it is as wide as a fifth of the spread within it."""
        if len(self.medians) == 1:
            half = self.spread / 5
            return Interval(self.medians[0], self.medians[0] - half, self.medians[0] + half, 10)
        return grouped_interval([[median] * 10 for median in self.medians])

    def state(self) -> FamilyState:
        """The family's state for the plan."""
        if not self.visits:
            return FamilyState()
        known = self.interval()
        over = known.groups >= _SAMPLING.min_instances and known.half_width < _SAMPLING.precision
        pair = pair_state(known, _CLAIM, _BAND, _SAMPLING.few_instances)
        return FamilyState(self.visits, over, beside_s=BESIDE_S, instance_s=INSTANCE_S, pairs=[pair])

    def visit(self, instances: int, source: random.Random) -> float:
        """Take instances; gives the seconds."""
        self.visits += 1
        self.medians += [source.gauss(self.truth, self.spread) for _ in range(instances)]
        return BESIDE_S + instances * INSTANCE_S

    def result(self) -> str:
        """``right``, ``false`` or ``undecided``, or ``not visited``."""
        if not self.visits:
            return "not visited"
        answer = judge(ratio_of(self.interval()), _CLAIM, Circumstances(), _BAND).answer
        if answer == Answer.UNDECIDED:
            return "undecided"
        right = Answer.NO_EFFECT if not self.truth else Answer.HOLDS if self.truth > 0 else Answer.INVERTS
        return "right" if answer == right else "false"


Next = Callable[[Sequence[FamilyState], float], tuple[int, Visit] | None]


def planned(states: Sequence[FamilyState], left_s: float) -> tuple[int, Visit] | None:
    """The next visit, as a run with a budget plans it."""
    return Visits(_SAMPLING, 2.0, BUDGET_S).next(states, left_s)


def in_turn(states: Sequence[FamilyState], left_s: float) -> tuple[int, Visit] | None:
    """The family with the fewest visits, whatever its results are, until each is as precise as requested."""
    waiting = [number for number, state in enumerate(states) if not state.over]
    if left_s <= 0 or not waiting:
        return None
    return min(waiting, key=lambda number: states[number].visits), Visit(instances=2)


def simulate(choose: Next, seed: int) -> Counter[str]:
    """Simulate one run; return the number of families by result."""
    source = random.Random(seed)
    families = [_make_up(number, source) for number in range(FAMILIES)]
    left_s, states = BUDGET_S, [family.state() for family in families]
    while (chosen := choose(states, left_s)) is not None:
        number, visit = chosen
        left_s -= families[number].visit(visit.instances or 1, source)
        states[number] = families[number].state()
    return Counter(f"{'different' if family.truth else 'equal'}: {family.result()}" for family in families)


def _make_up(number: int, source: random.Random) -> MadeUp:
    size = source.choice((-1, 1)) * 0.03 * (0.5 / 0.03) ** source.random()
    return MadeUp(size if number % 2 else 0.0, 0.005 * 20 ** source.random())


HEADINGS: Final = ("minutes", "families visited", "claims answered", "undecided", "half-width, median")
PLANS: Final = ("with a plan", "in turn")
RESULTS: Final = ("right", "false", "undecided", "not visited")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--moments", default=10, show_default=True, help="Parts of the run's time that are looked at.")
@click.option("--repeat", default=50, show_default=True, help="Made-up runs, when no RUN is given.")
def main(run: Path | None, moments: int, repeat: int) -> None:
    """How many claims are answered, and how wide intervals are, against the minutes of RUN.

    Without RUN: 120 made-up families of known speed-ups, visited for nine minutes as 'run --run-budget' plans it, and
    in turn.
    """
    lines = _made_up(repeat) if run is None else _replayed(run, moments)
    click.echo("\n".join(lines))


def _replayed(folder: Path, count: int) -> list[str]:
    from xebench.results import load_run

    run = load_run(folder)
    begin, end = (run.manifest.get(name) for name in ("created", "finished"))
    if not end or run.manifest.get("resumed") or run.samples.empty:
        raise XebenchError(f"{folder} was not measured in one session that has ended: measure a run without --resume")
    minutes = (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(begin))).total_seconds() / 60
    return table(HEADINGS, (_row(moment) for moment in moments(run, minutes, count)), right={*range(len(HEADINGS))})


def _row(moment: Any) -> tuple[object, ...]:
    return (
        f"{moment.minutes:.1f}",
        moment.visited,
        moment.answered,
        moment.undecided,
        f"{moment.half_width:.1%}",
    )


def _made_up(repeat: int) -> list[str]:
    return table(("families", "visited", *RESULTS), _tallies(repeat), right={*range(2, 2 + len(RESULTS))})


def _tallies(repeat: int) -> Iterator[tuple[object, ...]]:

    for words, choose in zip(PLANS, (planned, in_turn), strict=True):
        counts = sum((simulate(choose, seed) for seed in range(repeat)), Counter[str]())
        for kind in ("equal", "different"):
            total = sum(counts[f"{kind}: {result}"] for result in RESULTS)
            yield (kind, words, *(f"{counts[f'{kind}: {result}'] / total:.1%}" for result in RESULTS))


if __name__ == "__main__":
    run_program(main, "python -m tools.studies.anytime")

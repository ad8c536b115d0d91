"""The study's page: in how many runs equal code was called slower, and the longer variant was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from xebench.report.table_forms import table
from xebench.report.templates import fill
from xebench.vocabulary import Outcome

#: The variant that takes 3 % longer.
PLANTED: Final = "planted/longer"
HEADINGS: Final = (
    "condition",
    "runs",
    "pairs a run",
    "runs with a false regression",
    "by time alone",
    "the longer variant found",
    "by time alone",
    "its ratio, median",
    "half-width of its interval, median",
    "of equal pairs",
    "seconds a run",
)


def page(rows: pd.DataFrame) -> str:
    """The page.

    Args:
        rows: of the study: one for each run and pair.
    """
    first = rows.iloc[0]
    return fill(
        "tools.studies.versions",
        "page.md.j2",
        title=f"{first['on']}, {rows['created'].min()} to {rows['created'].max()}",
        budget=first["budget"],
        threshold=first["threshold"],
        patterns=rows["pattern"].nunique() - 1,
        table=table(HEADINGS, list(counts(rows)), right=set(range(1, len(HEADINGS)))),
    )


def counts(rows: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """A row of the table for each condition."""
    name = rows["pattern"] + "/" + rows["variant"]
    width = (rows["speedup_high"] - rows["speedup_low"]) / 2 / rows["speedup"]
    told = {"gate": rows["outcome"] == Outcome.SLOWER, "time": rows["outcome_by_time"] == Outcome.SLOWER}
    rows = rows.assign(planted=name == PLANTED, width=width, **told)
    for condition, own in rows.groupby("condition", sort=False):
        runs = own["seed"].nunique()
        equal, planted = own[~own["planted"]], own[own["planted"]]
        yield (
            condition,
            runs,
            f"{len(own) / runs:g}",
            *(f"{equal.groupby('seed')[by].any().sum()} of {runs}" for by in told),
            *(f"{planted[by].sum()} of {len(planted)}" for by in told),
            f"{1 / planted['speedup'].median():.4f}",
            f"{planted['width'].median():.2%}",
            f"{equal['width'].median():.2%}",
            f"{own.groupby('seed')['seconds'].first().median():.0f}",
        )

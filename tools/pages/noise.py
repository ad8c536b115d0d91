"""What README.md and docs/noise-study.md say of the noise study, from its data: ``python -m tools.pages.noise``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
import pandas as pd

from tools import pages
from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES
from tools.studies.noise.study_folder import read_data
from tools.studies.noise.tallies import (
    OURS,
    OURS_FINE,
    PRECISIONS,
    PYPERF,
    PYTEST,
    RULES,
    Rule,
    Share,
    coverage,
    goals,
    name_of,
    percent,
    scores,
    seconds,
)
from xebench.cli.output import run_program
from xebench.report.table_forms import table

BEGIN: Final = "<!-- noise study: made by python -m tools.pages.noise -->"
END: Final = "<!-- end of noise study -->"

#: What README.md shows of other tools, beside xebench.
_OTHERS: Final = (
    (PYPERF, "compare_to", "Student's t-test on pyperf's values (one process, as the time allows)"),
    (PYTEST, "mean:1%", "a threshold of 1 % on pytest-benchmark's means"),
    (PYTEST, "min:1%", "a threshold of 1 % on pytest-benchmark's minima"),
)


def in_brief(rows: pd.DataFrame) -> str:
    """The shares that a user wants to know, for README.md.

    Args:
        rows: the study's table.
    """
    reached = {condition: scores(rows, condition) for condition in CONDITIONS}
    covered = {condition: {arm: coverage(rows, arm, condition) for arm in PRECISIONS} for condition in CONDITIONS}
    spent = seconds(rows)

    def row(text: str, shares: Sequence[Share]) -> tuple[str, ...]:
        return text, *(f"{percent(share)} of {share.n}" for share in shares)

    def alarms(text: str, rule: Rule) -> tuple[str, ...]:
        return row(f"equal pairs that {text} calls different", [reached[one][rule].alarms for one in CONDITIONS])

    named = {(rule.tool, rule.name): rule for rule in RULES}
    shown = [
        alarms("xebench", OURS),
        alarms("xebench with `--precision 0.002`", OURS_FINE),
        *(alarms(words, named[tool, name]) for tool, name, words in _OTHERS),
        *(
            row(
                f"pairs of {name_of(excess)} that xebench finds",
                [reached[one][OURS].detected[excess] for one in CONDITIONS],
            )
            for excess in EXCESSES
            if excess
        ),
        *(
            row(f"true ratios in the 95 % interval of {arm}", [covered[one][arm][None] for one in CONDITIONS])
            for arm in PRECISIONS
        ),
        ("seconds of xebench for a pair", *(f"{spent[one, OURS.tool]:.2f}" for one in CONDITIONS)),
    ]
    return "\n".join(table(("", "quiet", "under load"), shown))


def not_reached(rows: pd.DataFrame) -> str:
    """The goals that the study has not reached, for docs/noise-study.md."""
    missed = [f"- {goal.text}: {goal.result}." for goal in goals(rows) if not goal.reached]
    return "\n".join(missed) or "Every goal was reached."


@click.command()
@click.option("--readme", type=click.Path(path_type=Path, exists=True), default="README.md", show_default=True)
@click.option("--page", type=click.Path(path_type=Path, exists=True), default="docs/noise-study.md", show_default=True)
@click.option("--study", type=click.Path(path_type=Path), default="results/studies/noise", show_default=True)
def main(readme: Path, page: Path, study: Path) -> None:
    """Put the results of the noise study into README.md and its page."""
    rows = read_data(study).rows
    for path, content in ((readme, in_brief(rows)), (page, not_reached(rows))):
        path.write_text(pages.renewed(path.read_text(encoding="utf-8"), BEGIN, END, content), encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.noise")

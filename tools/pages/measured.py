"""Parts of pages that are made from measured runs: ``python -m tools.pages.measured COMMAND``.

``readme README.md RUN`` puts a run's results into README.md, and ``noise`` those of the noise study into
docs/noise-study.md. ``stacks PINNED_RUN CURRENT_RUN`` has two runs, one on each stack, beside one another:
docs/stacks.md gets what was measured, and which answers differ.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import pandas as pd

from tools.pages import renewed
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
from xebench.errors import XebenchError
from xebench.records.points import rows
from xebench.report.formats.human_readable import excerpt
from xebench.report.table_forms import table
from xebench.results import Run, load_run
from xebench.vocabulary import ANSWERED, Answer


@click.group()
def main() -> None:
    """Put what was measured into pages."""


README_BEGIN: Final = "<!-- results: made by python -m tools.pages.measured readme -->"
README_END: Final = "<!-- end of results -->"

#: What a reader should see first.
PATTERNS: Final = ("kernel_fusion", "tiled_matmul")

#: Columns, as many as most pages show without a scroll bar.
WIDTH: Final = 88


def results(run: Run) -> str:
    """The device, what became of all claims, and the rows of `PATTERNS`, as a terminal shows them."""
    return f"```text\n{excerpt(run, PATTERNS, WIDTH)}\n```"


def renewed_readme(text: str, run: Run) -> str:
    """A page with what is between the two marks made again.

    Raises:
        ValueError: It has not both marks.
    """
    return renewed(text, README_BEGIN, README_END, results(run))


@main.command()
@click.argument("page", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("run", type=click.Path(path_type=Path))
def readme(page: Path, run: Path) -> None:
    """Put the results of a run into a page."""
    page.write_text(renewed_readme(page.read_text(encoding="utf-8"), load_run(run)), encoding="utf-8")


SHARES_BEGIN: Final = "<!-- shares: made by python -m tools.pages.measured noise -->"
SHARES_END: Final = "<!-- end of shares -->"
NOISE_BEGIN: Final = "<!-- noise study: made by python -m tools.pages.measured noise -->"
NOISE_END: Final = "<!-- end of noise study -->"

#: What the page shows of other tools, beside xebench.
_OTHERS: Final = (
    (PYPERF, "compare_to", "Student's t-test on pyperf's values (one process, as the time allows)"),
    (PYTEST, "mean:1%", "a threshold of 1 % on pytest-benchmark's means"),
    (PYTEST, "min:1%", "a threshold of 1 % on pytest-benchmark's minima"),
)


def in_brief(rows: pd.DataFrame) -> str:
    """The shares that matter to a user.

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
    """The goals that the study has not reached."""
    missed = [f"- {goal.text}: {goal.result}." for goal in goals(rows) if not goal.reached]
    return "\n".join(missed) or "Every goal was reached."


@main.command()
@click.option("--page", type=click.Path(path_type=Path, exists=True), default="docs/noise-study.md", show_default=True)
@click.option("--study", type=click.Path(path_type=Path), default="results/studies/noise", show_default=True)
def noise(page: Path, study: Path) -> None:
    """Put the results of the noise study into its page."""
    rows = read_data(study).rows
    text = renewed(page.read_text(encoding="utf-8"), SHARES_BEGIN, SHARES_END, in_brief(rows))
    page.write_text(renewed(text, NOISE_BEGIN, NOISE_END, not_reached(rows)), encoding="utf-8")


STACKS_BEGIN: Final = "<!-- found: made by python -m tools.pages.measured stacks -->"
STACKS_END: Final = "<!-- end of found -->"

STACKS: Final = ("pinned", "current")

#: Packages that a stack is made of.
PACKAGES: Final = ("dpctl", "dpnp", "intel-sycl-rt", "intel-opencl-rt")


def found_on_stacks(pinned: Run, current: Run) -> str:
    """Text about the runs on both stacks: their devices, equal kernels, and answers that differ.

    Raises:
        XebenchError: The runs are not of these two stacks, or of two devices.
    """
    runs = (pinned, current)
    if tuple(run.stack for run in runs) != STACKS:
        raise XebenchError(
            f"these are runs of {pinned.stack} and {current.stack} stack: give a pinned and a current one"
        )
    devices = [list(run.devices["name"]) for run in runs]
    if devices[0] != devices[1]:
        raise XebenchError(f"the runs are of {devices[0]} and {devices[1]}: give two of one device")
    parts = [
        *table(("", *STACKS), _provenance(runs)),
        "",
        f"Measured on {', '.join(devices[0])}. {_kernels(runs)}",
        _answers(runs),
    ]
    return "\n".join(parts)


def _provenance(runs: Sequence[Run]) -> Iterator[Sequence[object]]:
    yield ("measured", *(str(run.manifest["created"])[:16] for run in runs))
    yield ("Python", *(run.manifest["python"] for run in runs))
    for name in PACKAGES:
        yield (name, *(run.manifest["packages"].get(name) or "-" for run in runs))


def _kernels(runs: Sequence[Run]) -> str:
    """Words about whether both launched the same modules."""
    first, second = ({row["case_id"]: _digests(row) for row in rows(run.cases)} for run in runs)
    both = sorted(case for case in first.keys() & second.keys() if first[case] and second[case])
    differing = [case for case in both if first[case] != second[case]]
    count = len({digest for case in both for digest in first[case]})
    if differing:
        return f"SPIR-V differs in {len(differing)} of {len(both)} cases: {', '.join(differing)}."
    return f"SPIR-V is equal in all {len(both)} cases that launched kernels on both ({count} modules)."


def _digests(case: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(kernel["spirv_sha256"] for kernel in json.loads(case["kernels"] or "[]"))


def _answers(runs: Sequence[Run]) -> str:
    """The number of claims that both answered, and a table of those with different answers."""
    keys = ["case_id", "baseline", "claim", "state"]
    claimed = [run.pairs[run.pairs["answer"].isin(ANSWERED)] for run in runs]
    both = claimed[0].merge(claimed[1], on=keys, suffixes=STACKS)
    first, second = (both[f"answer{stack}"] for stack in STACKS)
    decided = both[(first != Answer.UNDECIDED) & (second != Answer.UNDECIDED)]
    other = decided[decided["answerpinned"] != decided["answercurrent"]]
    text = f"Both stacks answered {len(both)} claims, and decided {len(decided)} of them"
    if other.empty:
        return f"{text}, all alike."
    count = Counter(
        ("/".join(row["case_id"].split("/")[:2]), row["answerpinned"], row["answercurrent"]) for row in rows(other)
    )
    cells = [(f"`{case}`", *answers, number) for (case, *answers), number in count.items()]
    lines = table(("variant", *STACKS, "claims"), cells, right=(3,))
    return "\n".join((f"{text}. {len(other)} of these have two answers:", "", *lines))


@main.command()
@click.argument("pinned", type=click.Path(path_type=Path))
@click.argument("current", type=click.Path(path_type=Path))
@click.option("--page", type=click.Path(path_type=Path, exists=True), default="docs/stacks.md", show_default=True)
def stacks(pinned: Path, current: Path, page: Path) -> None:
    """Put what two runs found, one on each stack, into a page."""
    content = found_on_stacks(load_run(pinned), load_run(current))
    page.write_text(renewed(page.read_text(encoding="utf-8"), STACKS_BEGIN, STACKS_END, content), encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.measured")

"""Two runs, one on each stack, beside one another: ``python -m tools.pages.stacks PINNED_RUN CURRENT_RUN``.

docs/stacks.md gets what was measured, and which answers differ; results/studies/stacks.md gets the times of every case.
No ratio of the times is given, since they are of two runs: what else changed between the runs is in them too.
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
from xebench.cli.output import run_program
from xebench.errors import XebenchError
from xebench.report.table_forms import table
from xebench.report.units import duration
from xebench.tables import Run, load_run
from xebench.tables.analysis.points import rows
from xebench.vocabulary import ANSWERED, Answer, State

TIMES: Final = "results/studies/stacks.md"
BEGIN: Final = "<!-- found: made by python -m tools.pages.stacks -->"
END: Final = "<!-- end of found -->"

STACKS: Final = ("pinned", "current")

#: Packages that a stack is made of.
PACKAGES: Final = ("dpctl", "dpnp", "intel-sycl-rt", "intel-opencl-rt")


def found(pinned: Run, current: Run) -> str:
    """What was measured where, whether kernels are equal, and which answers differ.

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


def times(pinned: Run, current: Run) -> str:
    """The page with the times of every case."""
    runs = (pinned, current)
    return "\n".join(
        (
            "# Times of every case on both stacks",
            "",
            "Median and 95 % interval of each case at smoke. [Two stacks](../../docs/stacks.md#times-side-by-side)",
            "says what was measured, where and with which packages. The two runs followed one another, so their",
            "samples do not alternate: trust no small difference between the columns.",
            "",
            *table(("case", *STACKS), _times(runs), right=(1, 2)),
            "",
        )
    )


def _provenance(runs: Sequence[Run]) -> Iterator[Sequence[object]]:
    yield ("measured", *(str(run.manifest["created"])[:16] for run in runs))
    yield ("Python", *(run.manifest["python"] for run in runs))
    for name in PACKAGES:
        yield (name, *(run.manifest["packages"].get(name) or "-" for run in runs))


def _kernels(runs: Sequence[Run]) -> str:
    """In words, whether both launched the same modules."""
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
    """How many claims both answered, and a table of those with two answers."""
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


def _times(runs: Sequence[Run]) -> Iterator[tuple[str, str, str]]:
    known = [_time_by_case(run) for run in runs]
    for case in dict.fromkeys(case for run in runs for case in run.cases["case_id"]):
        yield (case, *(each.get(case, "not in this run") for each in known))


def _time_by_case(run: Run) -> dict[str, str]:
    found = {row["case_id"]: f"{row['status']}: {row['reason']}".removesuffix(": ") for row in rows(run.cases)}
    hot = run.summaries[(run.summaries["state"] == State.HOT) & run.summaries["median_ns"].notna()]
    return found | {row["case_id"]: _time(row) for row in rows(hot)}


def _time(row: Mapping[str, Any]) -> str:
    if pd.isna(row["low_ns"]):
        return duration(row["median_ns"])
    return f"{duration(row['median_ns'])} ({duration(row['low_ns'])} - {duration(row['high_ns'])})"


@click.command()
@click.argument("pinned", type=click.Path(path_type=Path))
@click.argument("current", type=click.Path(path_type=Path))
@click.option("--page", type=click.Path(path_type=Path, exists=True), default="docs/stacks.md", show_default=True)
@click.option("--times", "all_times", type=click.Path(path_type=Path), default=TIMES, show_default=True)
def main(pinned: Path, current: Path, page: Path, all_times: Path) -> None:
    """Put what two runs found, one on each stack, into a page, and the times of their cases into another."""
    runs = load_run(pinned), load_run(current)
    content = found(*runs)
    page.write_text(renewed(page.read_text(encoding="utf-8"), BEGIN, END, content), encoding="utf-8")
    all_times.write_text(times(*runs), encoding="utf-8")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.stacks")

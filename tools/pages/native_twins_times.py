"""Device times of kernels of Python beside their twins, of one run, and what a launch pays for its limit.

``python -m tools.pages.native_twins_times RUN`` keeps both for docs/native-twins.md, with how busy the machine was. The
run is one of a CPU device, which is given modules of 64 bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

import click

from tools.overhead import guarded_launches
from tools.pages.native_twins import TIMES
from xebench.cli.output import run_program, say
from xebench.tables import Run, load_run


def ratios(run: Run) -> Iterator[dict[str, Any]]:
    """Device time of each variant that has a twin over that of the twin, at each point of its axes.

    The median over blocks, in which both were sampled one after the other.
    """
    samples = run.samples[
        run.samples["state"].isin(("hot", "cold")) & run.samples["valid"] & run.samples["device_ns"].notna()
    ]
    of_case: dict[Any, Any] = {
        case: one.groupby("block")["device_ns"].median() for case, one in samples.groupby("case_id")
    }
    cases = run.cases[run.cases["status"] == "ok"]
    places = {(one.family_id, one.variant): one.case_id for one in cases.itertuples()}
    for twin in cases[cases["against"].notna()].itertuples():
        own = places.get((twin.family_id, twin.against))
        own_times, times = of_case.get(own), of_case.get(twin.case_id)
        if own_times is not None and times is not None:
            both = (own_times / times).dropna()
            if len(both):
                yield {"pattern": twin.pattern, "variant": twin.against, "ratio": median(both), "blocks": len(both)}


def of_patterns(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each variant: the geometric mean over the points of its axes."""
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in found:
        lines.setdefault((one["pattern"], one["variant"]), []).append(one)
    return [
        {
            "pattern": pattern,
            "variant": variant,
            "ratio": exp(fmean(log(one["ratio"]) for one in points)),
            "blocks": sum(one["blocks"] for one in points),
            "points": len(points),
        }
        for (pattern, variant), points in lines.items()
    ]


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
def main(run: Path) -> None:
    """Keep what the page says of times."""
    measured = load_run(run)
    lines = of_patterns(list(ratios(measured)))
    kept = {
        "device": str(measured.devices["name"].iloc[0]).strip(),
        "preset": str(measured.cases["preset"].iloc[0]),
        "date": str(measured.manifest["created"])[:10],
        "load": float(measured.machine["load_average"].median()),
        "patterns": lines,
        "launch_ns": guarded_launches(),
    }
    TIMES.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    say(f"{len(lines)} variants with twins, kept in {TIMES}")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.native_twins_times")

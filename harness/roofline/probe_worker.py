"""Measures probes in a process of its own: ``python -m harness.roofline.probe_worker DEVICE EFFORT NAME...``.

Prints one JSON list of readings. A crash or a hang is seen by the parent, which asks again for the others.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.children.lifetime import run_as_child
from harness.errors import TooLarge, Unsupported, XebenchError, first_line, named
from harness.roofline.catalogue import Probe, find_probe, grouped
from harness.roofline.results import Reading
from harness.roofline.search import EFFORTS, Found, NoForm, WrongResult


def reading_of(probe: Probe, found: Found) -> Reading:
    """A rate is amount over time (bytes a ns are GB/s), a latency time over amount."""

    def value(time_ns: float) -> float:
        return found.amount / time_ns if probe.is_rate else time_ns / found.amount

    return Reading(
        probe=probe.name,
        status="ok",
        value=value(found.best_ns),
        median=value(found.median_ns),
        samples=len(found.times_ns),
        best_ns=found.best_ns,
        form=found.form,
        rejected=found.rejected,
    )


def measure_groups(make_group: Any, names: Sequence[str]) -> list[Reading]:
    """A reading for each name, whatever happens to its probe.

    Args:
        make_group: gives the object that measures the probes of a group, by the group's name.
        names: of probes.
    """
    readings = []
    for group, members in grouped(names).items():
        measuring = make_group(group)
        readings += [_read(measuring, find_probe(name)) for name in members]
    return readings


def _read(group: Any, probe: Probe) -> Reading:
    try:
        return reading_of(probe, group.measure(probe.name))
    except (Unsupported, TooLarge) as error:
        return Reading(probe.name, "skipped", reason=first_line(error))
    except (NoForm, WrongResult) as error:
        return Reading(probe.name, "failed", reason=first_line(error))
    except Exception as error:
        return Reading(probe.name, "failed", reason=named(error))


def main(arguments: Sequence[str]) -> int:
    """Measure the probes named after the device and the effort (a name in ``search.EFFORTS``)."""
    device, effort, *names = arguments
    try:
        from harness import runtime

        runtime.load()
        from harness.roofline.bench import Bench

        bench = Bench(device, EFFORTS[effort])

        def make_group(group: str) -> Any:
            return importlib.import_module(f"harness.roofline.probes.{group}").Group(bench)

        print(json.dumps([asdict(reading) for reading in measure_groups(make_group, names)]))
    except XebenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    run_as_child(main)

"""Measure a device's roofs in child processes, or take them from the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness import runtime
from harness.children.ask import Answer, ask
from harness.records.provenance import now
from harness.roofline.catalogue import PROBES, grouped
from harness.roofline.results import Reading, Roofline
from harness.roofline.store import Store

WORKER = "harness.roofline.probe_worker"
#: Seconds after which a group of probes counts as hung; most of that is for slow compilers.
GROUP_TIMEOUT_S = 300.0
PROBE_TIMEOUT_S = 120.0

Ask = Callable[..., Answer]


def roofs(device: str = "auto", *, store: Store | None = None) -> dict[str, float | None]:
    """What cases on a device are placed under: kept from earlier, or measured now, which takes a minute or two.

    Args:
        device: see :func:`harness.runtime.select_device`.
        store: where they are kept; the user's cache folder if None.

    Returns:
        ``bandwidth_roof_gbps``, ``fp32_roof_gflops``, ``fp64_roof_gflops``, ``int32_roof_gops``, ``slm_roof_gbps``;
        None where the device lacks something or its probe failed.

    Raises:
        NoDevice: no device fits.
        BrokenEnvironment: the stack cannot be loaded.
    """
    return measure_roofline(runtime.select_device(device).device, store=store).roofs()


def measure_roofline(
    device: runtime.DeviceInfo,
    *,
    quick: bool = False,
    refresh: bool = False,
    store: Store | None = None,
    say: Callable[[str], None] = lambda text: None,
    ask: Ask = ask,
) -> Roofline:
    """All probes of a device.

    Args:
        device: which.
        quick: a look with few forms and samples, which is neither kept nor taken from the disk.
        refresh: measure even if there is a measurement on the disk.
        store: where measurements are kept; the user's cache folder if None.
        say: told which group is at work.
        ask: runs a module in a child process.
    """
    store = store or Store()
    row = device.to_row()
    kept = None if quick or refresh else store.load(row)
    if kept is not None:
        return kept
    measured = Roofline(row, now(), quick, os.getloadavg()[0], len(os.sched_getaffinity(0)), ())
    effort = "quick" if quick else "patient" if measured.busy else "full"
    readings = read_probes(device.device, [probe.name for probe in PROBES], effort, say=say, ask=ask)
    measured = replace(measured, readings=tuple(readings))
    if not quick and not measured.failed:
        store.keep(measured)
    return measured


def read_probes(
    device: str,
    names: Sequence[str],
    effort: str = "full",
    *,
    say: Callable[[str], None] = lambda text: None,
    ask: Ask = ask,
) -> list[Reading]:
    """Measure some probes, each group of them in a process; a group that dies is asked again probe by probe.

    Args:
        device: SYCL filter string.
        names: of probes.
        effort: ``full``, ``patient``, for a device that others use, or ``quick``.
        say, ask: as for :func:`measure_roofline`.
    """
    readings: list[Reading] = []
    for group, members in grouped(names).items():
        say(f"measuring {group.replace('_', ' ')}")
        answer = ask(WORKER, [device, effort, *members], timeout_s=GROUP_TIMEOUT_S)
        if answer.failure is None:
            readings += _decoded(answer.value)
            continue
        for name in members:
            answer = ask(WORKER, [device, effort, name], timeout_s=PROBE_TIMEOUT_S)
            if answer.failure is None:
                readings += _decoded(answer.value)
            else:
                readings.append(Reading(name, "failed", reason=answer.failure))
    return readings


def _decoded(values: Any) -> list[Reading]:
    return [Reading.from_json(fields) for fields in values]

"""The roof model for a reader: cases under the roofs of a GPU that is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from rich.table import Table
from rich.text import Text

from xebench.isa.roof_projection import Projection
from xebench.report import units
from xebench.report.console import draw, plain_table, terminal_width
from xebench.system.gpu_model.gpus import GpuParameters
from xebench.tables.analysis import points
from xebench.tables.roofs import RATE_ROOFS, Roof

ROWS: Final = "cases"
LABEL: Final = (
    "A model, nothing was measured: least times when launches run one after another, and data come from memory, or "
    "from L3 (in the column of memory) where they fit into one of known bandwidth. Occupancy with <= is an upper "
    "bound: the launch fills no wave."
)


def as_json(projections: Sequence[Projection], gpu: GpuParameters) -> str:
    """The GPU with its roofs, and a list of cases."""
    return json.dumps(
        {
            "model": "roof",
            "note": LABEL,
            "gpu": gpu.code,
            "product": gpu.product.name,
            "peak_memory_gbps": gpu.peak_memory_gbps,
            "peak_l3_gbps": gpu.peak_l3_gbps,
            "peak_slm_gbps": gpu.peak_slm_gbps,
            "peak_fp32_gflops": gpu.peak_gops("fp32"),
            "peak_fp64_gflops": gpu.peak_gops("fp64"),
            "peak_int32_gops": gpu.peak_gops("int32"),
            "cases": [projection.to_json() for projection in projections],
        },
        indent=2,
    )


def as_text(projections: Sequence[Projection], gpu: GpuParameters, width: int | None = None) -> str:
    """A block for each pattern and point of its axes."""
    width = width or terminal_width(elsewhere=100)
    return draw(_parts(projections, gpu, width), width)


def _parts(projections: Sequence[Projection], gpu: GpuParameters, width: int) -> Iterator[str | Table]:
    yield f"{gpu.product.name} ({gpu.code}): {_roofs(gpu)}"
    yield LABEL
    table = plain_table()
    figures = [("bound", 7), ("by", 7), ("memory", 7), ("compute", 7), ("occupancy", 9), ("engines", 8)]
    if any(projection.bound.slm_ns for projection in projections):
        figures.append(("SLM", 7))
    # figures are never cut: the names have what is left
    left = width - sum(needed + 2 for _, needed in figures)
    table.add_column("pattern, variant", overflow="ellipsis", no_wrap=True, max_width=left)
    for heading, needed in figures:
        table.add_column(heading, justify="right", no_wrap=True, min_width=needed)
    for family, group in groupby(projections, key=lambda projection: projection.family):
        point = points.words(family.axes)
        table.add_row(Text(family.pattern.name + (f" ({point})" if point else ""), style="bold"))
        for projection in group:
            table.add_row(f"  {projection.variant.name}", *_cells(projection)[: len(figures)])
    yield table
    yield from _remarks(projections)


def _cells(projection: Projection) -> tuple[str, ...]:
    bound, occupancy = projection.bound, projection.occupancy
    return (
        units.duration(bound.time_ns),
        bound.bound_by or "-",
        units.duration(bound.l3_ns if bound.memory_ns is None else bound.memory_ns),
        units.duration(bound.compute_ns),
        "-" if occupancy is None else units.occupancy(occupancy.device_occupancy, occupancy.is_upper_bound),
        units.percent(projection.share if occupancy else None),
        units.duration(bound.slm_ns),
    )


def _remarks(projections: Sequence[Projection]) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for projection in projections:
        for reason in filter(None, (projection.reason, projection.assumed)):
            by_reason.setdefault(reason, []).append(f"{projection.family.pattern.name}/{projection.variant.name}")
    return [f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in by_reason.items()]


def _roofs(gpu: GpuParameters) -> str:
    peaks = {Roof.BANDWIDTH: gpu.peak_memory_gbps, **{roof: gpu.peak_gops(kind) for kind, roof in RATE_ROOFS.items()}}
    caches = {name: peak for name, peak in (("L3", gpu.peak_l3_gbps), ("SLM", gpu.peak_slm_gbps)) if peak}
    more = [f"{units.figure(peak, 4)} GB/s {name}" for name, peak in caches.items()]
    return ", ".join(filter(None, (units.roofs(peaks, digits=4), *more))) or "no roof is known"

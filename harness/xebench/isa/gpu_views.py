"""Views of the commands on GPUs that need not be present: occupancies as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal

from rich.table import Table

from xebench.report import View, units
from xebench.report.console import draw, plain_table, terminal_width
from xebench.system.occupancy import Occupancy, difference, explain, nearest_better

if TYPE_CHECKING:
    from xebench.isa.collect import VariantWithoutKernel
    from xebench.isa.launch_occupancy import KernelOccupancy


def _occupancy_json(occupancy: Occupancy) -> str:
    return json.dumps(occupancy.to_json())


def _occupancy_text(occupancy: Occupancy) -> str:
    """Occupancies, what limits them, the nearest better launch and the best one near, a line each."""
    gpu, launch = occupancy.gpu, occupancy.launch
    lines = [
        f"{gpu.product.name} ({gpu.code}): {gpu.xe_cores} Xe-cores of {gpu.threads_per_xe_core} contexts",
        f"work-group {launch.work_group_size}, sub-group {launch.sub_group_size}: "
        f"{occupancy.threads_per_work_group} threads, {units.percent(occupancy.work_group_utilisation)} of an Xe-core",
        f"Xe-core: {occupancy.work_groups_per_xe_core} work-groups, "
        f"occupancy {units.percent(occupancy.xe_core_occupancy)}",
        f"device: occupancy {units.percent(occupancy.device_occupancy)}{_waves(occupancy)}",
        f"limited by {explain(occupancy)}",
    ]
    nearest, best = nearest_better(occupancy), nearest_better(occupancy, best=True)
    if nearest is None:
        lines.append("no single change of work-group size, sub-group size or SLM makes it fuller")
    else:
        lines.append(f"nearest better: {_step(occupancy, nearest)}")
    if best is not None and best != nearest:
        lines.append(f"fullest near it: {_step(occupancy, best)}")
    return "\n".join(lines)


def _waves(occupancy: Occupancy) -> str:
    if occupancy.waves is None:
        return ""
    if occupancy.is_upper_bound:
        return f" at most: {occupancy.waves:.2f} of a wave, in which work-groups need not begin together"
    tail = "" if occupancy.tail_occupancy is None else f", {units.percent(occupancy.tail_occupancy)} in the last one"
    return f" at its peak, {units.percent(occupancy.average_device_occupancy)} over {occupancy.waves:.2f} waves{tail}"


def _step(occupancy: Occupancy, better: Occupancy) -> str:
    """The change to make, and the occupancy after it."""
    return f"{difference(occupancy.launch, better.launch)} gives {units.percent(better.device_occupancy)}"


def _launches_json(kernels: Sequence[KernelOccupancy], missing: Sequence[VariantWithoutKernel], preset: str) -> str:
    return json.dumps([kernel.to_json() for kernel in kernels], indent=2)


def _launches_text(
    kernels: Sequence[KernelOccupancy],
    missing: Sequence[VariantWithoutKernel],
    preset: str,
    width: int | None = None,
) -> str:
    """A table for each pattern and point of its axes, with remarks below it; then the variants without a kernel."""
    width = width or terminal_width()
    return draw(_launches_parts(kernels, missing, preset, width), width, wrap=False)


def _launches_parts(
    kernels: Sequence[KernelOccupancy], missing: Sequence[VariantWithoutKernel], preset: str, width: int
) -> Iterator[str | Table]:
    from xebench.records import points  # with pandas behind it, which the heat map does without

    for (pattern, axes), group in groupby(kernels, key=lambda kernel: (kernel.launch.pattern, kernel.launch.axes)):
        launches = list(group)
        yield ", ".join(filter(None, (pattern, preset, points.words(points.parse(axes)))))
        yield _launches_table(launches, width)
        yield from _launches_remarks(launches)
        yield ""
    yield from (f"{variant.pattern}/{variant.variant}: {variant.reason}" for variant in missing)


def _launches_table(kernels: Sequence[KernelOccupancy], width: int) -> Table:
    """One launch a row: its request, and the occupancy that follows."""
    table = plain_table()
    headings = (("group", 5), ("SIMD", 4), ("SLM", 4), ("Xe-core", 7), ("device", 8), ("waves", 8), ("limited by", 11))
    # numbers are never cut: names get the remaining width
    left = width - sum(needed + 2 for _, needed in headings)
    table.add_column("variant, kernel", no_wrap=True, overflow="ellipsis", max_width=left)
    for heading, needed in headings:
        side: Literal["left", "right"] = "left" if heading == "limited by" else "right"
        table.add_column(heading, justify=side, no_wrap=True, min_width=needed)
    for kernel in kernels:
        occupancy = kernel.occupancy
        if occupancy is None:
            table.add_row(_kernel_name(kernel), *"-------")
            continue
        table.add_row(
            _kernel_name(kernel),
            f"{occupancy.launch.work_group_size}{'*' if kernel.assumed else ''}",
            str(occupancy.launch.sub_group_size),
            units.binary_size(occupancy.launch.slm_bytes),
            units.percent(occupancy.xe_core_occupancy),
            units.occupancy(occupancy.device_occupancy, occupancy.is_upper_bound),
            "-" if occupancy.waves is None else units.figure(occupancy.waves),
            occupancy.limited_by,
        )
    return table


def _kernel_name(kernel: KernelOccupancy) -> str:
    return f"{kernel.launch.variant}, {kernel.launch.kernel}"


def _launches_remarks(kernels: Sequence[KernelOccupancy]) -> list[str]:
    """Remarks on the table: failures, assumptions, and the nearest better launches."""
    lines = [f"{_kernel_name(kernel)}: {kernel.reason}" for kernel in kernels if kernel.reason]
    lines += sorted({f"* {kernel.assumed}" for kernel in kernels if kernel.assumed})
    for kernel in kernels:
        better = kernel.occupancy and nearest_better(kernel.occupancy)
        if kernel.occupancy and better:
            lines.append(f"{_kernel_name(kernel)}: nearest better: {_step(kernel.occupancy, better)}")
    return list(dict.fromkeys(lines))


OCCUPANCY: Final = View(_occupancy_text, _occupancy_json)
LAUNCHES: Final = View(_launches_text, _launches_json)

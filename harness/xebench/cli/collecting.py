"""What the commands on generated code share: the kernels that patterns launch. Heavy rooms are imported when used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xebench.cli.output import say

if TYPE_CHECKING:
    from xebench.gpu_model.gpu_parameters import GpuParameters
    from xebench.isa.collect import Collected
    from xebench.patterns.plan import Family


def collected(
    names: Sequence[str], paths: Sequence[Path], preset: str, gpus: Sequence[GpuParameters] = ()
) -> tuple[list[Family], Collected]:
    """A plan of the patterns that a user names, and its kernels.

    Args:
        names: patterns, chapters or catalogue ids; all patterns when there are none.
        paths: pattern files beside the built-in ones.
        preset: of the problem sizes.
        gpus: that are meant: what follows the device is what all of them offer.
    """
    from xebench.isa.collect import collect
    from xebench.patterns.plan import build_plan
    from xebench.patterns.registry import discover, select
    from xebench.vocabulary import DeviceClass

    offered = set.intersection(*(set(gpu.sub_group_sizes) for gpu in gpus)) if gpus else ()
    # the code of a kernel is the same at a preset's further sizes
    plan = [family for family in build_plan(select(discover(paths), names), preset) if not family.overrides]
    plan = [family.on(DeviceClass.GPU, sorted(offered)) for family in plan]
    say(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns")
    return plan, collect(plan)

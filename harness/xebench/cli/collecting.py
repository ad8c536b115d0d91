"""What the commands on generated code share: what a user names, and its kernels. Heavy rooms are imported when used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xebench.cli.output import say

if TYPE_CHECKING:
    from xebench.gpu_model.gpu_parameters import GpuParameters
    from xebench.isa.collect import Collected
    from xebench.patterns.plan import Family


def plan_for(
    names: Sequence[str], paths: Sequence[Path], preset: str, gpus: Sequence[GpuParameters] = ()
) -> list[Family]:
    """A plan of the patterns that a user names, made before the compiler is looked for: a wrong name ends at once.

    Args:
        names: patterns, chapters or catalogue ids; all patterns when there are none.
        paths: pattern files beside the built-in ones.
        preset: of the problem sizes.
        gpus: that are meant: what follows the device is what all of them offer.
    """
    from xebench.patterns.plan import build_plan
    from xebench.patterns.registry import discover, select
    from xebench.vocabulary import DeviceClass

    offered = set.intersection(*(set(gpu.sub_group_sizes) for gpu in gpus)) if gpus else ()
    # the code of a kernel is the same at a preset's further sizes
    plan = [family for family in build_plan(select(discover(paths), names), preset) if family.at_preset]
    return [family.on(DeviceClass.GPU, sorted(offered)) for family in plan]


def collected(plan: Sequence[Family]) -> Collected:
    """The kernels of a plan, told as it begins."""
    from xebench.isa.collect import collect

    say(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns")
    return collect(plan)

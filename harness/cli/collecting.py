"""What the commands on generated code share: the kernels that patterns launch. Heavy rooms are imported when used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.isa.collect import Collected
    from harness.patterns.plan import Family


def collected(names: Sequence[str], paths: Sequence[Path], preset: str) -> tuple[list[Family], Collected]:
    """A plan of the patterns that a user names, and its kernels."""
    from harness.isa.collect import collect
    from harness.patterns.plan import build_plan
    from harness.patterns.registry import discover, select

    plan = build_plan(select(discover(paths), names), preset)
    say(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns")
    return plan, collect(plan)

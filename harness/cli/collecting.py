"""What the commands on generated code share: the kernels that patterns launch. Heavy rooms are imported when used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.isa.collect import Collected
    from harness.patterns.plan import Family


@contextmanager
def collected(names: Sequence[str], paths: Sequence[Path], preset: str) -> Iterator[tuple[list[Family], Collected]]:
    """A plan of the patterns that a user names, and its kernels, whose files last as long as the block."""
    import tempfile  # here, since every command pays for what this module imports

    from harness.isa.collect import collect
    from harness.patterns.plan import build_plan
    from harness.patterns.registry import discover, select

    plan = build_plan(select(discover(paths), names), preset)
    say(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns")
    with tempfile.TemporaryDirectory(prefix="xebench-kernels-") as folder:
        yield plan, collect(plan, Path(folder))

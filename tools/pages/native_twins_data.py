"""What a compiler makes of twins and of the kernels beside them, kept for docs/native-twins.md.

``python -m tools.pages.native_twins_data [--ocloc PATH]``, and with ``XEBENCH_NARROW=off`` for modules of 64 bits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from tools.pages.generated_code_data import GPUS, merged
from tools.pages.native_twins import COUNTS
from xebench.cli.gpu_commands import collect_with_progress, plan_for
from xebench.cli.options import OCLOC
from xebench.cli.output import run_program, say
from xebench.isa.ocloc import find_compiler
from xebench.isa.table import compile_launches, row, targets
from xebench.patterns.registry import discover
from xebench.system.runtime.variables import narrow_switch

#: Columns of the table ``isa`` that the page needs.
KEPT: Final = ("pattern", "variant", "kernel", "gpu", "status", "reason", "simd_width", "instructions")


@click.command()
@OCLOC
@click.option("--keep", type=click.Path(path_type=Path), help="A folder for the assembly.")
def main(ocloc: str | None, keep: Path | None) -> None:
    """Compile every twin and the kernel beside it for every GPU, and keep the figures."""
    pairs = [(info.name, one.name, one.against) for info in discover() for one in info.variants if one.against]
    wanted = {(pattern, variant) for pattern, *both in pairs for variant in both}
    compiler = find_compiler(ocloc)
    say(compiler.label)
    launched = collect_with_progress(plan_for(sorted({pattern for pattern, _ in wanted}), (), "smoke")).launches
    kernels = compile_launches(
        [launch for launch in launched if (launch.pattern, launch.variant) in wanted],
        targets(GPUS),
        compiler,
        keep=keep,
    )
    rows = [{name: value for name, value in row(kernel).items() if name in KEPT} for kernel in kernels]
    done = {"version": compiler.version, "igc": compiler.igc, "narrow": narrow_switch() != "off", "rows": rows}
    earlier = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.is_file() else []
    COUNTS.parent.mkdir(parents=True, exist_ok=True)
    COUNTS.write_text(json.dumps(merged(earlier, done), separators=(",", ":")) + "\n", encoding="utf-8")
    say(f"{sum(one['status'] == 'ok' for one in rows)} of {len(rows)} compiled, kept in {COUNTS}")


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.native_twins_data")

"""What a compiler makes of the whole suite, kept for docs/generated-code.md, and its claims for docs/claims.md.

``python -m tools.pages.generated_code_data [--ocloc PATH] --save harness/xebench/isa/data/isa_suite.json``
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from xebench.cli.gpu_commands import collect_with_progress, plan_for
from xebench.cli.options import OCLOC
from xebench.cli.output import run_program, say
from xebench.isa.ocloc import find_compiler
from xebench.isa.table import code_answers, compile_launches, row, targets
from xebench.report import isa_text

GPUS: Final = ("pvc", "dg2", "tgllp", "bmg")

#: Columns of the table ``isa`` that the page shows.
KEPT: Final = (
    *("pattern", "chapter", "variant", "role", "kernel", "gpu", "status", "reason"),
    *("simd_width", "grf_count", "spill_bytes", "private_bytes", "slm_bytes", "instructions"),
    *("loads_global", "stores_global", "atomics_global", "loads_slm", "stores_slm", "atomics_slm"),
)


@click.command()
@OCLOC
@click.option("--save", type=click.Path(path_type=Path), required=True, help="File of all compilers' results.")
def main(ocloc: str | None, save: Path) -> None:
    """Compile every kernel of the suite for every GPU, and put the figures into the file."""
    begin = time.monotonic()
    compiler = find_compiler(ocloc)
    say(compiler.label)
    plan = plan_for((), (), "smoke")
    launched = collect_with_progress(plan)
    # without a cache, since the page tells how long it takes
    kernels = compile_launches(launched.launches, targets(GPUS), compiler)
    rows = [{name: value for name, value in row(kernel).items() if name in KEPT} for kernel in kernels]
    done = {
        "version": compiler.version,
        "igc": compiler.igc,
        "seconds": round(time.monotonic() - begin),
        "rows": rows,
        "claims": [isa_text.plain(answer) for answer in code_answers(plan, launched, kernels)],
        "missing": [[variant.pattern, variant.variant, variant.reason] for variant in launched.missing],
    }
    earlier = json.loads(save.read_text(encoding="utf-8")) if save.is_file() else []
    save.write_text(json.dumps(merged(earlier, done), separators=(",", ":")) + "\n", encoding="utf-8")
    good = sum(figures["status"] == "ok" for figures in rows)
    say(f"{good} of {len(rows)} compiled in {done['seconds']} s, kept in {save}")


def merged(earlier: Sequence[Mapping[str, Any]], done: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The compilers of both, oldest first, this one in the place of its earlier result of as narrow modules."""
    others = [one for one in earlier if (one["version"], one.get("narrow")) != (done["version"], done.get("narrow"))]
    return sorted([*others, done], key=lambda compiler: [int(part) for part in compiler["version"].split(".")])


if __name__ == "__main__":
    run_program(main, "python -m tools.pages.generated_code_data")

"""Check the guide's claims with one compiler.

``python -m xebench.pages.guide_claims_data [--ocloc PATH] [--save FILE]``
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from xebench.cli.options import OCLOC
from xebench.cli.output import run_program
from xebench.isa.claims.check import all_claims, check
from xebench.isa.compile_cache import CompileCache
from xebench.isa.ocloc import find_compiler
from xebench.pages.generated_code_data import merged


@click.command()
@OCLOC
@click.option("--save", type=click.Path(path_type=Path), help="File of all compilers' results: this one's are put in.")
def main(ocloc: str | None, save: Path | None) -> None:
    """Check every claim, print the findings, and keep them for docs/guide-claims-in-assembly.md."""
    compiler = find_compiler(ocloc)
    results = check(all_claims(), compiler, CompileCache())
    click.echo(compiler.label)
    for result in results:
        click.echo(f"{result.claim:5} {result.gpu:6} {result.answer}: {result.because}")
    if save:
        entry = {"version": compiler.version, "igc": compiler.igc, "results": [asdict(result) for result in results]}
        save.write_text(json.dumps(kept(save, entry), indent=1) + "\n", encoding="utf-8")


def kept(file: Path, entry: dict[str, Any]) -> dict[str, Any]:
    """What the file holds, with the claims of today and ``entry`` in the place of that compiler's earlier one."""
    earlier = json.loads(file.read_text(encoding="utf-8"))["compilers"] if file.is_file() else []
    told = ("id", "guide", "says", "known_not_to_reproduce")
    claims = [{name: getattr(claim, name) for name in told} for claim in all_claims()]
    return {"claims": claims, "compilers": merged(earlier, entry)}


if __name__ == "__main__":
    run_program(main, "python -m xebench.pages.guide_claims_data")

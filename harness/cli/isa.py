"""The command ``xebench isa``; heavy rooms are imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import JSON, OCLOC, PATHS, output_file, output_folder, show, write
from harness.errors import XebenchError

if TYPE_CHECKING:
    from harness.isa.collect import Collected
    from harness.isa.table import Entry
    from harness.patterns.plan import Family


class NothingCompiled(XebenchError):
    """Not one kernel was compiled."""


def _listed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _gpus(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """Codes of the GPUs, none twice: of aliases and products their code, other names as ocloc may know them."""
    from harness.gpu_model.gpus import GpuError, find_gpu

    codes = []
    for name in _listed(context, parameter, value):
        try:
            codes.append(find_gpu(name).code)
        except GpuError:
            codes.append(name)
    if not codes:
        raise click.BadParameter("name a GPU, such as pvc")
    return tuple(dict.fromkeys(codes))


def _grf_modes(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    modes = _listed(context, parameter, value)
    unknown = set(modes) - {"default", "large", "auto"}
    if unknown or not modes:
        raise click.BadParameter("write default, large or auto, with commas between")
    return modes


def _widths(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int | None, ...]:
    if not value:
        return (None,)
    try:
        widths = tuple(int(part) for part in _listed(context, parameter, value))
    except ValueError:
        widths = ()
    if not widths or set(widths) - {8, 16, 32}:
        raise click.BadParameter("write 8, 16 or 32, with commas between")
    return widths


def _table_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in (".csv", ".parquet"):
        raise click.BadParameter("the name must end in .csv or .parquet")
    return output_file(context, parameter, value)


@click.command("isa")
@click.argument("names", nargs=-1)
@click.option("--gpu", "gpus", default="pvc,dg2", show_default=True, callback=_gpus, help="pvc, dg2, tgllp, bmg, ...")
@OCLOC
@click.option(
    "--build-options",
    default="",
    help="More options of the GPU's compiler, such as -cl-fast-relaxed-math, or "
    "-cl-intel-greater-than-4GB-buffer-required for 64-bit addresses where ocloc would take a buffer's own.",
)
@click.option(
    "--grf", "grf_modes", default="default", show_default=True, callback=_grf_modes, help="Modes: default, large, auto."
)
@click.option(
    "--simd", "widths", callback=_widths, help="SIMD widths to force: 8, 16, 32.  [default: compiler's choice]"
)
@click.option("--preset", default="smoke", show_default=True, help="Problem sizes at which kernels are collected.")
@click.option(
    "--keep", type=click.Path(path_type=Path), callback=output_folder, help="Folder for SPIR-V, assembly and metadata."
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    callback=output_file,
    help="File for a page with the assembly side by side.",
)
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    callback=_table_file,
    help="File for the table isa, all its columns: .csv or .parquet.",
)
@click.option("--no-cache", is_flag=True, help="Compile everything again, and keep that.")
@PATHS
@JSON
def isa(names: tuple[str, ...], **given: Any) -> None:
    """What Intel's GPU compiler makes of each variant's kernels; no GPU is needed.

    NAMES as in 'list', all when there are none. Exit status 2 when not one kernel was compiled, 3 without a compiler.
    """
    from harness.isa.compile_cache import CompileCache
    from harness.isa.diff import pairs
    from harness.isa.ocloc import find_compiler
    from harness.isa.table import compile_launches, targets
    from harness.report import isa_text as view

    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    collected = collect_plan(plan_of(names, given["paths"], given["preset"]))
    wanted = targets(given["gpus"], given["grf_modes"], given["widths"], given["build_options"].split())
    say(f"compiling {len({each.spirv_sha256 for each in collected.launches})} kernels for {len(wanted)} targets")
    cache = CompileCache(renew=given["no_cache"])
    entries = compile_launches(collected.launches, wanted, compiler, cache, given["keep"])
    compared = pairs(entries)
    if given["html"]:
        from harness.report.isa_html import as_html

        write(given["html"], as_html(entries, compared, collected.missing))
    if given["table"]:
        _write_table(entries, given["table"])
    show(view.as_json(entries, collected.missing) if given["as_json"] else view.as_text(entries, collected.missing))
    if not any(entry.status == "ok" for entry in entries):
        reason = next((entry.reason for entry in entries), "no selected pattern launches a kernel of its own")
        raise NothingCompiled(f"not one kernel was compiled ({reason}): check --gpu, --ocloc and the patterns' names")


def _write_table(entries: Sequence[Entry], file: Path) -> None:
    from harness.isa.table import frame, row
    from harness.records.files import write_csv, write_parquet

    write_table = write_csv if file.suffix == ".csv" else write_parquet
    write_table(file, frame(row(entry) for entry in entries))
    say(f"wrote {file}")


def plan_of(names: Sequence[str], paths: Sequence[Path], preset: str) -> list[Family]:
    """The plan of the patterns that a user names."""
    from harness.patterns.plan import build_plan
    from harness.patterns.registry import discover, select

    return build_plan(select(discover(paths), names), preset)


def collect_plan(plan: Sequence[Family]) -> Collected:
    """The kernels of a plan, said on standard error, since it takes a while."""
    from harness.isa.collect import collect

    say(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns")
    return collect(plan)


def say(text: str) -> None:
    """A line for the user that is no result."""
    click.echo(text, file=sys.stderr)

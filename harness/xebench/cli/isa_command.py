"""The command ``xebench isa``; heavy rooms are imported when it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xebench.cli.collecting import collect_with_progress, gpus_option, plan_for, progress, split_words
from xebench.cli.options import NAMES, OCLOC, PATHS, output_file, output_folder, path_option, preset_option, table_forms
from xebench.cli.output import say, show_view, write
from xebench.errors import XebenchError

if TYPE_CHECKING:
    from xebench.isa.table import KernelOnGpu

Callback = Callable[[click.Context, click.Parameter, str], tuple[str, ...]]


def _some_of(*choices: str) -> Callback:
    """The callback of an option that takes some of these words."""

    def check(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
        words = split_words(value)
        if not words or set(words) - set(choices):
            raise click.BadParameter(f"write {', '.join(choices[:-1])} or {choices[-1]}, with commas between")
        return words

    return check


_sizes = _some_of("8", "16", "32")


def _widths(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int | None, ...]:
    return tuple(map(int, _sizes(context, parameter, value))) if value else (None,)


def _table_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in (".csv", ".parquet"):
        raise click.BadParameter("the name must end in .csv or .parquet")
    return output_file(context, parameter, value)


@click.command("isa")
@NAMES
@gpus_option(default="pvc,dg2", show_default=True)
@OCLOC
@click.option(
    "--build-options",
    default="",
    help="More options of the GPU's compiler, such as -cl-fast-relaxed-math, or "
    "-cl-intel-greater-than-4GB-buffer-required for 64-bit addresses where ocloc would take a buffer's own.",
)
@click.option(
    "--grf",
    "grf_modes",
    default="default",
    show_default=True,
    callback=_some_of("default", "large", "auto"),
    help="Modes: default, large, auto.",
)
@click.option(
    "--simd", "widths", callback=_widths, help="SIMD widths to force: 8, 16, 32.  [default: compiler's choice]"
)
@preset_option("smoke")
@path_option("--keep", "Folder for SPIR-V, assembly and metadata.", output_folder)
@path_option("--html", "File for a page with the assembly side by side.")
@path_option("--table", "File for the table isa, all its columns: .csv or .parquet.", _table_file)
@click.option("--no-cache", is_flag=True, help="Compile everything again, and keep the result.")
@PATHS
@table_forms
def isa(names: tuple[str, ...], form: str, **given: Any) -> None:
    """Show the code that Intel's GPU compiler makes of each variant's kernels, and answer claims on it; no GPU needed.

    NAMES as in 'list', all when there are none. Exit status 2 when not one kernel was compiled, 3 without a compiler.
    """
    from xebench.isa.code_answers import code_answers
    from xebench.isa.compile_cache import CompileCache
    from xebench.isa.ocloc import find_compiler, refuse_unknown
    from xebench.isa.table import compile_launches, targets
    from xebench.report import isa_text

    plan = plan_for(names, given["paths"], given["preset"], given["gpus"])
    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    refuse_unknown(compiler, given["gpus"])
    wanted = targets(given["gpus"], given["grf_modes"], given["widths"], given["build_options"].split())
    launched = collect_with_progress(plan)
    cache = CompileCache(renew=given["no_cache"])
    sources = len({launch.spirv_sha256 for launch in launched.launches})
    with progress(f"compiling {sources} kernels for {len(wanted)} targets") as begins:
        kernels = compile_launches(launched.launches, wanted, compiler, cache, given["keep"], begins)
    answers = code_answers(plan, launched, kernels)
    if given["html"]:
        from xebench.isa.diff import pairs
        from xebench.report import isa_html

        write(given["html"], isa_html.as_html(kernels, pairs(kernels), launched.missing, answers))
    if given["table"]:
        _write_table(kernels, given["table"])
    show_view(isa_text, form, kernels, launched.missing, answers)
    if not any(kernel.status == "ok" for kernel in kernels):
        reason = next((kernel.reason for kernel in kernels), "no selected pattern launches a kernel of its own")
        raise XebenchError(f"not one kernel was compiled ({reason}): check --gpu, --ocloc and the patterns' names")


def _write_table(kernels: Sequence[KernelOnGpu], file: Path) -> None:
    from xebench.isa.table import frame, row
    from xebench.tables.files import write_csv, write_parquet

    write_table = write_csv if file.suffix == ".csv" else write_parquet
    write_table(file, frame(map(row, kernels)))
    say(f"wrote {file}")

"""Commands on GPUs that need not be present, ``xebench isa`` and ``occupancy``, and their shared parts.

Each command imports the heavy rooms when it runs.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from xebench.cli.options import (
    EUS,
    NAMES,
    OCLOC,
    PATHS,
    complete_gpus,
    complete_patterns,
    output_file,
    output_folder,
    path_option,
    preset_option,
    refuse,
    table_forms,
)
from xebench.cli.output import is_quiet, say, show_view, write
from xebench.cli.run_command import with_files
from xebench.errors import XebenchError

if TYPE_CHECKING:
    from xebench.isa.collect import Collected
    from xebench.isa.kernel_code import KernelOnGpu
    from xebench.patterns.declaration import PatternInfo
    from xebench.patterns.plan import Family
    from xebench.system.gpus import GpuParameters


#: Seconds between progress lines where there is no terminal.
_SAID_EVERY_S: Final = 10.0


def split_words(value: str) -> tuple[str, ...]:
    """Split a comma-separated option."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def gpus_option(**more: Any) -> Callable[[Any], Any]:
    """``--gpu`` for several GPUs, optional with a default or required."""
    return click.option(
        "--gpu",
        "gpus",
        callback=_gpus,
        shell_complete=complete_gpus,
        help="GPUs such as pvc, dg2, tgllp or bmg, with commas between, or files that describe a GPU.",
        **more,
    )


def _gpus(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str | GpuParameters, ...]:
    """Look up names and files of GPUs, each once; a name that the catalogue lacks stays as it is, for ocloc."""
    from xebench.system.gpus import GpuError, find_gpu

    found: dict[str, str | GpuParameters] = {}
    for name in split_words(value):
        try:
            gpu = find_gpu(name)
            found.setdefault(gpu.code, gpu)
        except GpuError:
            if Path(name).suffix in (".json", ".toml"):
                raise
            found.setdefault(name, name)
    if not found:
        raise click.BadParameter("name a GPU, such as pvc")
    return tuple(found.values())


def plan_for(
    names: Sequence[str], paths: Sequence[Path], preset: str, gpus: Sequence[str | GpuParameters] = ()
) -> list[Family]:
    """A plan of the patterns that a user names, made before the search for a compiler so that a wrong name fails early.

    Args:
        names: patterns, chapters, catalogue ids or pattern files; all patterns when there are none.
        paths: pattern files beside the built-in ones.
        preset: preset of the problem sizes.
        gpus: target GPUs; sizes that follow the device are limited to what all known ones support.
    """
    from xebench.patterns.registry import discover, select

    if not names:
        return _plan(discover(paths, installed=True), preset, gpus)
    chosen, files = with_files(names, paths)
    return _plan(select(discover(files), chosen), preset, gpus)


def plan_of_files(files: Sequence[Path], preset: str, gpus: Sequence[str | GpuParameters]) -> list[Family]:
    """The plan of all patterns of a user's files."""
    from xebench.patterns.registry import pattern_file, read

    return _plan(read([*map(pattern_file, files)]), preset, gpus)


def _plan(patterns: Sequence[PatternInfo], preset: str, gpus: Sequence[str | GpuParameters]) -> list[Family]:
    from xebench.isa.asked_gpu import asked_gpu
    from xebench.patterns.plan import NO_ROOM, build_plan
    from xebench.patterns.problem import Room
    from xebench.vocabulary import DeviceClass

    # the code of a kernel is the same at a preset's further sizes
    plan = [family for family in build_plan(patterns, preset) if family.at_preset]
    known = _known(gpus)
    limits = asked_gpu(known)
    sizes, room = (limits.sub_group_sizes, Room(limits.lanes)) if known else ((), NO_ROOM)
    return [family.on(DeviceClass.GPU, sizes, room) for family in plan]


def _known(gpus: Sequence[str | GpuParameters]) -> list[GpuParameters]:
    return [gpu for gpu in gpus if not isinstance(gpu, str)]


def collect_with_progress(plan: Sequence[Family], gpus: Sequence[str | GpuParameters] = ()) -> Collected:
    """The kernels of a plan, launched as on these GPUs; a line announces each pattern as it begins."""
    from xebench.isa.asked_gpu import asked_gpu
    from xebench.isa.collect import collect

    with progress(f"collecting the kernels of {len({family.pattern.name for family in plan})} patterns") as begins:
        return collect(plan, asked_gpu(_known(gpus)), begins=begins)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, str], None]]:
    """Show the progress: a live line in a terminal, otherwise a line every few seconds.

    Yields the function to call when a part begins, from any thread, with the number of all parts and the part's name.
    """
    from xebench.report.console import ProgressLine

    begun, said_s, lock = 0, time.monotonic(), threading.Lock()
    say(what)

    def begins(total: int, name: str) -> None:
        nonlocal begun, said_s
        with lock:
            begun += 1
            line.family(begun - 1, total, name)
            if not sys.stderr.isatty() and time.monotonic() - said_s > _SAID_EVERY_S:
                said_s = time.monotonic()
                say(f"{begun} of {total}: {name}")

    with ProgressLine(sys.stderr, quiet=is_quiet()) as line:
        yield begins


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
    help="Further options for the GPU's compiler, such as -cl-fast-relaxed-math, or "
    "-cl-intel-greater-than-4GB-buffer-required for 64-bit addresses where ocloc would address each buffer by itself.",
)
@click.option(
    "--grf",
    "grf_modes",
    default="default",
    show_default=True,
    callback=_some_of("default", "large", "auto"),
    help="Register-file modes: default, large, auto.",
)
@click.option(
    "--simd", "widths", callback=_widths, help="SIMD widths to force: 8, 16, 32.  [default: compiler's choice]"
)
@preset_option("smoke")
@path_option("--keep", help="Folder for SPIR-V, assembly and metadata.", check=output_folder)
@path_option("--html", help="File for a page with the assembly side by side.")
@path_option("--table", help="File for the table isa with all its columns: .csv or .parquet.", check=_table_file)
@click.option("--no-cache", is_flag=True, help="Compile every kernel again, and replace the kept results.")
@PATHS
@table_forms
def isa(names: tuple[str, ...], form: str, **given: Any) -> None:
    """Show the code that Intel's GPU compiler makes of each variant's kernels, and answer claims on it; no GPU needed.

    NAMES: patterns, chapters or catalogue ids (default: all). Exit status 2 if no kernel was compiled, 3 without a
    compiler.
    """
    from xebench.isa import text as isa_text
    from xebench.isa.compilation import CompileCache
    from xebench.isa.ocloc import find_compiler, refuse_unknown
    from xebench.isa.table import code_answers, compile_launches, targets

    plan = plan_for(names, given["paths"], given["preset"], given["gpus"])
    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    refuse_unknown(compiler, given["gpus"])
    wanted = targets(given["gpus"], given["grf_modes"], given["widths"], given["build_options"].split())
    launched = collect_with_progress(plan, given["gpus"])
    cache = CompileCache(renew=given["no_cache"])
    sources = len({launch.spirv_sha256 for launch in launched.launches})
    with progress(f"compiling {sources} kernels for {len(wanted)} targets") as begins:
        kernels = compile_launches(launched.launches, wanted, compiler, cache, given["keep"], begins)
    answers = code_answers(plan, launched, kernels)
    if given["html"]:
        from xebench.isa.kernel_code import pairs

        write(given["html"], isa_text.as_html(kernels, pairs(kernels), launched.missing, answers))
    if given["table"]:
        _write_table(kernels, given["table"])
    show_view(isa_text, form, kernels, launched.missing, answers)
    if not any(kernel.status == "ok" for kernel in kernels):
        reason = next((kernel.reason for kernel in kernels), "no selected pattern launches a kernel of its own")
        raise XebenchError(f"no kernel was compiled ({reason}): check --gpu, --ocloc and the patterns' names")


def _write_table(kernels: Sequence[KernelOnGpu], file: Path) -> None:
    from xebench.isa.table import frame, row
    from xebench.results.files import write_csv, write_parquet

    write_table = write_csv if file.suffix == ".csv" else write_parquet
    write_table(file, frame(map(row, kernels)))
    say(f"wrote {file}")


#: Options that describe a launch by numbers, and so contradict a pattern's own.
_LAUNCH_OPTIONS = ("work_group", "sub_group", "slm", "barriers", "global_size", "large_grf")


@click.command("occupancy")
@click.option(
    "--gpu",
    shell_complete=complete_gpus,
    help="A GPU such as pvc, dg2, a770, tgllp, bmg, or a file that describes one.  [default: the one present]",
)
@click.option("--work-group", help="Work-items of a work-group, such as 256, 1K or 16x16.")
@click.option("--sub-group", help="Sub-group size.")
@click.option("--slm", default="0", show_default=True, help="Shared local memory of a work-group, such as 32K.")
@click.option("--barriers", default=0, show_default=True, help="Number of barriers that the kernel uses.")
@click.option("--global", "global_size", help="Work-items of the whole launch, such as 1M or 1024x1024.")
@click.option("--large-grf", is_flag=True, help="Use the large register file, which halves the hardware threads.")
@EUS
@click.option(
    "--pattern",
    "names",
    multiple=True,
    shell_complete=complete_patterns,
    help="A pattern whose launches replace these numbers. May be given more than once.",
)
@preset_option("default")
@OCLOC
@PATHS
@table_forms
def occupancy(gpu: str | None, eus: int | None, names: tuple[str, ...], form: str, **given: Any) -> None:
    """Compute how many of a GPU's thread contexts a launch can occupy, and what limits it. Nothing is measured.

    The launch is given by numbers (--work-group and --sub-group at least) or by --pattern.
    """
    if names:
        refuse(_LAUNCH_OPTIONS, "--pattern has its own launch")
        _of_patterns(_gpu(gpu, eus), names, form, given)
    elif given["sub_group"] is None or given["work_group"] is None:
        raise XebenchError("a launch needs --work-group and --sub-group, or a pattern: --pattern NAME")
    else:
        _of_numbers(_gpu(gpu, eus), form, given)


def _gpu(name: str | None, eus: int | None) -> GpuParameters:
    from xebench.system.gpus import find_gpu, gpu_of_device

    if name is not None:
        return find_gpu(name, eus)
    from xebench.system import runtime

    runtime.load()
    device = runtime.select_device().device
    if device.device_class != "gpu":
        raise XebenchError(f"no GPU is present, only {device.name}: name one with --gpu, such as --gpu pvc")
    return gpu_of_device(device.name, eus or device.compute_units)


def _of_numbers(gpu: GpuParameters, form: str, given: dict[str, Any]) -> None:
    from xebench.isa import gpu_views
    from xebench.system.occupancy import occupancy_of, parse_launch

    shape = {name: given[name] for name in ("slm", "barriers", "global_size", "large_grf")}
    launch = parse_launch(given["work_group"], given["sub_group"], **shape)
    show_view(gpu_views.OCCUPANCY, form, occupancy_of(launch, gpu))


def _of_patterns(gpu: GpuParameters, names: tuple[str, ...], form: str, given: dict[str, Any]) -> None:
    from xebench.isa import gpu_views
    from xebench.isa.compilation import CompileCache
    from xebench.isa.launch_occupancy import occupancies
    from xebench.isa.ocloc import find_compiler

    plan = plan_for(names, given["paths"], given["preset"], [gpu])
    compiler = find_compiler(given["ocloc"])
    say(f"{compiler.label}, {gpu.product.name} ({gpu.code})")
    kernels = collect_with_progress(plan, [gpu])
    with progress("compiling them") as begins:
        launches = occupancies(kernels.launches, gpu, compiler, CompileCache(), begins)
    show_view(gpu_views.LAUNCHES, form, launches, kernels.missing, given["preset"])
    if not any(launch.occupancy for launch in launches):
        reason = next((launch.reason for launch in launches), "no selected pattern launches a kernel of its own")
        raise XebenchError(f"no launch has an occupancy on {gpu.code} ({reason}): choose another GPU or pattern")

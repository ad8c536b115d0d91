"""Commands about this machine, such as ``xebench devices``, and ``xebench build``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from xebench.cli.gpu_commands import collect_with_progress, gpus_option, plan_of_files
from xebench.cli.options import (
    DEVICE,
    OCLOC,
    PATTERN_FILES,
    QUIET,
    complete_probes,
    output_folder,
    path_option,
    preset_option,
    table_forms,
)
from xebench.cli.output import is_quiet, say, show, show_view, warn
from xebench.errors import XebenchError


@click.command()
@table_forms
def devices(form: str) -> None:
    """List the SYCL devices of this machine. Exit status 3 if there are none."""
    from xebench.cli import machine_views
    from xebench.system import runtime

    runtime.load()
    rows = [device.to_row() for device in runtime.list_devices()]
    show_view(machine_views.DEVICES, form, rows)
    sys.exit(0 if rows else 3)


@click.command()
@table_forms
def doctor(form: str) -> None:
    """Show what works here, what is missing, and which package provides it. Exit status 3 if no device is usable."""
    from xebench.cli import machine_views
    from xebench.doctor.examination import examine

    report = examine()
    show_view(machine_views.FINDINGS, form, report)
    sys.exit(0 if report.usable else 3)


@click.command()
@click.argument("probes", nargs=-1, shell_complete=complete_probes)
@DEVICE
@click.option("--refresh", is_flag=True, help="Measure again, and replace the kept results of this device and driver.")
@table_forms
def roofline(probes: tuple[str, ...], device: str, refresh: bool, form: str) -> None:
    """Measure the bandwidths and rates that the device reaches.

    PROBES: names as in --json, such as fp32 (default: all). Results of selected probes are not kept. Exit status 1 if a
    probe was wrong or crashed.
    """
    from xebench.cli import machine_views
    from xebench.report.console import ProgressLine
    from xebench.roofs.measure import measure_roofline
    from xebench.system import runtime

    with ProgressLine(sys.stderr, quiet=is_quiet()) as progress:
        selection = runtime.select_device(device)
        if selection.notice:
            progress.say(selection.notice)
        measured = measure_roofline(selection.device, names=probes, refresh=refresh, say=progress.say)
    show_view(machine_views.ROOFLINE, form, measured)
    sys.exit(1 if measured.failed else 0)


@click.command()
@click.option(
    "--kernels", is_flag=True, required=True, help="Install the pinned stack: numba-dpex 0.23 and what fits it."
)
@QUIET
def setup(kernels: bool) -> None:
    """Install what plain pip cannot into this virtual environment: with --kernels, a compiler for Python 3.11."""
    from xebench.doctor.examination import install_pinned

    install_pinned(say)


@click.command()
@PATTERN_FILES
@gpus_option(required=True)
@OCLOC
@preset_option("smoke")
@path_option(
    "-o",
    "--output",
    help="Folder for the binaries.  [default: binaries, in the current folder]",
    check=output_folder,
)
@QUIET
def build(files: tuple[Path, ...], output: Path | None, **given: Any) -> None:
    """Make native binaries of the kernels of pattern FILES for Intel GPUs, by Intel's offline compiler; no GPU needed.

    Every variant runs once, on a device of this machine. A binary is named after its kernel, a hash of its code and
    options, and the GPU. Exit status 2 if a kernel was not built, 3 without a compiler.
    """
    from xebench.isa.ocloc import find_compiler
    from xebench.isa.table import compile_launches, targets, write_binaries

    if not files:
        raise XebenchError("name the pattern FILES whose kernels are to be built")
    plan = plan_of_files(files, given["preset"], given["gpus"])
    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    launched = collect_with_progress(plan, given["gpus"])
    kernels = compile_launches(launched.launches, targets(given["gpus"]), compiler)
    for path in write_binaries(kernels, output or Path("binaries")):
        show(str(path))
    failures = [f"{one.pattern}/{one.variant}: {one.reason}" for one in launched.missing]
    failures += [
        f"{kernel.launch.kernel} for {kernel.target.gpu}: {kernel.status}: {kernel.reason}"
        for kernel in kernels
        if kernel.status != "ok"
    ]
    for failure in dict.fromkeys(failures):
        warn(failure)
    if failures:
        raise XebenchError("not every kernel was built: see above")

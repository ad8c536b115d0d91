"""The command ``xebench build``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xebench.cli.collecting import collect_with_progress, gpus_option, plan_of_files
from xebench.cli.options import OCLOC, PATTERN_FILES, output_folder, path_option, preset_option
from xebench.cli.output import say, show
from xebench.errors import XebenchError


@click.command()
@PATTERN_FILES
@gpus_option(required=True)
@OCLOC
@preset_option("smoke")
@path_option("--output", "Folder for the binaries.  [default: binaries, in this folder]", output_folder)
def build(files: tuple[Path, ...], output: Path | None, **given: Any) -> None:
    """Make native binaries of the kernels of pattern FILES for Intel GPUs, by Intel's offline compiler; no GPU needed.

    Every variant runs once, on the device that is here. A binary is named after its kernel, a hash of its code and
    options, and the GPU. Exit status 2 when a kernel was not built, 3 without a compiler.
    """
    from xebench.isa.native_binaries import write_binaries
    from xebench.isa.ocloc import find_compiler
    from xebench.isa.table import compile_launches, targets

    if not files:
        raise XebenchError("name the pattern FILES whose kernels are to be built")
    plan = plan_of_files(files, given["preset"], given["gpus"])
    compiler = find_compiler(given["ocloc"])
    say(compiler.label)
    launched = collect_with_progress(plan)
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
        say(failure)
    if failures:
        raise XebenchError("not every kernel was built: see above")

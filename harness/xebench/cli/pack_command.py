"""The command ``xebench pack``."""

from __future__ import annotations

from pathlib import Path

import click

from xebench.cli.options import DEVICE, PATTERN_FILES, path_option
from xebench.cli.output import say
from xebench.errors import XebenchError


@click.command()
@PATTERN_FILES
@DEVICE
@path_option("--output", "File of the pack, elsewhere; of one FILE, or of the project.")
@click.option("--check", is_flag=True, help="Write and compile nothing; fail if a pack lacks a kernel.")
def pack(files: tuple[Path, ...], device: str, output: Path | None, check: bool) -> None:
    """Compile the kernels of pattern FILES into a pack beside each file, for machines without a compiler of kernels.

    Every variant runs once for each preset, value on its axes and sub-group size, and launches nothing. Without FILES:
    the project's own pack, by numba-dpex unless it is written elsewhere.
    """
    if output and len(files) > 1:
        raise XebenchError("--output is one pack: name one FILE, or none for the project's")
    from xebench.system import runtime

    runtime.load()
    from xebench.isa.packing.making import make_pack
    from xebench.patterns.registry import pattern_file

    chosen = runtime.select_device(device).device.device
    for file in files or (None,):
        make_pack(chosen, file and pattern_file(file), say, output=output, check=check)

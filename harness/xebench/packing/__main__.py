"""``python -m xebench.packing``: the project's own pack; with the path of a pattern file, the pack beside that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from xebench.cli.options import DEVICE
from xebench.cli.output import run_program, say
from xebench.errors import XebenchError
from xebench.runtime import pins
from xebench.runtime.stack import is_current

#: Packages that decide what a kernel becomes.
PACKAGES: Final = ("numba-dpex", "numba", "llvmlite", "dpcpp-llvm-spirv")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@DEVICE
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the pack there; the current stack's compiler makes it as well.",
)
@click.option("--check", is_flag=True, help="Write nothing, compile nothing: fail where the pack lacks a kernel.")
def main(files: tuple[Path, ...], device: str, output: Path | None, check: bool) -> None:
    """Compile the kernels of pattern FILES, or of the project, into a pack for the current stack."""
    from xebench import runtime

    runtime.load()
    if output and len(files) > 1:
        raise click.UsageError("--output is one pack: give one FILE, or none for the project's")
    if is_current() and not check and not output:
        raise XebenchError("kernels are compiled in the pinned environment only: run this there")
    chosen = runtime.select_device(device).device.device
    if not files:
        _pack(chosen, None, output, check)
    for file in files:
        _pack(chosen, file.resolve(), output, check)


def _pack(device: str, file: Path | None, output: Path | None, check: bool) -> None:
    from xebench.dpex import compiler
    from xebench.dpex.compile_here import compile_here
    from xebench.kernel_pack import OWN_PACK, pack_beside, write_pack
    from xebench.packing.opencl_modules import OCLOC, OpenCLModules
    from xebench.packing.recorder import Recorder

    usual = pack_beside(file) if file else OWN_PACK
    path = output or usual
    modules = OpenCLModules(usual)
    made = compile_here if is_current() else compiler.of_this_stack
    opencl = _module_of_packs if check else modules.module
    recorder = Recorder(_of_packs if check else made, opencl, only=file)
    compiler.use_source(recorder)
    failures = list(_collect(device, file, lambda: len(recorder.kernels)))
    failures += recorder.missing
    failures += [f"{kernel} cannot be shipped: it refers to {what}" for kernel, what in recorder.unknown.items()]
    for failure in failures:
        say(failure)
    if not check:
        versions = {name: pins.installed_version(name) or "" for name in PACKAGES}
        if modules.versions:
            versions[OCLOC] = ", ".join(sorted(modules.versions))
        write_pack(path, versions, recorder.kernels.values())
        say(f"wrote {path}: {len(recorder.kernels)} kernels, {path.stat().st_size / 1000:.0f} kB")
    if failures:
        raise XebenchError(f"the pack lacks kernels: {len(failures)} failures, see above")


def _of_packs(kernel: Any, signature: Any, cache: Any) -> Any:
    from xebench.dpex.shipped import find_shipped

    return find_shipped(kernel, signature)


def _module_of_packs(kernel: Any) -> bytes:
    from xebench.dpex.packs import shipped_spirv

    return shipped_spirv(kernel, "Level Zero")


def _collect(device: str, file: Path | None, known: Callable[[], int]) -> Iterable[str]:
    from xebench.dpex import direct_calls
    from xebench.packing.own_kernels import collect_own_kernels
    from xebench.packing.pattern_kernels import collect_kernels
    from xebench.patterns.reading import read
    from xebench.patterns.registry import builtin_files

    if file is None:
        yield from collect_own_kernels(device)
    direct_calls.install()
    yield from _unique(collect_kernels(device, read([file] if file else builtin_files()), known))


def _unique(lines: Iterable[str]) -> Iterator[str]:
    """Each line once: variants fail alike at all sizes."""
    return iter(dict.fromkeys(lines))


if __name__ == "__main__":
    run_program(main, "python -m xebench.packing")

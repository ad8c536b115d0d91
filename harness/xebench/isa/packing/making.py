"""A pack of the kernels of one pattern file, or of the project: compiled, or only looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from xebench.dpex import compiler, direct_calls
from xebench.dpex.packs import shipped_spirv
from xebench.dpex.shipped import find_shipped
from xebench.dpex.toolchain import compiler_versions
from xebench.errors import XebenchError
from xebench.isa.packing.opencl_modules import OpenCLModules
from xebench.isa.packing.own_kernels import collect_own_kernels
from xebench.isa.packing.pattern_kernels import collect_kernels
from xebench.isa.packing.recorder import KernelRecorder
from xebench.patterns.reading import read
from xebench.patterns.registry import builtin_files
from xebench.system.kernel_pack import OCLOC, OWN_PACK, pack_beside, write_pack
from xebench.system.runtime.stack import is_current


def make_pack(
    device: str, file: Path | None, say: Callable[[str], None], *, output: Path | None = None, check: bool = False
) -> None:
    """Compile every kernel, and write the pack; it is written without those that fail.

    Args:
        device: SYCL filter string of one that has memory; for the project's own kernels see `collect_own_kernels`.
        file: a pattern file; None: the project.
        say: is given a line for each failure, and one for what was written.
        output: the pack's file; where packs are looked for by default.
        check: compile and write nothing: look whether packs have the kernels.

    Raises:
        XebenchError: kernels are lacking; or numba-dpex is, by which the project's pack is made.
    """
    if file is None and is_current() and not check and not output:
        raise XebenchError("the project's pack is made where numba-dpex is: name a pattern FILE, or another --output")
    usual = pack_beside(file) if file else OWN_PACK
    path = output or usual
    modules = OpenCLModules(usual)
    opencl = module_of_packs if check else modules.module
    recorder = KernelRecorder(of_packs if check else compiler.compile_anew, opencl, only=file)
    compiler.use_source(recorder)
    failures = list(_collect(device, file, lambda: len(recorder.kernels)))
    failures += recorder.missing
    failures += [f"{kernel} cannot be shipped: it refers to {what}" for kernel, what in recorder.unknown.items()]
    for failure in failures:
        say(failure)
    if not check:
        versions = compiler_versions()
        if modules.versions:
            versions[OCLOC] = ", ".join(sorted(modules.versions))
        write_pack(path, versions, recorder.kernels.values())
        say(f"wrote {path}: {len(recorder.kernels)} kernels, {path.stat().st_size / 1000:.0f} kB")
    if failures:
        raise XebenchError(f"the pack lacks kernels: {len(failures)} failures, see above")


def of_packs(kernel: Any, signature: Any, cache: Any) -> Any:
    """A source of kernels that compiles nothing."""
    return find_shipped(kernel, signature)


def module_of_packs(kernel: Any) -> bytes:
    """The module of a kernel in OpenCL C, from the packs."""
    return shipped_spirv(kernel, "Level Zero")


def _collect(device: str, file: Path | None, known: Callable[[], int]) -> Iterable[str]:
    if file is None:
        yield from collect_own_kernels(device)
    direct_calls.install()
    yield from _unique(collect_kernels(device, read([file] if file else builtin_files()), known))


def _unique(lines: Iterable[str]) -> Iterator[str]:
    """Each line once: variants fail alike at all sizes."""
    return iter(dict.fromkeys(lines))

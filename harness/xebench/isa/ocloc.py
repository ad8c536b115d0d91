"""Intel's offline compiler ``ocloc``: find it, and compile one kernel for one GPU that need not be there.

Every compilation is a process in a temporary folder; the variables that make the compiler write its assembly are
set for that process alone. A failure to compile a kernel is an outcome with a reason, never an exception.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from xebench.isa.assembly import KERNEL_LINE
from xebench.isa.compilation import SYMBOL_TABLE, Compiled, Compiler, Source, Target, read_zeinfo
from xebench.system.children import process
from xebench.system.gpus import GpuError, GpuParameters, find_gpu
from xebench.system.offline_compiler import TIMEOUT_S, UNKNOWN_GPU, NoCompiler, first_error
from xebench.system.zebin import zebin_sections

VERSION_TIMEOUT_S = 30.0
_PROBE = b"kernel void probe(global int *x) { x[get_global_id(0)] = 1; }\n"
# the dynamic linker's own messages, of which LD_DEBUG prints many
_LINKER = re.compile(r"\s*\d+:(\s|$)")
_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
# exit statuses of a shell that wraps the compiler
_SHELL_STATUSES = {128 + number for number in _CRASHES}


def find_compiler(given: str | None = None) -> Compiler:
    """The ocloc that was given, or the one on the path, after it has compiled a line of its own.

    Raises:
        NoCompiler: there is none, or it fails.
    """
    path = shutil.which(given or "ocloc")
    if path is None:
        where = f"{given} is no program" if given else "ocloc is not on the path"
        raise NoCompiler(f"{where}: install it (Debian: intel-opencl-icd), or give one with --ocloc")
    command = (str(Path(path).absolute()),)
    with tempfile.TemporaryDirectory(prefix="xebench-isa-") as name:
        try:
            version = _version(command, Path(name))
            igc = _library(command, Path(name))
        except subprocess.TimeoutExpired as error:
            raise NoCompiler(f"{path} gives no answer within {error.timeout:g} s: give another with --ocloc") from None
    return Compiler(command, version, igc)


def _version(command: Sequence[str], folder: Path) -> str:
    """The driver's version, which the compiler writes into a file; newer ones print it too."""
    run = process.run([*command, "query", "OCL_DRIVER_VERSION"], VERSION_TIMEOUT_S, folder=folder)
    file = folder / "OCL_DRIVER_VERSION"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else run.stdout
    version = re.search(r"\d+\.\d+[\d.]*", text)
    if version is None:
        said = (run.stdout.strip().splitlines() or ["it says nothing"])[-1][:120]
        raise NoCompiler(f"{command[0]} does not print its version ({said}): give another with --ocloc")
    return version[0]


def _library(command: Sequence[str], folder: Path) -> str:
    """File name of the compiler library, as the dynamic linker loaded it."""
    (folder / "probe.cl").write_bytes(_PROBE)
    call = ["env", "LD_DEBUG=libs", *command, "compile", "-file", "probe.cl", "-device", "tgllp", "-out_dir", "out"]
    run = process.run(call, TIMEOUT_S, folder=folder)
    if run.returncode:
        said = "\n".join(line for line in run.stdout.splitlines() if not _LINKER.match(line))
        reason = first_error(subprocess.CompletedProcess(call, run.returncode, said))
        raise NoCompiler(f"{command[0]} fails on one line of OpenCL C ({reason}): give another with --ocloc")
    loaded = re.search(r"calling init: (\S*libigc\.so\S*)", run.stdout)
    return Path(loaded[1]).resolve().name.partition("+")[0] if loaded else ""


def compile_source(compiler: Compiler, source: Source, target: Target, *, timeout_s: float = TIMEOUT_S) -> Compiled:
    """Compile for one GPU."""
    with tempfile.TemporaryDirectory(prefix="xebench-isa-") as name:
        folder = Path(name)
        file = folder / ("kernel.spv" if source.language == "spirv" else "kernel.cl")
        file.write_bytes(source.content)
        try:
            run = process.run(_call(compiler, source, target, folder, file), timeout_s, folder=folder)
        except subprocess.TimeoutExpired:
            return Compiled("timeout", f"no result within {timeout_s:g} s")
        if run.returncode or "Build succeeded" not in run.stdout:
            return Compiled("crashed" if _has_crashed(run) else "refused", first_error(run))
        binaries = list((folder / "out").glob("*.bin"))
        if len(binaries) != 1:
            return Compiled("refused", f"ocloc made {len(binaries) or 'no'} binaries for {target.gpu}: name one GPU")
        return _read_results(binaries[0], folder / "dump")


def refuse_unknown(compiler: Compiler, gpus: Iterable[str | GpuParameters]) -> None:
    """Refuse a name that neither the catalogue nor the compiler has: before hours of work, not after.

    Raises:
        GpuError: neither of them has it.
    """
    for name in gpus:
        try:
            find_gpu(name) if isinstance(name, str) else None
        except GpuError as error:
            made = compile_source(compiler, Source(_PROBE, "opencl"), Target(str(name)))
            if made.reason.startswith(UNKNOWN_GPU):
                raise GpuError(f"{made.reason}: {error}") from None


def _call(compiler: Compiler, source: Source, target: Target, folder: Path, file: Path) -> list[str]:
    variables = [f"IGC_DumpToCustomDir={folder / 'dump'}", "IGC_ShaderDumpEnable=1"]
    if target.forced_simd is not None:
        variables.append(f"IGC_ForceOCLSIMDWidth={target.forced_simd}")
    options = list(target.options)
    if source.language == "spirv":
        form = ["-spirv_input"]
    else:
        # the old compiler's default standard fails on images, even unused ones
        form = []
        if not any(option.startswith("-cl-std=") for option in options):
            options.append("-cl-std=CL2.0")
    call = ["env", *variables, *compiler.command, "compile", "-file", file.name, *form, "-device", target.device]
    # without the internal option the old compiler writes a format of its own, without .ze_info
    call += ["-out_dir", "out", "-output", "kernel", "-internal_options", "-ze-allow-zebin"]
    return [*call, "-options", " ".join(options)] if options else call


def _has_crashed(run: subprocess.CompletedProcess[str]) -> bool:
    return run.returncode < 0 or run.returncode in _SHELL_STATUSES or "internal compiler error" in run.stdout.lower()


def _read_results(binary: Path, dump: Path) -> Compiled:
    content = binary.read_bytes()
    try:
        sections = zebin_sections(content)
    except ValueError as error:
        return Compiled("unreadable", f"the binary cannot be read: {error}")
    zeinfo = sections.get(".ze_info", b"").rstrip(b"\0").decode()
    texts = _assembly_texts(dump, _simd_widths(zeinfo))
    if not texts:
        return Compiled("unreadable", "the compiler left no assembly: it may not have the SIMD width that was forced")
    return Compiled(
        "ok",
        zeinfo=zeinfo,
        assembly={name: text.content for name, text in texts.items()},
        simd_widths={name: text.simd_width for name, text in texts.items()},
        binary=content,
    )


def _simd_widths(zeinfo: str) -> dict[str, int]:
    """The SIMD width of each kernel in the metadata; empty if they are damaged, which their reader reports."""
    try:
        return {name: info.simd_width for name, info in read_zeinfo(zeinfo).items()}
    except ValueError:
        return {}


class _Text(NamedTuple):
    """A kernel's assembly. Of several texts the last in sort order counts."""

    as_said: bool
    attempt: int
    simd_width: int
    content: str


def _assembly_texts(dump: Path, said: Mapping[str, int]) -> dict[str, _Text]:
    """The last assembly of each kernel: the compiler tries again, with other settings, where registers ran out.

    Width and number of the attempt stand in the file's name: ``OCL_asm..._1_simd32_entry_0001.asm`` is the second. Of
    several widths the one counts that the metadata says. A single other one is right, and the metadata wrong: the old
    compiler repeats there the width that the kernel requires, when it was forced to another.
    """
    attempts: dict[str, list[_Text]] = {}
    for path in sorted(dump.glob("*.asm")):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = KERNEL_LINE.search(text)
        facts = re.search(r"(?:_(\d+))?_simd(\d+)_", path.name)
        if name is not None and facts is not None and name[1] != SYMBOL_TABLE:
            width = int(facts[2])
            attempt = _Text(width == said.get(name[1]), int(facts[1] or 0), width, text)
            attempts.setdefault(name[1], []).append(attempt)
    return {name: max(texts) for name, texts in attempts.items()}

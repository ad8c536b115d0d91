"""Intel's offline compiler ``ocloc``: find it, and compile one kernel for one GPU that need not be there.

Every compilation is a process in a temporary folder; the variables that make the compiler write its assembly are
set for that process alone. What goes wrong with a kernel is an outcome with a reason, never an exception.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.errors import XebenchError
from harness.isa import elf
from harness.isa.model import Compiled, Compiler, Source, Target
from harness.isa.zeinfo import SYMBOL_TABLE

TIMEOUT_S = 180.0
_PROBE = b"kernel void probe(global int *x) { x[get_global_id(0)] = 1; }\n"
_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
# what a shell that wraps the compiler ends with
_SHELL_STATUSES = {128 + number for number in _CRASHES}


class NoCompiler(XebenchError):
    """There is no ocloc here, or it does not work."""

    exit_code = 3


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
        version = _version(command, Path(name))
        igc = _library(command, Path(name))
    return Compiler(command, version, igc)


def _version(command: Sequence[str], folder: Path) -> str:
    """The driver's version, which the compiler writes into a file; newer ones print it too."""
    run = _run([*command, "query", "OCL_DRIVER_VERSION"], folder, timeout_s=60)
    file = folder / "OCL_DRIVER_VERSION"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else run.stdout
    version = re.search(r"\d+\.\d+[\d.]*", text)
    if version is None:
        said = _last_line(run.stdout)
        raise NoCompiler(f"{command[0]} does not tell its version ({said}): give another with --ocloc")
    return version[0]


def _library(command: Sequence[str], folder: Path) -> str:
    """File name of the compiler library: the dynamic linker tells which one was loaded."""
    (folder / "probe.cl").write_bytes(_PROBE)
    call = ["env", "LD_DEBUG=libs", *command, "compile", "-file", "probe.cl", "-device", "tgllp", "-out_dir", "out"]
    run = _run(call, folder, timeout_s=TIMEOUT_S)
    if run.returncode:
        raise NoCompiler(f"{command[0]} fails on one line of OpenCL C: {_reason(run)}: give another with --ocloc")
    loaded = re.search(r"calling init: (\S*libigc\.so\S*)", run.stdout)
    return Path(loaded[1]).resolve().name.partition("+")[0] if loaded else ""


def compile_source(compiler: Compiler, source: Source, target: Target, *, timeout_s: float = TIMEOUT_S) -> Compiled:
    """Compile for one GPU."""
    with tempfile.TemporaryDirectory(prefix="xebench-isa-") as name:
        folder = Path(name)
        file = folder / ("kernel.spv" if source.language == "spirv" else "kernel.cl")
        file.write_bytes(source.content)
        try:
            run = _run(_call(compiler, source, target, folder, file), folder, timeout_s)
        except subprocess.TimeoutExpired:
            return Compiled("timeout", f"no result within {timeout_s:g} s")
        if run.returncode or "Build succeeded" not in run.stdout:
            return Compiled("crashed" if _has_crashed(run) else "refused", _reason(run))
        return _read_results(folder, run.stdout)


def _call(compiler: Compiler, source: Source, target: Target, folder: Path, file: Path) -> list[str]:
    variables = [f"IGC_DumpToCustomDir={folder / 'dump'}", "IGC_ShaderDumpEnable=1"]
    if target.forced_simd is not None:
        variables.append(f"IGC_ForceOCLSIMDWidth={target.forced_simd}")
    options = list(target.options)
    if source.language == "spirv":
        form = ["-spirv_input"]
    else:
        # the old compiler's default standard fails on images that nobody uses
        form = []
        options.append("-cl-std=CL2.0")
    call = ["env", *variables, *compiler.command, "compile", "-file", file.name, *form, "-device", target.device]
    # without the internal option the old compiler writes a format of its own, without .ze_info
    call += ["-out_dir", "out", "-output", "kernel", "-internal_options", "-ze-allow-zebin"]
    return [*call, "-options", " ".join(options)] if options else call


def _run(call: Sequence[str], folder: Path, timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Run in a process group of its own, so that a compiler behind a script ends with it when time is over."""
    with subprocess.Popen(
        call,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=timeout_s)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(list(call), process.returncode, said)


def _has_crashed(run: subprocess.CompletedProcess[str]) -> bool:
    return run.returncode < 0 or run.returncode in _SHELL_STATUSES or "internal compiler error" in run.stdout.lower()


def _reason(run: subprocess.CompletedProcess[str]) -> str:
    """The line that tells most, without the echo of the command."""
    unknown = re.search(r"Cannot get HW Info for device (\S+?)\.?\s", run.stdout)
    if unknown:
        return f"this ocloc does not know the GPU {unknown[1]}"
    lines = [line.strip() for line in run.stdout.splitlines() if line.strip() and not line.startswith("Command was")]
    for word in ("internal compiler error", "error: ", "error"):
        found = [line for line in lines if word in line.lower() and "build failed" not in line.lower()]
        if found:
            return re.sub(r"^[\d:]*\s*", "", found[0])[:200]
    if run.returncode < 0:
        return f"ended by {signal.Signals(-run.returncode).name}"
    return lines[-1][:200] if lines else f"exit status {run.returncode}"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:120] if lines else "it says nothing"


def _read_results(folder: Path, said: str) -> Compiled:
    (binary,) = (folder / "out").glob("*.bin")
    try:
        found = elf.sections(binary.read_bytes())
    except ValueError as error:
        return Compiled("unreadable", f"the binary cannot be read: {error}")
    warnings = dict.fromkeys(line.strip() for line in said.splitlines() if line.strip().startswith("warning:"))
    return Compiled(
        "ok",
        zeinfo=found.get(".ze_info", b"").rstrip(b"\0").decode(),
        identity=elf.identity(found),
        assembly=_assembly_texts(folder / "dump"),
        warnings=tuple(warnings),
    )


def _assembly_texts(dump: Path) -> dict[str, str]:
    """The last assembly of each kernel: the compiler tries again, with other settings, where registers ran out.

    The number of the attempt stands in the file's name: ``OCL_asm..._1_simd32_entry_0001.asm`` is the second.
    """
    latest: dict[str, tuple[int, str]] = {}
    for path in sorted(dump.glob("*.asm")):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = re.search(r'^//\.kernel "?([^"\n]+)"?$', text, re.MULTILINE)
        if name is None or name[1] == SYMBOL_TABLE:
            continue
        attempt = re.search(r"_(\d+)_simd\d+_", path.name)
        number = int(attempt[1]) if attempt else 0
        if number >= latest.get(name[1], (-1, ""))[0]:
            latest[name[1]] = (number, text)
    return {name: text for name, (_, text) in latest.items()}

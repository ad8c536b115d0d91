"""Intel's offline compiler ``ocloc``: find it, and compile one kernel for one GPU that need not be there.

Every compilation is a process in a temporary folder; the variables that make the compiler write its assembly are
set for that process alone. What goes wrong with a kernel is an outcome with a reason, never an exception.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from harness.errors import XebenchError
from harness.isa import elf
from harness.isa.zeinfo import SYMBOL_TABLE

TIMEOUT_S = 180.0
GRF_FLAGS = {
    "default": (),
    "large": ("-cl-intel-256-GRF-per-thread",),
    "auto": ("-cl-intel-enable-auto-large-GRF-mode",),
}
# The name that ocloc wants, where it is not the GPU's own.
_DEVICES = {"dg2": "dg2-g10"}
_PROBE = b"kernel void probe(global int *x) { x[get_global_id(0)] = 1; }\n"
_SHELL_SIGNALS = {128 + number for number in (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)}


class NoCompiler(XebenchError):
    """There is no ocloc here, or it does not work."""

    exit_code = 3


@dataclass(frozen=True)
class Compiler:
    """An ocloc.

    Attributes:
        command: how to call it.
        version: what it says of itself: the driver's version.
        igc: file name of the graphics compiler's library that it loads, such as ``libigc.so.2.40.14``.
    """

    command: tuple[str, ...]
    version: str
    igc: str

    @property
    def generation(self) -> str:
        """``1`` for IGC 1, ``2`` for the current IGC 2, "" if unknown."""
        match = re.match(r"libigc\.so\.(\d+)", self.igc)
        return match[1] if match else ""

    @property
    def label(self) -> str:
        """Version and library for a heading."""
        return f"ocloc {self.version} ({self.igc or 'IGC of unknown version'})"


@dataclass(frozen=True)
class Source:
    """What is compiled: a SPIR-V module, or OpenCL C where ``language`` is ``opencl``."""

    content: bytes = field(repr=False)
    language: str = "spirv"

    @property
    def sha256(self) -> str:
        """Of the content, hexadecimal: for SPIR-V the same as in the table of cases."""
        return sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Target:
    """What it is compiled for.

    Attributes:
        gpu: ``pvc``, ``dg2``, ``tgllp``, ``bmg`` or any other name that ocloc knows.
        build_options: of the driver's compiler, such as ``-cl-fast-relaxed-math``.
        grf_mode: ``default`` (the compiler's choice), ``large`` or ``auto``.
        forced_simd: SIMD width that is forced on kernels that do not require one, or None.
    """

    gpu: str
    build_options: tuple[str, ...] = ()
    grf_mode: str = "default"
    forced_simd: int | None = None

    @property
    def device(self) -> str:
        """The GPU as ocloc calls it."""
        return _DEVICES.get(self.gpu, self.gpu)

    @property
    def options(self) -> tuple[str, ...]:
        """All build options, that of the GRF mode included, none twice."""
        return tuple(dict.fromkeys((*self.build_options, *GRF_FLAGS[self.grf_mode])))


@dataclass(frozen=True)
class Compiled:
    """What became of a compilation.

    Attributes:
        status: ok, refused (the compiler said why), crashed or timeout.
        reason: one line if it is not ok.
        zeinfo: the binary's own description.
        identity: from the binary's notes.
        assembly: text of each kernel's assembly, by kernel name.
        warnings: what the compiler said although it succeeded.
    """

    status: str
    reason: str = ""
    zeinfo: str = field(default="", repr=False)
    identity: Mapping[str, str] = field(default_factory=dict)
    assembly: Mapping[str, str] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()


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
        raise NoCompiler(f"{command[0]} does not tell its version ({_last_line(run.stdout)}): give another with --ocloc")
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


def compile_source(
    compiler: Compiler, source: Source, target: Target, *, timeout_s: float = TIMEOUT_S
) -> Compiled:
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
    return subprocess.run(
        call,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )


def _has_crashed(run: subprocess.CompletedProcess[str]) -> bool:
    return run.returncode < 0 or run.returncode in _SHELL_SIGNALS or "internal compiler error" in run.stdout.lower()


def _reason(run: subprocess.CompletedProcess[str]) -> str:
    """The line that tells most, without the echo of the command."""
    lines = [line.strip() for line in run.stdout.splitlines() if line.strip() and not line.startswith("Command was")]
    for word in ("internal compiler error", "error: ", "error"):
        found = [line for line in lines if word in line.lower() and "build failed" not in line.lower()]
        if found:
            return re.sub(r"^[\d:]*\s*", "", found[0])[:200]
    if run.returncode < 0:
        return signal.Signals(-run.returncode).name
    return lines[-1][:200] if lines else f"exit status {run.returncode}"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:120] if lines else "it says nothing"


def _read_results(folder: Path, said: str) -> Compiled:
    (binary,) = (folder / "out").glob("*.bin")
    data = binary.read_bytes()
    if not elf.is_zebin(data):
        return Compiled("refused", "the compiler wrote a binary in a format of its own, not ELF")
    found = elf.sections(data)
    warnings = tuple(dict.fromkeys(line.strip() for line in said.splitlines() if line.strip().startswith("warning:")))
    return Compiled(
        "ok",
        zeinfo=found.get(".ze_info", b"").rstrip(b"\0").decode(),
        identity=elf.identity(found),
        assembly=_assembly_texts(folder / "dump"),
        warnings=warnings,
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

"""Compilations: source, compiler and target; the binary's description of its kernels; and the cache on disk.

An entry of the cache holds the compiler's files, not results read from them: a better reader needs no new compilation.
Damaged entries are ignored and written again; a folder that cannot be written is no error.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import yaml

from xebench.errors import first_line
from xebench.system import disk_cache
from xebench.system.gpus import GpuError, GpuParameters, find_gpu

# The compiler adds a program of this name to hold symbols; it is no kernel.
SYMBOL_TABLE = "Intel_Symbol_Table_Void_Program"

# Scalars stay text until their field is known: a kernel may be named "no". libyaml's parser is used if present.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


_KEYS = {
    "simd_width": "simd_size",
    "barriers": "barrier_count",
    "slm_bytes": "slm_size",
    "private_bytes": "private_size",
    "spill_bytes": "spill_size",
}


class KernelInfo(msgspec.Struct, frozen=True, rename=_KEYS):
    """A kernel as its ``execution_env`` has it; a figure that the compiler's version does not write is None.

    Attributes:
        simd_width: work-items in a hardware thread.
        grf_count: registers of a hardware thread.
        barriers: barriers that a work-group needs.
        slm_bytes: shared local memory of a work-group that the kernel declares itself; what the host passes as a
            local argument is not in it.
        private_bytes: private memory of a hardware thread for arrays that did not fit into registers.
        spill_bytes: memory of a hardware thread for registers that ran out.
        buffer_bytes: private memory of a hardware thread that lies in ordinary memory.
        name: the kernel's name.
    """

    simd_width: int
    grf_count: int
    barriers: int = 0
    slm_bytes: int = 0
    private_bytes: int | None = None
    spill_bytes: int | None = None
    buffer_bytes: int = 0
    name: str = ""


class _Buffer(msgspec.Struct):
    type: str
    size: int
    is_simt_thread: bool = False


class _Kernel(msgspec.Struct):
    name: str
    execution_env: KernelInfo
    per_thread_memory_buffers: tuple[_Buffer, ...] = ()


# built at import time: msgspec crashes if two threads use a type first at the same time
msgspec.json.Decoder(_Kernel)


def read_zeinfo(text: str) -> dict[str, KernelInfo]:
    """The kernels of a ``.ze_info`` section, by name.

    Raises:
        ValueError: the text is no YAML, or lacks something; the message names the line or the key.
    """
    try:
        document = msgspec.convert(yaml.load(text.rstrip("\0"), _LOADER) or {}, dict[str, Any])
        kernels = msgspec.convert(document.get("kernels") or (), tuple[_Kernel, ...], strict=False)
    except yaml.MarkedYAMLError as error:
        line = 0 if error.problem_mark is None else error.problem_mark.line + 1
        raise ValueError(f".ze_info, line {line}: {error.problem}") from None
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ValueError(f".ze_info: {first_line(error)}") from None
    return {kernel.name: _info(kernel) for kernel in kernels if kernel.name != SYMBOL_TABLE}


def _info(kernel: _Kernel) -> KernelInfo:
    info = kernel.execution_env
    in_memory = [buffer for buffer in kernel.per_thread_memory_buffers if buffer.type == "global"]
    # a buffer's size may be given per work-item ("SIMT thread")
    sizes = (buffer.size * (info.simd_width if buffer.is_simt_thread else 1) for buffer in in_memory)
    return msgspec.structs.replace(info, name=kernel.name, buffer_bytes=sum(sizes))


GRF_FLAGS = {
    "default": (),
    "large": ("-cl-intel-256-GRF-per-thread",),
    "auto": ("-cl-intel-enable-auto-large-GRF-mode",),
}


@dataclass(frozen=True)
class Compiler:
    """An ocloc.

    Attributes:
        command: command line that calls it.
        version: its own version, which is the driver's.
        igc: file name of the graphics compiler's library that it loads, such as ``libigc.so.2.40.14``.
    """

    command: tuple[str, ...]
    version: str
    igc: str

    @property
    def label(self) -> str:
        """Version and library for a heading."""
        return f"ocloc {self.version} ({self.igc or 'IGC of unknown version'})"


@dataclass(frozen=True)
class Source:
    """The source of a compilation: a SPIR-V module, or OpenCL C if ``language`` is ``opencl``."""

    content: bytes = field(repr=False)
    language: str = "spirv"

    @property
    def sha256(self) -> str:
        """Hash of the content, hexadecimal: for SPIR-V the same as in the table of cases."""
        return sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Target:
    """The GPU and the options of a compilation.

    Attributes:
        gpu: ``pvc``, ``dg2``, ``tgllp``, ``bmg`` or any other name that ocloc takes.
        build_options: options of the driver's compiler, such as ``-cl-fast-relaxed-math``.
        grf_mode: ``default`` (the compiler's choice), ``large`` or ``auto``.
        forced_simd: forced SIMD width, or None; IGC 2 ignores it for kernels that require another.
        described: parameters of a GPU outside the catalogue, read from a file.
    """

    gpu: str
    build_options: tuple[str, ...] = ()
    grf_mode: str = "default"
    forced_simd: int | None = None
    described: GpuParameters | None = field(default=None, compare=False, repr=False)

    @property
    def parameters(self) -> GpuParameters | None:
        """The parameters of the GPU; None if only ocloc has its name."""
        try:
            return self.described or find_gpu(self.gpu)
        except GpuError:
            return None

    @property
    def device(self) -> str:
        """The GPU as ocloc calls it."""
        gpu = self.parameters
        return gpu.ocloc_name if gpu is not None else self.gpu

    @property
    def options(self) -> tuple[str, ...]:
        """All build options, that of the GRF mode included, none twice."""
        return tuple(dict.fromkeys((*self.build_options, *GRF_FLAGS[self.grf_mode])))


Job = tuple[Source, Target]


@dataclass(frozen=True)
class Compiled:
    """The result of a compilation.

    Attributes:
        status: ok, refused (the compiler said why), crashed, timeout, or unreadable (the binary is damaged).
        reason: one line; "" if ok.
        zeinfo: the binary's own description.
        assembly: text of each kernel's assembly, by kernel name.
        simd_widths: SIMD width of each assembly.
        binary: binary that a driver loads.
    """

    status: str
    reason: str = ""
    zeinfo: str = field(default="", repr=False)
    assembly: Mapping[str, str] = field(default_factory=dict, repr=False)
    simd_widths: Mapping[str, int] = field(default_factory=dict)
    binary: bytes = field(default=b"", repr=False, compare=False)


_FORMAT = 2
# built at import time: msgspec crashes if two threads use a type first at the same time
_DECODER = msgspec.json.Decoder(Compiled)


class CompileCache:
    """A folder of compilations.

    Attributes:
        folder: directory of the cache, created on first use.
        renew: True to compile everything again and replace the stored results.
    """

    def __init__(self, folder: Path | str | None = None, *, renew: bool = False) -> None:
        self.renew = renew
        self.folder = Path(folder) if folder is not None else disk_cache.default_folder("isa")

    def path(self, compiler: Compiler, source: Source, target: Target) -> Path:
        """The file of a compilation; its name depends on everything that the result depends on."""
        about = (source.sha256, source.language, target.device, target.options, target.forced_simd)
        text = json.dumps([_FORMAT, compiler.version, compiler.igc, *about])
        return self.folder / f"{sha256(text.encode()).hexdigest()}.json.gz"

    def load(self, compiler: Compiler, source: Source, target: Target) -> Compiled | None:
        """The kept result of a compilation, or None."""
        if self.renew:
            return None
        try:
            content = gzip.decompress(self.path(compiler, source, target).read_bytes())
            return _DECODER.decode(content)
        except (OSError, EOFError, zlib.error, ValueError, RecursionError):
            return None

    def store(self, compiler: Compiler, source: Source, target: Target, compiled: Compiled) -> None:
        """Keep a compilation that succeeded; one that failed may have lacked time, memory or disk."""
        if compiled.status != "ok":
            return
        read_again = replace(compiled, binary=b"")  # `xebench build` compiles again
        data = gzip.compress(msgspec.json.encode(read_again), mtime=0)
        disk_cache.keep(self.path(compiler, source, target), data)

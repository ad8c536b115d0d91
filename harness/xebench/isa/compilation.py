"""Compilations: the source, the compiler, the target, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from xebench.system.gpu_model.gpu_parameters import GpuError, GpuParameters
from xebench.system.gpu_model.gpus import find_gpu

GRF_FLAGS = {
    "default": (),
    "large": ("-cl-intel-256-GRF-per-thread",),
    "auto": ("-cl-intel-enable-auto-large-GRF-mode",),
}


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
        gpu: ``pvc``, ``dg2``, ``tgllp``, ``bmg`` or any other name that ocloc knows.
        build_options: of the driver's compiler, such as ``-cl-fast-relaxed-math``.
        grf_mode: ``default`` (the compiler's choice), ``large`` or ``auto``.
        forced_simd: SIMD width that is forced, or None; IGC 2 leaves kernels alone that require another.
        described: the GPU of a parameter file, which the catalogue does not have.
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
        reason: one line if it is not ok.
        zeinfo: the binary's own description.
        assembly: text of each kernel's assembly, by kernel name.
        simd_widths: of these texts.
        binary: what a driver loads.
    """

    status: str
    reason: str = ""
    zeinfo: str = field(default="", repr=False)
    assembly: Mapping[str, str] = field(default_factory=dict, repr=False)
    simd_widths: Mapping[str, int] = field(default_factory=dict)
    binary: bytes = field(default=b"", repr=False, compare=False)

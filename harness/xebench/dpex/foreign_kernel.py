"""Kernels that are not Python: OpenCL C, and modules of SPIR-V. What numba-dpex cannot say is said in these.

Both are launched as kernels of Python are, on both stacks. OpenCL C is built by OpenCL drivers from its text. Level
Zero takes SPIR-V alone, which comes from a pack (`xebench pack` makes it with Intel's offline compiler).
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from xebench.dpex.dpex_errors import OptionError
from xebench.dpex.kernel_options import KernelOptions
from xebench.dpex.opencl_source import declaration
from xebench.dpex.parameters import Parameter, read_parameters
from xebench.dpex.spirv_module import EntryPoint, entry_points
from xebench.errors import suggestion

#: What drivers take text for that does not say its version; here it is said to every compiler.
_STANDARD: Final = "-cl-std=CL1.2"
#: C contracts ``a * b + c`` unless it is told otherwise, Python does not.
_NOT_CONTRACTED: Final = "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n"


@dataclass(frozen=True, eq=False)
class ForeignKernel:
    """A kernel in OpenCL C or SPIR-V.

    Attributes:
        name: of the kernel in its source.
        parameters: what it is given.
        options: what it asks of the driver's compiler; sizes that it requires.
        file: the Python file that made it.
        opencl_c: its text; empty for SPIR-V.
        spirv: its module; empty for OpenCL C.
    """

    name: str
    parameters: tuple[Parameter, ...]
    options: KernelOptions
    file: Path
    opencl_c: str = field(default="", repr=False)
    spirv: bytes = field(default=b"", repr=False)


def opencl_kernel(
    source: str,
    *,
    name: str | None = None,
    arguments: str | None = None,
    build_options: Sequence[str] | str = (),
    relaxed_math: bool = False,
    fp_contract: bool = False,
    large_grf: bool = False,
) -> ForeignKernel:
    """A kernel in OpenCL C, for what Python cannot say; launched like any other.

    It is given one argument for each parameter of its text: a USM array (contiguous, of the pointer's element type)
    for a pointer to global memory, a ``LocalAccessor`` in an ``NdRange`` for one to local memory, and numbers. Sizes in
    ``intel_reqd_sub_group_size`` and ``reqd_work_group_size`` are checked against the device before it is built.

    Args:
        source: the text.
        name: of the kernel; not needed where there is one only.
        arguments: the parameters as C writes them, where the text's own cannot be understood.
        build_options: of the compiler, such as ``-DTAPS=17``; the text is OpenCL C 1.2 unless ``-cl-std=`` is here.
        relaxed_math: ``-cl-fast-relaxed-math``.
        fp_contract: the text may contract ``a * b + c``, as C does by itself. Off as it is in kernels of Python: the
            pragma that says so stands before the text.
        large_grf: twice the registers and half the threads; for Intel GPUs, ignored elsewhere.

    Returns:
        What ``session.launch`` takes.

    Raises:
        OptionError: there is no such kernel in the text, or a parameter cannot be understood.

    Example:
        >>> scale = opencl_kernel('''
        ... __kernel void scale(__global float *x, const float a) {
        ...     x[get_global_id(0)] *= a;
        ... }''')
    """
    given = tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options)
    if not any(option.startswith("-cl-std=") for option in given):
        given = (_STANDARD, *given)
    declared = declaration(source, name, given)
    options = KernelOptions(
        sub_group_size=declared.sub_group_size,
        work_group_size=_required(declared.work_group_size),
        relaxed_math=relaxed_math,
        fp_contract=fp_contract,
        large_grf=large_grf,
        build_options=given,
    )
    parameters = _parameters(declared.name, declared.parameters if arguments is None else arguments)
    text = source if fp_contract else _NOT_CONTRACTED + source
    return ForeignKernel(declared.name, parameters, options, _caller(), opencl_c=text)


def spirv_kernel(
    module: bytes | Path,
    *,
    name: str | None = None,
    arguments: str,
    build_options: Sequence[str] | str = (),
    relaxed_math: bool = False,
    large_grf: bool = False,
) -> ForeignKernel:
    """A kernel in SPIR-V, launched like any other (see :func:`opencl_kernel` for what it is given).

    Args:
        module: its bytes, or their file: ``Path(__file__).with_name("scale.spv")``.
        name: of its entry point; not needed where there is one only.
        arguments: the parameters as C writes them: ``"__global float *x, float a"``. They are not checked against the
            module but for their number.
        build_options: of the driver's compiler.
        relaxed_math: ``-cl-fast-relaxed-math``.
        large_grf: twice the registers and half the threads; for Intel GPUs, ignored elsewhere.

    Raises:
        OptionError: no SPIR-V, no such entry point, or a parameter cannot be understood.
    """
    given = tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options)
    try:
        code = module if isinstance(module, bytes) else Path(module).read_bytes()
        entry = _entry_point(entry_points(code), name)
    except (OSError, ValueError) as error:
        what = "the bytes" if isinstance(module, bytes) else module
        raise OptionError(f"{what}: {error}") from None
    options = KernelOptions(
        sub_group_size=entry.sub_group_size,
        work_group_size=_required(entry.work_group_size),
        relaxed_math=relaxed_math,
        large_grf=large_grf,
        build_options=given,
    )
    return ForeignKernel(entry.name, _parameters(entry.name, arguments), options, _caller(), spirv=code)


def foreign_digest(kernel: ForeignKernel) -> str:
    """The identity of a kernel: its code, and its compiler's options; hexadecimal."""
    told = " ".join(kernel.options.source_flags)
    return hashlib.sha256(f"{kernel.name}\0{told}\0{kernel.opencl_c}\0".encode() + kernel.spirv).hexdigest()


def _entry_point(found: Sequence[EntryPoint], name: str | None) -> EntryPoint:
    names = [each.name for each in found]
    if name is None and len(found) == 1:
        return found[0]
    if name is None:
        raise ValueError(f"it has {len(found) or 'no'} kernels ({', '.join(names)}): state name=")
    if name not in names:
        raise ValueError(f"it has no kernel {name!r}: {suggestion(name, names)}")
    return found[names.index(name)]


def _parameters(name: str, text: str) -> tuple[Parameter, ...]:
    try:
        return read_parameters(text)
    except OptionError as error:
        raise OptionError(f"kernel {name}: {error}") from None


def _required(extents: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The extents without dimensions of 1 at the end: text and modules always have three."""
    if extents is None:
        return None
    used = max((dimension for dimension, extent in enumerate(extents, 1) if extent > 1), default=1)
    return extents[:used]


def _caller() -> Path:
    """The file that calls a function of this one."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return Path(frame.f_code.co_filename if frame else __file__)

"""Options of a kernel, the flags of compilers and drivers that follow from them, and kernels that have options."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from numba_sycl.errors import KernelOnly, OptionError, UnsupportedByDevice
from numba_sycl.sycl_types import Device

_RELAXED_MATH = "-cl-fast-relaxed-math"
_LARGE_GRF_FLAGS = {"level_zero": "-ze-opt-large-register-file", "opencl": "-cl-intel-256-GRF-per-thread"}


@dataclass(frozen=True)
class KernelOptions:
    """The options of a kernel.

    Attributes:
        sub_group_size: required sub-group (SIMD) size, SPIR-V ``SubgroupSize`` execution mode.
        work_group_size: required work-group extents, dimension 0 first (the fastest one, as in ``get_id``),
            SPIR-V ``LocalSize``.
        unroll: unrolling of every loop: a factor, "full", "disable", or None to leave it to the driver.
        fast_math: LLVM's fast flags on floating-point arithmetic (SPIR-V ``FPFastMathMode``).
        relaxed_math: the driver's ``-cl-fast-relaxed-math``.
        fp_contract: a device may compute ``a * b + c`` with one rounding (without it: SPIR-V ``ContractionOff``).
        restrict: no two array arguments overlap (SPIR-V ``NoAlias``).
        large_grf: twice the registers and half the threads; for Intel GPUs, ignored elsewhere.
        build_options: further options of the driver's compiler.
    """

    sub_group_size: int | None = None
    work_group_size: tuple[int, ...] | None = None
    unroll: int | str | None = None
    fast_math: bool = False
    relaxed_math: bool = False
    fp_contract: bool = False
    restrict: bool = False
    large_grf: bool = False
    build_options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sub_group_size is not None and (self.sub_group_size < 1 or self.sub_group_size.bit_count() != 1):
            raise OptionError(f"sub_group_size={self.sub_group_size} is not a power of two")
        extents = self.work_group_size
        if extents is not None and not (1 <= len(extents) <= 3 and all(extent > 0 for extent in extents)):
            raise OptionError(f"work_group_size={extents} is not one to three positive extents")
        valid = self.unroll in (None, "full", "disable") or (isinstance(self.unroll, int) and self.unroll > 1)
        if not valid:
            raise OptionError(f'unroll={self.unroll!r} is neither a factor above 1, "full", "disable" nor None')

    @property
    def source_flags(self) -> tuple[str, ...]:
        """The flags of a compiler of OpenCL C, whatever the device."""
        return (*self.build_options, *([_RELAXED_MATH] if self.relaxed_math else []))

    def text(self) -> str:
        """The options that differ from the default, as JSON with sorted keys."""
        default = asdict(KernelOptions())
        return json.dumps({k: v for k, v in asdict(self).items() if v != default[k]}, sort_keys=True)

    def flags(self, backend: str, vendor: str, device_type: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Options of the driver's compiler for one kind of device.

        Args:
            backend: "level_zero" or "opencl".
            vendor: the device's vendor string.
            device_type: "gpu", "cpu" or another SYCL device type.

        Returns:
            The flags to pass, and the names of the options that this device has no use for.
        """
        flags = list(self.source_flags)
        ignored = []
        if self.large_grf:
            if device_type == "gpu" and "intel" in vendor.lower() and backend in _LARGE_GRF_FLAGS:
                flags.append(_LARGE_GRF_FLAGS[backend])
            else:
                ignored.append("large_grf")
        return tuple(flags), tuple(ignored)

    def check_device(self, kernel: str, device: Device) -> None:
        """Raise UnsupportedByDevice when a ``dpctl.SyclDevice`` lacks a size that the options require of *kernel*."""
        offered = list(device.sub_group_sizes)
        if self.sub_group_size is not None and self.sub_group_size not in offered:
            sizes = ", ".join(map(str, offered)) or "no sub-groups"
            raise UnsupportedByDevice(
                f"kernel {kernel} requires sub-groups of {self.sub_group_size}; {device.name} offers {sizes}"
            )
        items = prod(self.work_group_size or (1,))
        if items > device.max_work_group_size:
            raise UnsupportedByDevice(
                f"kernel {kernel} requires work-groups of {items}; {device.name} allows {device.max_work_group_size}"
            )

    def flags_for(self, device: Device) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """``flags`` for a ``dpctl.SyclDevice``."""
        return self.flags(device.backend.name, device.vendor, device.device_type.name)


NO_OPTIONS = KernelOptions()
#: Where numba-dpex's compiler object of a kernel keeps them.
ATTRIBUTE = "dpex_options"


@dataclass(frozen=True, eq=False)
class SourceFunction:
    """A function that kernels call.

    Attributes:
        py_func: the Python function.
        targetoptions: options of numba-dpex, such as its error model.
        options: a kernel's options for the compilers.
        overloads: the types of arguments that it is compiled for, where its decorator was given some; a kernel's are
            `Signature`, a device function's are numba's types. None: for all that it is called with.
    """

    py_func: Callable[..., Any]
    targetoptions: Mapping[str, Any]
    options: KernelOptions = NO_OPTIONS
    overloads: tuple[Any, ...] = ()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The result in plain Python, where `kernel_api.call_kernel` runs a kernel that calls it."""
        return self.py_func(*arguments, **options)


class SourceKernel(SourceFunction):
    """A kernel."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Raise: a kernel is launched."""
        raise KernelOnly(called_on_host(self.py_func.__name__))

    def __getitem__(self, index_space: Any) -> Any:
        """Raise: numba-dpex before 0.21 launched so (`numba_sycl.older_api`)."""
        raise KernelOnly(f'{called_on_host(self.py_func.__name__)}, or call as_numba_dpex(api="0.20")')


def called_on_host(kernel: str) -> str:
    """The advice for a kernel that the host calls instead of launching it."""
    return f"kernel {kernel} was called on the host: write call_kernel({kernel}, kapi.Range(n), ...)"


def options_of(dispatcher: Any) -> KernelOptions:
    """The options that ``kernel`` recorded for a dispatcher, or none for one of ``numba_dpex.kernel``."""
    if isinstance(dispatcher, SourceFunction):
        return dispatcher.options
    return options_of_compiler(dispatcher._compiler)


def options_of_compiler(compiler: Any) -> KernelOptions:
    """``options_of``, for numba-dpex's compiler object inside a dispatcher."""
    options: KernelOptions = getattr(compiler, ATTRIBUTE, NO_OPTIONS)
    return options

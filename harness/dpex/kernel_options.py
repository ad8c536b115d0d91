"""Per-kernel options: what numba-dpex's ``kernel`` decorator cannot say.

``@kernel(...)`` is a drop-in for ``numba_dpex.kernel``; its options hold for ``compile_kernel`` of this package
and for numba-dpex's own ``call_kernel`` and ``call_kernel_async``. A kernel made by ``numba_dpex.kernel`` works
too and has no options.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numba_dpex

from harness.dpex.dpex_errors import OptionError

_ATTRIBUTE = "dpex_options"
_LARGE_GRF_FLAGS = {"level_zero": "-ze-opt-large-register-file", "opencl": "-cl-intel-256-GRF-per-thread"}


@dataclass(frozen=True)
class KernelOptions:
    """What a kernel asks of the compilers.

    Attributes:
        sub_group_size: required sub-group (SIMD) size, SPIR-V ``SubgroupSize`` execution mode.
        work_group_size: required work-group extents, dimension 0 first (the fastest one, as in ``get_id``),
            SPIR-V ``LocalSize``.
        unroll: for every loop of the kernel: a factor, "full", "disable", or None to leave it to the driver.
        fast_math: LLVM's fast flags on floating-point arithmetic (SPIR-V ``FPFastMathMode``).
        relaxed_math: the driver's ``-cl-fast-relaxed-math``.
        restrict: no two array arguments overlap (SPIR-V ``NoAlias``).
        large_grf: twice the registers and half the threads; for Intel GPUs, ignored elsewhere.
        build_options: further options of the driver's compiler.
    """

    sub_group_size: int | None = None
    work_group_size: tuple[int, ...] | None = None
    unroll: int | str | None = None
    fast_math: bool = False
    relaxed_math: bool = False
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
    def rewrites_code(self) -> bool:
        """Whether LLVM has to optimise again, because an option adds facts that it can use."""
        return self.fast_math or self.restrict or self.unroll is not None

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
        flags = list(self.build_options)
        ignored = []
        if self.relaxed_math:
            flags.append("-cl-fast-relaxed-math")
        if self.large_grf:
            if device_type == "gpu" and "intel" in vendor.lower() and backend in _LARGE_GRF_FLAGS:
                flags.append(_LARGE_GRF_FLAGS[backend])
            else:
                ignored.append("large_grf")
        return tuple(flags), tuple(ignored)

    def flags_for(self, device: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """``flags`` for a ``dpctl.SyclDevice``."""
        return self.flags(device.backend.name, device.vendor, device.device_type.name)


NO_OPTIONS = KernelOptions()


def kernel(
    function: Callable[..., None] | None = None,
    *,
    sub_group_size: int | None = None,
    work_group_size: int | tuple[int, ...] | None = None,
    unroll: int | str | None = None,
    fast_math: bool = False,
    relaxed_math: bool = False,
    restrict: bool = False,
    large_grf: bool = False,
    build_options: tuple[str, ...] | str = (),
    error_model: str = "numpy",
    **numba_options: Any,
) -> Any:
    """``numba_dpex.kernel`` with options (see ``KernelOptions``).

    Args:
        function: the kernel, when the decorator is used without parentheses.
        error_model: "numpy" (the default here) divides as the hardware does; "python", numba-dpex's default,
            adds a branch to every division.
        numba_options: passed to ``numba_dpex.kernel``.

    Returns:
        A numba-dpex kernel dispatcher, or a decorator that makes one.

    Raises:
        OptionError: an option has a value that means nothing.
    """
    if isinstance(work_group_size, int):
        work_group_size = (work_group_size,)
    options = KernelOptions(
        sub_group_size=sub_group_size,
        work_group_size=None if work_group_size is None else tuple(work_group_size),
        unroll=unroll,
        fast_math=fast_math,
        relaxed_math=relaxed_math,
        restrict=restrict,
        large_grf=large_grf,
        build_options=tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options),
    )

    def decorate(python_function: Callable[..., None]) -> Any:
        dispatcher = numba_dpex.kernel(error_model=error_model, **numba_options)(python_function)
        setattr(dispatcher._compiler, _ATTRIBUTE, options)
        return dispatcher

    return decorate if function is None else decorate(function)


def device_func(function: Callable[..., Any] | None = None, *, error_model: str = "numpy", **options: Any) -> Any:
    """``numba_dpex.device_func`` with ``error_model="numpy"``, so that a division in it has no branch either."""
    decorate = numba_dpex.device_func(error_model=error_model, **options)
    return decorate if function is None else decorate(function)


def options_of(dispatcher: Any) -> KernelOptions:
    """The options that ``kernel`` recorded for a dispatcher, or none for one of ``numba_dpex.kernel``."""
    return options_of_compiler(dispatcher._compiler)


def options_of_compiler(compiler: Any) -> KernelOptions:
    """``options_of``, for numba-dpex's compiler object inside a dispatcher."""
    options: KernelOptions = getattr(compiler, _ATTRIBUTE, NO_OPTIONS)
    return options


_specialized: dict[tuple[Any, ...], Any] = {}


def specialize(kernel_factory: Callable[..., Any], **constants: bool | int | float | str) -> Any:
    """A kernel in which ``constants`` are compile-time constants, like SYCL's specialization constants.

    The factory defines a kernel and returns it; numba freezes the factory's parameters that the kernel uses, so
    loops over them have literal trip counts and branches on them vanish. The same factory and constants give
    the same kernel again, which is compiled once.

    Args:
        kernel_factory: called with ``constants`` as keywords; returns a kernel dispatcher.
        constants: bool, int, float or str values.

    Example:
        >>> def make_filter(taps):
        ...     @kernel
        ...     def run(item: kapi.Item, x, y):
        ...         i = item.get_id(0)
        ...         total = np.float32(0)
        ...         for j in range(taps):
        ...             total += x[i + j]
        ...         y[i] = total
        ...
        ...     return run
        >>> filter_of_17 = specialize(make_filter, taps=17)
    """
    key = (kernel_factory, *((name, type(value), value) for name, value in sorted(constants.items())))
    if key not in _specialized:
        _specialized[key] = kernel_factory(**constants)
    return _specialized[key]

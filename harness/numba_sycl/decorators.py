"""Kernels with options: what numba-dpex's ``kernel`` decorator cannot say.

``@kernel(...)`` is a drop-in for ``numba_dpex.kernel``; its options hold for ``compile_kernel`` of this package
and for numba-dpex's own ``call_kernel`` and ``call_kernel_async``. A kernel made by ``numba_dpex.kernel`` works
too and has no options. On the current stack, which has no numba-dpex, a decorated function is kept as it is
(:mod:`numba_sycl.kernel_options`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import isfunction
from typing import Any

from numba_sycl.kernel_options import ATTRIBUTE, KernelOptions, SourceFunction, SourceKernel
from numba_sycl.parametric_kernel import ParametricKernel
from numba_sycl.stacks import is_current, numba_dpex_adapter


def kernel(
    function: Any = None,
    *,
    sub_group_size: int | str | None = None,
    work_group_size: int | tuple[int, ...] | None = None,
    unroll: int | str | None = None,
    fast_math: bool = False,
    relaxed_math: bool = False,
    fp_contract: bool = False,
    restrict: bool = False,
    large_grf: bool = False,
    build_options: tuple[str, ...] | str = (),
    error_model: str = "numpy",
    wraparound: bool = True,
    **numba_options: Any,
) -> Any:
    """``numba_dpex.kernel`` with options (see ``KernelOptions``).

    Args:
        function: the kernel, when the decorator is used without parentheses; or types of arguments in a tuple, or
            several tuples in a list, as numba-dpex has them: the kernel is compiled for these, and for no others.
        sub_group_size: see ``KernelOptions``; or the name of a parameter (`ParametricKernel`).
        error_model: "numpy" (the default here) divides as the hardware does; "python", numba-dpex's default,
            adds a branch to every division.
        wraparound: whether negative indices count from an array's end, as in Python. False spares each index that may
            be negative, such as one that is loaded, a test of its sign, and a negative one leads out of the array.
            numba-dpex has no such option: there it changes nothing.
        numba_options: passed to ``numba_dpex.kernel``.

    Returns:
        A numba-dpex kernel dispatcher (a ``SourceKernel`` where there is none), or a decorator that makes one; of a
        sub-group size by name a ``ParametricKernel``.

    Raises:
        OptionError: an option has a value that means nothing.
    """
    if isinstance(sub_group_size, str):
        others: dict[str, Any] = {
            "work_group_size": work_group_size,
            "unroll": unroll,
            "fast_math": fast_math,
            "restrict": restrict,
        }
        others |= {"relaxed_math": relaxed_math, "fp_contract": fp_contract, "large_grf": large_grf}
        others |= {"build_options": build_options, "error_model": error_model, **numba_options}
        return partial(_parametric, parameter=sub_group_size, signatures=function, options=others)
    signatures = None if isfunction(function) else _parsed(function)
    if isinstance(work_group_size, int):
        work_group_size = (work_group_size,)
    options = KernelOptions(
        sub_group_size=sub_group_size,
        work_group_size=None if work_group_size is None else tuple(work_group_size),
        unroll=unroll,
        fast_math=fast_math,
        relaxed_math=relaxed_math,
        fp_contract=fp_contract,
        restrict=restrict,
        large_grf=large_grf,
        build_options=tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options),
    )

    def decorate(python_function: Callable[..., None]) -> Any:
        if is_current():
            targets = {"error_model": error_model, **_wraparound(wraparound), **numba_options}
            return SourceKernel(python_function, targets, options, _for_kernel(python_function, signatures))
        targets = {"error_model": error_model, **numba_options}
        dispatcher = numba_dpex_adapter().decorate(python_function, signatures, is_kernel=True, options=targets)
        setattr(dispatcher._compiler, ATTRIBUTE, options)
        return dispatcher

    return decorate(function) if isfunction(function) else decorate


def _parametric(
    function: Callable[..., None], *, parameter: str, signatures: Any, options: Mapping[str, Any]
) -> ParametricKernel:
    def make(size: int) -> Any:
        return kernel(signatures, sub_group_size=size, **options)(function)

    return ParametricKernel(function, parameter, make)


def device_func(function: Any = None, *, error_model: str = "numpy", wraparound: bool = True, **options: Any) -> Any:
    """``numba_dpex.device_func`` with ``error_model="numpy"``, so that a division in it has no branch either.

    Args:
        function: the function, or types of arguments, as for `kernel`.
        error_model: see `kernel`.
        wraparound: see `kernel`; a kernel's does not concern the functions that it calls.
        options: passed to ``numba_dpex.device_func``.
    """
    signatures = None if isfunction(function) else _parsed(function)

    def decorate(python_function: Callable[..., Any]) -> Any:
        if is_current():
            targets = {"error_model": error_model, **_wraparound(wraparound), **options}
            return SourceFunction(python_function, targets, overloads=signatures or ())
        targets = {"error_model": error_model, **options}
        return numba_dpex_adapter().decorate(python_function, signatures, is_kernel=False, options=targets)

    return decorate(function) if isfunction(function) else decorate


def _wraparound(wraparound: bool) -> dict[str, bool]:
    return {} if wraparound else {"wraparound": False}


def _parsed(signatures: Any) -> Any:
    """Types of arguments that a decorator was given, as this stack's compiler takes them; None where none were."""
    if signatures is None or not is_current():
        return signatures
    from numba_sycl.code_generation.device_types import parsed

    return parsed(signatures)


def _for_kernel(function: Callable[..., None], signatures: Any) -> tuple[Any, ...]:
    if not signatures:
        return ()
    from numba_sycl.code_generation.device_types import kernel_signature

    return tuple(kernel_signature(function, signature) for signature in signatures)


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

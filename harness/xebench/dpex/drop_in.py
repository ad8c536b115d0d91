"""numba-dpex's public names for kernels where numba-dpex itself is not installed, and a launch in one call.

Everything is kept between calls: code, builds, and the flattened arguments (`KernelStore`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, NoReturn

import dpctl

from xebench.dpex import direct_calls, kernel_api
from xebench.dpex.decorators import device_func, kernel
from xebench.dpex.dpex_errors import ArgumentError, KernelCompileError, NeedsCompiler, OptionError
from xebench.dpex.events import DeviceEvent
from xebench.dpex.kernel_store import KernelStore
from xebench.dpex.signature import as_usm_array
from xebench.system.runtime.packages import is_current
from xebench.system.sycl_types import Event


@cache
def _store() -> KernelStore:
    return KernelStore()


def call_kernel(kernel_fn: Any, index_space: Any, *kernel_args: Any) -> None:
    """Launch a kernel, and return when it is over.

    Args:
        kernel_fn: made by `xebench.dpex.kernel`.
        index_space: ``kernel_api.Range`` or ``NdRange``.
        kernel_args: arrays in USM, numbers, ``LocalAccessor``; arrays are on one queue.

    Raises:
        ArgumentError: no array, arrays of several queues, or what a kernel cannot take.
        KernelCompileError: the kernel cannot be compiled.
        UnsupportedByDevice: the device's limits do not allow this launch.
    """
    _submit(kernel_fn, index_space, kernel_args, ()).wait()


def call_kernel_async(
    kernel_fn: Any, index_space: Any, dependent_events: Sequence[Event], *kernel_args: Any
) -> tuple[dpctl.SyclEvent, dpctl.SyclEvent]:
    """Launch a kernel once other commands are over, and return at once.

    Args:
        kernel_fn, index_space, kernel_args: see `call_kernel`.
        dependent_events: ``dpctl.SyclEvent`` of the commands to wait for.

    Returns:
        Two events, as numba-dpex has it: when the arguments may be freed, which needs no wait here, and of the
        kernel. Both are the kernel's.

    Raises:
        ArgumentError, KernelCompileError, UnsupportedByDevice: see `call_kernel`.
    """
    event = _submit(kernel_fn, index_space, kernel_args, dependent_events).sycl_event
    return event, event


def _submit(kernel: Any, index_space: Any, arguments: Sequence[Any], depends: Sequence[Event]) -> DeviceEvent:
    if (session := direct_calls.recording()) is not None:
        return session.launch_directly(kernel, index_space, arguments, depends)  # type: ignore[no-any-return]
    arrays = [array for array in map(as_usm_array, arguments) if array is not None]
    if not arrays:
        raise ArgumentError("no argument is an array of dpnp, whose queue the kernel would be launched on")
    queue = arrays[0].sycl_queue
    if any(array.sycl_queue != queue for array in arrays):
        raise ArgumentError("arguments are arrays of several queues: allocate them on one")
    # dpnp of today returns before its commands are over, and only a barrier orders them before ours
    earlier = [] if queue.is_in_order else [queue.submit_barrier()]
    return _store().submit(kernel, queue, index_space, arguments, [*depends, *earlier])


_NAME: Final = "numba_dpex"
#: Names of the host's part of numba-dpex, which compiles whole programs and not kernels.
_NOT_OFFERED: Final = ("dpjit", "prange")
#: What numba-dpex raises where this package raises an error of its own.
ERRORS: Final = {
    "ExecutionQueueInferenceError": ArgumentError,
    "InvalidKernelSpecializationError": OptionError,
    "KernelHasReturnValueError": KernelCompileError,
    "UnsupportedKernelArgumentError": ArgumentError,
}
#: Names of `xebench.dpex.code_generation.compile`, which imports numba.
_TYPES: Final = frozenset(
    (
        *("none", "void", "boolean", "bool_", "b1", "float_", "double", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"),
        *("i4", "i8", "u4", "u8", "f4", "f8", "usm_ndarray", "USMNdArray", "DpnpNdArray"),
        *("ItemType", "NdItemType", "GroupType", "MissingSpecializationError", "SPIRV_TARGET_NAME"),
    )
)
#: Modules of numba-dpex that programs import types and errors from, beside its first.
_MODULES: Final = (
    "core",
    "core.exceptions",
    "core.types",
    "core.types.kernel_api",
    "core.types.kernel_api.index_space_ids",
    "kernel_api_impl",
    "kernel_api_impl.spirv",
    "kernel_api_impl.spirv.target",
)


def numba_name(name: str) -> Any:
    """The object that numba-dpex has under a name for signatures of kernels; numba is imported for types.

    Raises:
        AttributeError: there is no such name.
    """
    if name in ERRORS:
        return ERRORS[name]
    if name in _TYPES and is_current():
        from xebench.dpex.code_generation import compile

        return compile.named(name)
    raise AttributeError(f"neither xebench.dpex nor its {_NAME} has {name}")


def as_numba_dpex() -> None:
    """Make ``import numba_dpex`` return these names in this process; if numba-dpex is installed, change nothing."""
    if not is_current() or _NAME in sys.modules:
        return
    names: dict[str, Any] = {
        "NdRange": kernel_api.NdRange,
        "Range": kernel_api.Range,
        "call_kernel": call_kernel,
        "call_kernel_async": call_kernel_async,
        "device_func": device_func,
        "kernel": kernel,
        "kernel_api": kernel_api,
        **{name: _not_offered(name) for name in _NOT_OFFERED},
    }
    vars(_module(_NAME)).update(names)
    for path in _MODULES:
        _module(f"{_NAME}.{path}")
    sys.modules[f"{_NAME}.kernel_api"] = kernel_api


def _module(name: str) -> ModuleType:
    """A module, in its parent, that looks its names up at their first use."""
    module = ModuleType(name, __doc__)
    module.__spec__ = ModuleSpec(name, None)
    module.__path__ = []
    vars(module)["__getattr__"] = numba_name
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)
    return module


def _not_offered(name: str) -> Any:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NeedsCompiler(f"numba_dpex.{name}")

    refuse.__name__ = name
    return refuse

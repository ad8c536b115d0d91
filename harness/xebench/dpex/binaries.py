"""A kernel from the binary that a driver made before: what a program is made of that was compiled ahead of time.

The binary is loaded by OpenCL or Level Zero, and SYCL is given the kernel, by the functions that its own headers call.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import dpctl.program._program as dpctl_program

from xebench.dpex.dpctl_library import kernel_bundle_delete, kernel_delete
from xebench.dpex.native_handles import context_handle, device_handle, new_object, sycl_function
from xebench.system.runtime import level_zero_library, opencl_library
from xebench.system.sycl_types import Queue

_MAKE_BUNDLE: Final = "_ZN4sycl3_V16detail18make_kernel_bundleEmRKNS0_7contextEbNS0_12bundle_stateENS0_7backendE"
_MAKE_OF_BUNDLE: Final = (
    "_ZN4sycl3_V16detail11make_kernelERKNS0_7contextERKNS0_13kernel_bundleILNS0_12bundle_stateE2EEEmbNS0_7backendE"
)
_MAKE: Final = "_ZN4sycl3_V16detail11make_kernelEmRKNS0_7contextENS0_7backendE"
_OPENCL, _LEVEL_ZERO, _EXECUTABLE = 1, 2, 2  # sycl::backend, sycl::bundle_state
#: Bytes of a ``sycl::kernel`` and of its bundle, each a shared pointer, which C++ returns through an address.
_OBJECT: Final = 16


def kernel_of_binary(binary: bytes, name: str, queue: Queue) -> Any:
    """Load a binary, as ``dpctl.program`` builds SPIR-V.

    Args:
        binary: for the queue's device, such as `native_code.binary_of` has it.
        name: of the kernel.
        queue: in whose context, on OpenCL or Level Zero.

    Returns:
        A ``dpctl.program.SyclKernel``.

    Raises:
        OSError, AttributeError: this SYCL runtime lacks what it takes.
        OpenCLError, LevelZeroError: the driver refuses the binary.
    """
    load = _on_opencl if queue.sycl_device.backend.name == "opencl" else _on_level_zero
    made = load(binary, name.encode(), queue)
    try:
        return _copy_of_dpctl(made, name)
    finally:
        kernel_delete(made)


def _on_opencl(binary: bytes, name: bytes, queue: Queue) -> int:
    library = opencl_library.open_library()
    device, context = device_handle(queue.sycl_device), context_handle(queue.sycl_context)
    try:
        program, kernel = opencl_library.load_kernel(library, context, device, binary, name)
    finally:
        library.clReleaseContext(context)
        library.clReleaseDevice(device)
    made = _made_by(_MAKE, kernel, ctypes.c_void_p(queue.sycl_context.addressof_ref()), _OPENCL)
    library.clReleaseKernel(kernel)
    library.clReleaseProgram(program)
    return made


def _on_level_zero(binary: bytes, name: bytes, queue: Queue) -> int:
    library = level_zero_library.open_library()
    device, context = device_handle(queue.sycl_device), context_handle(queue.sycl_context)
    module, kernel = level_zero_library.load_kernel(library, context, device, binary, name)
    of_sycl = ctypes.c_void_p(queue.sycl_context.addressof_ref())
    bundle = _made_by(_MAKE_BUNDLE, module, of_sycl, 0, _EXECUTABLE, _LEVEL_ZERO)  # which owns them from now on
    try:
        return _made_by(_MAKE_OF_BUNDLE, of_sycl, ctypes.c_void_p(bundle), kernel, 0, _LEVEL_ZERO)
    finally:
        kernel_bundle_delete(bundle)


def _made_by(name: str, *arguments: Any) -> int:
    """The address of an object that a function of SYCL returns, in memory of C++'s ``new``."""
    made = new_object(_OBJECT)
    sycl_function(name)(ctypes.c_void_p(made), *arguments)
    return made


def _copy_of_dpctl(kernel: int, name: str) -> Any:
    """The object of dpctl around a copy of SYCL's own."""
    api = dpctl_program.__pyx_capi__["SyclKernel_Make"]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p)(get_pointer(api, get_name(api)))
    return make(kernel, name.encode())

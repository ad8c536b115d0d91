"""Kernels again from a driver's own binaries.

OpenCL or Level Zero loads the binary, and SYCL is given the kernel, by the functions that its own headers call.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import replace
from typing import Any, Final

import dpctl.program._program as dpctl_program

from numba_sycl import level_zero_library, opencl_library
from numba_sycl.device_kernel import DeviceKernel
from numba_sycl.errors import KernelBuildError, Unsupported
from numba_sycl.level_zero_library import MODULE_DESC, Handle, LevelZeroError, ModuleDesc, check
from numba_sycl.native_handles import bind, device_handle
from numba_sycl.opencl_library import OpenCLError
from numba_sycl.sycl_types import Queue
from xebench.dpex.sycl_calls import LEVEL_ZERO, OPENCL, context_handle, made_by

kernel_delete = bind("DPCTLKernel_Delete", None, ctypes.c_void_p)
kernel_bundle_delete = bind("DPCTLKernelBundle_Delete", None, ctypes.c_void_p)

_MAKE_BUNDLE: Final = "_ZN4sycl3_V16detail18make_kernel_bundleEmRKNS0_7contextEbNS0_12bundle_stateENS0_7backendE"

_MAKE_OF_BUNDLE: Final = (
    "_ZN4sycl3_V16detail11make_kernelERKNS0_7contextERKNS0_13kernel_bundleILNS0_12bundle_stateE2EEEmbNS0_7backendE"
)

_MAKE: Final = "_ZN4sycl3_V16detail11make_kernelEmRKNS0_7contextENS0_7backendE"
_EXECUTABLE: Final = 2  # sycl::bundle_state
_KERNEL_DESC: Final = 0x1D  # ze_structure_type_t
_NATIVE: Final = 1  # ze_module_format_t


def load(built: DeviceKernel, binary: bytes, queue: Queue) -> DeviceKernel:
    """A kernel again, in the context of a queue, from the binary that the driver made of it for the queue's device.

    Raises:
        KernelBuildError: the driver refused it.
        Unsupported: this SYCL runtime cannot be given what a driver has loaded.
    """
    started = time.perf_counter_ns()
    try:
        kernel = kernel_of_binary(binary, built.compiled.name, queue)
    except (OSError, AttributeError) as error:
        reason = str(error).rpartition("/")[2]
        raise Unsupported(f"needs a SYCL runtime that takes a kernel from its driver: {reason}") from error
    except (OpenCLError, LevelZeroError) as error:
        reason = f"its binary cannot be loaded: {error}"
        raise KernelBuildError(built.compiled.name, built.device.name, reason) from error
    stages = {"build": time.perf_counter_ns() - started}
    return replace(built, kernel=kernel, context=queue.sycl_context, stages=stages)


def kernel_of_binary(binary: bytes, name: str, queue: Queue) -> Any:
    """Load a binary, as ``dpctl.program`` builds SPIR-V.

    Args:
        binary: binary for the queue's device, as from `xebench.dpex.binaries.binary_of`.
        name: name of the kernel.
        queue: queue in whose context to load it, on OpenCL or Level Zero.

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
        program, kernel = _kernel_of_opencl(library, context, device, binary, name)
    finally:
        library.clReleaseContext(context)
        library.clReleaseDevice(device)
    made = made_by(_MAKE, kernel, ctypes.c_void_p(queue.sycl_context.addressof_ref()), OPENCL)
    library.clReleaseKernel(kernel)
    library.clReleaseProgram(program)
    return made


def _on_level_zero(binary: bytes, name: bytes, queue: Queue) -> int:
    library = level_zero_library.open_library()
    device, context = device_handle(queue.sycl_device), context_handle(queue.sycl_context)
    module, kernel = _kernel_of_level_zero(library, context, device, binary, name)
    of_sycl = ctypes.c_void_p(queue.sycl_context.addressof_ref())
    bundle = made_by(_MAKE_BUNDLE, module, of_sycl, 0, _EXECUTABLE, LEVEL_ZERO)  # which owns them from now on
    try:
        return made_by(_MAKE_OF_BUNDLE, of_sycl, ctypes.c_void_p(bundle), kernel, 0, LEVEL_ZERO)
    finally:
        kernel_bundle_delete(bundle)


def _copy_of_dpctl(kernel: int, name: str) -> Any:
    """The object of dpctl around a copy of SYCL's own."""
    api = dpctl_program.__pyx_capi__["SyclKernel_Make"]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p)(get_pointer(api, get_name(api)))
    return make(kernel, name.encode())


def _kernel_of_opencl(
    library: Any, context: Handle, device: Handle, binary: bytes, name: bytes
) -> tuple[Handle, Handle]:
    """A program of a binary for a device, and a kernel of it; the caller releases both.

    Raises:
        OpenCLError: the driver refuses it, or it has no such kernel.
    """
    size, code, status = ctypes.c_size_t(len(binary)), ctypes.c_char_p(binary), ctypes.c_int32()
    devices = (1, ctypes.byref(device))
    create = library.clCreateProgramWithBinary
    program = Handle(create(context, *devices, ctypes.byref(size), ctypes.byref(code), None, ctypes.byref(status)))
    opencl_library.check(status.value)
    opencl_library.check(library.clBuildProgram(program, *devices, None, None, None))
    kernel = Handle(library.clCreateKernel(program, name, ctypes.byref(status)))
    opencl_library.check(status.value)
    return program, kernel


class _KernelDesc(ctypes.Structure):
    """``ze_kernel_desc_t``."""

    _fields_ = [
        ("stype", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
    ]


def _kernel_of_level_zero(
    library: Any, context: Handle, device: Handle, binary: bytes, name: bytes
) -> tuple[Handle, Handle]:
    """A module of a binary for a device, and a kernel of it.

    Raises:
        LevelZeroError: the driver refuses it, or it has no such kernel.
    """
    description = ModuleDesc(MODULE_DESC, None, _NATIVE, len(binary), binary, b"", None)
    module, kernel = Handle(), Handle()
    check(library.zeModuleCreate(context, device, ctypes.byref(description), ctypes.byref(module), None))
    check(library.zeKernelCreate(module, ctypes.byref(_KernelDesc(_KERNEL_DESC, None, 0, name)), ctypes.byref(kernel)))
    return module, kernel

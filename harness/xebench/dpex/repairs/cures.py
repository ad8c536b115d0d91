"""The repairs of compilation, then of arguments, arrays and queues: each function is one, with symptom, cause, cure."""

from __future__ import annotations

import functools
import importlib
import operator
import re
import sys
from collections.abc import Callable
from ctypes import c_void_p
from typing import Any, Final

import dpctl
import dpctl.tensor as dpt
import numpy as np
from dpctl import memory
from dpctl._sycl_queue import SyclQueue, kernel_arg_type
from dpctl.tensor import _copy_utils
from dpctl.tensor import _tensor_impl as implementation
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.base import OverloadSelector
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import impl_ret_borrowed, lower_builtin
from numba.np import arrayobj
from numba_dpex.core.descriptor import dpex_kernel_target, dpex_target
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.dpctl_types import DpctlSyclQueue
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.core.utils import kernel_flattened_args_builder
from numba_dpex.core.utils.call_kernel_builder import KernelLaunchIRBuilder
from numba_dpex.dpctl_iface import _helpers
from numba_dpex.kernel_api_impl.spirv import codegen
from numba_dpex.kernel_api_impl.spirv.arrayobj import _getitem_array_generic
from numba_dpex.kernel_api_impl.spirv.dispatcher import _SPIRVKernelCompiler
from numba_dpex.kernel_api_impl.spirv.target import SPIRVTargetContext

from numba_sycl.native_handles import bind
from xebench.dpex.optimizer import NATIVE_WIDTHS

#: A switch whose literals the driver's reader of SPIR-V counts wrong: it takes the whole bytes of a width.
_MISREAD_SWITCH = re.compile(r"^ +switch i(?:[1-7]|3[3-9]) ", re.MULTILINE)
_LAYOUT = re.compile(r'^target datalayout = "[^"]*', re.MULTILINE)


def misread_switches() -> None:
    """Branches of few cases over the remainder of a division, and the like.

    Symptom: the CPU driver ends the process on if/elif chains over small integers and on dynamic tuple indices.
    Cause: numba-dpex's data layout names no native widths of integers, so LLVM makes switches over 2 or 33 bits.
    Cure: where there is such a switch, compile again with the native widths that DPC++ has for spir64.
    """
    optimise = codegen.SPIRVCodeLibrary._optimize_final_module

    def optimise_again(self: Any) -> None:
        before = str(self._final_module)
        optimise(self)
        if _MISREAD_SWITCH.search(str(self._final_module)):
            self._final_module = binding.parse_assembly(_LAYOUT.sub(rf"\g<0>{NATIVE_WIDTHS}", before))
            optimise(self)

    codegen.SPIRVCodeLibrary._optimize_final_module = optimise_again


_MODULES = (
    "numba.core.optional",
    "numba.cpython.builtins",
    "numba.cpython.enumimpl",
    "numba.cpython.iterators",
    "numba.cpython.numbers",
    "numba.cpython.rangeobj",
    "numba.cpython.slicing",
    "numba.cpython.tupleobj",
    "numba.misc.literal",
    "numba.np.arraymath",
    "numba.np.arrayobj",
)


def lazy_registries() -> None:
    """Python's builtins known to the kernel compiler before the first ``call_kernel``.

    Symptom: compiling a kernel before any ``call_kernel`` fails with "No definition for lowering range".
    Cause: numba's modules that lower ranges, tuples, iterators and so on register themselves when they are
    imported, which only the host target does, when it is first used.
    Cure: import them before the first compilation. (Refreshing numba-dpex's host target instead breaks ``dpnp.empty``
    in ``dpjit``.)
    """
    compile_now = _SPIRVKernelCompiler.compile

    def compile_prepared(self: Any, *arguments: Any) -> Any:
        import_registries()
        return compile_now(self, *arguments)

    _SPIRVKernelCompiler.compile = compile_prepared


@functools.cache
def import_registries() -> None:
    """Import what numba lowers Python's builtins with, which takes 0.1 s."""
    for name in _MODULES:
        importlib.import_module(name)


def repeated_definitions() -> None:
    """Kernels of a long process compile as fast as its first ones.

    Symptom: each compilation makes the next one slower, twice as slow after some hundred kernels.
    Cause: before every compilation numba-dpex registers its mathematical functions and operators once more, and
    numba looks at every registration of an operator wherever a kernel uses it.
    Cure: leave out a registration that is in force already. The last one counts, so nothing changes but the time.
    """
    append = OverloadSelector.append

    def append_new(self: Any, value: Any, sig: Any) -> None:
        in_force = self.__dict__.setdefault("_in_force", {})
        if in_force.get(sig) is not value:
            in_force[sig] = value
            append(self, value, sig)

    OverloadSelector.append = append_new


def local_accessor_queue() -> None:
    """LocalAccessor beside arrays of any queue.

    Symptom: ExecutionQueueInferenceError for a kernel with a LocalAccessor whose arrays live on a queue other than
    the default one, such as every profiling queue.
    Cause: the numba type of a LocalAccessor derives from the array type and carries the default device's queue.
    Cure: leave LocalAccessors out of the comparison of queues.
    """
    check = _SPIRVKernelCompiler.check_queue_equivalence_of_args

    def check_arrays_only(self: Any, py_func_name: str, args: list[Any]) -> None:
        check(self, py_func_name, [arg for arg in args if not isinstance(arg, LocalAccessorType)])

    _SPIRVKernelCompiler.check_queue_equivalence_of_args = check_arrays_only


def root_device(device: Any) -> Any:
    """The root device that ``device`` is a part of, or ``device`` itself."""
    while device.parent_device is not None:
        device = device.parent_device
    return device


def _init(self: Any, sycl_queue: Any) -> None:
    if not isinstance(sycl_queue, dpctl.SyclQueue):
        raise TypeError("The argument sycl_queue is not of type SyclQueue.")
    device = sycl_queue.sycl_device
    self._device = root_device(device).filter_string
    self._device_has_aspect_atomic64 = device.has_aspect_atomic64
    self._unique_id = hash(sycl_queue)
    types.Type.__init__(self, name=f"DpctlSyclQueue on {self._device}")


def sub_device_queue() -> None:
    """Queues of sub-devices.

    Symptom: any kernel with an array of a sub-device's queue fails while its arguments are typed.
    Cause: numba-dpex queries the device's filter string, which only root devices have.
    Cure: name the root device; the queue's identity still distinguishes the sub-devices.
    """
    DpctlSyclQueue.__init__ = _init


def _copy(self: Any, *, device: str | None = None, **changes: Any) -> Any:
    """The same type but for the changes."""
    same = {
        "dtype": self.dtype,
        "ndim": self.ndim,
        "layout": self.layout,
        "readonly": not self.mutable,
        "addrspace": self.addrspace,
        "usm_type": self.usm_type,
        "aligned": self.aligned,
    }
    wanted = {name: value for name, value in changes.items() if value is not None}
    # a part of a LocalAccessor is an array in local memory: the accessor's own type has no other layout
    kind = USMNdArray if isinstance(self, LocalAccessorType) else type(self)
    return kind(**same | wanted, **({"queue": self.queue} if device is None else {"device": device}))


def _unify(self: Any, typing_context: Any, other: Any) -> Any:
    """The type of a variable that is one or the other; None when there is none."""
    if not isinstance(other, USMNdArray):
        return None
    if any(getattr(self, name) != getattr(other, name) for name in ("ndim", "device", "addrspace", "usm_type")):
        return None
    if other.dtype != self.dtype and other.dtype.is_precise():
        return None
    return self.copy(
        layout=self.layout if self.layout == other.layout else "A",
        readonly=not (self.mutable and other.mutable),
        aligned=self.aligned and other.aligned,
    )


def _getitem_by_tuple(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    if not isinstance(context, SPIRVTargetContext):
        return arrayobj.getitem_array_tuple(context, builder, signature, values)
    array_type, tuple_type = signature.args
    array = arrayobj.make_array(array_type)(context, builder, values[0])
    indices = cgutils.unpack_tuple(builder, values[1], count=len(tuple_type))
    index_types, indices = arrayobj.normalize_indices(context, builder, tuple_type.types, indices)
    view = _getitem_array_generic(context, builder, signature.return_type, array_type, array, index_types, indices)
    return impl_ret_borrowed(context, builder, signature.return_type, view)


def array_views() -> None:
    """Views of arrays in kernels: ``a[i]`` of a 2-D array, ``f[i:i+2]``, ``a[:, j]``.

    Symptom: a kernel with a view does not compile for an array type of no queue in particular (``any:device``), and
    with any other the view's type has the device's default queue. Views by several indices and views of a
    LocalAccessor never compile.
    Cause: ``USMNdArray.copy`` and ``unify``, which make the type of a view, pass the device on and not the queue.
    Views by several indices are left to numba, whose arrays have fields that an array on a device has not. A
    LocalAccessor's type takes no layout.
    Cure: the queue is passed on, unless another device is requested; several indices do as one does; a view of a
    LocalAccessor is an array in local memory.
    """
    USMNdArray.copy, USMNdArray.unify = _copy, _unify
    lower_builtin(operator.getitem, USMNdArray, types.BaseTuple)(_getitem_by_tuple)


_NARROW = {
    types.int8: kernel_arg_type.dpctl_int8,
    types.uint8: kernel_arg_type.dpctl_uint8,
    types.int16: kernel_arg_type.dpctl_int16,
    types.uint16: kernel_arg_type.dpctl_uint16,
}


def narrow_scalars() -> None:
    """8- and 16-bit scalars and local accessors as kernel arguments.

    Symptom: ``call_kernel`` refuses int8, uint8, int16 and uint16 arguments ("numba type not supported").
    Cause: numba-dpex's table of dpctl argument types leaves them out, although dpctl knows them.
    Cure: look these four up in dpctl's own enumeration first.
    """
    look_up = _helpers.numba_type_to_dpctl_typenum

    def typenum(context: Any, numba_type: Any) -> Any:
        if numba_type in _NARROW:
            return context.get_constant(types.int32, _NARROW[numba_type].value)
        return look_up(context, numba_type)

    _helpers.numba_type_to_dpctl_typenum = typenum
    kernel_flattened_args_builder.numba_type_to_dpctl_typenum = typenum


_LLVM_TYPES = {
    types.float16: ir.HalfType(),
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
}


class FloatModel(PrimitiveModel):  # type: ignore[misc]
    """The data model of a float of 16, 32 or 64 bits."""

    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _LLVM_TYPES[numba_type])


def half_arrays() -> None:
    """Arrays of float16.

    Symptom: a float16 array cannot be a kernel argument (KeyError in numba's data models).
    Cause: numba's model of floats has single and double only.
    Cure: add LLVM's ``half``. Elements can be loaded, stored and converted; arithmetic is done in float32: ``y[i] =
    np.float32(x[i]) * np.float32(2)``.
    """
    for manager in (
        default_manager,
        dpex_target.target_context.data_model_manager,
        dpex_kernel_target.target_context.data_model_manager,
    ):
        manager.register(types.Float, FloatModel)
        manager._cache.pop(types.float16, None)


BUILD_FAILED = "the device compiler could not build the kernel (DPCTL_VERBOSITY=error prints its reason)"
SUBMISSION_FAILED = (
    "the kernel was not submitted: work-group, local memory or arguments that the device refuses, "
    "or profiling with a driver that has no clock (DPCTL_VERBOSITY=error prints its reason)"
)


def _raise_if_null(launcher: Any, value: Any, message: str) -> None:
    with launcher.builder.if_then(cgutils.is_null(launcher.builder, value), likely=False):
        launcher.context.call_conv.return_user_exc(launcher.builder, RuntimeError, (message,))


def swallowed_errors() -> None:
    """Failed builds and submissions of ``call_kernel`` and ``call_kernel_async`` become exceptions.

    Symptom: with a work-group or local memory too large for the device, or a kernel that the driver cannot build,
    ``call_kernel`` does nothing and says nothing, and ``call_kernel_async`` ends the process.
    Cause: the generated launcher never looks whether dpctl gave it a kernel and an event or a null pointer.
    Cure: test both and raise RuntimeError. dpctl keeps the reason to itself; ``DPCTL_VERBOSITY=error`` prints it.
    """
    submit, set_kernel = KernelLaunchIRBuilder.submit, KernelLaunchIRBuilder.set_kernel

    def checked_submit(self: Any) -> Any:
        event = submit(self)
        _raise_if_null(self, event, SUBMISSION_FAILED)
        return event

    def checked_set_kernel(self: Any, kernel: Any) -> None:
        _raise_if_null(self, kernel, BUILD_FAILED)
        set_kernel(self, kernel)

    KernelLaunchIRBuilder.submit = checked_submit
    KernelLaunchIRBuilder.set_kernel = checked_set_kernel


def _copy_staged(dst: Any, values: Any) -> None:
    values = np.ascontiguousarray(np.broadcast_to(values, dst.shape))
    if not dst.sycl_device.has_aspect_fp64 and values.dtype.char in "dD":
        values = values.astype(np.float32 if values.dtype.char == "d" else np.complex64)
    queue = dst.sycl_queue
    staged = dpt.empty(dst.shape, dtype=values.dtype, usm_type="device", sycl_queue=queue)
    staged.usm_data.copy_from_host(values.reshape(-1).view("u1"))
    host_event, _ = implementation._copy_usm_ndarray_into_usm_ndarray(src=staged, dst=dst, sycl_queue=queue)
    host_event.wait()


def host_copy() -> None:
    """Writing host values into parts of device arrays.

    Symptom: ``x[1] = 5``, ``x[:] = 0``, ``dpnp_array.fill(0)`` and ``dpctl.tensor.asarray`` of a strided numpy
    array fail with "could not be copied into dpctl.tensor.usm_ndarray" (error -995).
    Cause: dpctl copies through a ``sycl::buffer``, for which the 2024.2 runtime needs OpenCL's
    ``clCreateBufferWithPropertiesINTEL``; the 2026.2 CPU driver has it under its standard name only.
    Cure: where that fails, stage the values in a contiguous device array, which needs no buffer, and copy from
    there.
    """
    copy = _copy_utils._copy_from_numpy_into

    def copy_from_numpy_into(dst: Any, np_ary: Any) -> None:
        try:
            copy(dst, np_ary)
        except RuntimeError:
            _copy_staged(dst, np_ary)

    _copy_utils._copy_from_numpy_into = copy_from_numpy_into


_KINDS: Final = ("MemoryUSMDevice", "MemoryUSMShared", "MemoryUSMHost")


_FREE = bind("DPCTLfree_with_queue", None, c_void_p, c_void_p)


def _free(self: Any, *, process_ends: Callable[[], bool] = sys.is_finalizing) -> None:
    if process_ends():  # which frees everything; names of modules mean nothing any more
        return
    # memory that belongs to another object, or was never allocated, is not this one's
    if self.reference_obj is None and self._pointer and type(self._queue) is not SyclQueue:
        _FREE(self._pointer, self._queue.addressof_ref())


def freed_memory() -> None:
    """Memory of a session's queues is freed.

    Symptom: what is allocated on a queue of a class derived from ``dpctl.SyclQueue`` stays until the process ends.
    Cause: dpctl 0.17 frees memory only where the class of its queue is ``SyclQueue`` itself.
    Cure: classes derived from dpctl's three kinds of memory, in whose place they stand, free what dpctl leaves.
    """
    for name in _KINDS:
        kind = getattr(memory, name)
        setattr(memory, name, type(name, (kind,), {"__del__": _free, "__doc__": kind.__doc__, "__module__": __name__}))

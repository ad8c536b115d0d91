"""Views of arrays in kernels: ``a[i]`` of a 2-D array, ``f[i:i+2]``, ``a[:, j]``.

Symptom: a kernel with a view does not compile for an array type of no queue in particular (``any:device``), and with
any other the view's type has the device's default queue. Views by several indices and views of a LocalAccessor never
compile.
Cause: ``USMNdArray.copy`` and ``unify``, which make the type of a view, pass the device on and not the queue. Views by
several indices are left to numba, whose arrays have fields that an array on a device has not. A LocalAccessor's type
takes no layout.
Cure: the queue is passed on, unless another device is asked for; several indices do as one does; a view of a
LocalAccessor is an array in local memory.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, lower_builtin
from numba.np import arrayobj
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.kernel_api_impl.spirv.arrayobj import _getitem_array_generic
from numba_dpex.kernel_api_impl.spirv.target import SPIRVTargetContext


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


def apply() -> None:
    """Replace the two methods, and register what several indices do."""
    USMNdArray.copy, USMNdArray.unify = _copy, _unify
    lower_builtin(operator.getitem, USMNdArray, types.BaseTuple)(_getitem_by_tuple)

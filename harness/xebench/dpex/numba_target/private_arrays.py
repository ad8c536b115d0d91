"""``PrivateArray`` in kernels: a work-item's own array, of a shape that is known when the kernel is compiled."""

from __future__ import annotations

from math import prod
from typing import Any

from llvmlite import ir
from numba.core import errors, types
from numba.core.typing import signature
from numba.core.typing.npydecl import parse_dtype

from xebench.dpex._intrinsics import checks
from xebench.dpex.kernel_names import AddressSpace
from xebench.dpex.numba_target.calls import INT32, INT64
from xebench.dpex.target_base.device_types import DeviceArray


def private_array(shape: Any, dtype: Any, fill_zeros: Any) -> Any:
    """A call of ``PrivateArray``."""
    given = tuple(shape.types) if isinstance(shape, types.BaseTuple) else (shape,)
    extents = [checks.literal("shape", extent, int) for extent in given]
    try:
        element = parse_dtype(dtype)
    except errors.TypingError:
        element = None
    if element is None:
        raise checks.Misuse(f"dtype is {dtype}, but must be a number's, such as numpy.float32")
    zeros = False
    if not isinstance(fill_zeros, types.Omitted | types.NoneType):
        zeros = bool(checks.literal("fill_zeros", fill_zeros, int))
    array = DeviceArray(element, len(extents), "C", AddressSpace.PRIVATE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        item = context.get_data_type(element)
        memory = ir.ArrayType(item, prod(extents))
        with builder.goto_entry_block():
            allocated = builder.alloca(memory)
        if zeros:
            builder.store(ir.Constant(memory, None), allocated)
        itemsize = context.get_abi_sizeof(item)
        strides = [itemsize * prod(extents[dimension + 1 :]) for dimension in range(len(extents))]
        made = context.make_array(array)(context, builder)
        context.populate_array(
            made,
            data=builder.gep(allocated, [INT32(0), INT32(0)], inbounds=True),
            shape=[INT64(extent) for extent in extents],
            strides=[INT64(stride) for stride in strides],
            itemsize=INT64(itemsize),
            meminfo=None,
            parent=None,
        )
        return made._getvalue()

    return signature(array, shape, dtype, fill_zeros), generate

"""Types of arguments that a decorator is given: what a kernel or device function is compiled for, and for nothing else.

They are written as numba-dpex has it: a tuple of types, a call of the result's type, or a list of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.typing import Signature as NumbaSignature
from numba.np import numpy_support

from xebench.dpex.compiler_messages import beginning
from xebench.dpex.dpex_errors import KernelCompileError, OptionError, TextSignature
from xebench.dpex.kernel_names import AddressSpace
from xebench.dpex.signature import ArgumentType, ArrayType, LocalType, ScalarType, Signature
from xebench.dpex.target_base.device_types import DeviceArray, IndexSpaceType, ItemType


def parsed(given: Any) -> tuple[NumbaSignature, ...]:
    """Numba's signatures; a result's type that was not given is None.

    Args:
        given: a tuple of numba types, numba's signature, or a list of these.

    Raises:
        OptionError: it is something else.
    """
    several = given if isinstance(given, list) else [given]
    if any(isinstance(one, str) for one in several):
        raise TextSignature("signatures as text are not supported: give tuples of types")
    if not all(isinstance(one, tuple | NumbaSignature) for one in several):
        raise OptionError(f"{given}: a signature is a tuple of types, so one argument is written (type,)")
    return tuple(one if isinstance(one, NumbaSignature) else NumbaSignature(None, one, None) for one in several)


def kernel_signature(function: Callable[..., None], given: NumbaSignature) -> Signature:
    """What a kernel is compiled for.

    Raises:
        KernelCompileError: it has a result.
        OptionError: a type that no argument of a kernel has.
    """
    if given.return_type not in (None, types.none):
        raise KernelCompileError(function.__name__, beginning(function), f"{given}: a kernel returns nothing")
    item, *rest = given.args if given.args and isinstance(given.args[0], IndexSpaceType) else (None, *given.args)
    arguments = tuple(map(_argument, rest))
    if item is None:
        return Signature("", 1, arguments)
    return Signature("Item" if isinstance(item, ItemType) else "NdItem", item.ndim, arguments)


def _argument(given: Any) -> ArgumentType:
    if isinstance(given, DeviceArray):
        dtype = str(numpy_support.as_dtype(given.dtype))
        local = given.addrspace == AddressSpace.LOCAL
        return LocalType(dtype, given.ndim) if local else ArrayType(dtype, given.ndim, given.layout)
    if isinstance(given, types.Number | types.Boolean):
        return ScalarType(str(numpy_support.as_dtype(given)))
    raise OptionError(f"{given} is no type of a kernel's argument: use usm_ndarray, numbers and bool")

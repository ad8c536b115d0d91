"""8- and 16-bit scalars and local accessors as kernel arguments.

Symptom: ``call_kernel`` refuses int8, uint8, int16 and uint16 arguments ("numba type not supported").
Cause: numba-dpex's table of dpctl argument types leaves them out, although dpctl knows them.
Cure: look these four up in dpctl's own enumeration first.
"""

from __future__ import annotations

from typing import Any

from dpctl._sycl_queue import kernel_arg_type
from numba.core import types
from numba_dpex.core.utils import kernel_flattened_args_builder
from numba_dpex.dpctl_iface import _helpers

_NARROW = {
    types.int8: kernel_arg_type.dpctl_int8,
    types.uint8: kernel_arg_type.dpctl_uint8,
    types.int16: kernel_arg_type.dpctl_int16,
    types.uint16: kernel_arg_type.dpctl_uint16,
}


def apply() -> None:
    """Wrap the look-up in both places that hold a reference to it."""
    look_up = _helpers.numba_type_to_dpctl_typenum

    def typenum(context: Any, numba_type: Any) -> Any:
        if numba_type in _NARROW:
            return context.get_constant(types.int32, _NARROW[numba_type].value)
        return look_up(context, numba_type)

    _helpers.numba_type_to_dpctl_typenum = typenum
    kernel_flattened_args_builder.numba_type_to_dpctl_typenum = typenum

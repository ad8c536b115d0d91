"""Arrays of float16.

Symptom: a float16 array cannot be a kernel argument (KeyError in numba's data models).
Cause: numba's model of floats knows single and double only.
Cure: add LLVM's ``half``. Elements can be loaded, stored and converted; arithmetic is done in float32:
``y[i] = np.float32(x[i]) * np.float32(2)``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import default_manager
from numba_dpex.core.descriptor import dpex_kernel_target, dpex_target

_LLVM_TYPES = {
    types.float16: ir.HalfType(),
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
}


class FloatModel(PrimitiveModel):  # type: ignore[misc]
    """The data model of a float of 16, 32 or 64 bits."""

    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _LLVM_TYPES[numba_type])


def apply() -> None:
    """Register the model with the host's and the device's managers."""
    for manager in (
        default_manager,
        dpex_target.target_context.data_model_manager,
        dpex_kernel_target.target_context.data_model_manager,
    ):
        manager.register(types.Float, FloatModel)
        manager._cache.pop(types.float16, None)

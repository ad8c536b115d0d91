"""Native integer widths in the SPIR-V data layout.

Symptom: the CPU driver aborts the process on if/elif chains over small integers and on dynamic tuple indices.
Cause: numba-dpex's data layout names no native integer widths, so LLVM narrows integers to widths such as i2
and i63, which drivers do not know.
Cure: append ``-n8:16:32:64``, which is what DPC++ uses for spir64.
"""

from __future__ import annotations

from llvmlite import binding
from numba_dpex.core.descriptor import dpex_kernel_target
from numba_dpex.kernel_api_impl.spirv import codegen

NATIVE_WIDTHS = "-n8:16:32:64"


def apply() -> None:
    """Give the layout its native widths, for contexts made later and for the one that exists."""
    for bits, layout in codegen.SPIR_DATA_LAYOUT.items():
        if NATIVE_WIDTHS not in layout:
            codegen.SPIR_DATA_LAYOUT[bits] = layout + NATIVE_WIDTHS
    context = dpex_kernel_target.target_context
    layout = codegen.SPIR_DATA_LAYOUT[context.address_size]
    context._internal_codegen._data_layout = layout
    context._internal_codegen._target_data = binding.create_target_data(layout)
    context._target_data = binding.create_target_data(layout)

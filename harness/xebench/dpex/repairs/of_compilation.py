"""Repairs of what numba-dpex makes of kernels: each function is one, with its symptom, cause and cure."""

from __future__ import annotations

import importlib
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils
from numba.core.base import OverloadSelector
from numba_dpex.core.descriptor import dpex_kernel_target
from numba_dpex.kernel_api_impl.spirv import codegen

NATIVE_WIDTHS = "-n8:16:32:64"


def data_layout() -> None:
    """Native integer widths in the SPIR-V data layout.

    Symptom: the CPU driver aborts the process on if/elif chains over small integers and on dynamic tuple indices.
    Cause: numba-dpex's data layout names no native integer widths, so LLVM narrows integers to widths such as i2
    and i63, which drivers do not know.
    Cure: append ``-n8:16:32:64``, which is what DPC++ uses for spir64.
    """
    for bits, layout in codegen.SPIR_DATA_LAYOUT.items():
        if NATIVE_WIDTHS not in layout:
            codegen.SPIR_DATA_LAYOUT[bits] = layout + NATIVE_WIDTHS
    context = dpex_kernel_target.target_context
    layout = codegen.SPIR_DATA_LAYOUT[context.address_size]
    context._internal_codegen._data_layout = layout
    context._internal_codegen._target_data = binding.create_target_data(layout)
    context._target_data = binding.create_target_data(layout)


def _pointer_add(builder: Any, ptr: Any, offset: Any, return_type: Any = None) -> Any:
    """``ptr`` plus ``offset`` bytes, as ``return_type`` or the type of ``ptr``."""
    byte_pointer = ir.PointerType(ir.IntType(8), addrspace=getattr(ptr.type, "addrspace", 0))
    if isinstance(offset, int):
        offset = ir.Constant(cgutils.intp_t, offset)
    moved = builder.gep(builder.bitcast(ptr, byte_pointer), [offset])
    return builder.bitcast(moved, return_type or ptr.type)


def pointer_add() -> None:
    """Pointer arithmetic by getelementptr.

    Symptom: wrong numbers from strided arrays on CPU drivers before 2025.2.
    Cause: numba's ``cgutils.pointer_add`` goes through an integer (ptrtoint, add, inttoptr), which loses the
    pointer's provenance and is miscompiled by the driver's vectorizer.
    Cure: add a byte offset with getelementptr, which is also what SPIR-V has an instruction for (OpPtrAccessChain).
    """
    cgutils.pointer_add = _pointer_add


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
    Cure: import them. (Refreshing numba-dpex's host target instead breaks ``dpnp.empty`` in ``dpjit``.)
    """
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

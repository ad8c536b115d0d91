"""Pointer arithmetic by getelementptr.

Symptom: wrong numbers from strided arrays on CPU drivers before 2025.2.
Cause: numba's ``cgutils.pointer_add`` goes through an integer (ptrtoint, add, inttoptr), which loses the
pointer's provenance and is miscompiled by the driver's vectorizer.
Cure: add a byte offset with getelementptr, which is also what SPIR-V has an instruction for (OpPtrAccessChain).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils


def pointer_add(builder: Any, ptr: Any, offset: Any, return_type: Any = None) -> Any:
    """``ptr`` plus ``offset`` bytes, as ``return_type`` or the type of ``ptr``."""
    byte_pointer = ir.PointerType(ir.IntType(8), addrspace=getattr(ptr.type, "addrspace", 0))
    if isinstance(offset, int):
        offset = ir.Constant(cgutils.intp_t, offset)
    moved = builder.gep(builder.bitcast(ptr, byte_pointer), [offset])
    return builder.bitcast(moved, return_type or ptr.type)


def apply() -> None:
    """Replace ``cgutils.pointer_add``, which every caller reaches through the module."""
    cgutils.pointer_add = pointer_add

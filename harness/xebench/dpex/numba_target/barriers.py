"""``group_barrier`` and ``atomic_fence`` in kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing import signature

from xebench.dpex._intrinsics import atomic_calls, checks, spirv
from xebench.dpex._intrinsics.spirv import Scope, Semantics
from xebench.dpex.kernel_names import MemoryOrder, MemoryScope
from xebench.dpex.target_base.device_types import GroupType


def group_barrier(group: Any, fence_scope: Any) -> Any:
    """``OpControlBarrier`` of a work-group; what its work-items wrote before is visible after."""
    if not isinstance(group, GroupType):
        raise checks.Misuse(f"group is {group}, but must be a Group: give item.get_group()")
    scope = checks.choice("fence_scope", fence_scope, MemoryScope, MemoryScope.WORK_GROUP)
    semantics = Semantics.SEQUENTIALLY_CONSISTENT | Semantics.ALL_MEMORY

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        operands = [Scope.WORK_GROUP, atomic_calls.SCOPES[scope], semantics]
        spirv.call(builder, "ControlBarrier", ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, group, fence_scope), generate


def atomic_fence(memory_order: Any, memory_scope: Any) -> Any:
    """``OpMemoryBarrier``."""
    order = checks.choice("memory_order", memory_order, MemoryOrder, MemoryOrder.RELAXED)
    scope = checks.choice("memory_scope", memory_scope, MemoryScope, MemoryScope.DEVICE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        operands = [atomic_calls.SCOPES[scope], atomic_calls.SEMANTICS[order] | Semantics.ALL_MEMORY]
        spirv.call(builder, "MemoryBarrier", ir.VoidType(), [spirv.constant(operand) for operand in operands])
        return context.get_dummy_value()

    return signature(types.none, memory_order, memory_scope), generate

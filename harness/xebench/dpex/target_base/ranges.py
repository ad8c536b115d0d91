"""``range`` in kernels, without the division by which numba counts its steps.

numba's iterator holds how many steps are left. This one holds whether there is one: between two steps it compares the
current number with the last from which another step stays before the stop. Numbers are compared as signed ones, as
numba does.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl
from numba.cpython.rangeobj import range_impl_map

from xebench.dpex.target_base.registries import replacements


def _is_before(builder: Any, number: Any, bound: Any, step: Any) -> Any:
    """Whether a number comes before a bound in the direction of the step."""
    down = builder.icmp_signed("<", step, step.type(0))
    return builder.select(down, builder.icmp_signed(">", number, bound), builder.icmp_signed("<", number, bound))


def _last(builder: Any, stop: Any, step: Any) -> Any:
    """Numbers before this one have a successor before the stop; at the end of the type it is the end."""
    kind = ir.FunctionType(step.type, [step.type, step.type])
    saturated = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ssub.sat.i{step.type.width}")
    return builder.call(saturated, [stop, step])


def _lower(state_type: Any, iterator_type: Any) -> None:
    def make(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        state = context.make_helper(builder, state_type, args[0])
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", state.step, state.step.type(0))):
            context.call_conv.return_user_exc(builder, ValueError, ("range() arg 3 must not be zero",))
        iterator = context.make_helper(builder, iterator_type)
        iterator.iter = cgutils.alloca_once_value(builder, state.start)
        iterator.stop, iterator.step = _last(builder, state.stop, state.step), state.step
        is_first = _is_before(builder, state.start, state.stop, state.step)
        iterator.count = cgutils.alloca_once_value(builder, builder.zext(is_first, state.step.type))
        return impl_ret_untracked(context, builder, iterator_type, iterator._getvalue())

    def following(context: Any, builder: Any, sig: Any, args: Any, result: Any) -> None:
        iterator = context.make_helper(builder, iterator_type, args[0])
        is_one = builder.trunc(builder.load(iterator.count), ir.IntType(1))
        result.set_valid(is_one)
        with builder.if_then(is_one):
            number = builder.load(iterator.iter)
            result.yield_(number)
            is_another = _is_before(builder, number, iterator.stop, iterator.step)
            builder.store(builder.zext(is_another, number.type), iterator.count)
            # where there is no other, this may be beyond the type, and is not looked at
            builder.store(builder.add(number, iterator.step, flags=["nsw"]), iterator.iter)

    replacements.lower("getiter", state_type)(make)
    replacements.lower("iternext", iterator_type)(iternext_impl(RefType.UNTRACKED)(following))


for _types in range_impl_map.values():
    _lower(*_types)

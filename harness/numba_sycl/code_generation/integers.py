"""The arithmetic of integers in kernels, which wraps around as numpy's does.

numba says of each sum, difference and product of signed integers that it fits (``nsw``), so LLVM may make anything of
one that does not: also of the sign of a hash, and of the remainder that is an index. Nothing of that kind is said here.

``range``, ``//`` and ``%`` work without a division. numba's iterator holds how many steps are left. This one holds
whether there is one: between two steps it compares the current number with the last from which another step stays
before the stop. Numbers are compared as signed ones, as numba does.

Python rounds down, as an arithmetic shift does, so neither needs a sign. numba divides as C does and corrects results
for negative numbers. LLVM does not always remove that correction.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import RefType, Registry, impl_ret_untracked, iternext_impl
from numba.cpython.numbers import int_floordiv_impl, int_rem_impl
from numba.cpython.rangeobj import range_impl_map

#: What stands in for numba's own: installed after it, as the later one is taken.
replacements: Final = Registry("numba_sycl replacements")


def _wrapping(instruction: str) -> Callable[..., Any]:
    def implementation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        left, right = (
            context.cast(builder, value, kind, sig.return_type) for value, kind in zip(args, sig.args, strict=True)
        )
        result = getattr(builder, instruction)(left, right)
        return impl_ret_untracked(context, builder, sig.return_type, result)

    return implementation


_SUMS: Final = {name: _wrapping(name) for name in ("add", "sub", "mul")}

for _instruction, _sum in _SUMS.items():
    for _name in (getattr(operator, _instruction), getattr(operator, f"i{_instruction}")):
        replacements.lower(_name, types.Integer, types.Integer)(_sum)

#: By the name of numba's own loop of a numpy function.
LOOPS: Final = {f"int_{name}_impl": implementation for name, implementation in _SUMS.items()}


def _is_before(builder: Any, number: Any, bound: Any, step: Any) -> Any:
    """True where a number comes before a bound in the direction of the step."""
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


def _by_constant(numbas: Callable[..., Any], shifted: Callable[[Any, Any, int], Any]) -> Callable[..., Any]:
    def implementation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        by, kind = args[1], sig.return_type
        power = by.constant if isinstance(by, ir.Constant) else 0
        if not (isinstance(power, int) and power > 0 and power & (power - 1) == 0 and kind.signed):
            return numbas(context, builder, sig, args)
        return shifted(builder, context.cast(builder, args[0], sig.args[0], kind), power)

    return implementation


def _quotient(builder: Any, number: Any, power: int) -> Any:
    return builder.ashr(number, number.type(power.bit_length() - 1))


def _remainder(builder: Any, number: Any, power: int) -> Any:
    return builder.and_(number, number.type(power - 1))


def _any_quotient(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Numba's, but for the least number by -1, of which numba makes 0."""
    quotient, kind = int_floordiv_impl(context, builder, sig, args), sig.return_type
    if not kind.signed:
        return quotient
    number, by = (context.cast(builder, value, of, kind) for value, of in zip(args, sig.args, strict=True))
    least = number.type(kind.minval)
    overflows = builder.and_(builder.icmp_signed("==", number, least), builder.icmp_signed("==", by, by.type(-1)))
    return builder.select(overflows, least, quotient)


_OPERATORS: Final = (
    (operator.floordiv, operator.ifloordiv, _by_constant(_any_quotient, _quotient)),
    (operator.mod, operator.imod, _by_constant(int_rem_impl, _remainder)),
)

for *_names, _implementation in _OPERATORS:
    for _name in _names:
        replacements.lower(_name, types.Integer, types.Integer)(_implementation)

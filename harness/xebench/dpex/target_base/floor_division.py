"""``//`` and ``%`` of signed integers by a power of two that is known: a shift and a mask.

Python rounds down, as an arithmetic shift does, so neither asks for a sign. numba divides as C does and corrects what
comes of negative numbers, which LLVM does not always take away again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba.core import types
from numba.cpython.numbers import int_floordiv_impl, int_rem_impl

from xebench.dpex.target_base.registries import replacements


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


_OPERATORS: Final = (
    (operator.floordiv, operator.ifloordiv, _by_constant(int_floordiv_impl, _quotient)),
    (operator.mod, operator.imod, _by_constant(int_rem_impl, _remainder)),
)
for *_names, _implementation in _OPERATORS:
    for _name in _names:
        replacements.lower(_name, types.Integer, types.Integer)(_implementation)

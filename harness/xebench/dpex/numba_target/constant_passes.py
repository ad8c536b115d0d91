"""What constants in kernels allow: ``getattr(x, "name")`` is ``x.name``, and ``x**2`` is ``x * x``."""

from __future__ import annotations

import operator
from typing import Any

from numba.core import errors, ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import find_const, get_definition, guard


@register_pass(mutates_CFG=False, analysis_only=False)
class ConstantGetattr(FunctionPass):  # type: ignore[misc]
    """Rewrites such calls; numba's own ``getattr`` needs reference counts for the name."""

    _name = "xebench_constant_getattr"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Rewrite them (numba's protocol); whether there were any."""
        function, changed = state.func_ir, False
        for block in function.blocks.values():
            for statement in block.find_insts(ir.Assign):
                name = _constant_name(function, statement.value)
                if name is not None:
                    statement.value = ir.Expr.getattr(statement.value.args[0], name, statement.loc)
                    changed = True
        return changed


@register_pass(mutates_CFG=False, analysis_only=False)
class Squares(FunctionPass):  # type: ignore[misc]
    """Makes products of them: numba has a loop over the bits of an exponent, which LLVM does not always see through."""

    _name = "xebench_squares"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Make them (numba's protocol); whether there were any."""
        changed = False
        for block in state.func_ir.blocks.values():
            for expression in block.find_exprs(op="binop"):
                if expression.fn is operator.pow and _constant(state.func_ir, expression.rhs) == 2:
                    expression.fn, expression.rhs, changed = operator.mul, expression.lhs, True
        return changed


def _constant_name(function: Any, value: Any) -> str | None:
    """The attribute that an expression reads by ``getattr`` of two arguments, or None."""
    if not isinstance(value, ir.Expr) or value.op != "call" or len(value.args) != 2 or value.kws:
        return None
    called = guard(get_definition, function, value.func)
    if getattr(called, "value", None) is not getattr:
        return None
    name = _constant(function, value.args[1])
    return name if isinstance(name, str) else None


def _constant(function: Any, variable: Any) -> Any:
    """What a variable always is, or None."""
    try:
        return guard(find_const, function, variable)
    except errors.NumbaError:
        return None

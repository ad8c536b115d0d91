"""``getattr(x, "name")`` in kernels is ``x.name``, where the name is literal or captured."""

from __future__ import annotations

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


def _constant_name(function: Any, value: Any) -> str | None:
    """The attribute that an expression reads by ``getattr`` of two arguments, or None."""
    if not isinstance(value, ir.Expr) or value.op != "call" or len(value.args) != 2 or value.kws:
        return None
    called = guard(get_definition, function, value.func)
    if getattr(called, "value", None) is not getattr:
        return None
    try:
        name = guard(find_const, function, value.args[1])
    except errors.NumbaError:
        return None
    return name if isinstance(name, str) else None

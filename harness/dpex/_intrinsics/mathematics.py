"""Code generators of ``native``: extended instructions of OpenCL.std, ``__spirv_ocl_<name>``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba.core import types
from numba.core.typing import signature

from harness.dpex import native
from harness.dpex._intrinsics import checks, spirv
from harness.dpex._intrinsics.function_type import Typer, implement


def extended(instruction: str, allowed: Iterable[Any]) -> Typer:
    """An instruction whose operands and result have one floating-point type."""

    def typer(*operands: Any) -> Any:
        operand_type = checks.one_of("the first argument", operands[0], allowed)
        for operand in operands[1:]:
            checks.one_of("an argument", operand, (operand_type,))

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return spirv.call(
                builder,
                f"ocl_{instruction}",
                args[0].type,
                [spirv.typed(value, operand_type) for value in args],
                convergent=False,
            )

        return signature(operand_type, *(operand_type for _ in operands)), generate

    return typer


_ACCURATE = {"fma": "fma", "mad": "mad", "inverse_sqrt": "rsqrt"}

for _name in native.__all__:
    if _name in _ACCURATE:
        implement(getattr(native, _name), extended(_ACCURATE[_name], checks.FLOATS))
    else:
        _instruction = _name if _name.startswith("half_") else f"native_{_name}"
        implement(getattr(native, _name), extended(_instruction, (types.float32,)))

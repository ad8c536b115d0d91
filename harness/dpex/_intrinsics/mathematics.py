"""Code generators of ``native``: extended instructions of OpenCL.std, ``__spirv_ocl_<name>``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from numba.core import types
from numba.core.typing import signature

from harness.dpex import native
from harness.dpex._intrinsics import checks, spirv
from harness.dpex._intrinsics.function_type import Typer, implement


def extended(instruction: str, names: Sequence[str], allowed: Iterable[Any]) -> Typer:
    """An instruction whose operands, called *names*, and result have one floating-point type."""

    def typer(*operands: Any) -> Any:
        first, *others = zip(names, operands, strict=True)
        operand_type = checks.one_of(*first, allowed)
        for name, operand in others:
            if types.unliteral(operand) != operand_type:
                plain = types.unliteral(operand)
                raise checks.Misuse(f"{name} is {plain}, but must be {operand_type} like {names[0]}")

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
    _function = getattr(native, _name)
    _operands = tuple(inspect.signature(_function).parameters)
    if _name in _ACCURATE:
        implement(_function, extended(_ACCURATE[_name], _operands, checks.FLOATS))
    else:
        _instruction = _name if _name.startswith("half_") else f"native_{_name}"
        implement(_function, extended(_instruction, _operands, (types.float32,)))

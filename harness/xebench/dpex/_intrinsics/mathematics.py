"""Code generators of ``native``: extended instructions of OpenCL.std, ``__spirv_ocl_<name>``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba.core import types
from numba.core.typing import signature

from xebench.dpex._intrinsics import checks, spirv
from xebench.dpex._intrinsics.device_function import Typer


def extended(instruction: str, names: Sequence[str], allowed: Sequence[Any]) -> Typer:
    """An instruction whose operands, called *names*, and result have one of the *allowed* floating-point types."""

    def typer(*operands: Any) -> Any:
        first, *others = zip(names, operands, strict=True)
        operand_type = checks.one_of(*first, allowed)
        for name, operand in others:
            if types.unliteral(operand) != operand_type:
                plain = types.unliteral(operand)
                raise checks.Misuse(f"{name} is {plain}, but must be {operand_type} like {names[0]}")

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            typed = [spirv.typed(value, operand_type) for value in args]
            return spirv.call(builder, f"ocl_{instruction}", args[0].type, typed, convergent=False)

        return signature(operand_type, *(operand_type for _ in operands)), generate

    return typer

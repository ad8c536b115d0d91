"""Code generators of ``native``: extended instructions of OpenCL.std, ``__spirv_ocl_<name>``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba.core import types
from numba.core.typing import signature

from harness.dpex._intrinsics import checks, spirv
from harness.dpex._intrinsics.device_function import Typer


def approximate(instruction: str, *operands: str) -> Typer:
    """An instruction with the device's own accuracy, which is float32 only."""
    return _extended(instruction, operands or ("x",), (types.float32,))


def accurate(instruction: str, *operands: str) -> Typer:
    """An instruction whose accuracy OpenCL tells."""
    return _extended(instruction, operands or ("x",), checks.FLOATS)


def _extended(instruction: str, names: tuple[str, ...], allowed: Iterable[Any]) -> Typer:
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

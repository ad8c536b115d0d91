"""``math`` in kernels, and what numba calls of C's library for numpy: OpenCL's extended instructions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

from numba.core import types
from numba.core.typing import signature
from numba.core.typing.templates import ConcreteTemplate

from xebench.dpex.numba_target.calls import pure_call
from xebench.dpex.target_base.registries import declarations, implementations

_UNARY: Final = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *(
        "ceil",
        "floor",
        "fabs",
        "sqrt",
        "exp",
        "expm1",
        "log",
        "log10",
        "log1p",
        "erf",
        "erfc",
        "exp2",
        "log2",
        "lgamma",
    ),
)
_BINARY: Final = ("atan2", "pow", "fmod", "copysign", "hypot")
#: Of C's library, beside these.
_FURTHER: Final = {"tgamma": 1, "rint": 1, "trunc": 1, "cbrt": 1, "nextafter": 2}
_CODES: Final = {types.float32: "f", types.float64: "d"}


def _instruction(name: str, code: str) -> str:
    """The mangled name of an extended instruction."""
    full = f"__spirv_ocl_{name}"
    return f"_Z{len(full)}{full}{code}"


def _implement(function: Any, instruction: str, operands: int) -> None:
    for kind, code in _CODES.items():
        mangled = _instruction(instruction, code * operands)
        implementations.lower(function, *[kind] * operands)(partial(_lower, kind, mangled))


def _lower(kind: Any, mangled: str, context: Any, builder: Any, sig: Any, args: Any) -> Any:
    result = pure_call(builder, mangled, context.get_value_type(kind), args)
    return context.cast(builder, result, kind, sig.return_type)


for _name in _UNARY:
    if hasattr(math, _name):
        _implement(getattr(math, _name), _name, 1)
_implement(math.gamma, "tgamma", 1)
for _name in _BINARY:
    _implement(getattr(math, _name), _name, 2)

for _name, _operands in (("fmod", 2), ("cbrt", 1)):  # which numba does not declare
    _function = getattr(math, _name)
    _cases = [signature(kind, *[kind] * _operands) for kind in _CODES]
    declarations.register_global(_function)(type(f"Math_{_name}", (ConcreteTemplate,), {"cases": _cases}))
_implement(math.cbrt, "cbrt", 1)

#: What C calls it, and its variant for floats, to the instruction.
LIBRARY: Final = {
    name: _instruction(instruction, code * operands)
    for instruction, operands in {**dict.fromkeys(_UNARY, 1), **dict.fromkeys(_BINARY, 2), **_FURTHER}.items()
    for suffix, code in (("", "d"), ("f", "f"))
    for name in (f"{instruction}{suffix}", f"numba_{instruction}{suffix}")
} | {f"ldexp{suffix}": _instruction("ldexp", f"{code}i") for suffix, code in (("", "d"), ("f", "f"))}

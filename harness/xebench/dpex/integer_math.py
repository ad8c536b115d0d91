"""Functions of ``math`` for integers, as float64: numba types such calls, numba-dpex has them for floats alone."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

from numba.core import types, typing
from numba.core.imputils import Registry

registry: Final = Registry("integers in math")


def _of_floats(function: Any, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    floats = [types.float64] * len(arguments)
    numbers = [
        context.cast(builder, number, given, types.float64)
        for number, given in zip(arguments, signature.args, strict=True)
    ]
    implementation = context.get_function(function, typing.signature(signature.return_type, *floats))
    return implementation(builder, numbers)


for _name, _function in vars(math).items():
    if callable(_function) and not _name.startswith("_") and _name not in ("gcd", "ldexp"):  # which take integers
        for _arity in (1, 2):
            registry.lower(_function, *[types.Integer] * _arity)(functools.partial(_of_floats, _function))

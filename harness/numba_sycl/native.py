"""Fast math: the device's own approximations, and fused or reciprocal operations, by their OpenCL names.

Called in kernels; each becomes one extended instruction of the set OpenCL.std, named in its docstring. Three families:

- ``exp``, ``sin``, ``divide``, ... are ``native_*``: the hardware's instruction; accuracy and range are the device's;
- ``half_exp``, ``half_sin``, ... are ``half_*``: at least 10 bits of accuracy; ``half_cos``, ``half_sin`` and
  ``half_tan`` want arguments within plus or minus 2**16;
- ``fma``, ``mad`` and ``inverse_sqrt`` have the accuracy that OpenCL gives them; ``fmax`` and ``fmin`` are exact, and
  one instruction where Python's ``max`` and ``min`` compare and select, as these give the first where there is a NaN.

The first two families take float32, the last float32, and float64 where the device has it. Arguments are not
converted: a Python float literal is float64, so write ``np.float32(2)``. A wrong type is a typing error when the kernel
is compiled. Nothing here is collective. In simulation (plain Python) numpy computes, to its own accuracy.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Concatenate

import numpy as np

from numba_sycl.code_generation.device_function import DeviceFunction, P, R, checks, device_function, generators

__all__ = [
    "cos",
    "divide",
    "exp",
    "exp2",
    "exp10",
    "fma",
    "fmax",
    "fmin",
    "half_cos",
    "half_divide",
    "half_exp",
    "half_exp2",
    "half_exp10",
    "half_log",
    "half_log2",
    "half_log10",
    "half_powr",
    "half_recip",
    "half_rsqrt",
    "half_sin",
    "half_sqrt",
    "half_tan",
    "inverse_sqrt",
    "log",
    "log2",
    "log10",
    "mad",
    "powr",
    "recip",
    "rsqrt",
    "sin",
    "sqrt",
    "tan",
]


def _of_one(compute: Callable[[Any], Any], x: Any) -> Any:
    """{meaning} (``{instruction}``)."""
    return compute(x)


def _of_two(compute: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """{meaning} (``{instruction}``)."""
    return compute(x, y)


def _both(
    template: Callable[Concatenate[Any, P], R], name: str, meaning: str, compute: Callable[..., Any]
) -> tuple[DeviceFunction[P, R], DeviceFunction[P, R]]:
    """A function of the family ``native_*`` and its like in ``half_*``: in simulation they are the same."""

    def of_family(family: str, function: str) -> DeviceFunction[P, R]:
        instruction = f"{family}_{name}"
        typer = generators.extended(instruction, list(inspect.signature(template).parameters)[1:], checks.SINGLES)
        return DeviceFunction.variant(template, compute, typer, function, meaning=meaning, instruction=instruction)

    return of_family("native", name), of_family("half", f"half_{name}")


cos, half_cos = _both(_of_one, "cos", "The cosine of *x*", np.cos)
exp, half_exp = _both(_of_one, "exp", "The exponential of *x*", np.exp)
exp10, half_exp10 = _both(_of_one, "exp10", "10 to the power *x*", lambda x: np.power(type(x)(10), x))
exp2, half_exp2 = _both(_of_one, "exp2", "2 to the power *x*", np.exp2)
log, half_log = _both(_of_one, "log", "The natural logarithm of *x*", np.log)
log10, half_log10 = _both(_of_one, "log10", "The logarithm of *x* to base 10", np.log10)
log2, half_log2 = _both(_of_one, "log2", "The logarithm of *x* to base 2", np.log2)
recip, half_recip = _both(_of_one, "recip", "1 / *x*", np.reciprocal)
rsqrt, half_rsqrt = _both(_of_one, "rsqrt", "1 / sqrt(*x*)", lambda x: np.reciprocal(np.sqrt(x)))
sin, half_sin = _both(_of_one, "sin", "The sine of *x*", np.sin)
sqrt, half_sqrt = _both(_of_one, "sqrt", "The square root of *x*", np.sqrt)
tan, half_tan = _both(_of_one, "tan", "The tangent of *x*", np.tan)
divide, half_divide = _both(_of_two, "divide", "*x* / *y*", np.divide)
powr, half_powr = _both(_of_two, "powr", "*x* to the power *y*, for *x* that is not negative", np.power)


@device_function(generators.extended("fma", "abc", checks.FLOATS))
def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once (``fma``). All of one type."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    return type(a)(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))


@device_function(generators.extended("mad", "abc", checks.FLOATS))
def mad(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, fused or not, whichever is faster (``mad``). All of one type."""
    return a * b + c


@device_function(generators.extended("fmax", "xy", checks.FLOATS))
def fmax(x: Any, y: Any) -> Any:
    """The larger of two; the other where one is NaN (``fmax``). Both of one type."""
    return np.fmax(x, y)


@device_function(generators.extended("fmin", "xy", checks.FLOATS))
def fmin(x: Any, y: Any) -> Any:
    """The smaller of two; the other where one is NaN (``fmin``). Both of one type."""
    return np.fmin(x, y)


@device_function(generators.extended("rsqrt", "x", checks.FLOATS))
def inverse_sqrt(x: Any) -> Any:
    """1 / sqrt(*x*) to 2 units in the last place (``rsqrt``)."""
    return np.reciprocal(np.sqrt(x))

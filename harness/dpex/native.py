"""Fast math: the device's own approximations, and fused or reciprocal operations, by their OpenCL names.

Called in kernels; each becomes one extended instruction of the set OpenCL.std, named in its docstring. Three families:

- ``exp``, ``sin``, ``divide``, ... are ``native_*``: the hardware's instruction; accuracy and range are the device's;
- ``half_exp``, ``half_sin``, ... are ``half_*``: at least 10 bits of accuracy; ``half_cos``, ``half_sin`` and
  ``half_tan`` want arguments within plus or minus 2**16;
- ``fma``, ``mad`` and ``inverse_sqrt`` have the accuracy that OpenCL gives them.

The first two families take float32, the last float32, and float64 where the device has it. Arguments are not
converted: a Python float literal is float64, so write ``np.float32(2)``. A wrong type is a typing error when the kernel
is compiled. Nothing here is collective. In simulation (plain Python) numpy computes, to its own accuracy.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from harness.dpex._intrinsics.device_function import device_function
from harness.dpex._intrinsics.mathematics import accurate, approximate

__all__ = [
    "cos",
    "divide",
    "exp",
    "exp2",
    "exp10",
    "fma",
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


@device_function(approximate("native_cos"))
def cos(x: Any) -> Any:
    """The cosine of *x* (``native_cos``)."""
    return np.cos(x)


@device_function(approximate("native_exp"))
def exp(x: Any) -> Any:
    """The exponential of *x* (``native_exp``)."""
    return np.exp(x)


@device_function(approximate("native_exp10"))
def exp10(x: Any) -> Any:
    """10 to the power *x* (``native_exp10``)."""
    return np.power(type(x)(10), x)


@device_function(approximate("native_exp2"))
def exp2(x: Any) -> Any:
    """2 to the power *x* (``native_exp2``)."""
    return np.exp2(x)


@device_function(approximate("native_log"))
def log(x: Any) -> Any:
    """The natural logarithm of *x* (``native_log``)."""
    return np.log(x)


@device_function(approximate("native_log10"))
def log10(x: Any) -> Any:
    """The logarithm of *x* to base 10 (``native_log10``)."""
    return np.log10(x)


@device_function(approximate("native_log2"))
def log2(x: Any) -> Any:
    """The logarithm of *x* to base 2 (``native_log2``)."""
    return np.log2(x)


@device_function(approximate("native_recip"))
def recip(x: Any) -> Any:
    """1 / *x* (``native_recip``)."""
    return np.reciprocal(x)


@device_function(approximate("native_rsqrt"))
def rsqrt(x: Any) -> Any:
    """1 / sqrt(*x*) (``native_rsqrt``)."""
    return np.reciprocal(np.sqrt(x))


@device_function(approximate("native_sin"))
def sin(x: Any) -> Any:
    """The sine of *x* (``native_sin``)."""
    return np.sin(x)


@device_function(approximate("native_sqrt"))
def sqrt(x: Any) -> Any:
    """The square root of *x* (``native_sqrt``)."""
    return np.sqrt(x)


@device_function(approximate("native_tan"))
def tan(x: Any) -> Any:
    """The tangent of *x* (``native_tan``)."""
    return np.tan(x)


@device_function(approximate("native_divide", "x", "y"))
def divide(x: Any, y: Any) -> Any:
    """*x* / *y* (``native_divide``)."""
    return np.divide(x, y)


@device_function(approximate("native_powr", "x", "y"))
def powr(x: Any, y: Any) -> Any:
    """*x* to the power *y*, for *x* that is not negative (``native_powr``)."""
    return np.power(x, y)


@device_function(approximate("half_cos"))
def half_cos(x: Any) -> Any:
    """The cosine of *x* (``half_cos``)."""
    return np.cos(x)


@device_function(approximate("half_exp"))
def half_exp(x: Any) -> Any:
    """The exponential of *x* (``half_exp``)."""
    return np.exp(x)


@device_function(approximate("half_exp10"))
def half_exp10(x: Any) -> Any:
    """10 to the power *x* (``half_exp10``)."""
    return np.power(type(x)(10), x)


@device_function(approximate("half_exp2"))
def half_exp2(x: Any) -> Any:
    """2 to the power *x* (``half_exp2``)."""
    return np.exp2(x)


@device_function(approximate("half_log"))
def half_log(x: Any) -> Any:
    """The natural logarithm of *x* (``half_log``)."""
    return np.log(x)


@device_function(approximate("half_log10"))
def half_log10(x: Any) -> Any:
    """The logarithm of *x* to base 10 (``half_log10``)."""
    return np.log10(x)


@device_function(approximate("half_log2"))
def half_log2(x: Any) -> Any:
    """The logarithm of *x* to base 2 (``half_log2``)."""
    return np.log2(x)


@device_function(approximate("half_recip"))
def half_recip(x: Any) -> Any:
    """1 / *x* (``half_recip``)."""
    return np.reciprocal(x)


@device_function(approximate("half_rsqrt"))
def half_rsqrt(x: Any) -> Any:
    """1 / sqrt(*x*) (``half_rsqrt``)."""
    return np.reciprocal(np.sqrt(x))


@device_function(approximate("half_sin"))
def half_sin(x: Any) -> Any:
    """The sine of *x* (``half_sin``)."""
    return np.sin(x)


@device_function(approximate("half_sqrt"))
def half_sqrt(x: Any) -> Any:
    """The square root of *x* (``half_sqrt``)."""
    return np.sqrt(x)


@device_function(approximate("half_tan"))
def half_tan(x: Any) -> Any:
    """The tangent of *x* (``half_tan``)."""
    return np.tan(x)


@device_function(approximate("half_divide", "x", "y"))
def half_divide(x: Any, y: Any) -> Any:
    """*x* / *y* (``half_divide``)."""
    return np.divide(x, y)


@device_function(approximate("half_powr", "x", "y"))
def half_powr(x: Any, y: Any) -> Any:
    """*x* to the power *y*, for *x* that is not negative (``half_powr``)."""
    return np.power(x, y)


@device_function(accurate("fma", "a", "b", "c"))
def fma(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once (``fma``). All of one type."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    return type(a)(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))


@device_function(accurate("mad", "a", "b", "c"))
def mad(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, fused or not, whichever is faster (``mad``). All of one type."""
    return a * b + c


@device_function(accurate("rsqrt"))
def inverse_sqrt(x: Any) -> Any:
    """1 / sqrt(*x*) to 2 units in the last place (``rsqrt``)."""
    return np.reciprocal(np.sqrt(x))

# ruff: noqa: E731, PLR0133, B007, B905
# mypy: disable-error-code="comparison-overlap"
"""Kernels as strangers write them: each is compiled and launched, and compared with the same function in plain Python.

Plain Python is `kernel_api.call_kernel`'s simulation on copies of the same arrays, or, where work-items need one
another, a formula. On the pinned stack numba-dpex compiles them, but for those that are beyond it.
"""

import math
import operator
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import dpnp
import numpy as np
import pytest
from device_kit import require

import numba_sycl as dpex
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = [pytest.mark.device, pytest.mark.nightly]

F4, F8, I1, I2, I4, I8 = np.float32, np.float64, np.int8, np.int16, np.int32, np.int64
U1, U2, U4, U8, C8, C16 = np.uint8, np.uint16, np.uint32, np.uint64, np.complex64, np.complex128
Range, NdRange = kapi.Range, kapi.NdRange
Item: TypeAlias = kapi.Item
NdItem: TypeAlias = kapi.NdItem

#: dpnp when a kernel is compiled, numpy when plain Python runs it.
numpy_or_dpnp: Any = dpnp

N = 12
UP, DOWN = np.arange(N), np.arange(N)[::-1].copy()


@dataclass
class Case:
    """A kernel, where it runs, and with what."""

    function: Callable[..., None]
    space: Any
    arguments: tuple[Any, ...]
    expected: Callable[..., Any] | None
    beyond: str


CASES: list[Case] = []


def case(space: Any, *arguments: Any, expected: Any = None, beyond: str = "") -> Any:
    """Keep a kernel.

    Args:
        space: the index space.
        arguments: numpy arrays, numbers, LocalAccessor.
        expected: gives the last array from copies of the others; else the simulation does.
        beyond: why numba-dpex does not compile it.
    """

    def keep(function: Any) -> Any:
        CASES.append(Case(function, space, arguments, expected, beyond))
        return function

    return keep


class View:
    """A view, which it stays on the device: of numpy's array, and what picks it."""

    def __init__(self, array: Any, *picks: Any) -> None:
        self.array, self.picks = array, picks

    def of(self, array: Any) -> Any:
        return array[self.picks]


def zeros(dtype: Any, *shape: int) -> Any:
    return np.zeros(shape or N, dtype)


# branches and loops


@case(Range(N), UP.astype(F4), zeros(I4))
def early_return(item: Item, x, out):
    i = item.get_id(0)
    if i >= 7:
        return
    if x[i] > 3.5:
        out[i] = 1
        return
    out[i] = 2


@case(Range(N), UP.astype(I4), zeros(I4))
def while_with_else(item: Item, x, out):
    i = item.get_id(0)
    n = x[i]
    steps = 0
    while n > 0:
        if n == 5:
            break
        n -= 2
        steps += 1
    else:
        steps += 100
    out[i] = steps


@case(Range(N), UP.astype(I8), zeros(I8))
def for_with_else_and_continue(item: Item, x, out):
    i = item.get_id(0)
    total = 0
    for k in range(20):
        if k % 3 == 0:
            continue
        if k > x[i]:
            break
        total += k
    else:
        total = -1
    out[i] = total


@case(Range(N), zeros(I8))
def ranges_with_negative_steps(item: Item, out):
    i = item.get_id(0)
    total = 0
    for k in range(i, -1, -1):
        total = total * 2 + k
    for k in range(10, 0, -3):
        total += k
    for k in range(3, 3):
        total += 1000
    out[i] = total


@case(Range(N), zeros(I8))
def a_loop_whose_variable_lives_on(item: Item, out):
    k = -1
    for k in range(item.get_id(0)):
        pass
    out[item.get_id(0)] = k


@case(Range(4), np.arange(8, dtype=I4).reshape(4, 2), zeros(I8, 4))
def collatz(item: Item, seeds, out):
    longest = 0
    for j in range(seeds.shape[1]):
        n, steps = seeds[item.get_id(0), j] + 1, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        longest = max(longest, steps)
    out[item.get_id(0)] = longest


@case(Range(N), UP.astype(F8), zeros(F8))
def ternaries_and_chained_comparisons(item: Item, x, out):
    i = item.get_id(0)
    v = x[i]
    out[i] = (1.0 if v < 3 else 2.0 if v < 6 else 3.0) + (10.0 if 2 <= v < 5 != 4 else 0.0)


@case(Range(N), UP.astype(I4), DOWN.astype(I4), zeros(I4))
def boolean_operators(item: Item, x, y, out):
    i = item.get_id(0)
    first = x[i] > 2 and y[i] > 2
    second = not first or x[i] == 4
    out[i] = int(first) + 2 * int(second) + 4 * (x[i] < y[i]) + (x[i] and 8)


@case(Range(N), zeros(I8))
def nested_loops_with_flags(item: Item, out):
    limit = item.get_id(0) + 10
    count = 0
    for p in range(2, limit):
        prime = True
        d = 2
        while d * d <= p:
            if p % d == 0:
                prime = False
                break
            d += 1
        if prime:
            count += 1
    out[item.get_id(0)] = count


# numbers


@case(Range(N), (UP - 6).astype(I8), zeros(I8, N, 4))
def floor_division_of_integers(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = x[i] // 4
    out[i, 1] = x[i] % 4
    out[i, 2] = x[i] // -4
    out[i, 3] = x[i] % -4


@case(Range(N), (UP - 5.5).astype(F8), zeros(F8, N, 3))
def floor_division_of_floats(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = x[i] // 2.0
    out[i, 1] = x[i] % 2.0
    out[i, 2] = x[i] % -2.0


@case(Range(N), (UP - 6).astype(I4), zeros(I4, N, 2), beyond="divmod")
def divmod_of_integers(item: Item, x, out):
    i = item.get_id(0)
    q, r = divmod(x[i], 5)
    out[i, 0], out[i, 1] = q, r


@case(Range(N), (UP - 4).astype(F4), zeros(F4, N, 4))
def powers(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = x[i] ** 2
    out[i, 1] = x[i] ** 3
    out[i, 2] = abs(x[i]) ** F4(0.5)
    out[i, 3] = pow(x[i] + F4(10), F4(1.5))


@case(Range(N), UP.astype(I8), zeros(I8, N, 2))
def integer_powers(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = x[i] ** 3
    out[i, 1] = 2 ** item.get_id(0)


@case(Range(N), (UP - 6).astype(I4), (DOWN - 3).astype(I4), zeros(I4))
def least_and_greatest(item: Item, x, y, out):
    i = item.get_id(0)
    out[i] = max(x[i], y[i], 0) * 10 + min(x[i], y[i]) + abs(x[i])


@case(Range(N), (UP / 4 - 1.3).astype(F8), zeros(F8, N, 5))
def rounding(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = round(x[i])
    out[i, 1] = math.floor(x[i])
    out[i, 2] = math.ceil(x[i])
    out[i, 3] = math.trunc(x[i])
    out[i, 4] = int(x[i])


@case(Range(N), (UP / 7).astype(F8), zeros(F8))
def rounding_to_digits(item: Item, x, out):
    out[item.get_id(0)] = round(x[item.get_id(0)], 2)


@case(Range(N), UP.astype(I4), zeros(F8, N, 3))
def conversions(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = float(x[i]) / 2
    out[i, 1] = int(2.9 + x[i])
    out[i, 2] = bool(x[i])


@case(Range(N), UP.astype(U4), zeros(U4, N, 6))
def bits_of_unsigned(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = x[i] & U4(6)
    out[i, 1] = x[i] | U4(8)
    out[i, 2] = x[i] ^ U4(5)
    out[i, 3] = x[i] << U4(3)
    out[i, 4] = x[i] >> U4(1)
    out[i, 5] = ~x[i]


@case(Range(N), (UP - 6).astype(I8), zeros(I8, N, 4))
def bits_of_signed(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = x[i] >> 1
    out[i, 1] = x[i] << 2
    out[i, 2] = ~x[i]
    out[i, 3] = (x[i] & 0xFF) ^ 0b1010


@case(Range(N), UP.astype(I8), zeros(I8, N, 2))
def augmented_assignments(item: Item, x, out):
    i = item.get_id(0)
    v = x[i]
    v += 3
    v *= 2
    v -= 1
    v //= 3
    v <<= 2
    v |= 1
    v ^= 6
    v %= 11
    out[i, 0] = v
    out[i, 1] += v
    out[i, 1] *= -1


@case(Range(N), *(UP.astype(t) for t in (I1, U1, I2, U2, I4, U4, I8, U8)), zeros(I8))
def all_integer_types(item: Item, a, b, c, d, e, f, g, h, out):
    i = item.get_id(0)
    out[i] = a[i] + 2 * b[i] + 3 * c[i] + 4 * d[i] + 5 * e[i] + 6 * I8(f[i]) + 7 * g[i] + 8 * I8(h[i])


@case(Range(N), *(zeros(t) for t in (I1, U1, I2, U2, I4, U4, I8, U8, F4, F8)))
def writes_to_all_types(item: Item, a, b, c, d, e, f, g, h, x, y):
    i = item.get_id(0)
    a[i] = -i
    b[i] = 250 + i // 4
    c[i] = -300 * i
    d[i] = 60000 + i
    e[i] = -70000 * i
    f[i] = 4000000000 + i
    g[i] = -(1 << 40) + i
    h[i] = (1 << 40) + i
    x[i] = i / 4
    y[i] = i / 3


@case(Range(N), UP.astype(bool), zeros(bool), zeros(I4))
def arrays_of_bool(item: Item, x, flipped, out):
    i = item.get_id(0)
    flipped[i] = not x[i]
    if x[i] and not flipped[i]:
        out[i] = 7


@case(Range(N), (UP + 1j * DOWN).astype(C8), zeros(C8, N, 3), zeros(F4, N, 2))
def complex_numbers(item: Item, z, out, parts):
    i = item.get_id(0)
    out[i, 0] = z[i] * z[i] + C8(1 - 2j)
    out[i, 1] = z[i].conjugate()
    out[i, 2] = z[i] / C8(2 + 1j)
    parts[i, 0] = z[i].real
    parts[i, 1] = z[i].imag


@case(Range(N), (UP + 1j * DOWN).astype(C16), zeros(C16), zeros(F8), beyond="complex()")
def complex_of_double_precision(item: Item, z, out, size):
    i = item.get_id(0)
    out[i] = complex(z[i].imag, 2.0) - 1j * z[i]
    size[i] = abs(z[i])


@case(Range(16), zeros(I4, 16))
def mandelbrot(item: Item, out):
    i = item.get_id(0)
    c = complex(-2.0 + (i % 4) * 0.75, -1.0 + (i // 4) * 0.66)
    z = 0j
    n = 0
    while n < 50 and z.real * z.real + z.imag * z.imag <= 4.0:
        z = z * z + c
        n += 1
    out[i] = n


@case(Range(N), (UP / 2).astype(np.float16), zeros(np.float16), beyond="float16 arithmetic")
def half_precision(item: Item, x, out):
    i = item.get_id(0)
    out[i] = x[i] * x[i] - np.float16(1)


@case(Range(N), zeros(F8), F4(1.5), I4(-3), U1(200), True, 2.25, 7, C8(1 + 2j))
def scalars_of_all_kinds(item: Item, out, f, i, u, b, d, n, z):
    out[item.get_id(0)] = f + i + u + (100 if b else 0) + d * n + z.imag


# mathematics


@case(Range(N), (UP / 13 + 0.05).astype(F8), zeros(F8, N, 14), beyond="math.fmod")
def functions_of_math(item: Item, x, out):
    i = item.get_id(0)
    v = x[i]
    out[i, 0] = math.sin(v) + math.cos(v) + math.tan(v)
    out[i, 1] = math.asin(v) + math.acos(v) + math.atan(v)
    out[i, 2] = math.sinh(v) + math.cosh(v) + math.tanh(v)
    out[i, 3] = math.exp(v) + math.expm1(v)
    out[i, 4] = math.log(v) + math.log10(v) + math.log1p(v)
    out[i, 5] = math.sqrt(v)
    out[i, 6] = math.atan2(v, 2.0)
    out[i, 7] = math.pow(v, 2.5)
    out[i, 8] = math.fmod(7.5, v)
    out[i, 9] = math.copysign(v, -1.0)
    out[i, 10] = math.erf(v) + math.erfc(v)
    out[i, 11] = math.gamma(v) + math.lgamma(v)
    out[i, 12] = math.radians(v) + math.degrees(v)
    out[i, 13] = math.hypot(v, 3.0)


@case(Range(N), (UP / 13 + 0.05).astype(F8), zeros(F8, N, 14), beyond="numpy.cbrt")
def functions_of_numpy(item: Item, x, out):
    i = item.get_id(0)
    v = x[i]
    out[i, 0] = np.sqrt(v) + np.square(v) + np.cbrt(v)
    out[i, 1] = np.exp(v) + np.exp2(v)
    out[i, 2] = np.log(v) + np.log2(v) + np.log10(v)
    out[i, 3] = np.abs(-v) + np.fabs(-v) + np.sign(-v)
    out[i, 4] = np.floor(v) + np.ceil(v) + np.trunc(v) + np.rint(v)
    out[i, 5] = np.maximum(v, 0.5) + np.minimum(v, 0.5)
    out[i, 6] = np.power(v, 1.5) + np.hypot(v, 2.0)
    out[i, 7] = np.arctan2(v, 2.0) + np.arcsin(v)
    out[i, 8] = np.sinh(v) + np.arctanh(v * 0.5)
    out[i, 9] = np.isnan(v) + np.isfinite(v)
    out[i, 10] = np.add(v, 1.0) + np.multiply(v, 2.0) + np.subtract(v, 1.0) + np.divide(v, 3.0)
    out[i, 11] = np.copysign(v, -2.0) + np.fmod(5.0, v)
    out[i, 12] = np.deg2rad(v) + np.rad2deg(v)
    out[i, 13] = np.degrees(v) + np.expm1(v) + np.log1p(v)


@case(Range(N), (UP / 13 + 0.05).astype(F8), zeros(F8))
def functions_of_dpnp(item: Item, x, out):
    v = x[item.get_id(0)]
    out[item.get_id(0)] = numpy_or_dpnp.sqrt(v) + numpy_or_dpnp.maximum(v, 0.3) + numpy_or_dpnp.arctan2(v, 2.0)


@case(Range(N), (UP / 3).astype(F4), zeros(F4))
def constants_of_modules(item: Item, x, out):
    i = item.get_id(0)
    out[i] = x[i] * F4(math.pi) + F4(np.e)


@case(Range(3), np.array([0.0, 1.0, -1.0]), zeros(F8, 3, 2))
def division_by_zero_gives_infinity(item: Item, x, out):
    i = item.get_id(0)
    with_inf = x[i] / (x[i] - x[i])
    out[i, 0] = 1.0 if math.isinf(with_inf) else 0.0
    out[i, 1] = 1.0 if math.isnan(with_inf) else 0.0


# arrays


@case(Range(N), UP.astype(F4), zeros(F4))
def negative_indices(item: Item, x, out):
    i = item.get_id(0)
    out[-1 - i] = x[i] + x[-1]


@case(Range(N), UP.astype(I4), zeros(I8, N, 5))
def lengths_and_shapes(item: Item, x, out):
    i = item.get_id(0)
    out[i, 0] = len(x)
    out[i, 1] = x.size
    out[i, 2] = x.ndim
    out[i, 3] = out.shape[1]
    out[i, 4] = x.itemsize


@case(Range(3), np.arange(60, dtype=I4).reshape(3, 4, 5), zeros(I8, 3))
def three_dimensions(item: Item, x, out):
    i = item.get_id(0)
    rows, columns = x.shape[1], x.shape[2]
    for j in range(rows):
        for k in range(columns):
            out[i] += x[i, j, k] * (j - k)


@case(Range(3, 4), np.arange(12, dtype=F4).reshape(3, 4), zeros(F4, 4, 3))
def transpose_in_two_dimensions(item: Item, x, out):
    i, j = item.get_id(0), item.get_id(1)
    out[j, i] = x[i, j]


@case(Range(2, 3, 4), zeros(I8, 2, 3, 4), zeros(I8, 24))
def linear_ids_in_three_dimensions(item: Item, out, flat):
    out[item.get_id(0), item.get_id(1), item.get_id(2)] = item.get_linear_id()
    flat[item.get_linear_id()] = item.get_range(0) * 100 + item.get_range(1) * 10 + item.get_range(2)


@case(Range(4), np.asfortranarray(np.arange(20, dtype=F8).reshape(4, 5)), zeros(F8, 4))
def fortran_order(item: Item, x, out):
    i = item.get_id(0)
    for j in range(x.shape[1]):
        out[i] += x[i, j] * (j + 1)


EVERY_SECOND = View(np.arange(40, dtype=I4).reshape(4, 10), slice(None), slice(None, None, 2))


@case(Range(4), EVERY_SECOND, View(np.arange(24, dtype=I8), slice(1, None, 3)), zeros(I8, 4))
def strided_views(item: Item, x, y, out):
    i = item.get_id(0)
    out[i] = x[i, 2] * 10 + y[i * 2] + len(y) + x[-1, -1]
    x[i, 1] = 5


@case(Range(3), View(np.arange(24, dtype=F4).reshape(2, 3, 4), 1, slice(None), slice(1, 3)), zeros(F4, 3))
def a_view_of_one_layer(item: Item, x, out):
    i = item.get_id(0)
    out[i] = x[i, 0] * 2 + x[i][1]


@case(Range(8), View(np.arange(8, dtype=I8), slice(None, None, -1)), zeros(I8, 8))
def a_reversed_view(item: Item, x, out):
    out[item.get_id(0)] = x[item.get_id(0)]


@case(Range(3), np.arange(24, dtype=F4).reshape(3, 8), zeros(F4, 3))
def rows_and_slices(item: Item, x, out):
    row = x[item.get_id(0)]
    middle = row[2:6]
    total = F4(0)
    for k in range(len(middle)):
        total += middle[k]
    out[item.get_id(0)] = total + row[::2][1] + x[:, 3][0]


@case(Range(3), np.arange(24, dtype=I4).reshape(3, 8), zeros(I8, 3))
def iteration_over_a_row(item: Item, x, out):
    total = 0
    for value in x[item.get_id(0)]:
        total += value
    out[item.get_id(0)] = total


@case(Range(3), np.arange(24, dtype=I4).reshape(3, 8), zeros(I8, 3))
def enumerate_and_zip(item: Item, x, out):
    i = item.get_id(0)
    total = 0
    for k, value in enumerate(x[i]):
        total += k * value
    for left, right in zip(x[i], x[0]):
        total += left * right
    out[i] = total


@case(Range(3), np.arange(12, dtype=F4).reshape(3, 4), zeros(F4, 3, 4))
def rows_given_to_functions(item: Item, x, out):
    i = item.get_id(0)
    scale_row(x[i], out[i], F4(3))


@case(Range(N), UP.astype(I4), zeros(I4), zeros(I4))
def types_by_dtype(item: Item, x, out, other):
    i = item.get_id(0)
    out[i] = x.dtype.type(2.7) * x[i]
    other[i] = out.dtype.type(item.get_linear_id())


@case(Range(2, 2), zeros(I4, 4, 4))
def swaps_and_unpacking(item: Item, out):
    i, j = item.get_id(0), item.get_id(1)
    a, b = i, j + 5
    a, b = b, a
    (c, d), e = (a * 2, b * 2), 7
    out[i, j] = a + 10 * b
    out[i + 2, j + 2] = c - d + e


# constants, closures, functions

TABLE = (3, 1, 4, 1, 5)
POINTS = ((0.0, 1.0), (2.0, 3.0))
WEIGHTS = np.array([0.25, 0.5, 0.25], F4)
GRID = np.arange(6, dtype=I8).reshape(2, 3)
SCALE = 2.5
OFFSET: Any = I4(11)
Pair = namedtuple("Pair", ["low", "high"])
LIMITS = Pair(2, 9)


def captured(factor: Any, bias: Any) -> Any:
    def inner(item: Item, x, out):
        i = item.get_id(0)
        out[i] = x[i] * factor + bias

    return inner


case(Range(N), UP.astype(F8), zeros(F8))(captured(3, 0.5))
case(Range(N), UP.astype(F4), zeros(F4))(captured(F4(3), F4(0.5)))


@case(Range(N), zeros(F8))
def tuples_of_constants(item: Item, out):
    i = item.get_id(0)
    total = 0.0
    for k in range(len(TABLE)):
        total += TABLE[k] * i
    out[i] = total + POINTS[1][0] + TABLE[i % 5] + TABLE[-1]


@case(Range(N), UP.astype(F4), zeros(F4), beyond="captured arrays")
def arrays_of_constants(item: Item, x, out):
    i = item.get_id(0)
    for k in range(3):
        j = i + k - 1
        if 0 <= j < x.shape[0]:
            out[i] += WEIGHTS[k] * x[j]
    out[i] += F4(GRID[1, 2])


@case(Range(N), UP.astype(F8), zeros(F8))
def global_numbers(item: Item, x, out):
    out[item.get_id(0)] = x[item.get_id(0)] * SCALE + OFFSET


@case(Range(N), UP.astype(I4), zeros(I4))
def named_tuples(item: Item, x, out):
    i = item.get_id(0)
    out[i] = 1 if LIMITS.low <= x[i] <= LIMITS.high else 0


@dpex.device_func
def scale_row(row, out, factor):
    for k in range(row.shape[0]):
        out[k] = row[k] * factor


@dpex.device_func
def squared(x):
    return x * x


@dpex.device_func
def norm(x, y):
    return math.sqrt(squared(x) + squared(y))


@dpex.device_func
def two_results(x, y):
    if x > y:
        return x, y
    return y, x


@dpex.device_func
def clamp(x, low=2, high=8):
    return min(max(x, low), high)


@dpex.device_func
def reads_the_place(item, x):
    return x[item.get_id(0)] + item.get_range(0)


@case(Range(N), UP.astype(F8), DOWN.astype(F8), UP.astype(I4), zeros(F8))
def functions_of_several_types(item: Item, x, y, n, out):
    i = item.get_id(0)
    out[i] = norm(x[i], y[i]) + squared(n[i])


@case(Range(N), UP.astype(I8), DOWN.astype(I8), zeros(I8))
def functions_with_two_results(item: Item, x, y, out):
    i = item.get_id(0)
    high, low = two_results(x[i], y[i])
    out[i] = high * 100 + low


@case(Range(N), UP.astype(I8), zeros(I8))
def defaults_and_keywords(item: Item, x, out):
    i = item.get_id(0)
    out[i] = clamp(x[i]) * 100 + clamp(x[i], high=5) + clamp(x[i], 4, 6)


@case(Range(N), UP.astype(I8), zeros(I8))
def functions_that_take_the_item(item: Item, x, out):
    out[item.get_id(0)] = reads_the_place(item, x)


def chosen(function: Any) -> Any:
    def apply(item: Item, x, out):
        i = item.get_id(0)
        out[i] = function(x[i])

    return apply


case(Range(N), UP.astype(F8), zeros(F8))(chosen(squared))
case(Range(N), UP.astype(F8), zeros(F8))(chosen(math.sqrt))
case(Range(N), UP.astype(F8), zeros(F8))(chosen(operator.neg))


@case(Range(N), UP.astype(F8), zeros(F8), beyond="closures")
def functions_in_the_kernel(item: Item, x, out):
    def shifted(v):
        return v + 0.5

    i = item.get_id(0)
    out[i] = shifted(x[i]) * shifted(2.0)


@case(Range(N), UP.astype(I8), zeros(I8))
def lambdas(item: Item, x, out):
    double = lambda v: v * 2
    out[item.get_id(0)] = double(x[item.get_id(0)])


@case(Range(N), UP.astype(I8), zeros(I8))
def raised_exceptions_end_a_work_item(item: Item, x, out):
    i = item.get_id(0)
    if x[i] < 0:
        raise ValueError("negative")
    out[i] = x[i]


# private memory, work-groups, atomics


@case(Range(N), UP.astype(F4), zeros(F4))
def private_arrays(item: Item, x, out):
    own = kapi.PrivateArray(5, dtype=F4, fill_zeros=True)
    i = item.get_id(0)
    for k in range(5):
        own[k] += x[i] * k
    total = F4(0)
    for k in range(5):
        total += own[4 - k] * (k + 1)
    out[i] = total


@case(Range(N), UP.astype(I4), zeros(I4))
def private_arrays_of_two_dimensions(item: Item, x, out):
    own = kapi.PrivateArray((3, 2), x.dtype)
    i = item.get_id(0)
    for j in range(3):
        for k in range(2):
            own[j, k] = x[i] * j + k
    out[i] = own[2, 1] * 10 + own[1, 0]


@case(Range(8), np.array([[5, 3, 9, 1]] * 8, I4) + np.arange(8, dtype=I4)[:, None], zeros(I4, 8, 4))
def insertion_sort(item: Item, x, out):
    own = kapi.PrivateArray(4, dtype=I4)
    i = item.get_id(0)
    for k in range(4):
        value = x[i, k]
        j = k - 1
        while j >= 0 and own[j] > value:
            own[j + 1] = own[j]
            j -= 1
        own[j + 1] = value
    for k in range(4):
        out[i, k] = own[k]


@case(NdRange((12,), (4,)), zeros(I8, N, 8))
def ids_of_work_groups(nd_item: NdItem, out):
    group = nd_item.get_group()
    i = nd_item.get_global_linear_id()
    out[i, 0] = nd_item.get_local_id(0)
    out[i, 1] = nd_item.get_local_range(0)
    out[i, 2] = nd_item.get_global_range(0)
    out[i, 3] = group.get_group_id(0)
    out[i, 4] = group.get_group_range(0)
    out[i, 5] = nd_item.get_local_linear_id() + group.get_group_linear_id()
    out[i, 6] = group.get_local_linear_range()
    out[i, 7] = nd_item.dimensions + group.dimensions


@case(
    NdRange((12,), (4,)),
    kapi.LocalAccessor(4, F4),
    UP.astype(F4),
    zeros(F4),
    expected=lambda x: x.reshape(3, 4)[:, ::-1].ravel(),
)
def reversed_in_local_memory(item: NdItem, tile, x, out):
    i, j = item.get_global_id(0), item.get_local_id(0)
    tile[j] = x[i]
    kapi.group_barrier(item.get_group(), kapi.MemoryScope.WORK_GROUP)
    out[i] = tile[item.get_local_range(0) - 1 - j]


@case(
    NdRange((12,), (4,)),
    kapi.LocalAccessor((4,), I8),
    UP.astype(I8),
    zeros(I8, 3),
    expected=lambda x: x.reshape(3, 4).sum(1),
)
def sums_of_groups(item: NdItem, tile, x, out):
    j = item.get_local_id(0)
    group = item.get_group()
    tile[j] = x[item.get_global_id(0)]
    step = item.get_local_range(0) // 2
    while step > 0:
        kapi.group_barrier(group)
        if j < step:
            tile[j] += tile[j + step]
        step //= 2
    if j == 0:
        out[group.get_group_id(0)] = tile[0]


@case(
    NdRange((4, 4), (2, 2)),
    kapi.LocalAccessor((2, 2), F4),
    kapi.LocalAccessor((2, 2), F4),
    np.arange(16, dtype=F4).reshape(4, 4),
    np.eye(4, dtype=F4)[::-1].copy(),
    zeros(F4, 4, 4),
    expected=lambda a, b: a @ b,
)
def tiled_product(item: NdItem, left, right, a, b, c):
    i, j = item.get_global_id(0), item.get_global_id(1)
    row, column = item.get_local_id(0), item.get_local_id(1)
    group = item.get_group()
    total = F4(0)
    for tile in range(2):
        left[row, column] = a[i, tile * 2 + column]
        right[row, column] = b[tile * 2 + row, j]
        kapi.group_barrier(group)
        for k in range(2):
            total += left[row, k] * right[k, column]
        kapi.group_barrier(group)
    c[i, j] = total


@case(Range(N), UP.astype(I4), zeros(I4, 4))
def histogram(item: Item, x, bins):
    kapi.AtomicRef(bins, x[item.get_id(0)] % 4).fetch_add(I4(1))


@case(Range(N), UP.astype(F4), np.full(1, 100, F4), np.full(1, -1, F4), zeros(F4, 1))
def atomic_extremes(item: Item, x, least, greatest, total):
    i = item.get_id(0)
    kapi.AtomicRef(least, 0).fetch_min(x[i])
    kapi.AtomicRef(greatest, index=0).fetch_max(x[i])
    ref = kapi.AtomicRef(total, 0, kapi.MemoryOrder.RELAXED, kapi.MemoryScope.DEVICE, kapi.AddressSpace.GLOBAL)
    ref.fetch_add(x[i])


@case(Range(N), UP.astype(I8), zeros(I8, 2, 2))
def atomics_on_two_dimensions(item: Item, x, out):
    i = item.get_id(0)
    ref = kapi.AtomicRef(out, index=(i % 2, 1))
    ref.fetch_or(x[i])
    kapi.AtomicRef(out, (0, 0)).fetch_sub(x[i])
    kapi.AtomicRef(out, (1, 0)).fetch_xor(x[i])


@case(
    NdRange((12,), (4,)),
    kapi.LocalAccessor(1, I4),
    UP.astype(I4),
    zeros(I4, 3),
    expected=lambda x: x.reshape(3, 4).sum(1),
)
def atomics_in_local_memory(item: NdItem, total, x, out):
    if item.get_local_id(0) == 0:
        total[0] = 0
    kapi.group_barrier(item.get_group())
    kapi.AtomicRef(total, 0, address_space=kapi.AddressSpace.LOCAL).fetch_add(x[item.get_global_id(0)])
    kapi.group_barrier(item.get_group())
    if item.get_local_linear_id() == 0:
        out[item.get_group().get_group_id(0)] = total[0]


@case(Range(1), np.arange(4, dtype=I8), zeros(I8, 2))
def methods_by_keyword(item: Item, x, out):
    ref = kapi.AtomicRef(ref=x, index=1)
    out[0] = ref.fetch_add(val=I8(3)) * 10 + item.get_id(0)
    ref.store(val=I8(7))
    out[1] = ref.exchange(val=x[3])


@case(Range(N), zeros(I8, 1), zeros(I8))
def a_fence_between_two_writes(item: Item, flag, out):
    out[item.get_id(0)] = 5
    kapi.atomic_fence(kapi.MemoryOrder.RELEASE, kapi.MemoryScope.DEVICE)
    kapi.AtomicRef(flag, 0).store(I8(1))


@case(Range(N), zeros(I8, 1), zeros(I8, 1))
def add_by_compare_exchange(item: Item, total, tries):
    expected = kapi.PrivateArray(1, I8)
    ref = kapi.AtomicRef(total, 0)
    expected[0] = ref.load()
    while not ref.compare_exchange(expected, expected[0] + item.get_id(0), 0):
        tries[0] = 0


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.function.__name__)
def test_a_kernel_gives_what_plain_python_gives(one: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if one.beyond and not is_current():
        pytest.skip(f"numba-dpex has no {one.beyond}")
    launched = [_on_device(value) for value in one.arguments]
    dpex.call_kernel(dpex.kernel(one.function), one.space, *launched)
    given = [_on_host(value) for value in one.arguments]
    if one.expected:
        given[-1] = one.expected(*(value for value in given[:-1] if isinstance(value, np.ndarray)))
    else:
        monkeypatch.setitem(one.function.__globals__, "numpy_or_dpnp", np)
        monkeypatch.setattr(type(squared), "__call__", lambda function, *args, **kws: function.py_func(*args, **kws))
        with np.errstate(all="ignore"):
            kapi.call_kernel(one.function, one.space, *given)
    for position, (found, wanted) in enumerate(zip(launched, given, strict=True)):
        if isinstance(wanted, np.ndarray):
            eps = np.finfo(wanted.dtype).eps if wanted.dtype.kind in "fc" else 0
            assert np.allclose(dpt.asnumpy(found), wanted, rtol=float(16 * eps), atol=float(16 * eps)), position


def _on_device(value: Any) -> Any:
    if isinstance(value, View):
        return value.of(_on_device(value.array))
    if isinstance(value, np.ndarray):
        require(value.real.dtype)
        return dpt.asarray(value)
    return value


def _on_host(value: Any) -> Any:
    if isinstance(value, View):
        return value.of(_on_host(value.array))
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def test_functions_of_dpnp_are_known_within_a_run_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pytest.importorskip(
        "xebench.dpex.direct_calls"
    ).install()  # as a run's worker does: a session's functions are around those of dpnp
    (one,) = (one for one in CASES if one.function.__name__ == "functions_of_dpnp")
    test_a_kernel_gives_what_plain_python_gives(one, monkeypatch)

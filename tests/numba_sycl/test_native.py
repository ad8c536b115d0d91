"""Native, half and fused math on a device, against numpy, and the instructions that they become."""

import device_kit as kit
import numpy as np
import pytest
from optional import needs

from numba_sycl import kernel, native
from numba_sycl import kernel_api as kapi

pytestmark = pytest.mark.device

X = np.linspace(0.25, 3, 64, dtype=np.float32)
Y = np.linspace(2.5, 0.5, 64, dtype=np.float32)
REFERENCE = {
    "cos": np.cos(X),
    "exp": np.exp(X),
    "exp10": 10.0**X,
    "exp2": np.exp2(X),
    "log": np.log(X),
    "log10": np.log10(X),
    "log2": np.log2(X),
    "recip": 1 / X,
    "rsqrt": 1 / np.sqrt(X),
    "sin": np.sin(X),
    "sqrt": np.sqrt(X),
    "tan": np.tan(X),
    "divide": X / Y,
    "powr": X**Y,
}


@kernel
def native_kernel(item: kapi.NdItem, x, y, out):
    i = item.get_global_id(0)
    out[0, i] = native.cos(x[i])
    out[1, i] = native.exp(x[i])
    out[2, i] = native.exp10(x[i])
    out[3, i] = native.exp2(x[i])
    out[4, i] = native.log(x[i])
    out[5, i] = native.log10(x[i])
    out[6, i] = native.log2(x[i])
    out[7, i] = native.recip(x[i])
    out[8, i] = native.rsqrt(x[i])
    out[9, i] = native.sin(x[i])
    out[10, i] = native.sqrt(x[i])
    out[11, i] = native.tan(x[i])
    out[12, i] = native.divide(x[i], y[i])
    out[13, i] = native.powr(x[i], y[i])


@kernel
def half_kernel(item: kapi.NdItem, x, y, out):
    i = item.get_global_id(0)
    out[0, i] = native.half_cos(x[i])
    out[1, i] = native.half_exp(x[i])
    out[2, i] = native.half_exp10(x[i])
    out[3, i] = native.half_exp2(x[i])
    out[4, i] = native.half_log(x[i])
    out[5, i] = native.half_log10(x[i])
    out[6, i] = native.half_log2(x[i])
    out[7, i] = native.half_recip(x[i])
    out[8, i] = native.half_rsqrt(x[i])
    out[9, i] = native.half_sin(x[i])
    out[10, i] = native.half_sqrt(x[i])
    out[11, i] = native.half_tan(x[i])
    out[12, i] = native.half_divide(x[i], y[i])
    out[13, i] = native.half_powr(x[i], y[i])


# half_* promises 10 bits relative to the result; near a zero of log or cos a native function is only absolutely close.
@pytest.mark.parametrize(("family", "function"), [("native", native_kernel), ("half", half_kernel)])
def test_approximations_are_close_and_are_the_instruction(family, function):
    out = kit.launch(function, 64, 32, X, Y, np.zeros((len(REFERENCE), 64), np.float32))[2]
    for row, (name, expected) in zip(out, REFERENCE.items(), strict=True):
        np.testing.assert_allclose(row, expected, rtol=2**-9, atol=2**-10, err_msg=name)

    text = kit.spirv_of(function, 32, X, Y, out).llvm_ir
    for name in REFERENCE if text else ():  # our own compiler keeps none
        symbol = f"__spirv_ocl_{family}_{name}"
        assert f"_Z{len(symbol)}{symbol}f" in text


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fused_operations(dtype):
    kit.require(dtype)

    @kernel
    def fused(item: kapi.NdItem, x, y, out):
        i = item.get_global_id(0)
        out[0, i] = native.fma(x[i], y[i], -(x[i] * y[i]))
        out[1, i] = native.mad(x[i], y[i], x[i])
        out[2, i] = native.inverse_sqrt(x[i])

    x, y = np.sqrt(X.astype(dtype)), np.sqrt(Y.astype(dtype))
    out = kit.launch(fused, 64, 32, x, y, np.zeros((3, 64), dtype))[2]

    rest = [native.fma(a, b, -(a * b)) for a, b in zip(x, y, strict=True)]
    assert out[0].tolist() == rest, "fma rounds once: what is left of a product is exact"
    assert any(rest)
    np.testing.assert_allclose(out[1], x * y + x, rtol=float(4 * np.finfo(dtype).eps))
    np.testing.assert_allclose(out[2], 1 / np.sqrt(x), rtol=float(4 * np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_larger_and_the_smaller_of_two(dtype):
    kit.require(dtype)

    @kernel
    def extrema(item: kapi.NdItem, x, y, out):
        i = item.get_global_id(0)
        out[0, i] = native.fmax(x[i], y[i])
        out[1, i] = native.fmin(x[i], y[i])

    x, y = X.astype(dtype), Y.astype(dtype)
    x[3], y[5], x[7], y[7] = np.nan, np.nan, -np.inf, np.nan
    out = kit.launch(extrema, 64, 32, x, y, np.zeros((2, 64), dtype))[2]
    np.testing.assert_array_equal(out, [np.fmax(x, y), np.fmin(x, y)])
    assert not np.isnan(out).any()


def test_native_functions_take_float32_only():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = native.exp(2.0)  # wrong

    assert kit.refused(wrong, X) == "native.exp: x is float64, but must be float32"


def test_all_operands_have_one_type():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = native.fma(x[0], x[1], 1.0)  # wrong

    assert kit.refused(wrong, X) == "native.fma: c is float64, but must be float32 like a"


def test_integers_are_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = native.inverse_sqrt(4)  # wrong

    assert kit.refused(wrong, X) == "native.inverse_sqrt: x is int64, but must be float32 or float64"


@needs("ocloc")
@pytest.mark.parametrize("gpu", kit.GPUS)
@pytest.mark.parametrize("function", [native_kernel, half_kernel], ids=["native", "half"])
def test_every_function_compiles_for_intel_gpus(gpu, function, tmp_path):
    compiled = kit.spirv_of(function, 32, X, Y, np.zeros((len(REFERENCE), 64), np.float32))
    assert kit.Assembly(compiled, gpu, tmp_path).simd in (8, 16, 32)

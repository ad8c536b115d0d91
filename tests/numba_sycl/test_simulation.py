"""Kernels' functions in plain Python, under numba-dpex's own simulation."""

import inspect

import numpy as np
import pytest

from numba_sycl import atomics, errors, native, sub_group, vector, work_group
from numba_sycl import kernel_api as kapi
from numba_sycl.code_generation.device_function import DeviceFunction
from numba_sycl.errors import NotSimulated

pytestmark = pytest.mark.device

MODULES = (atomics, native, sub_group, vector, work_group)
FUNCTIONS = [
    getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if isinstance(getattr(module, name), DeviceFunction)
]


def test_every_function_has_a_code_generator_a_docstring_and_a_signature():
    from numba_sycl.code_generation.checks import DeviceFunctionType

    assert len(FUNCTIONS) > 80
    for function in FUNCTIONS:
        assert isinstance(function._numba_type_, DeviceFunctionType)
        assert function._numba_type_ is function._numba_type_
        assert function.__doc__
        assert "{" not in function.__doc__
        assert inspect.isroutine(function)
        assert inspect.signature(function).return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_function_knows_the_name_under_which_it_is_found(module):
    functions = {name: vars(module)[name] for name in module.__all__}
    names = {name: f.label for name, f in functions.items() if isinstance(f, DeviceFunction)}
    assert names
    assert names == {name: f"{module.__name__.removeprefix('numba_sycl.')}.{name}" for name in names}


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if "group" in f.label], ids=lambda f: f.label)
def test_group_functions_say_that_they_need_a_device(function):
    arguments = [0 for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    with pytest.raises(NotSimulated) as caught:
        function(*arguments)
    assert isinstance(caught.value, NotImplementedError)
    assert str(caught.value).startswith(f"{function.label} needs ")
    assert "\n" not in str(caught.value)


def test_vectors_in_a_range_kernel():
    def double(item: kapi.Item, x, y, z):
        i = item.get_id(0) * 4
        a, b, c, d = vector.load4(x, i)
        vector.store4(y, i, 2 * a, 2 * b, (2 * c), 2 * d)
        vector.store2_unaligned(z, i + 1, vector.load2_unaligned(x, i + 1))

    x = np.arange(16, dtype=np.float32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    kapi.call_kernel(double, kapi.Range(4), x, y, z)
    assert y.tolist() == (2 * x).tolist()
    assert z.tolist() == [v if i % 4 in (1, 2) else 0 for i, v in enumerate(x.tolist())]


def test_vectors_in_local_memory_and_rows():
    def copy(item: kapi.NdItem, x, y, window):
        row = item.get_global_id(0)
        vector.store8(window, 0, vector.load8(x, (row, 8)))
        vector.store8(y, (row, 0), vector.load8(window, 0))

    x = np.arange(64).reshape(4, 16)
    y = np.zeros_like(x)
    kapi.call_kernel(copy, kapi.NdRange((4,), (2,)), x, y, kapi.LocalAccessor(8, np.int64))
    assert (y[:, :8] == x[:, 8:]).all()
    assert not y[:, 8:].any()


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (vector.load4, (2,), "index is 2, but must be a multiple of 4"),
        (vector.load4, (-4,), "index is -4, but must not be negative"),
        (vector.store4, (0, 1, 2, 3), "3 value"),
        (vector.store4, (0, (1, 2)), "2 value"),
    ],
)
def test_simulated_misuse_is_refused_like_on_the_device(function, arguments, message):
    with pytest.raises(errors.ArgumentError, match=message):
        function(np.zeros(8), *arguments)


def test_atomics_return_the_old_value_and_wrap_around():
    x = np.array([250, 3, 7, 0b1100, 0b1100, 0b1100, 4], np.uint32)
    results = [
        atomics.fetch_add(x, 0, 10),
        atomics.fetch_sub(x, 1, 5),
        atomics.fetch_min(x, 2, 6),
        atomics.fetch_and(x, 3, 0b1010),
        atomics.fetch_or(x, 4, 0b1010),
        atomics.fetch_xor(x, 5, 0b1010),
        atomics.fetch_max(x, 6, 9, order=kapi.MemoryOrder.SEQ_CST, scope=kapi.MemoryScope.SYSTEM),
    ]
    assert results == [250, 3, 7, 12, 12, 12, 4]
    assert x.tolist() == [260, 2**32 - 2, 6, 0b1000, 0b1110, 0b0110, 9]


def test_atomics_in_a_kernel():
    def histogram(item: kapi.Item, x, counts):
        atomics.fetch_add(counts, (0, x[item.get_id(0)]), 1)

    x = np.array([0, 2, 2, 1, 2])
    counts = np.zeros((1, 3), np.uint64)
    kapi.call_kernel(histogram, kapi.Range(5), x, counts)
    assert counts.tolist() == [[1, 1, 3]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_math_keeps_the_type(dtype):
    x, y = dtype(1.5), dtype(0.25)
    for name in native.__all__:
        function = getattr(native, name)
        arguments = (x, y, x)[: len(inspect.signature(function).parameters)]
        assert type(function(*arguments)) is dtype, name
    assert native.half_exp10(dtype(2)) == 100
    assert native.recip(dtype(4)) == native.rsqrt(dtype(16)) == native.inverse_sqrt(dtype(16)) == 0.25


def test_simulated_fma_rounds_once():
    x = np.float64(1 + 2**-30)
    assert native.fma(x, x, -(x * x)) == 2**-60
    assert np.isinf(native.fma(np.float32(np.inf), np.float32(2), np.float32(1)))

"""Vector access on a device, against numpy: every width and type, global and local memory, views."""

import re
from functools import lru_cache

import device_kit as kit
import dpnp
import numpy as np
import pytest
from optional import needs

from numba_sycl import PreparedLaunch, build, compile_kernel, errors, kernel, vector
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

ITEMS, LONGEST = 24, 16
COUNT = ITEMS * LONGEST


@lru_cache
def access_kernel(shift):
    """Loads of every width to the rows of ``loaded``, stores of every width to those of ``stored``."""
    names = [f"{kind}{width}{'_unaligned' if shift else ''}" for kind in ("load", "store") for width in vector.WIDTHS]
    load2, load4, load8, load16, store2, store4, store8, store16 = (getattr(vector, name) for name in names)

    @kernel
    def access(item: kapi.NdItem, x, loaded, stored):
        i = item.get_global_id(0) * LONGEST
        at = i + shift
        a, b = load2(x, at)
        loaded[0, i], loaded[0, i + 1] = a, b
        a, b, c, d = load4(x, at)
        loaded[1, i], loaded[1, i + 1], loaded[1, i + 2], loaded[1, i + 3] = a, b, c, d
        values = load8(x, at)
        for k in range(8):
            loaded[2, i + k] = values[k]
        values16 = load16(x, at)
        for k in range(16):
            loaded[3, i + k] = values16[k]

        store2(stored, (0, at), x[i], x[i + 1])
        pair, more = (x[i], x[i + 1]), (x[i + 2], x[i + 3])
        store4(stored, (1, at), (x[i], x[i + 1], x[i + 2], x[i + 3]))
        rest = (x[i + 4], x[i + 5], x[i + 6], x[i + 7])
        store8(stored, (2, at), pair + more + rest)
        last = (x[i + 8], x[i + 9], x[i + 10], x[i + 11], x[i + 12], x[i + 13], x[i + 14], x[i + 15])
        store16(stored, (3, at), *pair, *more, *rest, *last)

    return access


def expected_of(x, shift):
    """Row r holds the first ``vector.WIDTHS[r]`` of every sixteen elements."""
    rows = np.zeros((4, len(x)), x.dtype)
    for row, width in zip(rows, vector.WIDTHS, strict=True):
        row.reshape(-1, LONGEST)[:, :width] = x.reshape(-1, LONGEST)[:, :width]
    return np.roll(rows, shift, axis=1)


# The unaligned forms differ in a number only, which depends on the width of the type.
CASES = [*((dtype, 0) for dtype in kit.DTYPES), *((dtype, 1) for dtype in (np.uint8, np.int16, np.float32, np.int64))]


@pytest.mark.parametrize(("dtype", "shift"), CASES)
def test_vectors_are_loaded_and_stored(dtype, shift):
    kit.require(dtype)
    x = kit.sample_of(dtype, COUNT + LONGEST)
    rows = np.zeros((4, COUNT), dtype), np.zeros((4, COUNT + LONGEST), dtype)
    loaded, stored = kit.launch(access_kernel(shift), ITEMS, 8, x, *rows)[1:]
    assert (loaded == expected_of(np.roll(x, -shift)[:COUNT], 0)).all()
    x[COUNT:] = 0
    assert (stored == expected_of(x, shift)).all()


def test_values_are_converted_as_an_assignment_would():
    @kernel
    def convert(item: kapi.NdItem, x, y):
        vector.store4(x, 0, 1, 2.75, True, np.uint8(200))
        vector.store2(y, 0, (np.int64(7), 2.5))

    x, y = kit.launch(convert, 1, 1, np.zeros(4, np.int32), np.zeros(2, np.float32))
    assert x.tolist() == [1, 2, 1, 200]
    assert y.tolist() == [7, 2.5]


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.int64])
def test_local_memory(dtype):
    @kernel
    def reverse(item: kapi.NdItem, x, out, odd, window):
        local, i = item.get_local_id(0), item.get_global_id(0) * 4
        odd[local] = local
        vector.store4(window, local * 4, vector.load4(x, i))
        kapi.group_barrier(item.get_group())
        a, b, c, d = vector.load4(window, (7 - local) * 4)
        vector.store4(out, i, d, c, b, a)

    x = kit.sample_of(dtype, 64)
    # The promised alignment of the second holds in spite of the first one's odd size.
    windows = (kapi.LocalAccessor(9, np.int8), kapi.LocalAccessor(32, dtype))
    out = kit.launch(reverse, 16, 8, x, np.zeros_like(x), *windows)[1]
    assert out.tolist() == [*x[:32][::-1], *x[32:][::-1]]


def test_the_promised_alignment_is_in_the_code():
    @kernel
    def copy(item: kapi.NdItem, x, window):
        i = item.get_global_id(0) * 16
        vector.store4(x, i, vector.load4(x, i + 16))
        vector.store16(x, i, vector.load16_unaligned(x, i + 1))
        vector.store4(window, i, vector.load4(window, i + 4))
        vector.store2_unaligned(window, i + 1, vector.load2_unaligned(window, i + 3))

    x = np.zeros(64, np.int64)
    text = kit.spirv_of(copy, 1, x, kapi.LocalAccessor(64, np.int64)).llvm_ir
    accesses = re.findall(r"(load|store) <(2|4|16) x i64>.*align (\d+)", text)
    assert accesses == [
        ("load", "4", "32"),
        ("store", "4", "32"),
        ("load", "16", "8"),
        ("store", "16", "64"),  # what allocations have; SPIR-V's own for 16 of 8 bytes would be 128
        ("load", "4", "16"),  # what launches place LocalAccessors at
        ("store", "4", "16"),
        ("load", "2", "8"),
        ("store", "2", "8"),
    ]


def test_every_local_accessor_starts_at_a_multiple_of_16_bytes():
    @kernel
    def touch(item: kapi.NdItem, x, odd, even):
        x[0] = odd[0, 0] + even[0]

    x = dpt.zeros(1, dtype="f4")
    accessors = kapi.LocalAccessor((3, 3), np.int8), kapi.LocalAccessor(6, np.float32)
    space = kapi.NdRange((1,), (1,))
    queue = x.sycl_queue
    compiled = compile_kernel(touch, space, (x, *accessors))
    launch = PreparedLaunch(build(compiled, queue), queue, space, (x, *accessors))
    assert launch.local_bytes == 16 + 32


def test_rows_of_a_matrix():
    @kernel
    def transpose_blocks(item: kapi.NdItem, x, out):
        row, column = item.get_global_id(0), item.get_global_id(1) * 4
        vector.store4(out, (row, 12 - column), vector.load4(x, (row, column)))

    x = np.arange(8 * 16, dtype=np.float32).reshape(8, 16)
    out = kit.launch(transpose_blocks, (8, 4), (8, 4), x, np.zeros_like(x))[1]
    assert (out == x.reshape(8, 4, 4)[:, ::-1].reshape(8, 16)).all()


@pytest.mark.parametrize("make", [np.zeros, dpt.zeros, dpnp.zeros], ids=["numpy", "dpctl", "dpnp"])
def test_alignment_is_checked_before_a_launch(make):
    x = make(256, dtype="float32")
    start = (-address(x) // 4) % 16  # numpy aligns to 16 bytes only
    for width in vector.WIDTHS:
        vector.check_alignment(x[start:], width)
        vector.check_alignment(x[start + width :], width)
        with pytest.raises(
            errors.ArgumentError, match=f"multiple of {4 * width} bytes, and this one is 4 bytes beyond"
        ):
            vector.check_alignment(x[start + 1 :], width)
    with pytest.raises(errors.ArgumentError, match="contiguous"):
        vector.check_alignment(x[::2], 4)
    with pytest.raises(errors.ArgumentError, match="2, 4, 8 or 16"):
        vector.check_alignment(x, 3)


def address(array):
    array = array.get_array() if hasattr(array, "get_array") else array
    return array.ctypes.data if isinstance(array, np.ndarray) else array._pointer


def test_rows_of_an_odd_length_are_refused():
    vector.check_alignment(dpt.zeros((4, 12), dtype="float32"), 4)
    with pytest.raises(errors.ArgumentError, match="rows of a multiple of 8 elements, and these have 12"):
        vector.check_alignment(dpt.zeros((4, 12), dtype="float32"), 8)


def test_allocations_fit_every_width_and_type():
    for dtype in kit.DTYPES:
        for width in vector.WIDTHS:
            vector.check_alignment(dpt.empty(32, dtype=dtype), width)


def test_a_constant_index_is_checked():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = vector.load4(x, 6)[0]  # wrong

    assert kit.refused(wrong, np.zeros(16, np.float32)) == (
        "vector.load4: index is 6, but must be a multiple of 4, or use the unaligned form"
    )


def test_a_negative_index_is_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        vector.store2_unaligned(x, -2, x[0], x[1])  # wrong

    assert kit.refused(wrong, np.zeros(16, np.float32)) == (
        "vector.store2_unaligned: index is -2, but must not be negative"
    )


def test_values_are_counted():
    @kernel
    def wrong(item: kapi.NdItem, x):
        vector.store4(x, 0, x[0], x[1], x[2])  # wrong

    assert kit.refused(wrong, np.zeros(16, np.float32)) == "vector.store4: 3 value(s) given, but 4 are stored"


def test_private_arrays_are_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        mine = kapi.PrivateArray(4, np.float32)
        x[0] = vector.load4(mine, 0)[0]  # wrong

    assert kit.refused(wrong, np.zeros(16, np.float32)) == (
        "vector.load4: array is in private memory, but must be in global or local memory"
    )


def test_complex_elements_are_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        vector.store2(x, 0, x[0], x[1])  # wrong

    assert kit.refused(wrong, np.zeros(16, np.complex64)).startswith(
        "vector.store2: the array's dtype is complex64, but must be int8, "
    )


def test_a_value_must_be_a_number():
    @kernel
    def wrong(item: kapi.NdItem, x):
        vector.store2(x, 0, x[0], (x[1], x[2]))  # wrong

    assert "a value is UniTuple(float32 x 2), but must be a real number" in kit.refused(wrong, np.zeros(16, np.float32))


@lru_cache
def copy_kernel(width):
    load, store = getattr(vector, f"load{width}"), getattr(vector, f"store{width}")

    @kernel(sub_group_size=16)
    def copy(item: kapi.NdItem, x, y):
        i = item.get_global_id(0) * width
        store(y, i, load(x, i))

    return copy


@needs("ocloc")
@pytest.mark.parametrize("width", vector.WIDTHS)
@pytest.mark.parametrize("gpu", kit.GPUS)
def test_a_vector_is_as_few_messages_as_the_hardware_allows(gpu, width, tmp_path):
    x = np.zeros(1024, np.float32)
    assembly = kit.Assembly(kit.spirv_of(copy_kernel(width), 64, x, x), gpu, tmp_path)
    widest = min(width, 8 if gpu == "pvc" else 4)
    for kind in ("load", "store"):
        messages = [message for message in assembly.messages if message.startswith(kind)]
        assert messages == [f"{kind}.ugm.d32x{widest}"] * (width // widest)


@needs("ocloc")
def test_unaligned_and_local_access_is_wide_too(tmp_path):
    @kernel(sub_group_size=16)
    def copy(item: kapi.NdItem, x, y, window):
        i, local = item.get_global_id(0) * 4, item.get_local_id(0) * 4
        vector.store4(window, local, vector.load4_unaligned(x, i + 1))
        kapi.group_barrier(item.get_group())
        vector.store4_unaligned(y, i + 1, vector.load4(window, 252 - local))

    x = np.zeros(1024, np.float32)
    arguments = (x, x, kapi.LocalAccessor(256, np.float32))
    assembly = kit.Assembly(kit.spirv_of(copy, 64, *arguments), "pvc", tmp_path)
    assert assembly.messages == ["load.ugm.d32x4", "store.slm.d32x4", "load.slm.d32x4", "store.ugm.d32x4"]

"""Misuse of sub-group functions is one line at compile time, with the kernel's line, and no driver is asked."""

import device_kit as kit
import numpy as np
import pytest

from numba_sycl import kernel, sub_group
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

X = np.zeros(64, np.float32)
SQUARE = np.zeros((8, 8), np.float32)


def test_a_boolean_cannot_be_added():
    @kernel
    def wrong(item: kapi.NdItem, x):
        i = item.get_global_id(0)
        x[i] = sub_group.reduce_add(x[i] > 0)  # wrong

    assert kit.refused(wrong, X) == (
        "sub_group.reduce_add: value is bool, but must be int8, uint8, int16, uint16, int32, uint32, int64, uint64, "
        "float16, float32 or float64"
    )


def test_a_lane_must_be_an_integer():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = sub_group.shuffle(x[0], x[1])  # wrong

    assert kit.refused(wrong, X) == "sub_group.shuffle: lane is float32, but must be an integer"


def test_a_shift_must_be_an_integer():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = sub_group.shuffle_up(x[0], 1.0)  # type: ignore[arg-type]  # wrong

    assert kit.refused(wrong, X) == "sub_group.shuffle_up: delta is float64, but must be an integer"


def test_a_predicate_is_no_float():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = sub_group.any(x[0])  # wrong

    assert kit.refused(wrong, X) == "sub_group.any: predicate is float32, but must be a boolean or an integer"


def test_arguments_are_counted():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = sub_group.broadcast(x[0])  # type: ignore[call-arg]  # wrong

    assert kit.refused(wrong, X).startswith("sub_group.broadcast: missing a required argument: 'lane'")


def test_a_block_has_as_many_values_as_its_name_says():
    @kernel
    def wrong(item: kapi.NdItem, x):
        sub_group.block_write4(x, 0, (x[0], x[1], x[2]))  # wrong

    assert kit.refused(wrong, X) == "sub_group.block_write4: 3 value(s) given, but 4 are stored"


def test_a_block_is_not_read_from_local_memory():
    @kernel
    def wrong(item: kapi.NdItem, x, window):
        x[0] = sub_group.block_read(window, 0)  # wrong

    assert kit.refused(wrong, X, kapi.LocalAccessor(16, np.float32)) == (
        "sub_group.block_read: array is in local memory, but must be in global memory"
    )


def test_a_block_is_contiguous():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = sub_group.block_read(x, 0)  # wrong

    assert kit.refused(wrong, dpt.asarray(X)[::2]) == (
        "sub_group.block_read: array has layout A, but its elements must be contiguous (layout C)"
    )


def test_an_index_has_a_part_for_each_dimension():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0, 0] = sub_group.block_read(x, 0)  # wrong

    assert kit.refused(wrong, SQUARE) == ("sub_group.block_read: index has 1 part(s), but the array has 2 dimension(s)")


def test_a_number_is_no_array():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = sub_group.block_read(x[0], 0)  # wrong

    assert kit.refused(wrong, X) == (
        "sub_group.block_read: array is float32, but must be a dpnp array, a usm_ndarray or a LocalAccessor"
    )


def test_a_constant_block_address_is_checked():
    @kernel
    def wrong(item: kapi.NdItem, x):
        sub_group.block_write(x, 2, x[0])  # wrong

    assert kit.refused(wrong, X) == ("sub_group.block_write: index is 2, but must be a multiple of 16 bytes in float32")


def test_a_negative_block_address_is_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0, 0] = sub_group.block_read2(x, (0, -16))[0]  # wrong

    assert kit.refused(wrong, SQUARE) == "sub_group.block_read2: index is -16, but must not be negative"

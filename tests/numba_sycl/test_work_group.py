"""Work-group functions on a device, against numpy, in work-groups that are no multiple of any sub-group size."""

from functools import lru_cache

import device_kit as kit
import numpy as np
import pytest

from numba_sycl import kernel, work_group
from numba_sycl import kernel_api as kapi

pytestmark = pytest.mark.device

GROUP, GROUPS = 44, 3
ITEMS = GROUP * GROUPS
DTYPES = (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64)


@lru_cache
def combine_kernel(size):
    @kernel(sub_group_size=size)
    def combine(item: kapi.NdItem, x, out):
        i = item.get_global_id(0)
        out[0, i] = work_group.reduce_add(x[i])
        out[1, i] = work_group.reduce_min(x[i])
        out[2, i] = work_group.reduce_max(x[i])
        out[3, i] = work_group.inclusive_scan_add(x[i])
        out[4, i] = work_group.exclusive_scan_add(x[i])
        out[5, i] = work_group.broadcast(x[i], item.get_local_range(0) - 2)

    return combine


@pytest.mark.parametrize("size", [None, 8, 16, 32])
@pytest.mark.parametrize("dtype", DTYPES)
def test_work_items_combine_values(dtype, size):
    kit.require(dtype, size)
    x = kit.sample_of(dtype, ITEMS)
    out = kit.launch(combine_kernel(size), ITEMS, GROUP, x, np.zeros((6, ITEMS), dtype))[1]

    for start in range(0, ITEMS, GROUP):
        v, got = x[start : start + GROUP], out[:, start : start + GROUP]
        total = np.cumsum(v, dtype=dtype)
        assert set(got[0].tolist()) == {total[-1]}
        assert set(got[1].tolist()) == {v.min()}
        assert set(got[2].tolist()) == {v.max()}
        assert got[3].tolist() == total.tolist()
        assert got[4].tolist() == [0, *total[:-1]]
        assert set(got[5].tolist()) == {v[-2]}


@kernel
def vote(item: kapi.NdItem, x, out):
    i = item.get_global_id(0)
    out[0, i] = work_group.any(x[i] == 1)
    out[1, i] = work_group.all(x[i] > 0)
    out[2, i] = work_group.any(x[i] & 4)
    out[3, i] = work_group.all(x[i])


def test_votes():
    x = np.random.default_rng(5).integers(0, 4, ITEMS, dtype=np.int32)
    x[:GROUP] = 2
    x[GROUP : 2 * GROUP] = 5
    out = kit.launch(vote, ITEMS, GROUP, x, np.full((4, ITEMS), -1, np.int32))[1]

    assert out[:, ::GROUP].T.tolist() == [[0, 1, 0, 1], [0, 1, 1, 1], [1, 0, 0, 0]]
    assert (out == np.repeat(out[:, ::GROUP], GROUP, axis=1)).all()


@pytest.mark.parametrize(
    ("group", "source"), [((11,), (4,)), ((11, 4), (7, 2)), ((11, 2, 2), (7, 1, 0))], ids=["1d", "2d", "3d"]
)
def test_broadcast_names_its_source_in_the_order_of_get_local_id(group, source):
    @kernel
    def spread1(item: kapi.NdItem, x, out):
        i = item.get_global_linear_id()
        out[i] = work_group.broadcast(x[i], (4,))

    @kernel
    def spread2(item: kapi.NdItem, x, out):
        i = item.get_global_linear_id()
        out[i] = work_group.broadcast(x[i], (np.int32(7), 2))  # type: ignore[arg-type]  # integers of any type

    @kernel
    def spread3(item: kapi.NdItem, x, out):
        i = item.get_global_linear_id()
        out[i] = work_group.broadcast(x[i], (7, 1, 0))

    spread = (spread1, spread2, spread3)[len(group) - 1]
    x = np.arange(np.prod(group), dtype=np.int32)
    out = kit.launch(spread, group, group, x, np.zeros_like(x))[1]
    assert set(out.tolist()) == {int(np.ravel_multi_index(source, group))}


def test_a_scan_goes_along_the_first_dimension():
    @kernel
    def positions(item: kapi.NdItem, out):
        out[item.get_local_id(0), item.get_local_id(1)] = work_group.exclusive_scan_add(1)

    (out,) = kit.launch(positions, (6, 4), (6, 4), np.zeros((6, 4), np.int64))
    assert out.tolist() == np.arange(24).reshape(4, 6).T.tolist()


def test_each_function_is_the_instruction_that_its_docstring_names():
    out = np.zeros((6, ITEMS), np.int32)
    compiled = [kit.spirv_of(vote, GROUP, out[0], out)]
    for dtype in (np.int32, np.uint32, np.float32):
        compiled.append(kit.spirv_of(combine_kernel(None), GROUP, out[0].astype(dtype), out.astype(dtype)))
    named = kit.documented_instructions(work_group)
    assert len(named) == 11
    assert named <= kit.instructions(*compiled)


def test_narrow_types_are_refused_since_drivers_crash_on_them():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = work_group.reduce_add(x[0])  # wrong

    expected = "work_group.reduce_add: value is int8, but must be int32, uint32, int64, uint64, float32 or float64"
    assert kit.refused(wrong, np.zeros(64, np.int8)) == expected


def test_a_local_id_has_at_most_three_parts():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = work_group.broadcast(x[0], (0, 0, 0, 0))  # wrong

    assert kit.refused(wrong, np.zeros(64, np.int32)) == (
        "work_group.broadcast: local_id has 4 parts, but a work-group has one to three dimensions"
    )


def test_a_local_id_must_be_an_integer():
    @kernel
    def wrong(item: kapi.NdItem, x):
        x[0] = work_group.broadcast(x[0], (0, 0.5))  # type: ignore[arg-type]  # wrong

    assert kit.refused(wrong, np.zeros(64, np.int32)) == (
        "work_group.broadcast: local_id is float64, but must be an integer"
    )

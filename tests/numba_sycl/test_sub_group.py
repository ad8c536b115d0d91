"""Sub-group functions on a device, against numpy; the last sub-group of each work-group is a partial one."""

from functools import lru_cache

import device_kit as kit
import numpy as np
import pytest

from numba_sycl import device_func, kernel, sub_group
from numba_sycl import kernel_api as kapi
from numba_sycl.kernel_api import group_barrier

pytestmark = pytest.mark.device

GROUP, GROUPS = 44, 2  # 44 is a multiple of neither 8 nor 16 nor 32
ITEMS = GROUP * GROUPS
SIZES = (8, 16, 32)
#: The size that kernels of the guide ask for; of the others every type is nightly.
USUAL = 16


def rarely(size):
    return () if size == USUAL else pytest.mark.nightly


def ids_kernel(size):
    @kernel(sub_group_size=size)
    def ids(item: kapi.NdItem, out):
        i = item.get_global_linear_id()
        out[0, i] = item.get_group().get_group_linear_id()
        out[1, i] = sub_group.group_id()
        out[2, i] = sub_group.local_id()
        out[3, i] = sub_group.size()
        out[4, i] = sub_group.max_size()
        out[5, i] = sub_group.num_groups()

    return ids


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("extents", [(GROUP,), (11, 4)], ids=["1d", "2d"])
def test_every_work_item_is_one_lane_of_one_sub_group(size, extents):
    kit.require(sub_group_size=size)
    items = (extents[0] * GROUPS, *extents[1:])
    out = kit.launch(ids_kernel(size), items, extents, np.full((6, ITEMS), -1, np.int32))[0]
    group, number, lane, lanes, most, count = out

    assert (most == size).all()
    if len(extents) == 1:  # in two dimensions the device decides how rows are cut
        assert (count == -(-GROUP // size)).all()
    members_of_each = list(kit.sub_groups(group, number, lane))
    assert len(members_of_each) == GROUPS * count[0]
    for members in members_of_each:
        assert lane[members].tolist() == list(range(len(members)))
        assert (lanes[members] == len(members)).all()
    assert sum(len(members) for members in members_of_each) == ITEMS


@lru_cache
def exchange_kernel(size):
    @kernel(sub_group_size=size)
    def exchange(item: kapi.NdItem, x, ids, out):
        i = item.get_global_id(0)
        lane = sub_group.local_id()
        lanes = sub_group.size()
        ids[0, i] = item.get_group().get_group_id(0)
        ids[1, i] = sub_group.group_id()
        ids[2, i] = lane
        out[0, i] = sub_group.shuffle(x[i], lanes - 1 - lane)
        out[1, i] = sub_group.shuffle_xor(x[i], 1)
        out[2, i] = sub_group.shuffle_up(x[i], np.uint8(2))  # type: ignore[arg-type]  # an integer of any type
        out[3, i] = sub_group.shuffle_down(x[i], 3)
        out[4, i] = sub_group.broadcast(x[i], lanes - 2)
        out[5, i] = sub_group.reduce_add(x[i])
        out[6, i] = sub_group.reduce_min(x[i])
        out[7, i] = sub_group.reduce_max(x[i])
        out[8, i] = sub_group.inclusive_scan_add(x[i])
        out[9, i] = sub_group.exclusive_scan_add(x[i])

    return exchange


@pytest.mark.parametrize("size", [pytest.param(size, marks=rarely(size)) for size in SIZES])
@pytest.mark.parametrize("dtype", kit.DTYPES)
def test_lanes_exchange_and_combine_values(dtype, size):
    kit.require(dtype, size)
    x = kit.sample_of(dtype, ITEMS)
    ids, out = kit.launch(
        exchange_kernel(size), ITEMS, GROUP, x, np.zeros((3, ITEMS), np.int32), np.zeros((10, ITEMS), dtype)
    )[1:]

    for members in kit.sub_groups(*ids):
        v, got, n = x[members], out[:, members], len(members)
        total = np.cumsum(v, dtype=dtype)
        assert got[0].tolist() == v[::-1].tolist()
        assert got[1].tolist() == v[np.arange(n) ^ 1].tolist()
        assert got[2][2:].tolist() == v[:-2].tolist()
        assert got[3][:-3].tolist() == v[3:].tolist()
        assert got[4].tolist() == [v[-2]] * n
        assert got[5].tolist() == [total[-1]] * n
        assert got[6].tolist() == [v.min()] * n
        assert got[7].tolist() == [v.max()] * n
        assert got[8].tolist() == total.tolist()
        assert got[9].tolist() == [0, *total[:-1]]


@lru_cache
def vote_kernel(size):
    @kernel(sub_group_size=size)
    def vote(item: kapi.NdItem, x, ids, out, masks):
        i = item.get_global_id(0)
        ids[0, i] = item.get_group().get_group_id(0)
        ids[1, i] = sub_group.group_id()
        ids[2, i] = sub_group.local_id()
        out[0, i] = sub_group.any(x[i] == 1)
        out[1, i] = sub_group.all(x[i] != 1)
        out[2, i] = sub_group.any(x[i] & 4)
        out[3, i] = sub_group.all(x[i] & 3)
        masks[0, i] = sub_group.ballot(x[i] > 2)
        masks[1, i] = sub_group.ballot(x[i])
        if x[i] > 4:
            masks[2, i] = sub_group.ballot(True)

    return vote


def bits(lanes):
    return sum(1 << lane for lane in np.flatnonzero(lanes).tolist())


@pytest.mark.parametrize("size", (*SIZES, 64))
def test_votes(size):
    kit.require(sub_group_size=size)
    x = np.random.default_rng(3).integers(0, 8, ITEMS, dtype=np.int32)
    x[: min(size, GROUP)] = 6  # one sub-group that agrees
    ids, out, masks = kit.launch(
        vote_kernel(size),
        ITEMS,
        GROUP,
        x,
        np.zeros((3, ITEMS), np.int32),
        np.zeros((4, ITEMS), np.int32),
        np.zeros((3, ITEMS), np.uint64),
    )[1:]

    for members in kit.sub_groups(*ids):
        v = x[members]
        expected = [(v == 1).any(), (v != 1).all(), (v & 4).any(), (v & 3).all()]
        assert out[:, members].T.tolist() == [expected] * len(members)
        for row, holds in zip(masks[:2, members], (v > 2, v != 0), strict=True):
            assert set(row.tolist()) == {bits(holds)}
        assert masks[2, members].tolist() == [bits(v > 4) if voter else 0 for voter in v > 4]
    assert len(set(out[0].tolist())) == 2, "the sample must contain both answers"


@lru_cache
def barrier_kernel(size):
    @kernel(sub_group_size=size)
    def rotate(item: kapi.NdItem, x, out, window):
        i = item.get_global_id(0)
        local = item.get_local_id(0)
        lane = sub_group.local_id()
        window[local] = x[i]
        sub_group.barrier()
        first = local - lane
        out[i] = window[first + (lane + 1) % sub_group.size()]
        group_barrier(item.get_group())

    return rotate


@pytest.mark.parametrize("size", SIZES)
def test_barrier_makes_local_memory_visible(size):
    kit.require(sub_group_size=size)
    x = np.arange(ITEMS, dtype=np.float32)
    out = kit.launch(barrier_kernel(size), ITEMS, GROUP, x, np.zeros_like(x), kapi.LocalAccessor(GROUP, np.float32))[1]

    for start in range(0, ITEMS, GROUP):
        for first in range(start, start + GROUP, size):
            members = x[first : min(first + size, start + GROUP)]
            assert out[first : first + len(members)].tolist() == np.roll(members, -1).tolist()


@lru_cache
def block_kernel(size):
    @kernel(sub_group_size=size)
    def blocks(item: kapi.NdItem, x, read, written):
        lane = sub_group.local_id()
        lanes = sub_group.max_size()
        number = item.get_group().get_group_id(0) * sub_group.num_groups() + sub_group.group_id()
        base = number * 8 * lanes
        if sub_group.size() == lanes:
            a = sub_group.block_read(x, base)
            b0, b1 = sub_group.block_read2(x, base)
            c0, c1, c2, c3 = sub_group.block_read4(x, base)
            d0, d1, d2, d3, d4, d5, d6, d7 = sub_group.block_read8(x, base)
            read[0, base + lane] = a
            for k, b in enumerate((b0, b1)):
                read[1, base + k * lanes + lane] = b
            for k, c in enumerate((c0, c1, c2, c3)):
                read[2, base + k * lanes + lane] = c
            for k, d in enumerate((d0, d1, d2, d3, d4, d5, d6, d7)):
                read[3, base + k * lanes + lane] = d
            sub_group.block_write(written, (0, base), x[base + lane])
            sub_group.block_write2(written, (1, base), x[base + lane], x[base + lanes + lane])
            at = base + lane
            four = (x[at], x[at + lanes], x[at + 2 * lanes], x[at + 3 * lanes])
            sub_group.block_write4(written, (2, base), four)
            at += 4 * lanes
            sub_group.block_write8(
                written, (3, base), *four, x[at], x[at + lanes], x[at + 2 * lanes], x[at + 3 * lanes]
            )

    return blocks


# Blocks are moved as unsigned integers, so one type of each width tells the rest at sizes other than 16.
BLOCK_CASES = [
    *((dtype, 16) for dtype in kit.DTYPES),
    *(
        pytest.param(dtype, size, marks=rarely(size))
        for size in (8, 32)
        for dtype in (np.uint8, np.int16, np.float32, np.float64)
    ),
]


@pytest.mark.parametrize(("dtype", "size"), BLOCK_CASES)
def test_blocks_are_read_and_written_in_lane_order(dtype, size):
    kit.require(dtype, size)
    kit.require_blocks(size)
    per_group = -(-GROUP // size)
    span = 8 * size
    x = kit.sample_of(dtype, GROUPS * per_group * span)
    zeros = np.zeros((4, len(x)), dtype)
    read, written = kit.launch(block_kernel(size), ITEMS, GROUP, x, zeros, zeros)[1:]

    expected = np.zeros_like(zeros)
    for number in range(GROUPS * per_group):
        if number % per_group < GROUP // size:  # the partial sub-group leaves its block alone
            for row, width in enumerate((1, 2, 4, 8)):
                block = slice(number * span, number * span + width * size)
                expected[row, block] = x[block]
    assert (read == expected).all()
    assert (written == expected).all()
    assert expected.any(axis=1).all()


@device_func
def butterfly_sum(value):
    distance = sub_group.size() // 2
    while distance > 0:
        value += sub_group.shuffle_xor(value, distance)
        distance //= 2
    return value


@pytest.mark.parametrize("size", SIZES)
def test_device_functions_and_loops(size):
    kit.require(sub_group_size=size)

    @kernel(sub_group_size=size)
    def total(item: kapi.NdItem, x, out):
        i = item.get_global_id(0)
        out[i] = butterfly_sum(x[i])

    x = np.arange(128, dtype=np.float32)
    out = kit.launch(total, 128, 64, x, np.zeros_like(x))[1]
    assert out.tolist() == np.repeat(x.reshape(-1, size).sum(axis=1), size).tolist()


def test_each_function_is_the_core_instruction_that_its_docstring_names():
    ids = np.zeros((3, ITEMS), np.int32)
    core = []
    for dtype in (np.int32, np.uint32, np.float32):
        x = np.zeros(ITEMS, dtype)
        core.append(kit.spirv_of(exchange_kernel(16), GROUP, x, ids, np.zeros((10, ITEMS), dtype)))
    x = np.zeros(ITEMS, np.int32)
    masks = np.zeros((3, ITEMS), np.uint64)
    core.append(kit.spirv_of(vote_kernel(16), GROUP, x, ids, np.zeros((4, ITEMS), np.int32), masks))
    real = x.astype(np.float32)
    core.append(kit.spirv_of(barrier_kernel(16), GROUP, real, real, kapi.LocalAccessor(GROUP, np.float32)))
    square = np.zeros((4, ITEMS), np.int32)
    blocks = kit.spirv_of(block_kernel(16), GROUP, x, square, square)

    named = kit.documented_instructions(sub_group)
    assert len(named) == 19
    assert named <= kit.instructions(*core, blocks)
    assert "SPV_INTEL_subgroups" not in kit.instructions(*core)
    assert "SPV_INTEL_subgroups" in kit.instructions(blocks)

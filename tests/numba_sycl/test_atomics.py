"""Atomic read-modify-write on a device: every operation and type, global and local memory, order and scope."""

import re

import device_kit as kit
import numpy as np
import pytest
from optional import needs

from numba_sycl import atomics, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.kernel_api import MemoryOrder, MemoryScope

pytestmark = pytest.mark.device

ITEMS, GROUP = 256, 32
INTEGERS = (np.int32, np.uint32, np.int64, np.uint64)
FLOATS = (np.float32, np.float64)


@kernel
def arithmetic(item: kapi.NdItem, x, total, old):
    i = item.get_global_id(0)
    old[i] = atomics.fetch_add(total, 0, x.dtype.type(1))
    atomics.fetch_sub(total, 1, x[i])
    atomics.fetch_min(total, 2, x[i])
    atomics.fetch_max(total, 3, x[i])


@kernel
def negative(item: kapi.NdItem, x, total, table):
    atomics.fetch_add(total, -1, x[0])
    kapi.AtomicRef(total, -2).fetch_add(x[0])
    atomics.fetch_max(table, (-1, -3), x[0])


@kernel
def bits(item: kapi.NdItem, x, total):
    i = item.get_global_id(0)
    atomics.fetch_and(total, 0, x[i])
    atomics.fetch_or(total, 1, x[i])
    atomics.fetch_xor(total, 2, x[i])


def extremes(dtype):
    """The neutral elements of minimum and maximum."""
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    return limits.max, limits.min


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_arithmetic(dtype):
    kit.require_atomics(dtype)
    x = kit.sample_of(dtype, ITEMS)
    start = np.array([0, 5, *extremes(dtype)], dtype)
    total, old = kit.launch(arithmetic, ITEMS, GROUP, x, start, np.zeros(ITEMS, dtype))[1:]

    assert sorted(old.tolist()) == list(range(ITEMS)), "every work-item saw a value of its own"
    with np.errstate(over="ignore"):
        assert total.tolist() == [ITEMS, start[1] - x.sum(dtype=dtype), x.min(), x.max()]


def test_a_negative_index_counts_from_the_end():
    x, total, table = np.array([5], np.int32), np.zeros(4, np.int32), np.zeros((2, 3), np.int32)
    total, table = kit.launch(negative, 1, 1, x, total, table)[1:]
    assert total.tolist() == [0, 0, 5, 5]
    assert table.tolist() == [[0, 0, 0], [5, 0, 0]]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits(dtype):
    kit.require_atomics(dtype)
    rng = np.random.default_rng(1)
    x = (
        np.where(rng.random(ITEMS) < 0.01, 0, -1).astype(dtype)
        ^ dtype(5)
        ^ (rng.integers(0, 2, ITEMS) << 3).astype(dtype)
    )
    total = kit.launch(bits, ITEMS, GROUP, x, np.array([-1, 0, 0]).astype(dtype))[1]
    expected = [np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]
    assert total.tolist() == expected
    assert len(set(expected)) == 3


@pytest.mark.parametrize("dtype", (np.uint32, np.int32, np.float32))
def test_local_memory_and_matrices(dtype):
    @kernel
    def histogram(item: kapi.NdItem, x, counts, mine):
        local = item.get_local_id(0)
        if local < 4:
            mine[local] = 0
        kapi.group_barrier(item.get_group())
        atomics.fetch_add(mine, x[item.get_global_id(0)], 1)
        kapi.group_barrier(item.get_group())
        if local < 4:
            atomics.fetch_add(counts, (local // 2, local % 2), mine[local])

    x = np.random.default_rng(2).integers(0, 4, ITEMS, dtype=np.int32)
    counts = np.zeros((2, 2), dtype)
    counts = kit.launch(histogram, ITEMS, GROUP, x, counts, kapi.LocalAccessor(4, dtype))[1]
    assert counts.ravel().tolist() == np.bincount(x, minlength=4).tolist()


@kernel
def orders_and_scopes(item: kapi.NdItem, x):
    atomics.fetch_add(x, 0, 1)
    atomics.fetch_add(x, 0, 1, MemoryOrder.ACQUIRE, MemoryScope.WORK_ITEM)
    atomics.fetch_add(x, 0, 1, order=MemoryOrder.RELEASE, scope=MemoryScope.SUB_GROUP)
    atomics.fetch_add(x, 0, 1, scope=MemoryScope.WORK_GROUP, order=MemoryOrder.ACQ_REL)
    atomics.fetch_add(x, 0, 1, order=MemoryOrder.SEQ_CST)
    atomics.fetch_add(x, 0, 1, scope=MemoryScope.SYSTEM)


@pytest.mark.numba_dpex
def test_order_and_scope_are_operands_of_the_instruction():
    (x,) = kit.launch(orders_and_scopes, ITEMS, GROUP, np.zeros(1, np.uint32))
    assert x[0] == 6 * ITEMS

    text = kit.spirv_of(orders_and_scopes, GROUP, x).llvm_ir
    calls = re.findall(
        r"call spir_func i32 @_Z18__spirv_AtomicIAdd\w+\(i32 addrspace\(1\)\* %\w+, i32 (\d), i32 (\d+)", text
    )
    memory = 0x80 | 0x100 | 0x200
    device, work_group, sub_group, invocation, cross_device = 1, 2, 3, 4, 0
    assert [(int(scope), int(semantics) - memory) for scope, semantics in calls] == [
        (device, 0),
        (invocation, 2),
        (sub_group, 4),
        (work_group, 8),
        (device, 16),
        (cross_device, 0),
    ]


def test_each_function_is_the_instruction_that_its_docstring_names():
    compiled = [kit.spirv_of(bits, GROUP, np.zeros(4, np.uint32), np.zeros(4, np.uint32))]
    for dtype in (np.int32, np.uint32, np.float32):
        x = np.zeros(4, dtype)
        compiled.append(kit.spirv_of(arithmetic, GROUP, x, x, x))
    named = kit.documented_instructions(atomics)
    assert len(named) == 12
    assert named <= kit.instructions(*compiled)


def test_an_order_must_be_a_literal():
    @kernel
    def wrong(item: kapi.NdItem, x):
        atomics.fetch_add(x, 0, 1, order=item.get_global_id(0))  # wrong

    assert kit.refused(wrong, np.zeros(4, np.uint32)) == (
        "atomics.fetch_add: order is int64, but must be a literal: the instruction depends on it"
    )


def test_an_order_must_exist():
    @kernel
    def wrong(item: kapi.NdItem, x):
        atomics.fetch_add(x, 0, 1, order=MemoryOrder.CONSUME_UNSUPPORTED)  # wrong

    assert kit.refused(wrong, np.zeros(4, np.uint32)) == (
        "atomics.fetch_add: order is 2, but must be RELAXED, ACQUIRE, RELEASE, ACQ_REL or SEQ_CST"
    )


def test_floats_have_no_bits():
    @kernel
    def wrong(item: kapi.NdItem, x):
        atomics.fetch_or(x, 0, 1)  # wrong

    assert kit.refused(wrong, np.zeros(4, np.float32)) == (
        "atomics.fetch_or: the array's dtype is float32, but must be int32, uint32, int64 or uint64"
    )


def test_narrow_types_are_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        atomics.fetch_add(x, 0, 1)  # wrong

    assert kit.refused(wrong, np.zeros(4, np.uint8)).startswith("atomics.fetch_add: the array's dtype is uint8, but")


def test_a_float_does_not_become_an_integer():
    @kernel
    def wrong(item: kapi.NdItem, x):
        atomics.fetch_add(x, 0, 1.5)  # wrong

    assert kit.refused(wrong, np.zeros(4, np.uint32)) == (
        "atomics.fetch_add: value is float64, but the array holds uint32"
    )


def test_private_arrays_are_refused():
    @kernel
    def wrong(item: kapi.NdItem, x):
        mine = kapi.PrivateArray(4, np.uint32)
        x[0] = atomics.fetch_add(mine, 0, 1)  # wrong

    assert kit.refused(wrong, np.zeros(4, np.uint32)) == (
        "atomics.fetch_add: array is in private memory, but must be in global or local memory"
    )


@needs("ocloc")
@pytest.mark.parametrize("gpu", kit.GPUS)
@pytest.mark.parametrize("dtype", (np.uint32, np.float32, np.uint64))
def test_every_function_compiles_for_intel_gpus(gpu, dtype, tmp_path):
    x = np.zeros(64, dtype)
    assert kit.Assembly(kit.spirv_of(arithmetic, 32, x, x, x), gpu, tmp_path).simd in (8, 16, 32)
    if np.dtype(dtype).kind == "u":
        (tmp_path / "bits").mkdir()
        assert kit.Assembly(kit.spirv_of(bits, 32, x, x), gpu, tmp_path / "bits").simd in (8, 16, 32)


@needs("ocloc")
@pytest.mark.parametrize("gpu", kit.GPUS)
def test_only_an_order_costs_fences(gpu, tmp_path):
    @kernel
    def relaxed(item: kapi.NdItem, x):
        atomics.fetch_add(x, 0, 1)

    @kernel
    def sequential(item: kapi.NdItem, x):
        atomics.fetch_add(x, 0, 1, order=MemoryOrder.SEQ_CST)

    x = np.zeros(64, np.uint32)
    for function, fences in ((relaxed, False), (sequential, True)):
        folder = tmp_path / function.py_func.__name__
        folder.mkdir()
        assert ("fence.ugm" in kit.Assembly(kit.spirv_of(function, 32, x), gpu, folder).text) == fences

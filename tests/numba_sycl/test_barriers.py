"""What a barrier fences: local memory alone, where a kernel can exchange nothing else across it."""

import re
from typing import Any

import numpy as np
import pytest
from device_kit import bounded_text

from numba_sycl import atomics, compile_kernel, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

SIZE = 64


def fences(run: Any) -> str:
    """Of each barrier of a kernel, in order: "l" for local memory, "a" for all."""
    x = dpt.zeros(SIZE, dtype="i4")
    arguments = (x, dpt.zeros(SIZE, dtype="i4"), kapi.LocalAccessor(SIZE, np.int32))
    compiled = compile_kernel(run, kapi.NdRange((SIZE,), (SIZE,)), arguments)
    text = bounded_text(compiled) or compiled.llvm_ir or ""
    return "".join({"272": "l", "912": "a"}[number] for number in re.findall(r"i32 (272|912)\)", text))


@kernel
def by_local_memory(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    total = np.int32(0)
    for first in range(0, x.shape[0], SIZE):
        slm[i] = x[first + i]
        kapi.group_barrier(item.get_group())
        total = np.int32(total + slm[SIZE - 1 - i])
        kapi.group_barrier(item.get_group())
    y[i] = total


@kernel
def by_local_memory_in_place(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    slm[i] = x[i]
    kapi.group_barrier(item.get_group())
    x[SIZE - 1 - i] = slm[i]


@kernel
def by_sums_in_local_memory(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    own = np.int32(0)
    for k in range(i, x.shape[0], SIZE):
        own = np.int32(own + x[k])
    slm[i] = own
    half = SIZE // 2
    while half > 0:
        kapi.group_barrier(item.get_group())
        if i < half:
            slm[i] += slm[i + half]
        half = half // 2
    if i == 0:
        y[0] = slm[0]


@kernel
def nothing_is_written_later(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    held = x[SIZE - 1 - i]
    slm[i] = held
    kapi.group_barrier(item.get_group())
    slm[i] = np.int32(held + slm[SIZE - 1 - i])


@kernel
def by_global_memory(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    x[i] = np.int32(i)
    kapi.group_barrier(item.get_group())
    y[i] = x[SIZE - 1 - i]


@kernel
def by_global_memory_in_the_next_round(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    for _ in range(4):
        slm[i] = x[SIZE - 1 - i]
        kapi.group_barrier(item.get_group())
        x[i] = np.int32(slm[i] + 1)


@kernel
def held_while_others_write(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    held = x[SIZE - 1 - i]
    kapi.group_barrier(item.get_group())
    x[i] = held


@kernel
def held_in_private_memory(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    own = kapi.PrivateArray(8, np.int32)
    for k in range(8):
        own[(k + i) % 8] = x[(i + k) % SIZE]
    kapi.group_barrier(item.get_group())
    x[i] = own[x.shape[0] % 8]


@kernel
def held_by_the_next_round(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    held = np.int32(0)
    for k in range(SIZE):
        slm[i] = held
        held = x[(i + k) % SIZE]
        kapi.group_barrier(item.get_group())
    x[i] = np.int32(held + slm[SIZE - 1 - i])


@kernel
def by_an_atomic(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    atomics.fetch_add(x, 0, np.int32(i))
    kapi.group_barrier(item.get_group())
    y[i] = x[0]


@kernel
def by_an_atomic_in_local_memory(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    atomics.fetch_add(slm, 0, x[i])
    kapi.group_barrier(item.get_group())
    y[i] = slm[0]


@kernel
def behind_a_fence(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    slm[i] = x[i]
    kapi.atomic_fence(kapi.MemoryOrder.ACQ_REL, kapi.MemoryScope.DEVICE)
    kapi.group_barrier(item.get_group())
    y[i] = slm[SIZE - 1 - i]


@kernel
def of_the_device(item: kapi.NdItem, x: Any, y: Any, slm: Any) -> None:
    i = item.get_local_id(0)
    slm[i] = x[i]
    kapi.group_barrier(item.get_group(), kapi.MemoryScope.DEVICE)
    y[i] = slm[SIZE - 1 - i]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (by_local_memory, "ll"),
        (by_local_memory_in_place, "l"),
        (by_sums_in_local_memory, "l"),
        (nothing_is_written_later, "l"),
        (by_an_atomic_in_local_memory, "l"),
        (by_global_memory, "a"),
        (by_global_memory_in_the_next_round, "a"),
        (held_while_others_write, "a"),
        (held_in_private_memory, "a"),
        (held_by_the_next_round, "a"),
        (by_an_atomic, "a"),
        (behind_a_fence, "a"),
        (of_the_device, "a"),
    ],
    ids=lambda value: getattr(getattr(value, "py_func", None), "__name__", None),
)
def test_a_barrier_fences_what_is_exchanged_across_it(run: Any, expected: str) -> None:
    assert fences(run) == expected

"""Collective calls that only some lanes reach, found in the source; no device is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numba_sycl.compiler_messages import find_divergent_call

kapi: Any = None
sub_group: Any = None
work_group: Any = None


def barrier_of_one(item, x):
    if item.get_local_id(0) == 0:
        x[0] = 1
        kapi.group_barrier(item.get_group())


def barrier_of_one_by_name(item, x):
    lane = item.get_local_id(0)
    if lane < 8:
        kapi.group_barrier(item.get_group())


def barrier_in_else(item, x):
    if item.get_local_linear_id() != 0:
        x[0] = 1
    else:
        kapi.group_barrier(item.get_group())


def shuffle_of_one_lane(item, x):
    if sub_group.local_id() == 0:
        x[0] = sub_group.shuffle(x[1], 0)


def work_group_sum_of_one_sub_group(item, x):
    if sub_group.group_id() == 0:
        x[0] = work_group.reduce_add(x[1])


def loop_of_one(item, x):
    lane = item.get_local_id(0)
    while lane == 0 and x[0] < 3:
        work_group.broadcast(x[0], 0)


def barrier_for_all(item, x):
    lane = item.get_local_id(0)
    kapi.group_barrier(item.get_group())
    if lane == 0:
        x[0] = 1


def uniform_tree(item, x, scratch):
    lane = item.get_local_id(0)
    active = item.get_local_range(0)
    while active > 1:
        half = active // 2
        kapi.group_barrier(item.get_group())
        if lane + half < active:
            scratch[lane] += scratch[lane + half]
        active = half


def one_sub_group_alone(item, x):
    if sub_group.group_id() == 0:
        x[0] = sub_group.reduce_add(x[1])


def whole_sub_groups(item, x):
    lane = item.get_local_id(0)
    if lane < 32:
        x[0] = sub_group.reduce_add(x[1])


def bound_that_may_be_uniform(item, x, n):
    i = item.get_global_id(0)
    if i < n:
        kapi.group_barrier(item.get_group())


def renamed_later(item, x):
    lane = item.get_local_id(0)
    lane = x[0]
    if lane == 0:
        kapi.group_barrier(item.get_group())


@pytest.mark.parametrize(
    ("kernel", "function", "condition", "offset"),
    [
        (barrier_of_one, "kapi.group_barrier", "item.get_local_id(0) == 0", 3),
        (barrier_of_one_by_name, "kapi.group_barrier", "lane < 8", 3),
        (barrier_in_else, "kapi.group_barrier", "item.get_local_linear_id() != 0", 4),
        (shuffle_of_one_lane, "sub_group.shuffle", "sub_group.local_id() == 0", 2),
        (work_group_sum_of_one_sub_group, "work_group.reduce_add", "sub_group.group_id() == 0", 2),
        (loop_of_one, "work_group.broadcast", "lane == 0 and x[0] < 3", 3),
    ],
)
def test_divergence_that_the_source_shows(
    kernel: Callable[..., None], function: str, condition: str, offset: int
) -> None:
    found = find_divergent_call(kernel)
    assert found is not None
    assert (found.function, found.condition) == (function, condition)
    assert found.line == kernel.__code__.co_firstlineno + offset


@pytest.mark.parametrize(
    "kernel",
    [barrier_for_all, uniform_tree, one_sub_group_alone, whole_sub_groups, bound_that_may_be_uniform, renamed_later],
)
def test_what_may_be_right_is_left_alone(kernel: Callable[..., None]) -> None:
    assert find_divergent_call(kernel) is None


def test_a_function_without_source_is_left_alone() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def made(item, x):\n    x[0] = 1\n", "<made>", "exec"), namespace)
    assert find_divergent_call(namespace["made"]) is None


@pytest.mark.device
def test_it_is_an_error_of_compilation_that_names_kernel_and_line() -> None:
    import numpy as np

    from numba_sycl import KernelCompileError, compile_kernel, kernel_api
    from numba_sycl import kernel as decorate
    from numba_sycl.tensor import tensor as dpt

    @decorate
    def one_item_waits(item: kernel_api.NdItem, x):
        if item.get_local_id(0) == 0:
            kernel_api.group_barrier(item.get_group())
        x[0] = np.float32(1)

    x = dpt.zeros(1, dtype="f4", device="cpu")
    with pytest.raises(KernelCompileError, match="kernel one_item_waits .*not every work-item") as caught:
        compile_kernel(one_item_waits, kernel_api.NdRange((64,), (32,)), (x,))
    assert caught.value.location.endswith(f"test_divergence.py:{one_item_waits.py_func.__code__.co_firstlineno + 3}")

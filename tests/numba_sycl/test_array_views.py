"""Views of arrays, of SLM and of private arrays in kernels, passed on to functions: what they compute is numpy's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numba_sycl import PreparedLaunch, build, compile_kernel, device_func, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

A = np.random.default_rng(1).random((8, 8), dtype=np.float32)
#: The sums of the first column of `A` over each half of its rows.
FIRST_COLUMN = np.repeat([A[:4, 0].sum(), A[4:, 0].sum()], 4)


@device_func
def total(values):
    sum_of_values = np.float32(0)
    for j in range(values.shape[0]):
        sum_of_values += values[j]
    return sum_of_values


@device_func
def total_of_first_half(values):
    return total(values[: values.shape[0] // 2])


@device_func
def fill(values, value):
    for j in range(values.shape[0]):
        values[j] = value


@kernel
def row(item: kapi.Item, a, out):
    i = item.get_id(0)
    values = a[i]
    out[i] = values[0] - values[values.shape[0] - 1]


@kernel
def row_to_function(item: kapi.Item, a, out):
    i = item.get_id(0)
    out[i] = total(a[i])


@kernel
def view_of_a_view(item: kapi.Item, a, out):
    i = item.get_id(0)
    out[i] = total(a[i][2:5][1:])


@kernel
def view_in_a_function(item: kapi.Item, a, out):
    i = item.get_id(0)
    out[i] = total_of_first_half(a[i])


@kernel
def column(item: kapi.Item, a, out):
    i = item.get_id(0)
    out[i] = total(a[:, i])


@kernel
def every_second(item: kapi.Item, a, out):
    i = item.get_id(0)
    out[i] = total(a[i, ::2])


@kernel
def reversed_row(item: kapi.Item, a, out):
    i = item.get_id(0)
    out[i] = a[i, ::-1][0]


@kernel
def one_of_two_views(item: kapi.Item, a, out):
    i = item.get_id(0)
    values = a[i]
    if i % 2 == 0:
        values = a[i, ::2]
    out[i] = total(values)


@kernel
def written_view(item: kapi.Item, a, out):
    i = item.get_id(0)
    fill(out[i : i + 1], a[i, 2])


@kernel
def private_view(item: kapi.Item, a, out):
    i = item.get_id(0)
    private = kapi.PrivateArray(4, np.float32)
    for j in range(4):
        private[j] = a[i, j]
    out[i] = total(private[1:3]) + total(private)


@kernel
def slm_view(item: kapi.NdItem, a, out, slm):
    i, j = item.get_global_id(0), item.get_local_id(0)
    slm[j] = a[i, 0]
    kapi.group_barrier(item.get_group())
    out[i] = total(slm[1:3]) + total(slm)


@kernel
def slm_rows(item: kapi.NdItem, a, out, slm):
    i, j = item.get_global_id(0), item.get_local_id(0)
    own = slm[j]
    for k in range(own.shape[0]):
        own[k] = a[i, k]
    kapi.group_barrier(item.get_group())
    out[i] = total(slm[3 - j])


RANGE, WORK_GROUPS = kapi.Range(8), kapi.NdRange((8,), (4,))
CASES: dict[Any, tuple[Any, ...]] = {
    row: (A[:, 0] - A[:, 7],),
    row_to_function: (A.sum(1),),
    view_of_a_view: (A[:, 3:5].sum(1),),
    view_in_a_function: (A[:, :4].sum(1),),
    column: (A.sum(0),),
    every_second: (A[:, ::2].sum(1),),
    reversed_row: (A[:, 7],),
    one_of_two_views: (np.where(np.arange(8) % 2 == 0, A[:, ::2].sum(1), A.sum(1)),),
    written_view: (A[:, 2],),
    private_view: (A[:, 1:3].sum(1) + A[:, :4].sum(1),),
    slm_view: (np.repeat([A[1:3, 0].sum(), A[5:7, 0].sum()], 4) + FIRST_COLUMN, kapi.LocalAccessor(4, np.float32)),
    slm_rows: (A.reshape(2, 4, 8)[:, ::-1].reshape(8, 8).sum(1), kapi.LocalAccessor((4, 8), np.float32)),
}


def strided(queue: Any) -> Any:
    wide = np.zeros((16, 16), np.float32)
    wide[::2, ::2] = A
    return dpt.asarray(wide, sycl_queue=queue)[::2, ::2]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda queue: dpt.asarray(A, sycl_queue=queue),
    "F": lambda queue: dpt.asarray(A, order="F", sycl_queue=queue),
    "strided": strided,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("run", CASES, ids=lambda run: str(run.py_func.__name__))
def test_a_view_is_what_numpy_says(run: Any, layout: str, queue: Any) -> None:
    expected, *local = CASES[run]
    out = dpt.zeros(8, dtype=np.float32, sycl_queue=queue)
    space, args = WORK_GROUPS if local else RANGE, (LAYOUTS[layout](queue), out, *local)
    PreparedLaunch(build(compile_kernel(run, space, args), queue), queue, space, args).submit().wait()
    np.testing.assert_allclose(dpt.asnumpy(out), expected, rtol=1e-5)

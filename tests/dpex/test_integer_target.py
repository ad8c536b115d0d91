"""Kernels of ``numba_dpex.kernel`` and of ``xebench.kernel`` in one process: each by its own compiler."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import dpctl.tensor as dpt
import numba_dpex
import numpy as np
import pytest

from xebench.dpex import PreparedLaunch, build, compile_kernel, device_func, kernel
from xebench.dpex import kernel_api as kapi

pytestmark = [pytest.mark.device, pytest.mark.numba_dpex]

SCRIPT = Path(__file__).parent / "twenty_kernels.py"


@pytest.fixture(scope="module")
def modules() -> dict[str, dict[str, Any]]:
    """What the script says, by its order."""
    orders = ("alone", "before", "after")
    processes = [
        subprocess.Popen([sys.executable, str(SCRIPT), order], stdout=subprocess.PIPE, text=True) for order in orders
    ]
    return {order: json.loads(process.communicate()[0]) for order, process in zip(orders, processes, strict=True)}


@pytest.mark.nightly
def test_numba_dpex_s_own_kernels_keep_their_bytes(modules: dict[str, dict[str, Any]]) -> None:
    alone = modules["alone"]["theirs"]
    assert len(alone[0]) == 20
    assert modules["before"]["theirs"] == alone
    assert modules["after"]["theirs"] == alone


@pytest.mark.nightly
def test_our_kernels_are_the_same_in_either_order(modules: dict[str, dict[str, Any]]) -> None:
    (ours,) = modules["before"]["ours"]
    assert modules["after"]["ours"] == [ours]
    assert not set(ours.values()) & set(modules["alone"]["theirs"][0].values())


def _third_and_rest(number: Any) -> Any:
    return 100 * (number // 3) + number % 3


def _steps(limit: Any) -> Any:
    total = 0
    for _ in range(0, limit, 2):
        total += 1
    return total


@pytest.mark.parametrize("of_kernel", [numba_dpex.kernel, kernel])
@pytest.mark.parametrize("of_function", [numba_dpex.device_func, device_func])
def test_kernels_of_both_call_device_functions_of_both(of_kernel: Any, of_function: Any, queue: Any) -> None:
    third_and_rest, steps = of_function(_third_and_rest), of_function(_steps)

    @of_kernel
    def run(item: kapi.Item, x: Any, y: Any) -> None:
        i = item.get_id(0)
        y[i] = 1000 * third_and_rest(x[i]) + steps(i)

    x = dpt.asarray(np.arange(-4, 4), dtype="i8", sycl_queue=queue)
    y, z = dpt.zeros_like(x), dpt.zeros_like(x)
    numba_dpex.call_kernel(run, kapi.Range(8), x, y)
    launch = PreparedLaunch(build(compile_kernel(run, kapi.Range(8), (x, z)), queue), queue, kapi.Range(8), (x, z))
    launch.submit().wait()
    numbers = np.arange(-4, 4)
    right = 1000 * (100 * (numbers // 3) + numbers % 3) + (np.arange(8) + 1) // 2
    assert dpt.asnumpy(y).tolist() == dpt.asnumpy(z).tolist() == right.tolist()


def test_one_device_function_serves_kernels_of_both_in_turn(queue: Any) -> None:
    theirs, ours = numba_dpex.device_func(_third_and_rest), device_func(_third_and_rest)

    def body(item: kapi.Item, x: Any) -> None:
        i = item.get_id(0)
        x[i] = theirs(x[i]) + ours(i)

    for decorator in (kernel, numba_dpex.kernel, kernel):
        x = dpt.asarray(np.arange(6), dtype="i8", sycl_queue=queue)
        numba_dpex.call_kernel(decorator(body), kapi.Range(6), x)
        numbers = np.arange(6)
        assert dpt.asnumpy(x).tolist() == (2 * (100 * (numbers // 3) + numbers % 3)).tolist()


def test_a_device_function_with_signatures_has_them_for_both(queue: Any) -> None:
    from numba_dpex import int64

    for of_function in (numba_dpex.device_func, device_func):
        third_and_rest = of_function(int64(int64))(_third_and_rest)
        for of_kernel in (kernel, numba_dpex.kernel):

            def body(item: kapi.Item, x: Any) -> None:
                x[item.get_id(0)] = third_and_rest(x[item.get_id(0)])  # noqa: B023  (compiled in this turn)

            x = dpt.asarray(np.arange(6), dtype="i4", sycl_queue=queue)
            numba_dpex.call_kernel(of_kernel(body), kapi.Range(6), x)
            assert dpt.asnumpy(x).tolist() == [0, 1, 2, 100, 101, 102]


def _series(item: kapi.Item, x: Any, n: Any) -> None:
    total = 0
    for k in range(n):
        total += k
    x[item.get_id(0)] = total


def _table(item: kapi.Item, x: Any, n: Any) -> None:
    i = item.get_id(0)
    if x[i] == 0:
        x[i] = 3
    elif x[i] == 1:
        x[i] = 5
    elif x[i] == 2:
        x[i] = 17
    elif x[i] == 3:
        x[i] = n
    elif x[i] == 4:
        x[i] = 9


def _chain(item: kapi.Item, x: Any, n: Any) -> None:
    i = item.get_id(0)
    m = i % 4
    if m == 0:
        x[i] = 5
    elif m == 1:
        x[i] = 7
    elif m == 2:
        x[i] = 11
    else:
        x[i] = n


@pytest.mark.parametrize(
    ("body", "right"), [(_series, [45] * 5), (_table, [3, 5, 17, 10, 9]), (_chain, [5, 7, 11, 10, 5])]
)
def test_our_kernels_have_no_tables_and_no_integers_of_odd_widths(body: Any, right: list[int], queue: Any) -> None:
    x = dpt.asarray(np.arange(5), dtype="i8", sycl_queue=queue)
    compiled = compile_kernel(kernel(body), kapi.Range(5), (x, 10))
    assert compiled.llvm_ir
    assert not {int(width) for width in re.findall(r"\bi(\d+)\b", compiled.llvm_ir)} - {1, 8, 16, 32, 64}
    assert "@switch" not in compiled.llvm_ir
    PreparedLaunch(build(compiled, queue), queue, kapi.Range(5), (x, 10)).submit().wait()
    assert dpt.asnumpy(x).tolist() == right


def test_pointers_of_our_kernels_do_not_go_through_integers(queue: Any) -> None:
    @kernel
    def assign(item: kapi.Item, x: Any, value: Any) -> None:
        x[item.get_id(0)] = value

    x = dpt.zeros(16, dtype="f4", sycl_queue=queue)
    compiled = compile_kernel(assign, kapi.Range(8), (x[::2], np.float32(1)))
    assert compiled.llvm_ir
    assert "inttoptr" not in compiled.llvm_ir
    numba_dpex.call_kernel(assign, kapi.Range(8), x[::2], np.float32(1))
    assert dpt.asnumpy(x).tolist() == [1.0, 0.0] * 8


def test_functions_of_math_take_integers(queue: Any) -> None:
    @kernel
    def run(item: kapi.Item, x: Any, n: Any, m: Any) -> None:
        x[0] = math.sqrt(n)
        x[1] = math.floor(m)
        x[2] = math.pow(m, 3)
        x[3] = math.isnan(n)

    x = dpt.ones(4, dtype="f8", sycl_queue=queue)
    arguments = (x, np.int64(9), np.int64(2))
    built = build(compile_kernel(run, kapi.Range(1), arguments), queue)
    PreparedLaunch(built, queue, kapi.Range(1), arguments).submit().wait()
    assert dpt.asnumpy(x).tolist() == [3, 2, 8, 0]

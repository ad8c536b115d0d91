"""The user's own numba beside our target: its functions are compiled as if there were no kernels."""

import re
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import cgutils
from numba.np import arrayobj

from numba_sycl import KernelCompileError, compile_kernel, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = [pytest.mark.device, pytest.mark.skipif(not is_current(), reason="numba-dpex compiles on this stack")]


@kernel(wraparound=False)
def copied(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = x[1:][0] + x[-1]


@kernel
def refused(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = [1, 2]


def code_of_a_new_function() -> str:
    """LLVM IR of a function that numba compiles now, without the numbers that it gives to functions."""

    def reversed_sum(x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total += x[::-1][i] + x[-i]
        return total

    function = numba.njit(reversed_sum)
    assert function(np.arange(3.0), 2) == 5.0
    (text,) = function.inspect_llvm().values()
    return re.sub(r"(?<=B)\d+|v\d+B\w+|reversed_sum_\w+|\$\w+", "", text)


def test_the_users_functions_are_compiled_as_before_the_first_kernel() -> None:
    replaced = cgutils.pointer_add, arrayobj.fix_integer_index
    assert all(function.__module__.startswith("numba.") for function in replaced)
    before = code_of_a_new_function()
    x = dpt.zeros(4, dtype="f4")
    compile_kernel(copied, kapi.Range(4), (x,))
    with pytest.raises(KernelCompileError):
        compile_kernel(refused, kapi.Range(4), (x,))
    assert (cgutils.pointer_add, arrayobj.fix_integer_index) == replaced
    assert code_of_a_new_function() == before

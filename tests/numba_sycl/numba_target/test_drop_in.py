"""A program that was written for numba-dpex, on today's Python."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import numba_sycl as dpex
from numba_sycl import ArgumentError, KernelCompileError, OptionError
from numba_sycl import kernel_api as kapi
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

PROGRAM = """
import numpy as np
{imports}
@dpex.device_func
def twice(x):
    return x + x

@dpex.kernel
def add(item: kapi.Item, a, b, c):
    i = item.get_id(0)
    c[i] = twice(a[i]) + b[i]

@dpex.kernel
def group_sums(item: kapi.NdItem, a, sums, tile):
    i = item.get_local_id(0)
    tile[i] = a[item.get_global_id(0)]
    kapi.group_barrier(item.get_group(), kapi.MemoryScope.WORK_GROUP)
    if i == 0:
        total = tile[0]
        for k in range(1, item.get_local_range(0)):
            total += tile[k]
        kapi.AtomicRef(sums, item.get_group().get_group_id(0) % 2).fetch_add(total)

import dpnp
a, b, c = dpnp.arange(64.0), dpnp.ones(64), dpnp.zeros(64)
dpex.call_kernel(add, dpex.Range(64), a, b, c)
assert np.array_equal(dpnp.asnumpy(c), 2 * np.arange(64) + 1)
_, event = dpex.call_kernel_async(add, dpex.Range(64), (), a, b, c)
event.wait()
sums = dpnp.zeros(2)
dpex.call_kernel(group_sums, dpex.NdRange((64,), (16,)), a, sums, kapi.LocalAccessor((16,), np.float64))
assert dpnp.asnumpy(sums).tolist() == [sum(range(16)) + sum(range(32, 48)), sum(range(16, 32)) + sum(range(48, 64))]
plain = np.zeros(4)
kapi.call_kernel(lambda item, x: x.__setitem__(item.get_id(0), item.get_linear_id()), kapi.Range(4), plain)
assert plain.tolist() == [0, 1, 2, 3]
print("done")
"""

IMPORTS = {
    "one changed import": "import numba_sycl as dpex\nfrom numba_sycl import kernel_api as kapi\n",
    "as numba-dpex": (
        "import numba_sycl\nnumba_sycl.as_numba_dpex()\nimport numba_dpex as dpex\n"
        "from numba_dpex import kernel_api as kapi\n"
    ),
}


@pytest.mark.parametrize("imports", IMPORTS)
def test_a_program_of_numba_dpex_runs(imports: str) -> None:
    before = "" if is_current() else "import xebench\n"  # by which numba-dpex compiles
    program = PROGRAM.format(imports=before + IMPORTS[imports])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


NAMES = """
import numba_sycl
numba_sycl.as_numba_dpex()
import dpctl.tensor as dpt, numba, numba_dpex
from numba_dpex import config
from numba_dpex.core import config as same
assert config is same and config.DUMP_KERNEL_LLVM == 0 and config.OPT == numba.core.config.OPT
assert numba_dpex.__version__ == "0.23.0" and numba_dpex.DEFAULT_LOCAL_SIZE == []
assert dpt.asarray([1]).shape == (1,)
assert numba_dpex.func(lambda x: x + 1)(1) == 2
"""


@pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")
def test_names_beside_those_of_kernels() -> None:
    done = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("numba_dpex.dpjit(print)", "NotOffered: numba_dpex.dpjit compiles functions of the host, which is not"),
        ("numba_dpex.prange(3)", "NotOffered: numba_dpex.prange makes kernels of a host function's loops, which"),
        ("numba_dpex.local", "numba-dpex 0.23 has no local: write an argument kernel_api.LocalAccessor(shape, dtype)"),
        ("d.as_numba_dpex('0.20')", "OptionError: numba_dpex 0.23.0 has been chosen in this process"),
        ("d.as_numba_dpex('0.1')", "OptionError: api='0.1': known are 0.23 and 0.20"),
    ],
)
def test_what_is_not_offered_says_so(code: str, says: str) -> None:
    code = f"import numba_sycl as d; d.as_numba_dpex(); import numba_dpex; {code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert says in done.stderr


@pytest.mark.skipif(not is_current(), reason="numba-dpex calls kernels otherwise")
def test_a_kernel_that_is_called_names_call_kernel() -> None:
    kernel: Any = dpex.kernel(total)
    words = r"^kernel total was called on the host: write call_kernel\(total, kapi.Range\(n\), ...\)"
    with pytest.raises(NotImplementedError, match=f"{words}$"):
        kernel(1)
    with pytest.raises(NotImplementedError, match=f'{words}, or call as_numba_dpex\\(api="0.20"\\)$'):
        kernel[8](1)


@pytest.mark.skipif(not is_current(), reason="numba-dpex has its own words")
def test_arrays_and_index_spaces_that_do_not_fit_say_what_to_write() -> None:
    @dpex.kernel
    def add_one(item: kapi.Item, x: Any) -> None:
        x[item.get_id(0)] += 1

    with pytest.raises(ArgumentError, match=r"^numpy arrays are not device memory: .* by dpnp.asarray\(x\)$"):
        dpex.call_kernel(add_one, dpex.Range(2), np.zeros(2))
    with pytest.raises(KernelCompileError, match="an NdItem has no get_id, an Item has: launch it with a Range, or"):
        dpex.call_kernel(add_one, dpex.NdRange((2,), (2,)), dpt.zeros(2))


def test_no_work_items_do_nothing() -> None:
    @dpex.kernel
    def add_one(item: kapi.Item, x: Any) -> None:
        x[item.get_id(0)] += 1

    x = dpt.zeros(2)
    dpex.call_kernel(add_one, kapi.Range(0), x)
    for event in dpex.call_kernel_async(add_one, kapi.Range(0), (), x):
        event.wait()
    assert dpt.asnumpy(x).tolist() == [0, 0]


def test_names_beyond_ascii() -> None:
    @dpex.device_func
    def größer(x: Any) -> Any:  # noqa: PLC2401
        return x + 1

    @dpex.kernel
    def größe(item: kapi.Item, ä: Any) -> None:  # noqa: PLC2401
        ä[item.get_id(0)] = größer(ä[item.get_id(0)])

    x = dpt.zeros(2)
    dpex.call_kernel(größe, kapi.Range(2), x)
    assert dpt.asnumpy(x).tolist() == [1, 1]


def total(item: kapi.Item, x: Any, y: Any, factor: Any) -> None:
    i = item.get_id(0)
    y[i] += x[i] * factor


@pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")
def test_a_kernel_of_given_types_takes_no_others() -> None:
    arrays = {dtype: dpex.usm_ndarray(1, "C", getattr(dpex, dtype)) for dtype in ("int32", "float32")}
    types = [(dpex.ItemType(1), array, array, array.dtype) for array in arrays.values()]
    kernel = dpex.kernel(types)(total)
    assert [str(overload) for overload in kernel.overloads] == [
        f"(Item<1>, {dtype}[:]C, {dtype}[:]C, {dtype})" for dtype in arrays
    ]
    for dtype in arrays:
        x = dpt.ones(8, dtype=dtype)
        dpex.call_kernel(kernel, kapi.Range(8), x, x, np.dtype(dtype).type(3))
        assert dpt.asnumpy(x).tolist() == [4] * 8
    x = dpt.ones(8, dtype="float64")
    with pytest.raises(KernelCompileError, match=r"launched with \(Item<1>, float64"):
        dpex.call_kernel(kernel, kapi.Range(8), x, x, 3.0)


@pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")
def test_a_device_function_of_given_types_converts() -> None:
    @dpex.device_func([dpex.int32(dpex.int32), dpex.float64(dpex.float64)])
    def more(x: Any) -> Any:
        return x + 1

    @dpex.kernel
    def apply(item: kapi.Item, x: Any, y: Any) -> None:
        i = item.get_id(0)
        y[i] = more(x[i])

    y = dpt.zeros(2, dtype="float64")
    dpex.call_kernel(apply, kapi.Range(2), dpt.asarray([1, 2], dtype="int16"), y)
    assert dpt.asnumpy(y).tolist() == [2, 3]
    dpex.call_kernel(apply, kapi.Range(2), dpt.asarray([1.5, 2.5], dtype="float32"), y)
    assert dpt.asnumpy(y).tolist() == [2.5, 3.5]


@pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")
def test_signatures_that_mean_nothing_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="as text"):
        dpex.kernel("(int32,)")
    with pytest.raises(ValueError, match="written"):
        dpex.kernel(dpex.int32)
    with pytest.raises(OptionError, match="no type of a kernel's argument"):
        dpex.kernel((dpex.ItemType(1), dpex.int32[:]))(total)
    with pytest.raises(KernelCompileError, match="returns nothing"):
        dpex.kernel(dpex.int32(dpex.ItemType(1)))(total)
    with pytest.raises(AttributeError):
        dpex.no_such_type  # noqa: B018


def test_two_types_with_one_module_are_both_launched() -> None:
    @dpex.kernel
    def copy(item: kapi.Item, x: Any, y: Any) -> None:
        y[item.get_id(0)] = x[item.get_id(0)]

    for dtype in ("int32", "uint32", "int32"):
        y = dpt.zeros(4, dtype=dtype)
        dpex.call_kernel(copy, kapi.Range(4), dpt.ones(4, dtype=dtype), y)
        assert dpt.asnumpy(y).tolist() == [1] * 4

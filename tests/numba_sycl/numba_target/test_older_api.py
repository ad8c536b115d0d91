"""Programs written for numba-dpex before 0.21, each in a process of its own: it has one API of numba-dpex."""

import subprocess
import sys

import pytest

from numba_sycl.stacks import is_current

pytestmark = [pytest.mark.device, pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")]

HEAD = """
import numba_sycl
numba_sycl.as_numba_dpex(api="0.20")
import numba_dpex as dpex, numba_dppy, dpctl, dpctl.tensor as dpt, dpnp, numpy as np
"""

LAUNCHES = """
@dpex.kernel(access_types={"read_only": ["a", "b"], "write_only": ["c"]})
def add(a, b, c):
    i = dpex.get_global_id(0)
    c[i] = a[i] + b[i]

a, c = np.arange(8.0), np.zeros(8)
add[8](a, a, c)
assert c.tolist() == (2 * a).tolist()
with dpctl.device_context("cpu"):
    add[8, numba_dppy.DEFAULT_LOCAL_SIZE](a, c, c)
assert c.tolist() == (3 * a).tolist()
d = dpt.zeros(8, np.float64)
for sizes in (dpex.Range(8), dpex.NdRange((8,), (4,)), (8, 2), ((8,), (2,))):
    d[:] = 0
    add[sizes](dpt.asarray(a), c, d)
    assert dpt.asnumpy(d).tolist() == (4 * a).tolist()
assert dpex.__version__ == "0.20.0"
"""

REFUSED = """
import numba
for call in (
    lambda: numba.vectorize(["f8(f8)"], target="dpex")(lambda x: x),
    lambda: dpex.offload_to_sycl_device("cpu"),
):
    try:
        call()
    except numba_sycl.KernelError as error:
        assert "write a kernel" in str(error) or "launch a kernel" in str(error), error
    else:
        raise AssertionError
"""

MEMORY = """
@dpex.func
def twice(x):
    return x + x

@dpex.kernel
def group_sums(a, sums):
    tile = dpex.local.array((16,), dpex.float64)
    other = dpex.local.array((2, 16), np.float64)
    own = dpex.private.array(2, np.int32)
    i = dpex.get_local_id(0)
    tile[i] = a[dpex.get_global_id(0)]
    other[1, i] = 1
    dpex.barrier(dpex.LOCAL_MEM_FENCE)
    own[1] += 3
    if i == 0:
        total = 0.0
        for k in range(dpex.get_local_size(0)):
            total += twice(tile[k]) + other[1, k]
        dpex.atomic.add(sums, dpex.get_group_id(0), total + own[0] + own[1])

sums = np.zeros(4)
group_sums[64, 16](np.arange(64.0), sums)
assert sums.tolist() == [sum(range(16 * g, 16 * g + 16)) * 2 + 16 + 3 for g in range(4)]

first = np.float32(0)

@dpex.kernel
def extents(out):
    for d in range(3):
        out[d, dpex.get_global_id(first), dpex.get_global_id(1)] = (
            1000 * dpex.get_global_size(d) + 100 * dpex.get_local_size(d)
            + 10 * dpex.get_num_groups(d) + dpex.get_group_id(d)
        )

out = np.zeros((3, 4, 6), np.int64)
extents[(4, 6), (2, 3)](out)
assert (out[0] == 4220 + np.arange(4)[:, None] // 2).all()
assert (out[1] == 6320 + np.arange(6) // 3).all()
assert (out[2] == 1110).all()
"""

WRONG = """
def says(words, call):
    try:
        call()
    except Exception as error:
        assert words in str(error) and "\\n" not in str(error), error
    else:
        raise AssertionError(words)

@dpex.kernel
def variable(a):
    tile = dpex.local.array(a.shape[0], np.float32)
    a[0] = tile[0]

@dpex.kernel
def dimension(a):
    a[dpex.get_global_id(3)] = 1

says("get_global_id means something in a kernel only", lambda: dpex.get_global_id(0))
says("older_api.local_array: shape is int64, but must be a literal", lambda: variable[8](np.zeros(8)))
says("dimension is 3, but must be 0, 1 or 2", lambda: dimension[8](np.zeros(8)))
says("give a global size, or this and the size of a work-group", lambda: variable[8, 4, 2])
says("kernel variable was called on the host: write call_kernel", lambda: variable(np.zeros(8)))
says("numba_dpex 0.20.0 has been chosen in this process", numba_sycl.as_numba_dpex)
"""


@pytest.mark.parametrize("program", [LAUNCHES, MEMORY, REFUSED, WRONG], ids=["launches", "memory", "refused", "wrong"])
def test_a_program_of_the_older_api(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

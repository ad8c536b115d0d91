"""A program that was written for numba-dpex, on today's Python."""

import subprocess
import sys

import pytest

from xebench.runtime.stack import is_current

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
    "one changed import": "import xebench.dpex as dpex\nfrom xebench import kernel_api as kapi\n",
    "as numba-dpex": (
        "import xebench.dpex\nxebench.dpex.as_numba_dpex()\nimport numba_dpex as dpex\n"
        "from numba_dpex import kernel_api as kapi\n"
    ),
}


@pytest.mark.parametrize("imports", IMPORTS)
def test_a_program_of_numba_dpex_runs(imports: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(imports=IMPORTS[imports])], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.skipif(not is_current(), reason="numba-dpex itself is here")
def test_what_is_not_offered_says_so() -> None:
    code = "import xebench.dpex as d; d.as_numba_dpex(); import numba_dpex; numba_dpex.dpjit(print)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "NeedsCompiler: numba_dpex.dpjit: numba-dpex is needed, which only the pinned" in done.stderr

"""Tests with the fixture `device_benchmark`: `pytest --benchmark-only docs/examples/test_own_kernel.py`."""

import dpctl.tensor as dpt
import dpnp
import numba_dpex as dpex
from numba_dpex import kernel_api as kapi

N = 1 << 20


@dpex.kernel
def scale(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = 3 * x[i]


def test_kernel(device_benchmark):
    x = dpt.ones(N, dtype="float32", sycl_queue=device_benchmark.queue)
    y = dpt.empty_like(x)
    device_benchmark(lambda: dpex.call_kernel(scale, kapi.Range(N), x, y), bytes_moved=8 * N)
    assert (dpt.asnumpy(y) == 3).all()


def test_fewer_temporaries(device_benchmark):
    x = dpnp.ones(N, dtype="float32", sycl_queue=device_benchmark.queue)
    y = dpnp.empty_like(x)

    def three_passes():
        dpnp.add(dpnp.multiply(x, 2), dpnp.multiply(x, 3), out=y)

    def one_pass():
        dpnp.multiply(x, 5, out=y)

    device_benchmark.compare(three_passes, one_pass, claim="faster")

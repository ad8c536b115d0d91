"""Arrays in USM: the one place that says which package has them. It needs the SYCL runtime loaded."""

from numba_sycl.errors import BrokenEnvironment

try:
    from dpctl import tensor
except ImportError:  # dpctl 0.22 gave it to dpnp
    try:
        from dpnp import tensor
    except ModuleNotFoundError as error:
        if error.name != "dpnp":
            raise
        raise BrokenEnvironment("kernels take dpnp's arrays, and dpnp is not installed: run pip install dpnp") from None

asarray, asnumpy, empty, usm_ndarray = tensor.asarray, tensor.asnumpy, tensor.empty, tensor.usm_ndarray

__all__ = ["asarray", "asnumpy", "empty", "tensor", "usm_ndarray"]

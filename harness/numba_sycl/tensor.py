"""Arrays in USM: the one place that says which package has them. It needs the SYCL runtime loaded."""

try:
    from dpctl import tensor
except ImportError:  # dpctl 0.22 gave it to dpnp
    from dpnp import tensor

asarray, asnumpy, empty, usm_ndarray = tensor.asarray, tensor.asnumpy, tensor.empty, tensor.usm_ndarray

__all__ = ["asarray", "asnumpy", "empty", "tensor", "usm_ndarray"]

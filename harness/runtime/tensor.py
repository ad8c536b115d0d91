"""Arrays in USM: the one place that says which package has them. It needs the SYCL runtime loaded."""

from dpctl.tensor import asarray, asnumpy, empty, usm_ndarray

__all__ = ["asarray", "asnumpy", "empty", "usm_ndarray"]

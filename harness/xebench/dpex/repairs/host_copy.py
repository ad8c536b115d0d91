"""Writing host values into parts of device arrays.

Symptom: ``x[1] = 5``, ``x[:] = 0``, ``dpnp_array.fill(0)`` and ``dpctl.tensor.asarray`` of a strided numpy array
fail with "could not be copied into dpctl.tensor.usm_ndarray" (error -995).
Cause: dpctl copies through a ``sycl::buffer``, for which the 2024.2 runtime wants OpenCL's
``clCreateBufferWithPropertiesINTEL``; the 2026.2 CPU driver has it under its standard name only.
Cure: where that fails, stage the values in a contiguous device array, which needs no buffer, and copy from there.
"""

from __future__ import annotations

from typing import Any

import dpctl.tensor as dpt
import numpy as np
from dpctl.tensor import _copy_utils
from dpctl.tensor import _tensor_impl as implementation


def _copy_staged(dst: Any, values: Any) -> None:
    values = np.ascontiguousarray(np.broadcast_to(values, dst.shape))
    if not dst.sycl_device.has_aspect_fp64 and values.dtype.char in "dD":
        values = values.astype(np.float32 if values.dtype.char == "d" else np.complex64)
    queue = dst.sycl_queue
    staged = dpt.empty(dst.shape, dtype=values.dtype, usm_type="device", sycl_queue=queue)
    staged.usm_data.copy_from_host(values.reshape(-1).view("u1"))
    host_event, _ = implementation._copy_usm_ndarray_into_usm_ndarray(src=staged, dst=dst, sycl_queue=queue)
    host_event.wait()


def apply() -> None:
    """Wrap dpctl's copy from numpy."""
    copy = _copy_utils._copy_from_numpy_into

    def copy_from_numpy_into(dst: Any, np_ary: Any) -> None:
        try:
            copy(dst, np_ary)
        except RuntimeError:
            _copy_staged(dst, np_ary)

    _copy_utils._copy_from_numpy_into = copy_from_numpy_into

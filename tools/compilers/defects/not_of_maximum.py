"""Intel's CPU driver (2026.2) makes ``max(a, b)`` of ``~max(a, b)``: of 32 and of 64 bits, of ``min`` too."""

import numpy as np

from xebench import kernel_api, opencl_kernel
from xebench.system import runtime

runtime.load()
from xebench.measuring.session.session import Session  # noqa: E402
from xebench.system.runtime.tensor import tensor  # noqa: E402 the runtime is loaded first

TEXT = """
__kernel void not_of_maximum(__global const int *a, __global int *r) {
    const int i = get_global_id(0);
    r[i] = ~max(a[i], a[(i + 1) % 8]);
}
"""

session = Session.on("opencl:cpu:0")
numbers = np.arange(8, dtype=np.int32) * 5 % 8
for options in ("", "-cl-opt-disable"):
    a, r = (tensor.asarray(numbers, sycl_queue=session.queue) for _ in range(2))
    session.launch(opencl_kernel(TEXT, build_options=options), kernel_api.NdRange((8,), (8,)), a, r).wait()
    print(options or "optimised", tensor.asnumpy(r), "right are", ~np.maximum(numbers, np.roll(numbers, -1)))

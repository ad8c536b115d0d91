"""A sum of two vectors that host and device share: the first elements are the device's, the rest the host's.

The host's part is numpy's, on one core. The guide's host is another SYCL device or has a team of threads.
"""

import numpy as np

from xebench import Problem, kernel, output
from xebench import kernel_api as kapi


def two_vectors(rng, n):
    """The problem: vectors of the host, and the place there for their sum."""
    a, b = rng.integers(0, 1 << 30, (2, n), dtype=np.int32)
    return Problem(
        a=a, b=b, total=output(n, np.int32, host=True), bytes_moved=12 * n, operations=n, operation_kind="int32"
    )


def added(p):
    """The reference."""
    return {"total": p.a + p.b}


GROUP = 256


@kernel
def add(item: kapi.NdItem, a, b, total):
    """A work-item for each element."""
    i = item.get_global_id(0)
    if i < total.shape[0]:
        total[i] = a[i] + b[i]


def device_part(session, p, count):
    """A function that submits the first ``count`` elements to the device, with copies there and back."""
    a, b, total = (session.alloc(max(count, 1), np.int32) for _ in range(3))
    space = kapi.NdRange((-(-max(count, 1) // GROUP) * GROUP,), (GROUP,))

    def submit():
        if count:
            session.copy(a, p.host.a[:count])
            session.copy(b, p.host.b[:count])
            session.launch(add, space, a, b, total)
            session.copy(p.total[:count], total)

    return submit


def host_part(p, first):
    """Compute the elements from ``first`` on the host."""
    np.add(p.host.a[first:], p.host.b[first:], out=p.total[first:])

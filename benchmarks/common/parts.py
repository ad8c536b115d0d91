"""Arrays that are cut into parts, one for each device, which computes its part by itself."""

import itertools

import numpy as np

from xebench import Problem, ceil_div, kernel, output
from xebench import kernel_api as kapi

GROUP = 256
FACTOR = 3


@kernel
def add_elements(item: kapi.NdItem, a, b, total):
    i = item.get_global_id(0)
    if i < total.shape[0]:
        total[i] = a[i] + b[i]


@kernel
def add_scaled(item: kapi.NdItem, a, b, total):
    i = item.get_global_id(0)
    if i < total.shape[0]:
        total[i] = a[i] + np.float32(FACTOR) * b[i]


def items(n, size=GROUP):
    """A work-item for each of n elements, in whole work-groups."""
    return kapi.NdRange((ceil_div(n, size) * size,), (size,))


def slices(n, shares):
    """Cut n elements into slices that are as large as the shares ask: none overlap, and none are left."""
    ends = np.rint(n * np.cumsum(shares) / np.sum(shares)).astype(int)
    return [slice(int(begin), int(end)) for begin, end in itertools.pairwise([0, *ends])]


def upload(session, queue, *arrays, usm="device"):
    """Copies of host arrays in memory of the queue's device, or another kind that it can access."""
    placed = [session.alloc(array.shape, array.dtype, usm=usm, queue=queue) for array in arrays]
    for target, array in zip(placed, arrays, strict=True):
        session.copy(target, array, queue=queue)
    return placed


def two_arrays(rng, n):
    """Small whole numbers, whose sums are exact in float32; the result arrives in host memory, from every device."""
    a, b = (rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.float32, host=True))


def in_parts(session, p, stream, queues, shares, size=GROUP):
    """A sample: every device computes its part ``p.rounds`` times, then sends it to the host.

    Args:
        stream: a kernel of two arrays and their result.
        queues: one for each part; its arrays lie there before the clock starts.
        shares: of the elements, by queue.
        size: of a work-group.
    """
    parts = []
    for queue, where in zip(queues, slices(p.n, shares), strict=True):
        a, b = upload(session, queue, p.host.a[where], p.host.b[where])
        parts.append((queue, where, a, b, session.alloc(a.shape, a.dtype, queue=queue)))

    def sample():
        for _ in range(p.rounds):
            for queue, _where, a, b, total in parts:
                session.launch(stream, items(total.shape[0], size), a, b, total, queue=queue)
        for queue, where, _a, _b, total in parts:
            session.copy(p.total[where], total, queue=queue)

    return sample


def speeds(session, p, stream, queues):
    """Elements that each device computes in a nanosecond, one after the other: the second run of each counts."""
    found = []
    for queue in queues:
        a, b = upload(session, queue, p.host.a, p.host.b)
        total = session.alloc(p.n, np.float32, queue=queue)
        for _ in range(2):
            event = session.launch(stream, items(p.n), a, b, total, queue=queue)
            event.wait()
        _submit_ns, start_ns, end_ns = event.times()
        found.append(p.n / max(1, end_ns - start_ns))
    return found

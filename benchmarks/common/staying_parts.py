"""Parts of a result that stay on their devices: weighted sums tell whether they are right, so that no copy is timed."""

import numpy as np

from xebench import Problem, kernel, output
from xebench import kernel_api as kapi

from . import parts

SUMS = 1 << 16  # a work-item for each: of a few thousand each would wait longer than the kernels that are timed
WEIGHTS = 31


@kernel
def fold(item: kapi.Item, x, sums, first):
    """Sums of every `SUMS`-th element of a part that begins at element ``first``, with weights."""
    i = item.get_id(0)
    total = np.int32(0)
    for k in range((i - first) % SUMS, x.shape[0], SUMS):
        total += np.int32(x[k]) * np.int32((first + k) % WEIGHTS + 1)
    sums[i] = total


def folded(x):
    """What `fold` makes of a whole array of whole numbers, or adds up to over its parts."""
    weights = np.arange(SUMS * WEIGHTS) % WEIGHTS + 1
    weights = weights.astype(np.float32).reshape(WEIGHTS, SUMS)  # sums of a period are exact in float32
    sums = np.zeros(SUMS, np.int64)
    for begin in range(0, x.size, weights.size):
        piece = x[begin : begin + weights.size].astype(np.float32)
        piece = np.pad(piece, (0, weights.size - piece.size)).reshape(weights.shape)
        sums += np.einsum("ij,ij->j", piece, weights).astype(np.int64)
    return sums.astype(np.int32)


def two_arrays(rng, n):
    """Two arrays of small whole numbers; of a result its `fold` comes to the host."""
    a, b = (rng.integers(0, 128, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, sums=output(SUMS, np.int32, host=True))


def in_parts(session, p, stream, queues, shares, size=parts.GROUP, usm="device"):
    """A sample as that of `parts`, but results stay where they are, and their `fold`, ``p.sums``, comes to the host.

    Args:
        size: of a work-group.
        usm: the kind of memory that inputs lie in.
    """
    placed = []
    for queue, where in zip(queues, parts.slices(p.n, shares), strict=True):
        a, b = parts.upload(session, queue, p.host.a[where], p.host.b[where], usm=usm)
        placed.append((queue, where.start, a, b, session.alloc(a.shape, a.dtype, queue=queue)))
    fold_all = folder(session, p, [(queue, first, total) for queue, first, _a, _b, total in placed])

    def sample():
        for _ in range(p.rounds):
            for queue, _first, a, b, total in placed:
                session.launch(stream, parts.items(total.shape[0], size), a, b, total, queue=queue)
        fold_all()

    return sample


def folder(session, p, results):
    """A function that brings the `fold` of all parts of a result to the host, and waits.

    Args:
        results: of each part a queue, the number of its first element, and the part itself.
    """
    of_parts = np.empty((len(results), SUMS), np.int32)
    there = [session.alloc(SUMS, np.int32, queue=queue) for queue, _first, _part in results]

    def fold_all():
        for of_part, sums, (queue, first, part) in zip(of_parts, there, results, strict=True):
            session.launch(fold, kapi.Range(SUMS), part, sums, first, queue=queue)
            session.copy(of_part, sums, queue=queue)
        session.wait()
        of_parts.sum(axis=0, dtype=np.int32, out=p.sums)

    return fold_all

"""Messages between ranks of MPI, and what is checked of arrays in the memory of devices that the session is not on."""

import numpy as np

from xebench import ceil_div, kernel
from xebench import kernel_api as kapi

SUMS = 1 << 16  # a work-item for each: of a few thousand each would wait as long as the messages take
GROUP = 256


@kernel
def fold(item: kapi.Item, x, sums):
    i = item.get_id(0)
    total = np.int32(0)
    for k in range(i, x.shape[0], SUMS):
        total += x[k] * np.int32(k % 31 + 1)
    sums[i] = total


def folded(x):
    """What `fold` makes of an array of int32: sums of elements with weights, which tell where one is that is wrong."""
    weighted = x.astype(np.int64) * (np.arange(x.size) % 31 + 1)
    padded = np.zeros(ceil_div(x.size, SUMS) * SUMS, np.int64)
    padded[: x.size] = weighted
    return padded.reshape(-1, SUMS).sum(axis=0)


def folder(session, x, target, queue=None):
    """A function that folds a device array, and submits the copy of its sums to the host."""
    sums = session.alloc(SUMS, np.int32, queue=queue)

    def fold_and_copy():
        session.launch(fold, kapi.Range(SUMS), x, sums, queue=queue)
        session.copy(target, sums, queue=queue)

    return fold_and_copy


def small_numbers(rng, shape):
    """Of which a few million can be folded in int32."""
    return rng.integers(0, 10, shape, dtype=np.int32)


def other_rank(comm):
    """The next rank; of two, the other."""
    return (comm.rank + 1) % comm.size


def exchange(comm, sent, received):
    """Send to the other rank what it receives here, and the other way round."""
    other = other_rank(comm)
    comm.Sendrecv(sent, dest=other, recvbuf=received, source=other)

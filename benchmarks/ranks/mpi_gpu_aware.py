"""Give MPI pointers to the device's memory, instead of copying every message to the host and back by hand.

Only a GPU-aware MPI takes such pointers, such as Intel's on Level Zero; the memory of a CPU device every MPI can read.
Without one, `copy_between_devices` shows what the way over the host costs.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common.messages import exchange
from ..common.staging import host_array

SMALL = 16  # numbers of a very small message, for which the copies by hand may do (G 18997)

pattern = Pattern(
    name="mpi_gpu_aware",
    catalogue=("mpi_naive_vs_gpu_aware",),
    guide="Using Intel MPI Library / Execution Models",
    lesson="An MPI that takes pointers to device memory moves messages by itself, and hides what that costs.",
    presets={
        "smoke": {"n": (1 << 12, 4093)},
        "default": {"n": ({"cpu": 1 << 18, "gpu": 1 << 22}, 1 << 12, SMALL)},
        "guide": {"n": 1 << 24},
    },
    own_sizes="the guide names no size",
    ranks=2,
    metric="wall",
)

LARGER = (1 << 12, 1 << 22, 1 << 24)
GPU_AWARE = Claim("faster", on=("gpu",), where={"n": LARGER}, strength="implied", source="G 18997 to 19020")


@kernel
def add(item: kapi.Item, x, values, number):
    i = item.get_id(0)
    values[i] = x[i] + number


@pattern.problem
def values(rng, n):
    return Problem(x=rng.integers(0, 100, n, dtype=np.int32), received=output(n, np.int32))


@pattern.reference
def expected(p, rank=0, ranks=1):
    """The other rank's values."""
    return {"received": p.x + (rank + 1) % ranks + 1}


def staged(session, p, sent, received):
    """A sample: the values are computed, copied to these host arrays, exchanged, and copied back."""
    values = session.alloc(p.n, np.int32)

    def sample():
        session.launch(add, kapi.Range(p.n), p.x, values, session.comm.rank + 1)
        session.copy(sent, values)
        session.wait()
        exchange(session.comm, sent, received)
        session.copy(p.received, received)

    return sample


# "This approach might still be useful for very small message sizes."
@pattern.naive(
    claim=Claim(
        "faster", against="device_pointers", on=("gpu",), where={"n": SMALL}, strength="implied", source="G 18997"
    )
)
def through_host(session, p):
    """MPI knows nothing of devices: each message is copied to an array of numpy, and from one."""
    return staged(session, p, np.empty(p.n, np.int32), np.empty(p.n, np.int32))


@pattern.intermediate(requires=("usm_host",))
def through_host_usm(session, p):
    """The same by host USM, which the device copies from and to by itself."""
    (_sent, sent), (_received, received) = (host_array(session, p.n, np.int32) for _ in range(2))
    return staged(session, p, sent, received)


@pattern.optimized(claim=GPU_AWARE)
def device_pointers(session, p):
    """MPI reads and writes the device's memory; the values must be there before it is called."""
    values = session.alloc(p.n, np.int32)
    sent, received = session.mpi_buffer(values), session.mpi_buffer(p.received)

    def sample():
        session.launch(add, kapi.Range(p.n), p.x, values, session.comm.rank + 1)
        session.wait()
        exchange(session.comm, sent, received)

    return sample

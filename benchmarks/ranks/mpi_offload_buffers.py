"""Tell Intel's MPI how many messages of device memory are under way at once, how large they are, and when to cut them.

Its library of today has other defaults than the guide prints, and has dropped one of the four variables: so every
variant sets the guide's defaults of the three others, and one that MPI does not read is skipped.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common.messages import other_rank

pattern = Pattern(
    name="mpi_offload_buffers",
    catalogue=("mpi_offload_variables",),
    guide="Using Intel MPI Library / Recommendations",
    lesson="Many device buffers at once want as many buffers of MPI; large messages want to travel in a pipeline.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "messages": 5},
        # 8 MiB each: as large as one scratch buffer of the guide, and together twice its caches
        "default": {"n": 1 << 21, "messages": 16},
        "guide": {"n": 1 << 21, "messages": 16},
    },
    own_sizes="the guide names no size",
    ranks=2,
    metric="wall",
    requires=("level_zero", "intel_gpu"),
)

MESSAGE_BYTES = 4 << 21  # at the sizes of the presets default and guide
DEFAULTS = {  # G 19358 to 19360
    "I_MPI_OFFLOAD_BUFFER_NUM": "4",
    "I_MPI_OFFLOAD_BUFFER_SIZE": str(8 << 20),
    "I_MPI_OFFLOAD_PIPELINE_THRESHOLD": "524288",
}


@kernel
def add(item: kapi.Item, x, sent, number):
    row, i = item.get_id(1), item.get_id(0)
    sent[row, i] = x[row, i] + number


@pattern.problem
def rows(rng, n, messages):
    x = rng.integers(0, 100, (messages, n), dtype=np.int32)
    return Problem(x=x, received=output((messages, n), np.int32))


@pattern.reference
def expected(p, rank=0, ranks=1):
    """The other rank's values."""
    return {"received": p.x + np.int32((rank + 1) % ranks + 1)}


def exchange_all(session, p):
    """A sample: every row is a message; all of them are under way at once, from device memory to device memory."""
    comm, other = session.comm, other_rank(session.comm)
    values = session.alloc((p.messages, p.n), np.int32)
    outgoing = [session.mpi_buffer(values[row]) for row in range(p.messages)]
    incoming = [session.mpi_buffer(p.received[row]) for row in range(p.messages)]

    def sample():
        session.launch(add, kapi.Range(p.n, p.messages), p.x, values, np.int32(comm.rank + 1))
        session.wait()  # MPI knows no queues
        requests = [comm.Irecv(buffer, other, tag) for tag, buffer in enumerate(incoming)]
        requests += [comm.Isend(buffer, other, tag) for tag, buffer in enumerate(outgoing)]
        for request in requests:
            request.Wait()

    return sample


@pattern.naive(environment=DEFAULTS)
def guides_defaults(session, p):
    """Four device buffers at a time, scratch buffers of 8 MiB, a pipeline from 512 KiB on."""
    return exchange_all(session, p)


@pattern.optimized(
    environment={**DEFAULTS, "I_MPI_OFFLOAD_BUFFER_NUM": "32"},
    claim=Claim("faster", on=("gpu",), strength="implied", source="G 19358"),
)
def buffer_for_each(session, p):
    """As many buffers as there are messages both ways."""
    return exchange_all(session, p)


# "In some cases": ours.
@pattern.optimized(
    environment={**DEFAULTS, "I_MPI_OFFLOAD_BUFFER_SIZE": str(4 * MESSAGE_BYTES)},
    claim=Claim("faster", on=("gpu",), strength="ours", source="G 19359"),
)
def larger_buffers(session, p):
    """Scratch buffers four times as large as a message."""
    return exchange_all(session, p)


@pattern.antipattern(
    environment={**DEFAULTS, "I_MPI_OFFLOAD_PIPELINE_THRESHOLD": str(2 * MESSAGE_BYTES)},
    claim=Claim("slower", on=("gpu",), strength="implied", source="G 19360"),
)
def no_pipeline(session, p):
    """A message is below the threshold, and travels in one piece."""
    return exchange_all(session, p)


# "Potentially": ours.
@pattern.optimized(
    environment={**DEFAULTS, "I_MPI_OFFLOAD_CACHE_TOTAL_MAX_SIZE": str(1 << 30)},
    claim=Claim("faster", on=("gpu",), strength="ours", source="G 19361"),
)
def larger_caches(session, p):
    """Caches of 1 GiB, which hold what all messages need; the guide's default is 64 MiB."""
    return exchange_all(session, p)

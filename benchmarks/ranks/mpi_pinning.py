"""Give each rank a stack of its own; ranks that share the first one leave the others idle.

Intel's MPI pins ranks to stacks by variables of its own. Here each rank takes a device by its number, which no MPI must
know of: stacks, cards, or sub-devices of one that is alone.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common import parts

pattern = Pattern(
    name="mpi_pinning",
    catalogue=("mpi_pinning_schemes",),
    guide="Using Intel MPI Library / GPU Pinning",
    lesson="One rank for each stack uses all stacks; all ranks on the first stack share it.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {"n": {"cpu": 1 << 18, "gpu": 1 << 24}, "rounds": {"cpu": 16, "gpu": 128}},
        "guide": {"n": 1 << 27, "rounds": 16},  # the guide names no size
    },
    axes={"devices": (2,)},
    ranks=2,
    metric="wall",
)


@pattern.problem
def two_arrays(rng, n):
    """Small whole numbers; every rank brings its part of the result to the host, and leaves the rest."""
    a, b = (rng.integers(0, 100, n, dtype=np.uint8).astype(np.float32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.float32, host=True, fill=-1))


@pattern.reference
def expected(p, rank=0, ranks=1):
    where = parts.slices(p.n, [1] * ranks)[rank]
    total = np.full(p.n, -1, np.float32)
    total[where] = p.a[where] + np.float32(parts.FACTOR) * p.b[where]
    return {"total": total}


def own_part(session, p, queue):
    """A sample: a rank computes its part again and again on this queue, and sends it to the host."""
    where = parts.slices(p.n, [1] * session.comm.size)[session.comm.rank]
    a, b = parts.upload(session, queue, p.host.a[where], p.host.b[where])
    total = session.alloc(a.shape, a.dtype, queue=queue)

    def sample():
        for _ in range(p.rounds):
            session.launch(parts.add_scaled, parts.items(a.shape[0]), a, b, total, queue=queue)
        session.copy(p.total[where], total, queue=queue)

    return sample


@pattern.naive
def all_on_the_first(session, p, devices):
    """Every rank takes the first device that it finds."""
    return own_part(session, p, session.queues_on(devices)[0])


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 19063 and 19148 to 19180"))
def one_each(session, p, devices):
    """Rank 0 takes the first, rank 1 the second; with more ranks it begins anew."""
    return own_part(session, p, session.queues_on(devices)[session.comm.rank % devices])

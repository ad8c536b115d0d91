"""Give each rank a stack of its own; ranks that share the first one leave the others idle.

Intel's MPI pins ranks to stacks by I_MPI_OFFLOAD_DEVICE_LIST, 0 and 0,1 in the guide. Which stack is whose any program
can say by itself, too: it takes a device by its rank's number. Both ways are here, since other MPIs have no lists.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, output
from xebench import kernel_api as kapi

from ..common import parts, staying_parts
from ..common.staying_parts import SUMS, fold

pattern = Pattern(
    name="mpi_pinning",
    catalogue=("mpi_pinning_schemes",),
    guide="Using Intel MPI Library / GPU Pinning",
    lesson="One rank for each stack uses all stacks; all ranks on the first stack share it.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {
            "n": {"cpu": 1 << 18, "gpu": fit(1 << 24, bytes_each=12, launches=3)},  # each rank launches by itself
            "rounds": {"cpu": 16, "gpu": 64},
        },
        "guide": {"n": 1 << 27, "rounds": 16},
    },
    own_sizes="the guide names no size",
    # the kernels alone, or with the way of the result to the host
    axes={"devices": (2,), "data": ("stays", "copied")},
    ranks=2,
    metric="wall",
    requires=("several_devices",),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"},  # the driver's default: each stack is a device
)


PINNED = Claim("faster", on=("gpu",), strength="implied", source="G 19063 and 19148 to 19180")
# Of the guide's configurations it recommends a rank for each stack, and one for a whole card if a stack's memory is too
# small.
RECOMMENDED = Claim(
    "faster",
    against="one_rank_on_the_card",
    on=("gpu",),
    requires=("stacks=2",),
    strength="implied",
    source="G 16822 to 16832",
)


def listed(devices):
    """The variables of a run whose ranks Intel's MPI pins to these devices; elsewhere it is not to pin."""
    return {"I_MPI_OFFLOAD_PIN": "1", "I_MPI_OFFLOAD_DEVICE_LIST": devices}


@pattern.problem
def two_arrays(rng, n, data):
    problem = staying_parts.two_arrays(rng, n)
    if data == "stays":
        return problem
    # a rank leaves what is another's
    return Problem(a=problem.fields["a"], b=problem.fields["b"], total=output(n, np.float32, host=True, fill=-1))


@pattern.reference
def expected(p, rank=0, ranks=1):
    where = parts.slices(p.n, [1] * ranks)[rank]
    part = p.a[where] + np.float32(parts.FACTOR) * p.b[where]
    if p.data == "stays":
        return {"sums": staying_parts.folded(part)}
    total = np.full(p.n, -1, np.float32)
    total[where] = part
    return {"total": total}


def own_part(session, p, queue):
    """A sample: a rank computes its part again and again on this queue; the result, or its fold, comes to the host."""
    where = parts.slices(p.n, [1] * session.comm.size)[session.comm.rank]
    a, b = parts.upload(session, queue, p.host.a[where], p.host.b[where])
    total, sums = session.alloc(a.shape, a.dtype, queue=queue), session.alloc(SUMS, np.int32, queue=queue)

    def sample():
        for _ in range(p.rounds):
            session.launch(parts.add_scaled, parts.items(a.shape[0]), a, b, total, queue=queue)
        if p.data == "copied":
            session.copy(p.total[where], total, queue=queue)
            return
        session.launch(fold, kapi.Range(SUMS), total, sums, 0, queue=queue)
        session.copy(p.sums, sums, queue=queue)

    return sample


@pattern.naive
def all_on_the_first(session, p, devices):
    """Every rank takes the first device that it finds."""
    return own_part(session, p, session.queues_on(devices)[0])


@pattern.baseline(ranks=1, environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"})
def one_rank_on_the_card(session, p):
    """One rank has the whole card, whose driver hands work-groups to the stacks (implicit scaling)."""
    return own_part(session, p, session.queue)


@pattern.optimized(claim=(PINNED, RECOMMENDED))
def one_each(session, p, devices):
    """Rank 0 takes the first, rank 1 the second; with more ranks it begins anew."""
    return own_part(session, p, session.queues_on(devices)[session.comm.rank % devices])


@pattern.baseline(environment=listed("0"), requires=("level_zero",))
def first_of_list(session, p):
    """Intel's MPI shows each rank the first device alone."""
    return own_part(session, p, *session.queues_on(1))


@pattern.optimized(
    environment=listed("0,1"),
    requires=("level_zero",),
    claim=Claim("faster", against="first_of_list", on=("gpu",), strength="implied", source=PINNED.source),
)
def one_each_of_list(session, p):
    """Intel's MPI shows rank 0 the first device, and rank 1 the second."""
    return own_part(session, p, *session.queues_on(1))

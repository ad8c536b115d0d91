"""Several ranks share a stack, so that the part of a program that stays on the host has several cores.

A stack that shows four engines (CCS) runs kernels of four ranks side by side, each on a quarter. What this gains are
the host's cores: look for a host part that is larger than what a quarter of the stack costs. The guide's example has
no host part, of which its sentence speaks, and times the products alone: that is the row with no steps.
"""

import dpnp
import numpy as np

from xebench import Claim, Figure, Pattern, Problem, output

from ..common.parts import slices

pattern = Pattern(
    name="ccs_mpi_dgemm",
    catalogue=("ccs_mpi_dgemm",),
    guide="Compute Command Streamers / Using Multiple CCSs in MPI",
    lesson="Where much time is spent on the host, four ranks on a stack with four engines use four times the cores.",
    presets={
        "smoke": {"n": (64, 61)},
        "default": {"n": {"cpu": 256, "gpu": 2048}},
        "guide": {"n": 8192},
    },
    axes={"host_steps": (0, 20)},  # of what the host does to each element of its columns; 0: nothing, and no copies
    ranks=4,
    metric="wall",
    requires=("fp64", "onemkl"),
    atol=1e-8,  # sums of n products of about 1, which numpy adds in another order
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"},  # the first device is a stack: the guide's cell list 0,0,0,0
)

# Each rank takes an engine by its number, the second way of the guide (G 20182). With its first, a list of cells, a
# rank sees one stack alone, of which the runtime of SYCL shows no engines: it cuts a stack where this is a part of a
# card (COMPOSITE). Names of new drivers and old ones.
SLICES = {
    "ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE",
    "UR_L0_EXPOSE_CSLICE_IN_AFFINITY_PARTITIONING": "1",
    "SYCL_PI_LEVEL_ZERO_EXPOSE_CSLICE_IN_AFFINITY_PARTITIONING": "1",
}


@pattern.problem
def matrices(rng, n, host_steps):
    """Columns lie one after the other, as in Fortran; every rank multiplies some, and leaves the rest.

    Where the products stay on the device, a weighted sum of each column comes to the host.
    """
    return Problem(
        a=rng.standard_normal((n, n)),
        b=rng.standard_normal((n, n)),
        weights=rng.standard_normal((n, 1)),
        c=output((n, n if host_steps else 1), np.float64, host=True, fill=-1),
        operations=2 * n**3,
        operation_kind="fp64",
    )


def on_host(columns, steps):
    """What stays on the host: a logistic map, step after step, whose values are between 0 and 1."""
    x = 1 / (1 + np.exp(-columns))
    for _ in range(steps):
        x = 3.2 * x * (1 - x)  # it approaches a cycle of two, so that errors die out
    return x


@pattern.reference
def expected(p, rank=0, ranks=1):
    where = slices(p.n, [1] * ranks)[rank]
    c = np.full((p.n, p.n if p.host_steps else 1), -1.0)
    if p.host_steps:
        c[where] = on_host(p.b[where], p.host_steps) @ p.a
    else:
        c[where] = p.b[where] @ (p.a @ p.weights)
    return {"c": c}


def own_columns(session, p, queue):
    """A sample: a rank prepares its columns on the host, if at all, and multiplies with them on the queue's device.

    The columns of the product are the rows of numpy's transposed one.
    """
    where = slices(p.n, [1] * session.comm.size)[session.comm.rank]
    columns = p.host.b[where]
    a, b, c = (session.alloc(shape, np.float64, queue=queue) for shape in (p.a.shape, columns.shape, columns.shape))
    weights, sums = (session.alloc((n, 1), np.float64, queue=queue) for n in (p.n, columns.shape[0]))
    for array, of_host in ((a, p.host.a), (b, columns), (weights, p.host.weights)):
        session.copy(array, of_host, queue=queue)

    def products_alone():
        session.call(dpnp.matmul, b, a, out=c, queue=queue)
        session.call(dpnp.matmul, c, weights, out=sums, queue=queue)
        session.copy(p.c[where], sums, queue=queue)

    def with_host_part():
        session.copy(b, on_host(columns, p.host_steps), queue=queue)
        session.call(dpnp.matmul, b, a, out=c, queue=queue)
        session.copy(p.c[where], c, queue=queue)

    return with_host_part if p.host_steps else products_alone


@pattern.naive(ranks=1, environment={"ZEX_NUMBER_OF_CCS": "0:1"})
def one_rank(session, p):
    """One rank with the whole stack: its host part runs on one core."""
    return own_columns(session, p, *session.queues_on(1))


# What the cores alone bring: the guide says that they are the point, and nothing of this.
@pattern.intermediate(environment={"ZEX_NUMBER_OF_CCS": "0:1"})
def four_ranks_on_one_engine(session, p):
    """Four host parts on four cores, and one engine for the kernels of all."""
    return own_columns(session, p, *session.queues_on(1))


@pattern.optimized(
    environment={"ZEX_NUMBER_OF_CCS": "0:4", "I_MPI_OFFLOAD_PIN": "1", "I_MPI_OFFLOAD_CELL_LIST": "0,0,0,0"},
    claim=Claim("faster", where={"host_steps": 20}, on=("gpu",), strength="implied", source="G 19919, 20123"),
    requires=("intel_gpu", "level_zero"),
)
def four_ranks_of_cell_list(session, p):
    """The guide's command: Intel's MPI puts four ranks on the first stack, and engines are left to the runtime."""
    return own_columns(session, p, *session.queues_on(1))


def own_engine(session, p):
    """A sample of a rank on the engine of its number."""
    return own_columns(session, p, session.queues_on(session.comm.size, kind="engines")[session.comm.rank])


@pattern.optimized(
    environment={"ZEX_NUMBER_OF_CCS": "0:4", **SLICES},
    claim=Claim("faster", where={"host_steps": 20}, on=("gpu",)),
    requires=("intel_gpu",),
)
def four_ranks(session, p):
    """A rank for each engine: four host parts run on four cores. Where the mode did not take, this is skipped."""
    return own_engine(session, p)


@pattern.optimized(
    ranks=8,
    environment={"ZEX_NUMBER_OF_CCS": "0:4,1:4", **SLICES},
    claim=Claim(
        "faster",
        against="four_ranks",
        where={"host_steps": 0},
        on=("gpu",),
        requires=("stacks=2",),
        figure=Figure(2.0, device="Max", line="G 20129"),
    ),
    requires=("intel_gpu", "level_zero"),
)
def eight_ranks_on_two_stacks(session, p):
    """Four ranks on the engines of the first stack, and four on those of the second."""
    return own_engine(session, p)

"""Let repeated allocations be served from blocks that are kept, instead of by the driver each time.

The guide sets the pool of OpenMP's runtime. SYCL's has one, too, for Level Zero: on unless it is turned off, for arrays
up to a size that a variable sets.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="memory_pool",
    catalogue=("omp_transfer_batching_env",),
    guide="OpenMP Offload / Environment Variables, LIBOMPTARGET_LEVEL0_MEMORY_POOL",
    lesson="What is allocated and freed again and again comes from a pool sooner; make that large enough for it.",
    # one array is below, the other above what the runtime's pool serves by default, 4 MiB
    presets={
        "smoke": {"n": (64, 61), "steps": 2},
        "default": {"n": 1 << 10, "steps": 50},
        "guide": {"n": 1 << 10, "steps": 1000},
    },
    own_sizes="the guide names no size",
    stand_in="The guide's variable, LIBOMPTARGET_LEVEL0_MEMORY_POOL, is of the OpenMP runtime, which Python does not "
    "use. The pool of the SYCL runtime has the same three numbers.",
    axes={"mib": (1, 16)},
    metric="wall",
    requires=("level_zero", "intel_gpu"),
)


def names(variable, value):
    """The runtime's switch, by the name that it has had since 2024 and the one before."""
    return {f"UR_L0_{variable}": value, f"SYCL_PI_LEVEL_ZERO_{variable}": value}


@kernel
def add_one_through(item: kapi.Item, x, temporary):
    i = item.get_id(0)
    temporary[i] = x[i]
    x[i] = np.int32(temporary[i] + 1)


@pattern.problem
def few_numbers(rng, n, steps):
    return Problem(x=inout(rng.integers(0, 100, n, dtype=np.int32)))


@pattern.reference
def expected(p):
    return {"x": p.x + np.int32(p.steps)}


def temporary_every_step(session, p, mib):
    """A temporary is allocated, used a little, and freed in each step."""
    for _ in range(p.steps):
        temporary = session.alloc(mib << 18, np.int32)
        session.launch(add_one_through, kapi.Range(p.n), p.x, temporary)
        session.wait()
        del temporary


@pattern.naive(environment=names("DISABLE_USM_ALLOCATOR", "1"))
def by_driver(session, p, mib):
    """Each array is the driver's own work."""
    temporary_every_step(session, p, mib)


# The guide says what the variable sets (G 9449 to 9464), and not that a pool is faster: that is ours.
@pattern.intermediate(claim=Claim("faster", where={"mib": 1}, on=("gpu",)))
def from_pool(session, p, mib):
    """The runtime's own pool: it keeps arrays of up to 4 MiB for the next of their size."""
    temporary_every_step(session, p, mib)


# Buffers, the most that it keeps, and of device memory: the largest array, how many of a size, the smallest block.
@pattern.optimized(
    environment=names("USM_ALLOCATOR", "1;2G;device:64M,4,64K"),
    claim=(
        Claim("faster", on=("gpu",)),
        Claim("faster", against="from_pool", where={"mib": 16}, on=("gpu",)),
    ),
)
def from_larger_pool(session, p, mib):
    """A pool that keeps arrays of up to 64 MiB."""
    temporary_every_step(session, p, mib)

"""Let repeated allocations be served from blocks that are kept, instead of by the driver each time.

The pool is that of Intel's OpenMP runtime for Level Zero. The guide's variable, LIBOMPTARGET_LEVEL0_MEMORY_POOL, has
been renamed to LIBOMPTARGET_LEVEL_ZERO_MEMORY_POOL.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output
from xebench.dpex import openmp

pattern = Pattern(
    name="memory_pool",
    catalogue=("omp_transfer_batching_env",),
    guide="OpenMP Offload / Environment Variables, LIBOMPTARGET_LEVEL0_MEMORY_POOL",
    lesson="What is allocated and freed again and again comes from a pool sooner; make that large enough for it.",
    # one allocation is as large as the runtime's pool serves by default, 1 MiB, the other larger
    presets={
        "smoke": {"n": (64, 61), "steps": 2},
        "default": {"n": 1 << 10, "steps": 50},
        "guide": {"n": 1 << 10, "steps": 1000},
    },
    own_sizes="the guide names no size",
    axes={"mib": (1, 16)},
    metric="wall",
    environment={"LIBOMPTARGET_PLUGIN": "level0"},
    requires=("level_zero", "intel_gpu"),
)


def pool(value):
    """Which memory, the largest allocation in MiB, how many in a block, and all blocks in MiB; 0 for none."""
    return {"LIBOMPTARGET_LEVEL_ZERO_MEMORY_POOL": value}


@pattern.problem
def rows(rng, n, steps):
    x = rng.integers(0, 1 << 30, (steps, n), dtype=np.int32)
    return Problem(x=x, y=output((steps, n), np.int32, host=True))


@pattern.reference
def expected(p):
    return {"y": p.x}


def temporary_every_step(session, p, mib):
    """A sample: each step allocates device memory, has a row go there and come back, and frees it."""
    target = openmp.target_device(session.device)

    def sample():
        for row, back in zip(p.host.x, p.y, strict=True):
            temporary = target.alloc(mib << 20)
            target.copy(temporary, row, row.nbytes)
            target.copy(back, temporary, row.nbytes)
            target.free(temporary)

    return sample


@pattern.naive(environment=pool("0"))
def by_driver(session, p, mib):
    """Each allocation is the driver's own work."""
    return temporary_every_step(session, p, mib)


# The guide says what the variable sets (G 9449 to 9464), and not that a pool is faster: that is ours.
@pattern.intermediate(environment=pool("device,1,4,256"), claim=Claim("faster", where={"mib": 1}, on=("gpu",)))
def from_pool(session, p, mib):
    """The runtime's default: allocations of up to 1 MiB come from blocks of four."""
    return temporary_every_step(session, p, mib)


@pattern.optimized(
    environment=pool("device,16,4,256"),
    claim=(
        Claim("faster", on=("gpu",)),
        Claim("faster", against="from_pool", where={"mib": 16}, on=("gpu",)),
    ),
)
def from_larger_pool(session, p, mib):
    """A pool for allocations of up to 16 MiB."""
    return temporary_every_step(session, p, mib)

"""Copy small arrays of ordinary host memory by way of a buffer that the device reads by itself.

The buffer is that of Intel's OpenMP runtime for discrete GPUs. The guide's variable,
LIBOMPTARGET_LEVEL0_STAGING_BUFFER_SIZE, has been renamed to LIBOMPTARGET_LEVEL_ZERO_STAGING_BUFFER_SIZE.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output
from xebench.dpex import openmp

pattern = Pattern(
    name="staging_buffer",
    catalogue=("omp_transfer_batching_env",),
    guide="OpenMP Offload / Environment Variables, LIBOMPTARGET_LEVEL0_STAGING_BUFFER_SIZE",
    lesson="A discrete GPU gets small pieces of pageable memory sooner by way of a staging buffer in host USM.",
    # bytes of an array: the guide's buffer by default is 16 KiB, and the other has four times as much
    presets={
        "smoke": {"arrays": 3},
        "default": {"arrays": 32},
        "guide": {"arrays": 32},
    },
    own_sizes="16 KiB is the guide's buffer; the number of arrays is ours",
    axes={"kib": (4, 16, 64)},
    metric="wall",
    environment={"LIBOMPTARGET_PLUGIN": "level0"},
    requires=("level_zero", "intel_gpu"),
)


def buffer_of(kib):
    return {"LIBOMPTARGET_LEVEL_ZERO_STAGING_BUFFER_SIZE": str(kib)}


@pattern.problem
def rows(rng, arrays, kib):
    x = rng.integers(0, 256, (arrays, kib << 10), dtype=np.uint8)
    return Problem(x=x, y=output(x.shape, np.uint8, host=True), host_bytes=2 * x.nbytes)


@pattern.reference
def expected(p):
    return {"y": p.x}


def copy_all(session, p):
    """A sample: each array is copied to the device from memory of numpy, and from there to other such memory."""
    target = openmp.target_device(session.device)

    def sample():
        memory = target.alloc(p.x.shape[1])  # from a pool, once for all arrays
        for row, back in zip(p.host.x, p.y, strict=True):
            target.copy(memory, row, row.nbytes)
            target.copy(back, memory, row.nbytes)
        target.free(memory)

    return sample


@pattern.naive(environment=buffer_of(0))
def directly(session, p):
    """The driver is given each array, of which it knows nothing."""
    return copy_all(session, p)


# The guide says what the buffer is for (G 9466 to 9468), and not by how much it is faster.
@pattern.optimized(
    environment=buffer_of(16),
    claim=Claim("faster", where={"kib": (4, 16)}, on=("gpu",), strength="implied", source="G 9466"),
)
def through_buffer(session, p):
    """The runtime copies arrays of up to 16 KiB to its buffer, from which the device takes them."""
    return copy_all(session, p)


@pattern.optimized(
    environment=buffer_of(64),
    claim=Claim("faster", against="through_buffer", where={"kib": 64}, on=("gpu",), strength="ours"),
)
def through_larger_buffer(session, p):
    """A buffer for arrays of up to 64 KiB."""
    return copy_all(session, p)

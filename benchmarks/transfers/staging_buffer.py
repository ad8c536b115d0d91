"""Copy small arrays of ordinary host memory by way of a buffer that the device reads by itself."""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common.staging import host_array

pattern = Pattern(
    name="staging_buffer",
    catalogue=("omp_transfer_batching_env",),
    guide="OpenMP Offload / Environment Variables, LIBOMPTARGET_LEVEL0_STAGING_BUFFER_SIZE",
    lesson="A discrete GPU gets small pieces of pageable memory sooner by way of a staging buffer in host USM.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "arrays": 3},  # bytes of an array: 16 KiB is the guide's default
        "default": {"n": 1 << 14, "arrays": 32},
        "guide": {"n": 1 << 14, "arrays": 32},
    },
    own_sizes="16 KiB is the guide's buffer; the number of arrays is ours",
    stand_in="The guide's variable, LIBOMPTARGET_LEVEL0_STAGING_BUFFER_SIZE, is of the OpenMP runtime, which Python "
    "does not use, and the SYCL runtime has none. A program that has such a buffer itself is measured.",
    metric="wall",
    requires=("usm_host",),
)


@pattern.problem
def rows(rng, n, arrays):
    x = rng.integers(0, 256, (arrays, n), dtype=np.uint8)
    return Problem(x=x, y=output((arrays, n), np.uint8), host_bytes=n * arrays)


@pattern.reference
def expected(p):
    return {"y": p.x}


@pattern.naive
def pageable(session, p):
    """The driver is given memory of numpy, and waits are the program's: one for each array."""
    for row in range(p.arrays):
        session.copy(p.y[row], p.host.x[row]).wait()


# The guide says so of discrete GPUs alone, which SYCL does not tell from others.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="ours", source="G 9466 to 9468"))
def by_staging_buffer(session, p):
    """The host copies each array into the same buffer, from which the device takes it."""
    staging, view = host_array(session, p.n, np.uint8)

    def sample():
        for row in range(p.arrays):
            view[:] = p.host.x[row]
            session.copy(p.y[row], staging).wait()

    return sample


@pattern.optimized(claim=Claim("faster", against="by_staging_buffer"))
def by_two_staging_buffers(session, p):
    """While the device takes one array, the host copies the next one into the other buffer."""
    buffers = [host_array(session, p.n, np.uint8) for _ in range(2)]

    def sample():
        copies = []
        for row in range(p.arrays):
            staging, view = buffers[row % 2]
            if row > 1:
                copies[row - 2].wait()
            view[:] = p.host.x[row]
            copies.append(session.copy(p.y[row], staging))

    return sample

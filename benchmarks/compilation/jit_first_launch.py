"""The first launch of a kernel waits until the driver has built it for the device; the second one does not."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="jit_first_launch",
    catalogue=("E71", "jit_vs_aot_offload", "ja_opencl_intercept_report"),
    guide="Compilation / Just-In-Time Compilation",
    lesson="A kernel is shipped as SPIR-V, and built when it is first launched: do not take that for its own time.",
    # The Japanese edition has 337 ms for the build of another kernel, a product of matrices, and 59 ms for its run.
    presets={
        "smoke": {"n": (64, 61)},
        "default": {"n": 1 << 16},
        "guide": {"n": 1 << 16},
    },
    metric="wall",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # else Intel's GPU driver reads the build of an earlier process
)


@kernel
def add(item: kapi.Item, a, b, total):
    i = item.get_id(0)
    total[i] = a[i] + b[i]


@pattern.problem
def two_arrays(rng, n):
    a, b = (rng.integers(0, 1 << 30, n, dtype=np.int32) for _ in range(2))
    return Problem(a=a, b=b, total=output(n, np.int32, host=True), host_bytes=12 * n)


@pattern.reference
def expected(p):
    return {"total": p.a + p.b}


def add_vectors(session, p):
    """What a call of the guide's function does: memory for three buffers, copies there, the sum, and its copy back."""
    a, b, total = (session.alloc(p.n, np.int32) for _ in range(3))
    session.copy(a, p.host.a)
    session.copy(b, p.host.b)
    session.launch(add, kapi.Range(p.n), a, b, total)
    session.copy(p.total, total)
    session.wait()


@pattern.naive
def first_launch(session, p):
    """The driver has no build of the kernel, as after the start of a program."""
    session.forget_builds()
    add_vectors(session, p)


@pattern.optimized(claim=Claim("faster", source="G 8227, 8246 to 8249"))
def later_launch(session, p):
    """The driver built it for an earlier launch."""
    add_vectors(session, p)

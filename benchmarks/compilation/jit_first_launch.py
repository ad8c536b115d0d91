"""The first launch of a kernel waits until the driver has built it for the device; the second one does not."""

import numpy as np

from xebench import Claim, Pattern

from ..common import square_matmul

pattern = Pattern(
    name="jit_first_launch",
    catalogue=("E71", "jit_vs_aot_offload", "ja_opencl_intercept_report"),
    guide="Compilation / Just-In-Time Compilation",
    lesson="A kernel is shipped as SPIR-V, and built when it is first launched: do not take that for its own time.",
    # The Japanese edition has 337 ms for the build of such a kernel, and 59 ms for its run.
    presets={
        "smoke": {"n": (64, 7 * 16)},
        "default": {"n": {"cpu": 256, "gpu": 1024}},
        "guide": {"n": 2048},
    },
    own_sizes="the guide adds vectors; this is the kernel of the Japanese edition's report",
    metric="wall",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # else Intel's GPU driver reads the build of an earlier process
)


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.float32)


pattern.reference(square_matmul.product)


@pattern.naive
def first_launch(session, p):
    """The driver has no build of the kernel, as after the start of a program."""
    launch = square_matmul.from_tiles(session, p, np.float32)

    def sample():
        session.forget_builds()
        launch()

    return sample


@pattern.optimized(claim=Claim("faster", source="G 8227, 8246 to 8250"))
def later_launch(session, p):
    """The driver built it for an earlier launch."""
    return square_matmul.from_tiles(session, p, np.float32)

"""A driver that keeps its builds on disk reads the code of an earlier run, as from a program compiled ahead of time."""

import numpy as np

from xebench import Claim, Pattern

from ..common import square_matmul

pattern = Pattern(
    name="driver_cache",
    catalogue=("E72",),
    guide="Compilation / Ahead-Of-Time Compilation",
    lesson="Code that was compiled for the device before need not be built when the program runs.",
    presets={
        "smoke": {"n": (64, 7 * 16)},
        "default": {"n": {"cpu": 256, "gpu": 1024}},
        "guide": {"n": 1024},  # the guide names no size, and none matters
    },
    metric="build",
    requires=("intel_gpu",),  # no other driver here has such a cache
)


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.float32)


pattern.reference(square_matmul.product)


def built_for_each_sample(session, p):
    """The kernel is launched as by a program that has just been started."""
    launch = square_matmul.from_tiles(session, p, np.float32)

    def sample():
        session.forget_builds()
        launch()

    return sample


@pattern.naive(environment={"NEO_CACHE_PERSISTENT": "0"})
def built_from_spirv(session, p):
    """The driver builds the kernel from its SPIR-V each time."""
    return built_for_each_sample(session, p)


# In place of a binary for the device: Python has no compiler driver that makes one. 'xebench isa' tells the seconds
# that Intel's offline compiler takes.
@pattern.optimized(
    claim=Claim("faster", on=("gpu",), strength="implied", source="G 8267"), environment={"NEO_CACHE_PERSISTENT": "1"}
)
def read_from_disk(session, p):
    """The driver finds the code of the first build in its cache, and reads it."""
    return built_for_each_sample(session, p)

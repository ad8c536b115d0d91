"""Code that was compiled for the device before: a program's own binary, or what a driver keeps of an earlier run."""

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
        "guide": {"n": 1024},
    },
    own_sizes="the guide names no size, and none matters",
    metric="build",
    environment={"NEO_CACHE_PERSISTENT": "0"},  # else Intel's GPU driver reads the build of an earlier process
)


@pattern.problem
def whole_numbers(rng, n):
    return square_matmul.whole_numbers(rng, n, np.float32)


pattern.reference(square_matmul.product)


def built_for_each_sample(session, p, *, keep_binaries=False):
    """The kernel is launched as by a program that has just been started."""
    launch = square_matmul.from_tiles(session, p, np.float32)
    launch()

    def sample():
        session.forget_builds(keep_binaries=keep_binaries)
        launch()

    return sample


@pattern.naive
def built_from_spirv(session, p):
    """Just in time: the driver builds the kernel from its SPIR-V each time."""
    return built_for_each_sample(session, p)


# The binary is the driver's own, made before the clock starts; Intel's `ocloc` makes such with the same compiler.
@pattern.optimized(claim=Claim("faster", source="G 8267"))
def loaded_from_binary(session, p):
    """Ahead of time: the program has the machine code, and the driver loads it."""
    return built_for_each_sample(session, p, keep_binaries=True)


# The guide speaks of no cache; other drivers have none of this name.
@pattern.intermediate(environment={"NEO_CACHE_PERSISTENT": "1"}, requires=("intel_gpu",))
def read_from_disk(session, p):
    """Just in time, but the driver finds the code of the first build in its cache on disk."""
    return built_for_each_sample(session, p)

"""Hand the copies of a target region to the device at once, in one list, instead of a list for each.

Intel's OpenMP runtime of 2024 does so for regular command lists, the default when the guide was written. On a Max
its default is immediate ones now, and the runtime of 2026 has dropped the variable.
"""

import numpy as np

from xebench import Claim, Pattern, Problem, output
from xebench.dpex import openmp

pattern = Pattern(
    name="batched_copies",
    catalogue=("omp_transfer_batching_env",),
    guide="OpenMP Offload / Environment Variables, LIBOMPTARGET_LEVEL_ZERO_COMMAND_BATCH",
    lesson="Data of one region that go to the device in several copies are submitted together, and may run together.",
    presets={
        "smoke": {"n": (1 << 8, 251), "arrays": 3},
        "default": {"n": 1 << 12, "arrays": (2, 8, 32)},
        "guide": {"n": 1 << 12, "arrays": 32},
    },
    own_sizes="the guide names no size",
    metric="wall",
    environment={"LIBOMPTARGET_PLUGIN": "level0"},
    requires=("level_zero", "intel_gpu"),
)


def lists(immediate, **batch):
    return {f"LIBOMPTARGET_LEVEL_ZERO_{name}": value for name, value in batch.items()} | {
        "LIBOMPTARGET_LEVEL_ZERO_USE_IMMEDIATE_COMMAND_LIST": immediate
    }


@pattern.problem
def rows(rng, n, arrays):
    x = rng.integers(0, 1 << 30, (arrays, n), dtype=np.int32)
    return Problem(x=x, y=output((arrays, n), np.int32, host=True), host_bytes=2 * x.nbytes)


@pattern.reference
def expected(p):
    return {"y": p.x}


def map_rows(session, p):
    """A sample: each row has a map clause of its own, which copies it to the device, or from there when all is done."""
    target, x, y = openmp.target_device(session.device), p.host.x, p.y
    # memory for all rows, as of an outer target data region, so that one copy does what a kernel would
    memory = openmp.TargetRegion(target, [(openmp.Map.ALLOC, x), (openmp.Map.ALLOC, y)])
    to = [(openmp.Map.TO | openmp.Map.ALWAYS, row) for row in x]
    back = [(openmp.Map.FROM | openmp.Map.ALWAYS, row) for row in y]
    region = openmp.TargetRegion(target, [*to, *back])

    def sample():
        with memory, region:
            target.copy(memory.address(y), memory.address(x), x.nbytes)

    return sample


@pattern.naive(environment=lists("0"))
def list_for_each(session, p):
    """Every copy is submitted in a list of its own, and waited for."""
    return map_rows(session, p)


@pattern.optimized(
    environment=lists("0", COMMAND_BATCH="copy"),
    claim=Claim("faster", on=("gpu",), strength="implied", source="G 9470 to 9474"),
)
def in_one_list(session, p):
    """The runtime gathers the copies before the region's work in one list, and those behind it in another."""
    return map_rows(session, p)


# The default of the runtime of 2024 on a Max, and all that the runtime of 2026 has: there is nothing to gather.
@pattern.baseline(environment=lists("all"))
def immediate_list(session, p):
    """Every copy is handed on as it is appended, and all are waited for together."""
    return map_rows(session, p)

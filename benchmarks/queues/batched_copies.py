"""Hand several copies to the device at once, in one list, instead of a list for each."""

import numpy as np

from xebench import Claim, Pattern, Problem, output

from ..common.staging import host_array

pattern = Pattern(
    name="batched_copies",
    catalogue=("omp_transfer_batching_env",),
    guide="OpenMP Offload / Environment Variables, LIBOMPTARGET_LEVEL_ZERO_COMMAND_BATCH",
    lesson="Data of one region that go to the device in several copies are submitted together, and may run together.",
    presets={
        "smoke": {"n": (1 << 8, 251), "arrays": 3},
        "default": {"n": 1 << 12, "arrays": 32},
        "guide": {"n": 1 << 12, "arrays": 32},
    },
    own_sizes="the guide names no size",
    stand_in="The guide's variable, LIBOMPTARGET_LEVEL_ZERO_COMMAND_BATCH, is of the OpenMP runtime, which Python does "
    "not use. The SYCL runtime has a number of copies that are submitted together.",
    metric="wall",
    requires=("level_zero", "intel_gpu", "usm_host"),
)


def in_lists_of(copies):
    """Regular command lists with so many copies each; the second version of the adapter has no such lists."""
    names = ("UR_L0_{}", "SYCL_PI_LEVEL_ZERO_{}")
    of_copies = {name.format("COPY_BATCH_SIZE"): str(copies) for name in names}
    # where no engine is for copies alone, they are in lists of kernels
    of_all = {name.format("BATCH_SIZE"): str(copies) for name in names}
    regular = {name.format("USE_IMMEDIATE_COMMANDLISTS"): "0" for name in names}
    return {**of_copies, **of_all, **regular, "SYCL_UR_USE_LEVEL_ZERO_V2": "0"}


@pattern.problem
def rows(rng, n, arrays):
    x = rng.integers(0, 1 << 30, (arrays, n), dtype=np.int32)
    return Problem(x=x, y=output((arrays, n), np.int32), host_bytes=4 * n * arrays)


@pattern.reference
def expected(p):
    return {"y": p.x}


def copy_all(session, p):
    """A sample: each row is copied from host USM to the device; nothing orders the copies."""
    queue = session.new_queue(in_order=False)
    array, view = host_array(session, p.x.shape, np.int32)
    view[:] = p.host.x

    def sample():
        for row in range(p.arrays):
            session.copy(p.y[row], array[row], queue=queue)

    return sample


@pattern.naive(environment=in_lists_of(1))
def list_for_each(session, p):
    """Every copy is submitted in a list of its own."""
    return copy_all(session, p)


@pattern.optimized(
    environment=in_lists_of(64), claim=Claim("faster", on=("gpu",), strength="implied", source="G 9470 to 9474")
)
def in_one_list(session, p):
    """The runtime gathers copies until there are 64, or until the host waits."""
    return copy_all(session, p)


# The runtime's default on most GPUs: there is nothing to gather.
@pattern.baseline(environment={"UR_L0_USE_IMMEDIATE_COMMANDLISTS": "1"})
def immediate_list(session, p):
    """Every copy is handed on as it is appended."""
    return copy_all(session, p)

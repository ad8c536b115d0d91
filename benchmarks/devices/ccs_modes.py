"""Compute engines of a stack (CCS): small kernels side by side, each on a part of the stack, or one after another."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="ccs_modes",
    catalogue=("E88", "ccs_matmul", "ccs_flat_init", "ja_cslice_four_small_kernels"),
    guide="Multiple Stacks / Compute Command Streamers",
    lesson="Kernels too small for a stack run side by side when the stack shows several engines, each with its part.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "work": 10},
        "default": {"n": 1 << 13, "work": 200},
        "guide": {"n": 1 << 15, "work": 1000},  # the guide's kernels are matrices of 5280, which fill a stack
    },
    metric="wall",
    requires=("intel_gpu",),
)

QUEUES = 4  # as many as a stack has engines
GROUP = 256  # one work-group a kernel: a single kernel cannot fill a stack
SMALL_KERNELS = Claim("faster", on=("gpu",), strength="implied", source="G 19394")


@kernel
def add_up(item: kapi.NdItem, x, totals, row, work):
    lane = item.get_local_id(0)
    totals[row, lane] = np.int32(0)
    for _ in range(work):
        for k in range(lane, x.shape[0], GROUP):
            totals[row, lane] += x[k]


@pattern.problem
def one_array(rng, n, work):
    return Problem(
        x=rng.integers(0, 3, n, dtype=np.int32),
        totals=output((QUEUES, GROUP), np.int32),
        operations=QUEUES * work * n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    row = p.work * np.array([p.x[lane::GROUP].sum() for lane in range(GROUP)])
    return {"totals": np.broadcast_to(row, (QUEUES, GROUP))}


def small_kernels(session, p):
    """Small kernels in queues of their own; the driver hands the queues to the engines that there are."""
    queues = [session.new_queue() for _ in range(QUEUES)]

    def sample():
        for row, queue in enumerate(queues):
            session.launch(add_up, kapi.NdRange((GROUP,), (GROUP,)), p.x, p.totals, row, p.work, queue=queue)

    return sample


@pattern.naive(environment={"ZEX_NUMBER_OF_CCS": "0:1"})
def one_engine(session, p):
    """The default: one engine with all of the stack."""
    return small_kernels(session, p)


# Only GPUs with several engines know the modes; on others the variable changes nothing.
@pattern.optimized(claim=SMALL_KERNELS, environment={"ZEX_NUMBER_OF_CCS": "0:2"})
def two_engines(session, p):
    """Each with half of the stack."""
    return small_kernels(session, p)


@pattern.optimized(claim=SMALL_KERNELS, environment={"ZEX_NUMBER_OF_CCS": "0:4"})
def four_engines(session, p):
    """Each with a quarter of the stack."""
    return small_kernels(session, p)

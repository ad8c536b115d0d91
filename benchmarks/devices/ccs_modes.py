"""Compute engines of a stack (CCS): small kernels side by side, each on a part of the stack, or one after another."""

import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

from ..common import parts

pattern = Pattern(
    name="ccs_modes",
    catalogue=("E88", "ccs_matmul", "ccs_flat_init", "ja_cslice_four_small_kernels"),
    guide="Multiple Stacks / Compute Command Streamers",
    lesson="Kernels too small for a stack run side by side when the stack shows several engines, each with its part.",
    presets={
        "smoke": {"n": (1 << 10, 1021), "work": 10},
        "default": {"n": 1 << 13, "work": 200},
        "guide": {"n": 1 << 15, "work": 1000},
    },
    own_sizes="the guide's kernels are products of matrices of 5280, which fill a stack",
    metric="wall",
    requires=("intel_gpu",),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"},  # the device is a stack, and what it is cut into are its engines
)

QUEUES = 4  # as many as a stack has engines
# Names of new drivers and old ones: without one of them a stack cannot be cut into its engines.
SLICES = {
    "UR_L0_EXPOSE_CSLICE_IN_AFFINITY_PARTITIONING": "1",
    "SYCL_PI_LEVEL_ZERO_EXPOSE_CSLICE_IN_AFFINITY_PARTITIONING": "1",
}
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
        totals=output((QUEUES, GROUP), np.int32, host=True),
        operations=QUEUES * work * n,
        operation_kind="int32",
    )


@pattern.reference
def expected(p):
    row = p.work * np.array([p.x[lane::GROUP].sum() for lane in range(GROUP)])
    return {"totals": np.broadcast_to(row, (QUEUES, GROUP))}


def small_kernels(session, p, queues):
    """A sample: small kernels on the queues in turn; their sums come to the host."""
    placed = []
    for queue in queues:
        (x,) = parts.upload(session, queue, p.host.x)
        placed.append((queue, x, session.alloc((QUEUES, GROUP), np.int32, queue=queue)))

    def sample():
        for row in range(QUEUES):
            queue, x, totals = placed[row % len(placed)]
            session.launch(add_up, kapi.NdRange((GROUP,), (GROUP,)), x, totals, row, p.work, queue=queue)
        for row, target in enumerate(p.totals):
            queue, _x, totals = placed[row % len(placed)]
            session.copy(target, totals[row], queue=queue)

    return sample


@pattern.naive(environment={"ZEX_NUMBER_OF_CCS": "0:1"})
def one_engine(session, p):
    """The default: one engine with all of the stack, and four queues for it."""
    return small_kernels(session, p, [session.new_queue() for _ in range(QUEUES)])


# A queue of the stack itself would be one of its first engine. Where the mode did not take, the stack cannot be cut,
# and the variant is skipped with that reason.
@pattern.optimized(claim=SMALL_KERNELS, environment={"ZEX_NUMBER_OF_CCS": "0:2", **SLICES})
def two_engines(session, p):
    """A queue for each half of the stack."""
    return small_kernels(session, p, session.queues_on(2, kind="sub-devices"))


@pattern.optimized(claim=SMALL_KERNELS, environment={"ZEX_NUMBER_OF_CCS": "0:4", **SLICES})
def four_engines(session, p):
    """A queue for each quarter of the stack."""
    return small_kernels(session, p, session.queues_on(4, kind="sub-devices"))

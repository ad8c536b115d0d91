"""Leave the work-group's size to the runtime, or choose it: as many sub-groups as keep the threads of a core busy."""

from xebench import Claim, Pattern, ceil_div, fit, kernel
from xebench import kernel_api as kapi

from ..common import latency_chain

pattern = Pattern(
    name="work_group_choice",
    catalogue=("E05",),
    guide="Thread Mapping and GPU Occupancy / Mapping Work-Groups to Xe-cores for Maximum Occupancy",
    lesson="A work-group is threads x sub-group size. One of few threads costs a dispatch for little work.",
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=64)}, "steps": 16},
        # 64 x 64 x 64 work-items (G 461 to 466), here in one dimension; what each computes the guide leaves open
        "guide": {"n": 64**3, "steps": 16},
    },
    axes={"sub_group_size": "device"},
    requires=("sub_groups",),
)

LARGEST = 512  # of Xe-LP, the guide's example (G 442); other GPUs allow 1024


@kernel
def advance_one(item: kapi.Item, x, y, steps):
    i = item.get_id(0)
    y[i] = latency_chain.advance(x[i], steps)


@kernel(sub_group_size="sub_group_size")
def advance_one_of_group(item: kapi.NdItem, x, y, steps):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        y[i] = latency_chain.advance(x[i], steps)


@pattern.problem
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.advanced(p.x, p.steps)}


def in_groups_of(session, p, lanes, threads):
    """Work-groups of so many threads, each a sub-group of ``lanes``."""
    size = threads * lanes
    space = kapi.NdRange((ceil_div(p.n, size) * size,), (size,))
    session.launch(advance_one_of_group, space, p.x, p.y, p.steps)


# Nothing is claimed of a choice by hand against the runtime's, which the guide takes to be a good one: for its vector
# addition that was 512 work-items in sub-groups of 32 (G 713).
@pattern.naive
def runtimes_choice(session, p):
    """A range without work-groups: the runtime chooses their size, the compiler that of the sub-groups."""
    session.launch(advance_one, kapi.Range(p.n), p.x, p.y, p.steps)


@pattern.antipattern
def one_thread_a_group(session, p, sub_group_size):
    """A work-group for each sub-group."""
    in_groups_of(session, p, sub_group_size, 1)


# Fewer than eight threads a work-group cannot fill the guide's example GPU, says the notebook that goes with the guide.
@pattern.intermediate(claim=Claim("faster", against="one_thread_a_group", on=("gpu",)))
def eight_threads_a_group(session, p, sub_group_size):
    """Work-groups of eight sub-groups."""
    in_groups_of(session, p, sub_group_size, 8)


@pattern.optimized(
    claim=(
        Claim("faster", against="one_thread_a_group", on=("gpu",), strength="implied", source="G 493"),
        Claim("faster", against="eight_threads_a_group", on=("gpu",), strength="implied", source="G 493"),
    )
)
def largest_group(session, p, sub_group_size):
    """The largest work-group: fewer rounds of dispatch."""
    size = min(LARGEST, session.device.max_work_group_size)
    in_groups_of(session, p, sub_group_size, size // sub_group_size)

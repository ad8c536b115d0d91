"""Give a device at least as many work-items as it holds at once: each one that is missing is a lane that idles."""

from xebench import Claim, Pattern, ceil_div, fit
from xebench import kernel_api as kapi

from ..common import latency_chain
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="work_size",
    catalogue=("E02", "multi_device_programming_principles"),
    guide="Getting Started / Work Size",
    lesson="Engines x threads x lanes is how many work-items a device holds: with fewer, part of it has no work.",
    # What to look for: the same chains, cut among ever more work-items. Time falls as long as lanes are empty, and
    # not any more once all are taken.
    presets={
        "smoke": {"n": (1 << 14, 16381), "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=32)}, "steps": 64},
        "guide": {"n": 1 << 24, "steps": 64},
    },
    own_sizes='the guide says "millions of parallel activities" (G 201)',
    axes={"work_group_size": (256,)},
)


@pattern.problem
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.advanced(p.x, p.steps)}


def launch_items(session, p, work_group_size, items):
    """Launch this many work-items, rounded to whole work-groups; each takes its share of the elements."""
    groups = max(1, items // work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))
    session.launch(latency_chain.advance_each, space, p.x, p.y, p.steps)


@pattern.naive
def one_work_group(session, p, work_group_size):
    """All elements in one work-group, as in code that was written for one multiprocessor, or for one core."""
    launch_items(session, p, work_group_size, work_group_size)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 129, 195 to 199"))
def an_eighth(session, p, work_group_size):
    """Work-items for an eighth of the device."""
    launch_items(session, p, work_group_size, session.lanes // 8)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 129, 195 to 199"),
        Claim("faster", against="an_eighth", on=("gpu",), strength="implied", source="G 195 to 199, 18128 to 18133"),
    )
)
def fill_the_device(session, p, work_group_size):
    """As many work-items as the device holds: on two stacks of a Max with sub-groups of 32, 262,144 (G 18133)."""
    launch_items(session, p, work_group_size, session.lanes)


# Many more activities than fit are to hide what it costs to submit small ones (G 129, 201). Here there is one launch
# whichever way, so the guide claims nothing of this step.
@pattern.optimized
def one_item_per_element(session, p, work_group_size):
    """A work-item for each element, of which the device takes new ones as others end."""
    launch_items(session, p, work_group_size, ceil_div(p.n, work_group_size) * work_group_size)


in_opencl(pattern, fill_the_device)

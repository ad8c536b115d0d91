"""Each thing that can leave a device half empty, one at a time: groups, their size, their shared local memory."""

from harness import Claim, Pattern, fit

from ..common import latency_chain

pattern = Pattern(
    name="occupancy_limits",
    catalogue=("E10", "occupancy_limits"),
    guide="Thread Mapping and GPU Occupancy / Intel GPU Occupancy Calculator",
    lesson="Occupancy is computed before anything runs, from work-group, sub-group, SLM and the size of the launch.",
    # What to look for: `xebench occupancy --gpu NAME --pattern occupancy_limits` computes how full each variant keeps
    # a GPU. If the model is right, the times on that GPU have the same order. All compute the same.
    presets={
        "smoke": {"n": 1 << 14, "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=16)}, "steps": 64},
        "guide": {"n": 1 << 20, "steps": 64},  # the guide gives no size
    },
    axes={"sub_group_size": "device"},
    requires=("sub_groups",),
)

USUAL = 256  # work-items, of which several groups fill a core of any GPU


@pattern.problem
def integers(rng, n, steps):
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


@pattern.naive
def limited_by_slm(session, p, sub_group_size):
    """Every work-group takes all the SLM it can have."""
    return latency_chain.launch_meeting(session, p, USUAL, sub_group_size, session.device.local_mem_size)


@pattern.antipattern
def limited_by_size(session, p, sub_group_size):
    """Five eighths of the largest work-group: where that one fills a core, no second one fits beside this."""
    size = min(1024, session.device.max_work_group_size) * 5 // 8
    return latency_chain.launch_meeting(session, p, size, sub_group_size)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 953 to 955, 20880 to 20885"),
        Claim(
            "faster", against="limited_by_size", on=("gpu",), strength="implied", source="G 953 to 955, 20880 to 20884"
        ),
    )
)
def nothing_scarce(session, p, sub_group_size):
    """Work-groups of 256 that take the SLM they need."""
    return latency_chain.launch_meeting(session, p, USUAL, sub_group_size)

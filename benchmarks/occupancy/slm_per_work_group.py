"""Ask for as much shared local memory as a work-group needs: what it has, no other group on the core can have."""

from harness import Claim, Pattern, fit

from ..common import latency_chain

pattern = Pattern(
    name="slm_per_work_group",
    catalogue=("E07",),
    guide="Thread Mapping and GPU Occupancy / Impact of Local Memory Within Work-group",
    lesson="A core's SLM is cut among its resident work-groups: one that asks for all of it is alone there.",
    # What to look for: the kernel is the same, and uses 4 bytes a work-item. Only what it asks for differs, and so
    # how many work-groups are there to run while one waits.
    presets={
        "smoke": {"n": 1 << 14, "steps": 16},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 20, per_lane=16)}, "steps": 64},
        "guide": {"n": 64 * 64 * 128, "steps": 64},
    },
    axes={"work_group_size": (128,), "sub_group_size": "device"},  # the guide's row (G 516, 545)
    requires=("sub_groups",),
)


@pattern.problem
def integers(rng, n, steps, work_group_size):
    if work_group_size % latency_chain.ROW:
        raise ValueError(f"work_group_size={work_group_size}: give a multiple of {latency_chain.ROW}")
    return latency_chain.integers(rng, n, steps)


@pattern.reference
def expected(p):
    return {"y": latency_chain.met(p)}


@pattern.naive
def whole_slm(session, p, work_group_size, sub_group_size):
    """An array for the largest case there may be: all that a work-group can have."""
    limit = session.device.local_mem_size
    return latency_chain.launch_meeting(session, p, work_group_size, sub_group_size, limit)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 554, 20880 to 20885"))
def quarter_of_slm(session, p, work_group_size, sub_group_size):
    """A quarter of that."""
    limit = session.device.local_mem_size
    return latency_chain.launch_meeting(session, p, work_group_size, sub_group_size, limit // 4)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 554, 20880 to 20885"))
def slm_as_needed(session, p, work_group_size, sub_group_size):
    """Four bytes a work-item, which is what the kernel uses."""
    return latency_chain.launch_meeting(session, p, work_group_size, sub_group_size)

"""Cut a vector addition into a part for each device: they work at the same time, each in memory of its own."""

from xebench import Claim, Pattern, fit

from ..common import parts
from ..common.sum_in_parts import added, expected, two_arrays

pattern = Pattern(
    name="vector_add_devices",
    catalogue=("E82", "flat_vecadd_devices", "flat_chunked_init"),
    guide="Multiple Devices / FLAT Mode Example",
    lesson="Each stack or card shows as a device of its own: give each a part of the arrays, and they share the time.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        # so many rounds that the way of the result to the host weighs little
        "default": {
            "n": {"cpu": 1 << 20, "gpu": fit(1 << 24, bytes_each=12, launches=10)},
            "rounds": {"cpu": 8, "gpu": 64},
        },
        "guide": {"n": 1 << 27, "rounds": 16},
    },
    own_sizes="an eighth of the guide's three arrays of 4 GiB, which the host needs, too",
    # the whole program with the way of the result to the host, or the additions alone
    axes={"devices": (2,), "data": ("copied", "stays"), "work_group_size": (1024,)},
    metric="wall",  # devices have clocks of their own: only the host sees when all are over
    requires=("several_devices",),
)

pattern.problem(two_arrays)
pattern.reference(expected)


@pattern.naive
def one_device(session, p, devices, work_group_size):
    """The first of the devices does everything; the others idle."""
    first, *_ = session.queues_on(devices)
    return added(session, p, [first], [1], work_group_size)


# The guide speaks of the kernels; copies of the result take one device as long as all.
@pattern.optimized(
    claim=(
        Claim("faster", where={"data": "stays"}, on=("gpu",), source="G 16936 to 17000"),
        Claim("faster", where={"data": "copied"}, on=("gpu",), strength="implied", source="G 16936 to 17000"),
    )
)
def equal_parts(session, p, devices, work_group_size):
    """As many elements for each device."""
    return added(session, p, session.queues_on(devices), [1] * devices, work_group_size)


# Look for a difference from equal parts: it shows devices that are not equally fast.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 8101"))
def parts_by_speed(session, p, devices, work_group_size):
    """As many elements for each device as it has computed in the same time, alone, before the clock started."""
    queues = session.queues_on(devices)
    shares = parts.speeds(session, p, parts.add_elements, queues)
    return added(session, p, queues, shares, work_group_size)

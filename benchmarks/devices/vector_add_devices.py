"""Cut a vector addition into a part for each device: they work at the same time, each in memory of its own."""

from xebench import Claim, Pattern

from ..common import parts, staying_parts

pattern = Pattern(
    name="vector_add_devices",
    catalogue=("E82", "flat_vecadd_devices", "flat_chunked_init"),
    guide="Multiple Devices / FLAT Mode Example",
    lesson="Each stack or card shows as a device of its own: give each a part of the arrays, and they share the time.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        # so many rounds that the way of the result to the host weighs little
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 24}, "rounds": {"cpu": 8, "gpu": 128}},
        "guide": {"n": 1 << 27, "rounds": 16},
    },
    own_sizes="an eighth of the guide's three arrays of 4 GiB, in work-groups of 256 where it has 1024",
    # the whole program with the way of the result to the host, or the additions alone
    axes={"devices": (2,), "data": ("copied", "stays")},
    metric="wall",  # devices have clocks of their own: only the host sees when all are over
)


@pattern.problem
def two_arrays(rng, n, data):
    return program(data).two_arrays(rng, n)


@pattern.reference
def expected(p):
    total = p.a + p.b
    return {"total": total} if p.data == "copied" else {"sums": staying_parts.folded(total)}


def program(data):
    """The module with the problem and the sample."""
    return {"copied": parts, "stays": staying_parts}[data]


@pattern.naive
def one_device(session, p, devices, data):
    """The first of the devices does everything; the others idle."""
    first, *_ = session.queues_on(devices)
    return program(data).in_parts(session, p, parts.add_elements, [first], [1])


# The guide speaks of the kernels; copies of the result take one device as long as all.
@pattern.optimized(
    claim=(
        Claim("faster", where={"data": "stays"}, on=("gpu",), source="G 16936 to 17000"),
        Claim("faster", where={"data": "copied"}, on=("gpu",), strength="implied", source="G 16936 to 17000"),
    )
)
def equal_parts(session, p, devices, data):
    """As many elements for each device."""
    queues = session.queues_on(devices)
    return program(data).in_parts(session, p, parts.add_elements, queues, [1] * devices)


# Look for a difference from equal parts: it shows devices that are not equally fast.
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 8101"))
def parts_by_speed(session, p, devices, data):
    """As many elements for each device as it has computed in the same time, alone, before the clock started."""
    queues = session.queues_on(devices)
    shares = parts.speeds(session, p, parts.add_elements, queues)
    return program(data).in_parts(session, p, parts.add_elements, queues, shares)

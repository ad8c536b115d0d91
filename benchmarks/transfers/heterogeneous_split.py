"""Share work between a GPU and the CPU, which is a device of SYCL as well: both compute at the same time."""

from xebench import Claim, Pattern

from ..common import parts
from ..common.sum_in_parts import added, expected, two_arrays

pattern = Pattern(
    name="heterogeneous_split",
    catalogue=("E70",),
    guide="Host/Device Coordination / Using Multiple Heterogeneous Devices",
    lesson="Two devices of unequal speed gain from a split by speed; by halves, both wait for the slower.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {"n": {"cpu": 1 << 20, "gpu": 1 << 24}, "rounds": {"cpu": 8, "gpu": 32}},
        "guide": {"n": 13_762_560, "rounds": 10},  # of the guide's published program
    },
    # the way of the result to the host with the additions, or these alone
    axes={"data": ("copied", "stays")},
    metric="wall",
)


pattern.problem(two_arrays)
pattern.reference(expected)


def cpu_and_device(session):
    """A queue on each."""
    return *session.queues_on(1, kind="cpu"), session.queue


@pattern.naive
def device_alone(session, p):
    """All on the device."""
    return added(session, p, [session.queue], [1])


@pattern.baseline
def cpu_alone(session, p):
    """All on the CPU, as a device."""
    return added(session, p, session.queues_on(1, kind="cpu"), [1])


# "Almost twice as fast" is of two devices that the guide does not name; beside a large GPU a CPU's half takes longer.
@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 8101"))
def halves(session, p):
    """Half of the elements each."""
    return added(session, p, cpu_and_device(session), [1, 1])


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 8101"),
        # the shares are of speed alone, and know nothing of copies
        Claim("faster", against="halves", where={"data": "stays"}, on=("gpu",), strength="implied", source="G 8101"),
    )
)
def by_speed(session, p):
    """Shares by the speed of each, measured before the clock starts."""
    queues = cpu_and_device(session)
    shares = parts.speeds(session, p, parts.add_elements, queues)
    return added(session, p, queues, shares)

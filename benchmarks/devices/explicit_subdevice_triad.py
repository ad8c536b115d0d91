"""STREAM triad on the stacks of one GPU: a queue for each stack, and its part of the arrays in its own memory."""

import numpy as np

from xebench import Claim, Figure, Pattern, fit

from ..common import parts
from ..common.sum_in_parts import added_scaled, arrived, two_arrays

pattern = Pattern(
    name="explicit_subdevice_triad",
    catalogue=("E83", "explicit_subdevice_triad", "explicit_subdevice_vecadd_omp"),
    guide="Multiple Stacks / Explicit Scaling",
    lesson="Cut the device into its stacks, and give each a queue and its part of the data: twice the stacks, half "
    "the time.",
    # Two of the guide's programs are one here: the triad of SYCL (G 17400), and sizes, rounds and figure of the sums in
    # OpenMP (G 17669 to 17734). The guide has an array on each stack, so that two have twice as much to add, and prints
    # bandwidths; here the same elements are one stack's or both's, which is the same ratio. Its clock does not see the
    # results fetched.
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {
            "n": {"cpu": 1 << 20, "gpu": fit(1 << 24, bytes_each=12, launches=10)},
            "rounds": {"cpu": 8, "gpu": 64},
        },
        "guide": {"n": 2 * 8_000_000 * 32, "rounds": 200},
    },
    # the triads alone, or with the way of the result to the host
    axes={"devices": (2,), "data": ("stays", "copied")},
    metric="wall",
    requires=("several_devices",),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device, which has no sub-devices
)


pattern.problem(two_arrays)


@pattern.reference
def expected(p):
    return arrived(p, p.a + np.float32(parts.FACTOR) * p.b)


@pattern.naive
def one_sub_device(session, p, devices):
    """One stack does everything."""
    first, *_ = session.queues_on(devices, kind="sub-devices")
    return added_scaled(session, p, [first], [1])


@pattern.optimized(
    claim=(
        Claim(
            "faster",
            where={"data": "stays"},
            on=("gpu",),
            figure=Figure(2.0, device="Data Center GPU Max", line="G 17734"),
        ),
        Claim("faster", where={"data": "copied"}, on=("gpu",), strength="implied", source="G 17734"),
    )
)
def every_sub_device(session, p, devices):
    """Each stack has a queue, and its part of the arrays."""
    return added_scaled(session, p, session.queues_on(devices, kind="sub-devices"), [1] * devices)


# The guide measures twice the rate for its own stream, an addition of 64-bit integers: no figure of this program.
@pattern.intermediate(
    claim=Claim(
        "faster", where={"data": "stays"}, on=("gpu",), requires=("stacks=2",), source="G 17778, 18004 to 18011"
    )
)
def undivided_device(session, p):
    """The device as a whole: its driver hands work-groups to the stacks (implicit scaling)."""
    return added_scaled(session, p, [session.queue], [1])

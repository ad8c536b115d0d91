"""Contexts of several sub-devices: one for each, one for all, or the undivided device."""

import numpy as np

from xebench import Claim, Pattern, fit

from ..common import parts, staying_parts

pattern = Pattern(
    name="context_schemes",
    catalogue=("E84", "composite_context_schemes", "device_hierarchy_flat_composite"),
    guide="Multiple Stacks / COMPOSITE Mode Programming",
    lesson="The less a context comprises, the faster it is: a stack, several stacks, a card, several cards. The "
    "hierarchy says whether a stack is a device (FLAT) or a part of one (COMPOSITE).",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {
            "n": {"cpu": 1 << 20, "gpu": fit(1 << 24, bytes_each=12, launches=10)},
            "rounds": {"cpu": 8, "gpu": 64},
        },
        "guide": {"n": 1 << 27, "rounds": 10},
    },
    own_sizes="the guide names no size",
    axes={"devices": (2,)},
    metric="wall",
    requires=("several_devices",),
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device, which has no sub-devices
)


@pattern.problem
def two_arrays(rng, n):
    return staying_parts.two_arrays(rng, n)


@pattern.reference
def expected(p):
    return {"sums": staying_parts.folded(p.a + np.float32(parts.FACTOR) * p.b)}


def triad_on(session, p, queues, usm="device"):
    """A sample: each queue has as many elements, and results stay on the devices."""
    return staying_parts.in_parts(session, p, parts.add_scaled, queues, [1] * len(queues), usm=usm)


@pattern.naive
def context_of_undivided_device(session, p):
    """The device as a whole in a context of its own: the driver distributes the work."""
    return triad_on(session, p, [session.new_queue(context="separate")])


@pattern.intermediate(claim=Claim("faster", on=("gpu",), source="G 17276 to 17314"))
def context_of_several_sub_devices(session, p, devices):
    """A queue for each sub-device in one context, so that they can share data."""
    return triad_on(session, p, session.queues_on(devices, kind="sub-devices"))


@pattern.antipattern(
    claim=Claim(
        "slower",
        against="context_of_several_sub_devices",
        on=("gpu",),
        requires=("stacks=2",),
        source="G 17295",
    )
)
def context_of_several_sub_devices_and_device(session, p, devices):
    """The same with the undivided device in the context, as the guide advises against."""
    return triad_on(session, p, session.queues_on(devices, kind="sub-devices", context="with device"))


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), source="G 17276 to 17314"),
        Claim("faster", against="context_of_several_sub_devices", on=("gpu",), source="G 17276 to 17295"),
    )
)
def context_for_each_sub_device(session, p, devices):
    """A queue for each sub-device, in a context that knows no other: nothing can be shared."""
    return triad_on(session, p, session.queues_on(devices, kind="sub-devices", context="separate"))


@pattern.antipattern(
    requires=("usm_host",),
    # the guide compares memory of the host with that of the whole card, which this context leaves out
    claim=Claim(
        "slower",
        against="context_of_several_sub_devices",
        on=("gpu",),
        requires=("stacks=2",),
        strength="implied",
        source="G 17238",
    ),
)
def several_sub_devices_and_host_memory(session, p, devices):
    """The inputs of each sub-device are in memory of the host instead of the device's."""
    return triad_on(session, p, session.queues_on(devices, kind="sub-devices"), usm="host")


# Several cards do more at a time, so this is no slower here, where nothing is shared between them: the guide's
# warning is of access to each other's memory, and no claim is asked.
@pattern.baseline
def context_of_several_devices(session, p, devices):
    """A queue for each of several undivided devices, in one context."""
    return triad_on(session, p, session.queues_on(devices, kind="devices"))


# The guide recommends it before both ways of COMPOSITE, of which implicit scaling is the last.
@pattern.optimized(
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "FLAT"},
    claim=Claim("faster", on=("gpu",), requires=("stacks=2",), strength="implied", source="G 16780 to 16816"),
)
def stacks_as_devices(session, p, devices):
    """The driver's default, FLAT, in which each stack is a device: a queue for each, in one context."""
    return triad_on(session, p, session.queues_on(devices, kind="devices"))

"""Immediate command lists hand every command to the device at once; regular ones are gathered, closed and submitted."""

import numpy as np

from xebench import Claim, Pattern, Problem, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="immediate_command_lists",
    catalogue=("E55", "immediate_command_list"),
    guide="Level Zero / Immediate Command Lists",
    lesson="Many short kernels are submitted sooner through immediate command lists than through regular ones.",
    presets={
        "smoke": {"n": (64, 61), "launches": 4},
        "default": {"n": 1 << 10, "launches": 100},
        "guide": {"n": 1 << 10, "launches": 1000},
    },
    own_sizes="the guide names no size",
    axes={"wait": ("once", "each")},  # after the last kernel, or after each: then what is seen is latency
    metric="wall",
    requires=("level_zero", "intel_gpu"),
)


def use_immediate(yes):
    """The runtime's switch, by the name that it has had since 2024 and the one before.

    The second version of the runtime's adapter has no other lists, and does not read it.
    """
    names = ("UR_L0_USE_IMMEDIATE_COMMANDLISTS", "SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS")
    return {**dict.fromkeys(names, str(yes)), "SYCL_UR_USE_LEVEL_ZERO_V2": "0"}


@kernel
def add_one(item: kapi.Item, x):
    i = item.get_id(0)
    x[i] += np.int32(1)


@pattern.problem
def one_array(rng, n, launches):
    return Problem(x=inout(rng.integers(0, 100, n, dtype=np.int32)))


@pattern.reference
def expected(p):
    return {"x": p.x + p.launches}


def launch_in_turn(session, p, wait):
    """Short kernels, one after the other."""
    for _ in range(p.launches):
        event = session.launch(add_one, kapi.Range(p.n), p.x)
        if wait == "each":
            event.wait()


@pattern.naive(environment=use_immediate(0))
def regular_lists(session, p, wait):
    """The runtime gathers commands in a list, and submits the list to a queue."""
    launch_in_turn(session, p, wait)


# The guide calls their latency very low, and compares no times. Where the host waits once, a list that is submitted as
# a whole may be as good.
@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), where={"wait": "each"}, strength="implied", source="G 20275 to 20284"),
        Claim("faster", on=("gpu",), where={"wait": "once"}),
    ),
    environment=use_immediate(1),
)
def immediate_lists(session, p, wait):
    """Every command is submitted as it is appended."""
    launch_in_turn(session, p, wait)


# The guide says what they do (G 20328), and nothing of their speed.
@pattern.baseline(environment={**use_immediate(1), "UR_L0_SERIALIZE": "2"})
def synchronous_lists(session, p, wait):
    """Every command is over when the call that appends it returns."""
    launch_in_turn(session, p, wait)

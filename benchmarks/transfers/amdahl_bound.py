"""What stays on the host bounds what a device can gain: Amdahl's law, with a share that is set and not guessed."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="amdahl_bound",
    catalogue=("E01",),
    guide="Getting Started / Amdahl's Law",
    lesson="If half of the time cannot be accelerated, no device makes the program more than twice as fast.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 16},
        "default": {"n": {"cpu": 1 << 17, "gpu": fit(1 << 20, per_lane=4)}, "rounds": 32},
        "guide": {"n": 1 << 22, "rounds": 32},
    },
    own_sizes="the guide has no program",
    stand_in="The guide states a law, which no measurement can refute, and has no program. One is measured whose share "
    "of the host is set: how near a device comes to the bound, and whether it is faster than the host alone, which is "
    "ours.",
    # of the elements, each of which takes the host equally long; the guide's example is 50
    axes={"host_percent": (50, 10), "work_group_size": (256,)},
    metric="wall",
    rtol=1e-5,  # each round halves what the rounds before erred
)

CACHED = 1 << 13  # elements that stay in a cache of a core


@pattern.problem
def sequences(rng, n, rounds):
    return Problem(
        x=rng.uniform(1, 2, n).astype(np.float32),
        y=output(n, np.float32, host=True),
        operations=2 * rounds * n,
    )


@pattern.reference
def expected(p):
    y = np.zeros(p.n)
    for _ in range(p.rounds):
        y = 0.5 * y + p.x
    return {"y": y}


@kernel
def iterate(item: kapi.NdItem, x, y, rounds):
    i = item.get_global_id(0)
    if i < y.shape[0]:
        value = np.float32(0)
        for _ in range(rounds):
            value = np.float32(0.5) * value + x[i]
        y[i] = value


def on_host(p, first, end):
    """These elements, by numpy."""
    half = np.float32(0.5)
    for begin in range(first, end, CACHED):
        x = p.host.x[begin : min(begin + CACHED, end)]
        y = p.y[begin : min(begin + CACHED, end)]
        y[:] = 0
        for _ in range(p.rounds):
            y *= half
            y += x


def serial_count(p, host_percent):
    """How many elements nobody has ported to the device."""
    return max(p.n * host_percent // 100, 1)


@pattern.naive
def all_on_host(session, p):
    """No device."""
    on_host(p, 0, p.n)


@pattern.baseline
def infinitely_fast_device(session, p, host_percent):
    """The bound: the host's part, and the rest is there already. It costs but a copy on the host."""
    count = serial_count(p, host_percent)
    on_host(p, count, p.n)
    ready = p.y[count:].copy()

    def timed():
        on_host(p, 0, count)
        p.y[count:] = ready

    return timed


# That it is slower than the bound is the law, which no measurement can refute: how near it comes is to be seen.
# That it is faster than the host alone is ours: the guide states the law (G 161 to 177).
@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def rest_on_device(session, p, host_percent, work_group_size):
    """The host's part first, then what is ported, on the device: input there, result back."""
    count = serial_count(p, host_percent)
    x, y = (session.alloc(p.n - count, np.float32) for _ in range(2))
    groups = ceil_div(p.n - count, work_group_size)
    space = kapi.NdRange((groups * work_group_size,), (work_group_size,))

    def timed():
        on_host(p, 0, count)
        session.copy(x, p.host.x[count:])
        session.launch(iterate, space, x, y, p.rounds)
        session.copy(p.y[count:], y)

    return timed

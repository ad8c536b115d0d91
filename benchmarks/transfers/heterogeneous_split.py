"""Give host and device shares of the work that take them equally long.

The guide's two are a GPU and a CPU, both as SYCL devices. Here one is measured, and the host computes beside it with
numpy, on one core.
"""

import time

from xebench import Claim, Pattern, fit

from ..common import host_and_device

pattern = Pattern(
    name="heterogeneous_split",
    catalogue=("E70",),
    guide="Host/Device Coordination / Using Multiple Heterogeneous Devices",
    lesson="Two devices of unequal speed gain from a split by speed; by halves, both wait for the slower.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 22, per_lane=16)}},
        "guide": {"n": 13_762_560},
    },
    metric="wall",
)

pattern.problem(host_and_device.two_vectors)
pattern.reference(host_and_device.added)

TRIALS = 5  # of which the shortest counts


def shared(session, p, of_device):
    """A sample in which the device has the first elements, and the host the others at the same time."""
    submit = host_and_device.device_part(session, p, of_device)

    def timed():
        submit()
        host_and_device.host_part(p, of_device)

    return timed


def seconds(run):
    """The shortest of several trials."""
    trials = []
    for _ in range(TRIALS):
        begin = time.perf_counter()
        run()
        trials.append(time.perf_counter() - begin)
    return min(trials)


def share_of_device(session, p):
    """The device's part of the work by which both would take equally long, each alone."""
    submit = host_and_device.device_part(session, p, p.n)

    def on_device():
        submit()
        session.wait()

    device_seconds, host_seconds = seconds(on_device), seconds(lambda: host_and_device.host_part(p, 0))
    return host_seconds / (device_seconds + host_seconds)


@pattern.naive
def device_alone(session, p):
    """All on the device, while the host waits."""
    return shared(session, p, p.n)


@pattern.baseline
def host_alone(session, p):
    """All on the host: numpy."""
    host_and_device.host_part(p, 0)


@pattern.intermediate(claim=Claim("faster", on=("gpu",), strength="implied", source="G 8101"))
def halves(session, p):
    """Half of the elements each."""
    return shared(session, p, p.n // 2)


@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 8101"),
        Claim("faster", against="halves", on=("gpu",), strength="implied", source="G 8101"),
    )
)
def by_speed(session, p):
    """Shares by the speed of each, measured before the clock starts."""
    return shared(session, p, round(p.n * share_of_device(session, p)))

"""Let the host compute its half while the device computes the other."""

from xebench import Claim, Figure, Pattern, fit

from ..common import host_and_device

pattern = Pattern(
    name="host_half_meanwhile",
    catalogue=("nowait_host_device_split",),
    guide="OpenMP Offload Best Practices / Reduce Synchronizations Using nowait",
    lesson="Submit the device's half, compute the host's meanwhile, and wait once: at best this halves the time.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 22, per_lane=16)}},
        "guide": {"n": 100_000},
    },
    metric="wall",
)

pattern.problem(host_and_device.two_vectors)
pattern.reference(host_and_device.added)


@pattern.naive
def wait_first(session, p):
    """The host waits for the device's half, and then begins its own."""
    submit = host_and_device.device_part(session, p, p.n // 2)

    def timed():
        submit()
        session.wait()
        host_and_device.host_part(p, p.n // 2)

    return timed


@pattern.optimized(
    # 3.9 is more than two parts at the same time can gain: the guide measures once, preparations included
    claim=Claim("faster", on=("gpu",), figure=Figure(0.008220 / 0.002110, line="G 13544 to 13545"))
)
def host_meanwhile(session, p):
    """The host begins its half at once. How much a driver lets happen before it is waited for is up to it."""
    submit = host_and_device.device_part(session, p, p.n // 2)

    def timed():
        submit()
        host_and_device.host_part(p, p.n // 2)

    return timed

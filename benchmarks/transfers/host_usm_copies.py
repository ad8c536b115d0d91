"""Let the host's side of a copy be memory that the driver knows: allocated as host USM, or imported where it is.

The guide recommends host USM first, and prints what importing memory of `malloc` gains.
"""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, ceil_div, fit, output

from ..common.staging import host_array

pattern = Pattern(
    name="host_usm_copies",
    catalogue=("E65",),
    guide="Host/Device Memory, Buffer and USM / Optimizing Data Transfers",
    lesson="A device copies host USM by itself; pageable memory goes through a staging buffer, or is pinned each time.",
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 24, per_cache_byte=1 / 16)}},
        "guide": {"n": 64_000_000},  # 256 million bytes
    },
    axes={"direction": ("to_device", "to_host")},
    metric="wall",
)

MIB = 1 << 18  # elements of a MiB
# GB/s, on one stack of a GPU that the guide does not name (G 7235 to 7238)
SPEED_UP = {"to_device": 45.4 / 26.9, "to_host": 48.0 / 33.2}
LINES = {"to_device": "G 7235 to 7236", "to_host": "G 7237 to 7238"}


@pattern.problem
def one_array(rng, n, direction):
    """To the device, the copy is the result; to the host, an element of each MiB that arrived."""
    to_device = direction == "to_device"
    x = rng.integers(0, 1 << 30, n, dtype=np.int32)
    y = output(n, np.int32) if to_device else output(ceil_div(n, MIB), np.int32, host=True)
    return Problem(x=x, y=y, host_bytes=4 * n)


@pattern.reference
def expected(p):
    return {"y": p.x if p.direction == "to_device" else p.x[::MIB]}


def copying(session, p, direction, of_host):
    """A sample: one copy between the device and this array of the host."""
    if direction == "to_device":
        of_host[:] = p.host.x
        return lambda: session.copy(p.y, of_host)

    def timed():
        session.copy(of_host, p.x)
        session.wait()
        p.y[:] = of_host[::MIB]

    return timed


@pattern.naive
def pageable(session, p, direction):
    """Memory of numpy, which is that of `malloc`."""
    return copying(session, p, direction, np.zeros(p.n, np.int32))


@pattern.intermediate(
    requires=("level_zero",),
    claim=tuple(
        Claim(
            "faster",
            on=("gpu",),
            where={"direction": way},
            figure=Figure(SPEED_UP[way], line=LINES[way], device="Max", inferred="G 7231, 11858 to 11861"),
        )
        for way in SPEED_UP
    ),
)
def imported(session, p, direction):
    """Memory of numpy that is imported before the clock starts, by SYCL's ``prepare_for_device_copy``."""
    of_host = np.zeros(p.n, np.int32)
    session.import_memory(of_host)
    return copying(session, p, direction, of_host)


# "No extra copies are necessary and the transfer rate is optimal"; the guide prints none.
@pattern.optimized(
    requires=("usm_host",),
    claim=(
        Claim("faster", on=("gpu",), strength="implied", source="G 7244"),
        Claim("same", against="imported", on=("gpu",)),
    ),
)
def host_usm(session, p, direction):
    """Host USM, which numpy sees as an array of its own."""
    _usm, view = host_array(session, p.n, np.int32)
    return copying(session, p, direction, view)

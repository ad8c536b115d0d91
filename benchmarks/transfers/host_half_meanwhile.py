"""Let the host compute its half while the device computes the other."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi

from ..common.parts import items
from ..common.staging import host_array

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
    # the guide's arrays, whose copies a driver may finish before it returns; or memory that the device copies by itself
    axes={"memory": ("pageable", "host_usm")},
    metric="wall",
    requires=("usm_host",),
)


@kernel
def multiply(item: kapi.NdItem, a, b, product):
    i = item.get_global_id(0)
    if i < product.shape[0]:
        product[i] = a[i] * b[i]


@pattern.problem
def two_vectors(rng, n):
    a, b = rng.standard_normal((2, n), dtype=np.float32)
    return Problem(a=a, b=b, product=output(n, np.float32, host=True), bytes_moved=12 * n, operations=n)


@pattern.reference
def expected(p):
    return {"product": p.a * p.b}


def two_halves(session, p, memory):
    """Functions that submit the device's half with its copies, wait for it, and compute the host's half."""
    half = p.n // 2
    on_device = [session.alloc(half, np.float32) for _ in range(3)]
    of_host = p.host.a[:half], p.host.b[:half], p.product[:half]
    if memory == "host_usm":
        usm, views = zip(*(host_array(session, half, np.float32) for _ in of_host), strict=True)
        views[0][:], views[1][:] = of_host[:2]

    def submit():
        a, b, product = usm if memory == "host_usm" else of_host
        session.copy(on_device[0], a)
        session.copy(on_device[1], b)
        session.launch(multiply, items(half), *on_device)
        session.copy(product, on_device[2])

    def wait():
        session.wait()
        if memory == "host_usm":
            of_host[2][:] = views[2]

    return submit, wait, lambda: np.multiply(p.host.a[half:], p.host.b[half:], out=p.product[half:])


@pattern.naive
def wait_first(session, p, memory):
    """The host waits for the device's half, and then begins its own."""
    submit, wait, compute_on_host = two_halves(session, p, memory)

    def timed():
        submit()
        wait()
        compute_on_host()

    return timed


@pattern.optimized(
    claim=(
        # 3.9 is more than two parts at the same time can gain: the guide measures once, preparations included
        Claim(
            "faster",
            where={"memory": "pageable"},
            on=("gpu",),
            figure=Figure(0.008220 / 0.002110, line="G 13544 to 13545", device="Max", inferred="G 11858 to 11861"),
        ),
        Claim("faster", where={"memory": "host_usm"}, on=("gpu",), strength="implied", source="G 13465"),
    )
)
def host_meanwhile(session, p, memory):
    """The host begins its half at once. How much a driver lets happen before it is waited for is up to it."""
    submit, wait, compute_on_host = two_halves(session, p, memory)

    def timed():
        submit()
        compute_on_host()
        wait()

    return timed

"""Where 160 values of 32 bits are alive in every lane: twice the registers, half the lanes, or both."""

from xebench import Claim, Figure, Pattern, Problem, fit, kernel
from xebench import kernel_api as kapi

from ..common import dual_numbers
from ..common.dual_numbers import PARTS, VALUES, accumulate, add, load

pattern = Pattern(
    name="high_register_pressure",
    catalogue=("E20", "E21", "E29"),
    guide="Registers and Performance / Porting Code with High Register Pressure",
    lesson="What does not fit registers is spilled to memory: large GRF mode and 16 lanes for 32 each double the room.",
    presets={
        "smoke": {"n": (1 << 8, 7 * 32)},
        "default": {"n": {"cpu": 1 << 13, "gpu": fit(1 << 14, per_lane=0.5)}},
        # eight sub-groups of 32; the guide's program for 16 lanes also has eight, and so does half of the work
        "guide": {"n": 256},
    },
    requires=("fp64",),
)

WIDEST = 32
# milliseconds of 1000 launches on one stack, with the time to launch and wait (G 2580 to 2583)
TIMES = {"device": "Max 1550", "line": "G 2580 to 2583", "metric": "wall"}
LARGE_OF_32, LARGE_OF_16 = Figure(36.1 / 32.2, **TIMES), Figure(30.3 / 27.7, **TIMES)


def claims(against, figure=None):
    """Faster and with fewer spills; the guide's times of 16 and 32 lanes are of half and of all work: no figure."""
    return (
        Claim("faster", against=against, on=("gpu",), figure=figure, source="G 2580 to 2585"),
        Claim("spills", against=against, on=("gpu",), source="G 2553 to 2573"),
    )


def add_up(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    v0, v1, v2, v3, v4 = load(x, i, 0), load(x, i, 1), load(x, i, 2), load(x, i, 3), load(x, i, 4)
    v5, v6, v7, v8, v9 = load(x, i, 5), load(x, i, 6), load(x, i, 7), load(x, i, 8), load(x, i, 9)
    p0 = add(v0, v5)
    p1, p2, p3, p4 = add(v1, v6), add(v2, v7), add(v3, v8), add(v4, v9)
    # v5 to v9 are needed a second time, so that they stay alive
    p0 = add(add(p0, p1), v5)
    p2 = add(add(p2, p3), v6)
    p4 = add(add(p4, p1), v7)
    p3 = add(add(p3, p2), v8)
    p2 = add(add(p0, p4), v9)
    p1 = add(p1, v0)
    accumulate(y, i, 0, p0)
    accumulate(y, i, 1, p1)
    accumulate(y, i, 2, p2)
    accumulate(y, i, 3, p3)
    accumulate(y, i, 4, p4)
    accumulate(y, i, 5, v0)
    accumulate(y, i, 6, v1)
    accumulate(y, i, 7, v2)
    accumulate(y, i, 8, v3)
    accumulate(y, i, 9, v4)


@pattern.problem
def ten_vectors(rng, n):
    return Problem(**dual_numbers.fields(rng, n, WIDEST))


@pattern.reference
def expected(p):
    vectors = p.x.reshape(-1, VALUES // PARTS, PARTS)
    return {"y": dual_numbers.sums_of(vectors, vectors[:, 0])}


def launcher(session, p, lanes, **options):
    add_up_in = kernel(sub_group_size=lanes, **options)(add_up)
    return lambda: session.launch(add_up_in, kapi.NdRange((p.n,), (lanes,)), p.x, p.y)


@pattern.naive(requires=("sub_group_size=32",))
def lanes_32(session, p):
    """As on a GPU with 256 registers a lane: Intel's Max has 64 of 32 bits, and spills the others."""
    return launcher(session, p, 32)


@pattern.intermediate(claim=claims("lanes_32", LARGE_OF_32), requires=("intel_gpu", "sub_group_size=32"))
def lanes_32_large_grf(session, p):
    """128 registers a lane: half as many hardware threads."""
    return launcher(session, p, 32, large_grf=True)


@pattern.intermediate(
    claim=(*claims("lanes_32"), *claims("lanes_32_large_grf")),
    requires=("sub_group_size=16",),
)
def lanes_16(session, p):
    """128 registers a lane: half as many lanes in each hardware thread."""
    return launcher(session, p, 16)


@pattern.optimized(
    claim=(*claims("lanes_32"), *claims("lanes_16", LARGE_OF_16)),
    requires=("intel_gpu", "sub_group_size=16"),
)
def lanes_16_large_grf(session, p):
    """256 registers a lane: all values fit."""
    return launcher(session, p, 16, large_grf=True)

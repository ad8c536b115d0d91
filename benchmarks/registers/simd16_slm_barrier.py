"""What lanes of one sub-group hand to each other in SLM needs a barrier as soon as there are two sub-groups."""

import numpy as np

from xebench import Claim, Figure, Pattern, Problem, fit, kernel
from xebench import kernel_api as kapi
from xebench.dpex import vector

from ..common import dual_numbers
from ..common.dual_numbers import PARTS, VALUES, accumulate, add, load

pattern = Pattern(
    name="simd16_slm_barrier",
    catalogue=("E30",),
    guide="Registers and Performance / Special Considerations When Porting to SIMD 16",
    lesson="In sub-groups of 16 a work-group of 32 is two: what one reads from SLM, the other may not have written.",
    presets={
        "smoke": {"n": (1 << 8, 7 * 32)},
        "default": {"n": {"cpu": 1 << 13, "gpu": fit(1 << 14, per_lane=0.5)}},
        # eight groups of 32; the guide's program for 16 lanes has four, and so does half of the work
        "guide": {"n": 256},
    },
    requires=("fp64",),
)

ZEROS = (0.0,) * PARTS
GROUP = 32  # work-items: one sub-group of 32, or two of 16
# milliseconds of 1000 launches on one stack, with the time to launch and wait (G 2782 to 2785)
TIMES = {"device": "Max 1550", "line": "G 2782 to 2785", "metric": "wall"}
LARGE_OF_32, LARGE_OF_16 = Figure(38.0 / 33.7, **TIMES), Figure(31.3 / 29.7, **TIMES)


def faster(figure=None, against=""):
    """What the guide's times say; between 16 and 32 lanes it is implied, since they are of half and of all work."""
    strength = "" if figure else "implied"
    return Claim("faster", against=against, on=("gpu",), figure=figure, strength=strength, source="G 2782 to 2785")


def adder(lanes, barrier, **options):
    """The kernel: the first vector of each item goes through SLM to the item that mirrors it in its group.

    As in the guide all ten vectors are loaded before that, so that they are alive across the second barrier.
    """

    @kernel(sub_group_size=lanes, **options)
    def exchange_and_add(item: kapi.NdItem, x, y, slm):
        i = item.get_global_id(0)
        lane = item.get_local_id(0)
        vector.store8(slm, lane * PARTS, ZEROS)
        if barrier:
            kapi.group_barrier(item.get_group())
        v0, v1, v2, v3, v4 = load(x, i, 0), load(x, i, 1), load(x, i, 2), load(x, i, 3), load(x, i, 4)
        v5, v6, v7, v8, v9 = load(x, i, 5), load(x, i, 6), load(x, i, 7), load(x, i, 8), load(x, i, 9)
        p0 = add(v0, v5)
        vector.store8(slm, lane * PARTS, add(vector.load8(slm, lane * PARTS), v0))
        if barrier:
            kapi.group_barrier(item.get_group())
        v0 = vector.load8(slm, (GROUP - 1 - lane) * PARTS)
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

    return exchange_and_add


@pattern.problem
def ten_vectors(rng, n):
    return Problem(**dual_numbers.fields(rng, n, GROUP))


@pattern.reference
def expected(p):
    vectors = p.x.reshape(-1, VALUES // PARTS, PARTS)
    mirrored = vectors[:, 0].reshape(-1, GROUP, PARTS)[:, ::-1].reshape(-1, PARTS)
    return {"y": dual_numbers.sums_of(vectors, mirrored)}


def launcher(session, p, lanes, barrier, **options):
    exchange_and_add, slm = adder(lanes, barrier, **options), kapi.LocalAccessor(GROUP * PARTS, np.float64)
    return lambda: session.launch(exchange_and_add, kapi.NdRange((p.n,), (GROUP,)), p.x, p.y, slm)


@pattern.naive(requires=("sub_group_size=32",))
def one_sub_group(session, p):
    """No barrier: all 32 lanes write before any of them reads, because they are one hardware thread."""
    return launcher(session, p, 32, barrier=False)


@pattern.intermediate(claim=faster(LARGE_OF_32), requires=("intel_gpu", "sub_group_size=32"))
def one_sub_group_large_grf(session, p):
    """The same with twice the registers."""
    return launcher(session, p, 32, barrier=False, large_grf=True)


# Barriers "may" take time, says the guide, of sub-groups that need them; without one these have no right result.
@pattern.antipattern(
    claim=Claim("slower", on=("gpu",), strength="ours", source="G 2777"), requires=("sub_group_size=32",)
)
def one_sub_group_with_barrier(session, p):
    """The barriers that 32 lanes in step do not need: what they cost."""
    return launcher(session, p, 32, barrier=True)


@pattern.antipattern(claim=Claim("may be wrong", on=("gpu",), source="G 2777"), requires=("sub_group_size=16",))
def two_without_barrier(session, p):
    """The same in sub-groups of 16: neither waits for what the other writes."""
    return launcher(session, p, 16, barrier=False)


@pattern.optimized(claim=faster(), requires=("sub_group_size=16",))
def two_with_barrier(session, p):
    """Two sub-groups that wait for each other."""
    return launcher(session, p, 16, barrier=True)


@pattern.optimized(
    claim=(
        faster(),
        faster(LARGE_OF_16, against="two_with_barrier"),
        Claim("spills", on=("gpu",), source="G 2782 to 2785"),
    ),
    requires=("intel_gpu", "sub_group_size=16"),
)
def two_with_barrier_large_grf(session, p):
    """Two that wait, with twice the registers: nothing is spilled."""
    return launcher(session, p, 16, barrier=True, large_grf=True)

"""Spread all loops of a nest over work-items, not only the outermost, which has eight steps."""

from xebench import Claim, Figure, Pattern, kernel
from xebench import kernel_api as kapi

from ..common import spectral_element
from ..common.in_opencl import in_opencl
from ..common.spectral_element import CUBE, P

pattern = Pattern(
    name="collapse_loops",
    catalogue=("collapse_loops",),
    guide="Using More GPU Resources / Collapse Clause",
    lesson="Each loop that stays in the kernel divides the number of work-items: eight of them leave a GPU empty.",
    # Sizes of launches and of work-groups are those that OpenMP's runtime prints in the guide. A result's indices are
    # cut from one number by division in all variants.
    presets={"smoke": {"blocks": (2, 3)}, "default": {"blocks": 8}, "guide": {"blocks": 8}},
    rtol=1e-5,  # sums of 16 products in single precision
    short_launches="the loops of the guide: one variant has too few work-items on purpose",
)


# As OpenMP's runtime has it, dimension 0, in which neighbours run together, is the innermost of the loops that are
# collapsed.


@kernel
def loops_in_item(item: kapi.NdItem, dx, u, w):
    first = item.get_global_id(0) * CUBE
    for n in range(first, first + CUBE):
        spectral_element.compute(dx, u, w, n)


@kernel
def two_loops_in_item(item: kapi.NdItem, dx, u, w):
    first = item.get_global_id(1) * CUBE + item.get_global_id(0) * P * P
    for n in range(first, first + P * P):
        spectral_element.compute(dx, u, w, n)


@kernel
def one_loop_in_item(item: kapi.NdItem, dx, u, w):
    first = item.get_global_id(2) * CUBE + item.get_global_id(1) * P * P + item.get_global_id(0) * P
    for n in range(first, first + P):
        spectral_element.compute(dx, u, w, n)


@kernel
def no_loop_in_item(item: kapi.NdItem, dx, u, w):
    spectral_element.compute(dx, u, w, item.get_global_id(0))


@pattern.problem
def fields(rng, blocks):
    return spectral_element.fields(rng, blocks)


@pattern.reference
def expected(p):
    return spectral_element.product(*spectral_element.sums(p))


# Seconds of the loop nest, by the host's clock, with the copy of its result (G 12080 to 12083).
# Only the kernel is measured here.
NONE, TWO, THREE, FOUR = 0.002430, 0.000839, 0.000321, 0.000325


def faster(seconds, than, against=""):
    return Claim(
        "faster",
        against=against,
        on=("gpu",),
        figure=Figure(
            than / seconds, line="G 12080 to 12083", metric="wall", device="Max", inferred="G 11858 to 11861"
        ),
    )


@pattern.naive
def outermost_loop(session, p):
    """A work-item for each of the eight blocks, in a work-group of its own."""
    session.launch(loops_in_item, kapi.NdRange((p.blocks,), (1,)), p.dx, p.u, p.w)


@pattern.intermediate(claim=faster(TWO, NONE))
def two_loops(session, p):
    """The two outer loops: 128 work-items, each in a work-group of its own."""
    session.launch(two_loops_in_item, kapi.NdRange((P, p.blocks), (1, 1)), p.dx, p.u, p.w)


# The guide advises to leave the innermost loop in the kernel where it has unit stride (G 12091).
@pattern.optimized(claim=(faster(THREE, NONE), faster(THREE, TWO, "two_loops")))
def three_loops(session, p):
    """All but the innermost loop: 2,048 work-items, eight in a work-group."""
    session.launch(one_loop_in_item, kapi.NdRange((P, P, p.blocks), (8, 1, 1)), p.dx, p.u, p.w)


@pattern.optimized(
    claim=(
        faster(FOUR, NONE),
        Claim(
            "same",
            against="three_loops",
            on=("gpu",),
            figure=Figure(
                THREE / FOUR, line="G 12082 to 12086", metric="wall", device="Max", inferred="G 11858 to 11861"
            ),
        ),
    )
)
def four_loops(session, p):
    """All loops: 32,768 work-items, 64 in a work-group."""
    session.launch(no_loop_in_item, kapi.NdRange((p.blocks * CUBE,), (64,)), p.dx, p.u, p.w)


in_opencl(pattern, four_loops)

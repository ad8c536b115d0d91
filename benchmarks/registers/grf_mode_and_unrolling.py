"""Twice the registers for half the hardware threads: worth it for a loop that is unrolled, not for one that is not."""

import numpy as np

from xebench import Claim, Pattern, Problem, device_func, fit, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="grf_mode_and_unrolling",
    catalogue=("E21", "E22"),
    guide="Registers and Performance / Performance Tuning Using GRF Mode Selection",
    lesson="Unrolling raises register pressure: where it spills, take large GRF mode; else keep more threads.",
    presets={
        # 33 KB of SLM; the guide's order takes 56 KB, which not every device has
        "smoke": {"elements": (4, 3), "order": 10, "layers": 5},
        "default": {"elements": {"cpu": 1 << 6, "gpu": fit(1 << 10, per_lane=1 / 64)}, "order": 10, "layers": 5},
        # an eighth of the elements of the guide's published program, which has 3.5 GB of them
        "guide": {"elements": 4000, "order": 12, "layers": 6},
    },
    requires=("fp64",),
)

# The guide prints no times, only what was faster. Its last observation, that kernels of high pressure gain from more
# groups in small mode, is that of any launch which does not fill the device.


def operator_by(order, layers, **options):
    """The stiffness operator of a spectral element, a work-group each: derivatives along all three axes, and back.

    A work-item has a column of points, of which it does every ``layers``-th.
    """

    @device_func
    def place(k, j, i):
        # unsigned, or else a negative one would be counted from the array's end, which the compiler must ask
        return np.uint32((k * order + j) * order + i)

    @kernel(**options)
    def apply(item: kapi.NdItem, u, factors, d, w, depth, su, sd, sr, ss, st):
        inner = item.get_local_id(0)
        e = item.get_group().get_group_id(0)
        i = inner % order
        j = inner // order % order
        first = inner // (order * order)
        if first == 0:
            sd[inner] = d[j, i]
        # how many layers there are is no constant here, so that only the sums below are unrolled
        for k in range(first, depth, layers):
            su[place(k, j, i)] = u[e, k, j, i]
        kapi.group_barrier(item.get_group())
        for k in range(first, depth, layers):
            r, s, t = np.float64(0), np.float64(0), np.float64(0)
            for m in range(order):
                r += sd[place(0, i, m)] * su[place(k, j, m)]
                s += sd[place(0, j, m)] * su[place(k, m, i)]
                t += sd[place(0, k, m)] * su[place(m, j, i)]
            at = place(k, j, i)
            rs, rt, st_ = factors[e, k, j, i, 1], factors[e, k, j, i, 2], factors[e, k, j, i, 4]
            sr[at] = factors[e, k, j, i, 0] * r + rs * s + rt * t
            ss[at] = rs * r + factors[e, k, j, i, 3] * s + st_ * t
            st[at] = rt * r + st_ * s + factors[e, k, j, i, 5] * t
        kapi.group_barrier(item.get_group())
        for k in range(first, depth, layers):
            total = np.float64(0)
            for m in range(order):
                total += sd[place(0, m, i)] * sr[place(k, j, m)]
                total += sd[place(0, m, j)] * ss[place(k, m, i)]
                total += sd[place(0, m, k)] * st[place(m, j, i)]
            w[e, k, j, i] = total

    return apply


@pattern.problem
def spectral_elements(rng, elements, order, layers):
    if order % layers:
        raise ValueError(f"order={order}: layers must be shared evenly, so give a multiple of {layers}")
    points = elements * order**3
    u, factors, d = (
        rng.integers(-4, 5, shape).astype(np.float64)  # whole numbers, whose sums are exact in whatever order
        for shape in ((elements, order, order, order), (elements, order, order, order, 6), (order, order))
    )
    return Problem(
        u=u,
        factors=factors,
        d=d,
        w=output(u.shape, np.float64),
        bytes_moved=8 * ((1 + 6 + 1) * points + order * order),
        operations=(2 * 3 * 2 * order + 15) * points,
        operation_kind="fp64",
    )


@pattern.reference
def expected(p):
    r = np.einsum("im,ekjm->ekji", p.d, p.u)
    s = np.einsum("jm,ekmi->ekji", p.d, p.u)
    t = np.einsum("km,emji->ekji", p.d, p.u)
    rr, rs, rt, ss, st, tt = np.moveaxis(p.factors, -1, 0)
    back = np.einsum("mi,ekjm->ekji", p.d, rr * r + rs * s + rt * t)
    back += np.einsum("mj,ekmi->ekji", p.d, rs * r + ss * s + st * t)
    back += np.einsum("mk,emji->ekji", p.d, rt * r + st * s + tt * t)
    return {"w": back}


def launcher(session, p, **options):
    group = p.layers * p.order * p.order
    slm = [kapi.LocalAccessor(size, np.float64) for size in (p.order**3, p.order**2, *[p.order**3] * 3)]
    apply = operator_by(p.order, p.layers, **options)
    items = kapi.NdRange((p.elements * group,), (group,))
    return lambda: session.launch(apply, items, p.u, p.factors, p.d, p.w, p.order, *slm)


@pattern.naive(claim=Claim("registers", against="unrolled", on=("gpu",), source="G 1865 to 1867"))
def rolled(session, p):
    """Sums along an edge are loops, and registers are the small file."""
    return launcher(session, p, unroll="disable")


@pattern.antipattern(claim=Claim("slower", on=("gpu",), source="G 1867"), requires=("gpu",))
def rolled_large_grf(session, p):
    """The same in large GRF mode: half of the threads for registers that nothing needs."""
    return launcher(session, p, unroll="disable", large_grf=True)


@pattern.intermediate
def unrolled(session, p):
    """All sums unrolled: more of their operands are on their way at once, each in a register."""
    return launcher(session, p, unroll="full")


@pattern.optimized(
    claim=(
        Claim("faster", against="unrolled", on=("gpu",), source="G 1869"),
        Claim("spills", against="unrolled", on=("gpu",), strength="implied", source="G 1869"),
    ),
    requires=("gpu",),
)
def unrolled_large_grf(session, p):
    """Unrolled in large GRF mode."""
    return launcher(session, p, unroll="full", large_grf=True)

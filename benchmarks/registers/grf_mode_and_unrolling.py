"""Twice the registers for half the hardware threads: worth it for a loop that is unrolled, not for one that is not."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, opencl_kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="grf_mode_and_unrolling",
    catalogue=("E21", "E22"),
    guide="Registers and Performance / Performance Tuning Using GRF Mode Selection",
    lesson="Unrolling raises register pressure: where it spills, take large GRF mode; else keep more threads.",
    presets={
        # 33 KB of SLM; the guide's order takes 56 KB, which not every device has
        "smoke": {"elements": (4, 3), "order": 10, "layers": 5},
        "default": {"elements": {"cpu": 1 << 6, "gpu": fit(1 << 10, per_lane=1 / 128)}, "order": 10, "layers": 5},
        "guide": {"elements": 4000, "order": 12, "layers": 6},
    },
    own_sizes="the guide's text names none; its published program has eight times as many elements, which are 3.5 GB",
    stand_in="Intel's compilers spill in neither loop, so that more registers have nothing to save: only the modes' "
    "threads are compared",
    requires=("fp64",),
)

# The stiffness operator of a spectral element: derivatives along three axes, a metric at each point, and back. A
# work-item has a column of points, of which it does every LAYERS-th. In OpenCL C, since only the first loop over m is
# unrolled or not: options of a Python kernel are for all of its loops.
OPERATOR = """
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define AT(i, j, k) (((k) * ORDER + (j)) * ORDER + (i))

__kernel void apply(__global const double *u, __global const double *metrics, __global const double *d,
                    __global double *w, int elements, __local double *u_here, __local double *d_here,
                    __local double *along_x, __local double *along_y, __local double *along_z) {
    const int item = get_local_id(0);
    const int i = item % ORDER, j = item / ORDER % ORDER, first = item / (ORDER * ORDER);
    if (first == 0)
        d_here[j * ORDER + i] = d[j * ORDER + i];
    for (int element = get_group_id(0); element < elements; element += get_num_groups(0)) {
        const int point = element * ORDER * ORDER * ORDER;
        for (int k = first; k < ORDER; k += LAYERS)
            u_here[AT(i, j, k)] = u[point + AT(i, j, k)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = first; k < ORDER; k += LAYERS) {
            double x = 0, y = 0, z = 0;
            UNROLL
            for (int m = 0; m < ORDER; ++m) {
                x += d_here[m * ORDER + i] * u_here[AT(m, j, k)];
                y += d_here[m * ORDER + j] * u_here[AT(i, m, k)];
                z += d_here[m * ORDER + k] * u_here[AT(i, j, m)];
            }
            __global const double *metric = metrics + 6 * (point + AT(i, j, k));
            along_x[AT(i, j, k)] = metric[0] * x + metric[1] * y + metric[2] * z;
            along_y[AT(i, j, k)] = metric[1] * x + metric[3] * y + metric[4] * z;
            along_z[AT(i, j, k)] = metric[2] * x + metric[4] * y + metric[5] * z;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = first; k < ORDER; k += LAYERS) {
            double sum = 0;
            for (int m = 0; m < ORDER; ++m) {
                sum += d_here[i * ORDER + m] * along_x[AT(m, j, k)];
                sum += d_here[j * ORDER + m] * along_y[AT(i, m, k)];
                sum += d_here[k * ORDER + m] * along_z[AT(i, j, m)];
            }
            w[point + AT(i, j, k)] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
"""


@pattern.problem
def spectral_elements(rng, elements, order, layers):
    if order % layers:
        raise ValueError(f"order={order}: layers must be shared evenly, so give a multiple of {layers}")
    points = elements * order**3
    u, metrics, d = (
        rng.integers(-4, 5, shape).astype(np.float64)  # whole numbers, whose sums are exact in whatever order
        for shape in ((elements, order, order, order), (elements, order, order, order, 6), (order, order))
    )
    return Problem(
        u=u,
        metrics=metrics,
        d=d,
        w=output(u.shape, np.float64),
        bytes_moved=8 * ((1 + 6 + 1) * points + order * order),
        operations=(2 * 3 * 2 * order + 15) * points,
        operation_kind="fp64",
    )


@pattern.reference
def expected(p):
    r = np.einsum("mi,ekjm->ekji", p.d, p.u)
    s = np.einsum("mj,ekmi->ekji", p.d, p.u)
    t = np.einsum("mk,emji->ekji", p.d, p.u)
    rr, rs, rt, ss, st, tt = np.moveaxis(p.metrics, -1, 0)
    back = np.einsum("im,ekjm->ekji", p.d, rr * r + rs * s + rt * t)
    back += np.einsum("jm,ekmi->ekji", p.d, rs * r + ss * s + st * t)
    back += np.einsum("km,emji->ekji", p.d, rt * r + st * s + tt * t)
    return {"w": back}


def launcher(session, p, unroll, teams=None, options="", **modes):
    """A work-group, which OpenMP calls a team, for each element unless fewer are asked for."""
    macros = f"-DORDER={p.order} -DLAYERS={p.layers} {options}"
    apply = opencl_kernel(
        f'#define UNROLL _Pragma("{unroll}")\n{OPERATOR}', build_options=macros, fp_contract=True, **modes
    )
    group = p.layers * p.order**2
    sizes = p.order**3, p.order**2, p.order**3, p.order**3, p.order**3  # the function, d, and three derivatives
    slm = [kapi.LocalAccessor(size, np.float64) for size in sizes]
    items = kapi.NdRange(((teams or p.elements) * group,), (group,))
    return lambda: session.launch(apply, items, p.u, p.metrics, p.d, p.w, p.elements, *slm)


# The guide prints no times, only which mode was faster.
@pattern.naive
def rolled(session, p):
    """Sums along an edge are loops, and registers are the small file."""
    return launcher(session, p, "nounroll")


@pattern.antipattern(claim=Claim("slower", on=("gpu",), source="G 1867"), requires=("intel_gpu",))
def rolled_large_grf(session, p):
    """The same in large GRF mode: half of the threads for registers that nothing needs."""
    return launcher(session, p, "nounroll", large_grf=True)


@pattern.intermediate
def unrolled(session, p):
    """The first sums unrolled: more of their operands are on their way at once, each in a register."""
    return launcher(session, p, "unroll")


@pattern.antipattern(claim=Claim("slower", against="unrolled", on=("gpu",), strength="implied", source="G 1871"))
def unrolled_in_half_the_teams(session, p):
    """The same, with half as many work-groups, each of which takes two elements."""
    return launcher(session, p, "unroll", teams=ceil_div(p.elements, 2))


@pattern.optimized(
    claim=(
        Claim("faster", against="unrolled", on=("gpu",), source="G 1869"),
        Claim("spills", against="unrolled", on=("gpu",), strength="implied", source="G 1869"),
    ),
    requires=("intel_gpu",),
)
def unrolled_large_grf(session, p):
    """Unrolled in large GRF mode."""
    return launcher(session, p, "unroll", large_grf=True)


# Without an option the compiler chooses for Max, says G 1669, and takes the small file, says G 1664.
@pattern.optimized(
    claim=Claim("faster", against="unrolled", on=("gpu",), strength="implied", source="G 1667, 1869"),
    requires=("intel_gpu",),
)
def unrolled_auto_grf(session, p):
    """Unrolled in the mode that the compiler chooses."""
    return launcher(session, p, "unroll", options="-cl-intel-enable-auto-large-GRF-mode")

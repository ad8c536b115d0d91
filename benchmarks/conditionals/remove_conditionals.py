"""Take care of an array's ends without branches: pad it, or let ``min`` and ``max`` bound the loop."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, opencl_kernel
from xebench import kernel_api as kapi

from ..common import convolution
from ..common.convolution import HALO, M, check_ends, read_padded, term
from ..common.in_opencl import in_opencl

pattern = Pattern(
    name="remove_conditionals",
    catalogue=("E18", "E19"),
    guide="Kernels / Removing Conditional Checks",
    lesson="Only the first and last elements need checks, but all groups make one, and at the ends work-items diverge.",
    presets={
        "smoke": {"n": (1 << 13, 31 * 256)},
        "default": {"n": {"cpu": 1 << 17, "gpu": fit(1 << 22, per_lane=16)}},
        "guide": {"n": 8192 * 8192},
    },
    axes={"work_group_size": (256,)},
)


@kernel
def bound_loop(item: kapi.NdItem, signal, weights, y):
    i = item.get_global_id(0)
    total = np.int32(0)
    for k in range(max(HALO - i, 0), min(signal.shape[0] + HALO - i, M)):
        total = np.int32(total + term(signal, weights, i, k))
    y[i] = total


@pattern.problem
def with_and_without_zeros(rng, n, work_group_size):
    fields = convolution.fields(rng, n, work_group_size)
    beyond_ends = HALO * (HALO + 1)  # taps
    return Problem(
        **fields,
        x=np.pad(fields["signal"], HALO),
        bytes_moved=4 * (n + M + n),
        operations=2 * (M * n - beyond_ends),
        operation_kind="int32",
    )


pattern.reference(convolution.expected)


@pattern.naive
def checks(session, p, work_group_size):
    """Groups at the ends ask of each item whether its window reaches over; of four loops it takes one."""
    session.launch(check_ends, kapi.NdRange((p.n,), (work_group_size,)), p.signal, p.weights, p.y)


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 1434, 1489"))
def padded(session, p, work_group_size):
    """The input was made with 128 zeros at each end: nothing is left to check. Making it so is not timed."""
    session.launch(read_padded, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.weights, p.y)


@pattern.optimized(claim=Claim("faster", on=("gpu",), source="G 1551"))
def bounded_by_min_max(session, p, work_group_size):
    """One loop, whose bounds are ``min`` and ``max`` of the item's place: instructions, not branches."""
    session.launch(bound_loop, kapi.NdRange((p.n,), (work_group_size,)), p.signal, p.weights, p.y)


# `select()`, which the guide names beside both others without a program, is a function of OpenCL C and SYCL alone.
SELECT_INSIDE = """
__kernel void select_inside(__global const int *signal, __global const int *weights, __global int *y, int n) {
    const int i = get_global_id(0);
    int total = 0;
    for (int k = 0; k < TAPS; ++k) {
        const int place = i - HALO + k, inside = place >= 0 && place < n;
        total += select(0, signal[clamp(place, 0, n - 1)], inside) * weights[k];
    }
    y[i] = total;
}
"""
select_inside = opencl_kernel(SELECT_INSIDE, build_options=(f"-DTAPS={M}", f"-DHALO={HALO}"))


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 1551"))
def selected_terms(session, p, work_group_size):
    """One loop over all taps: ``clamp`` keeps each read inside, and ``select`` takes 0 where it would not have been."""
    session.launch(select_inside, kapi.NdRange((p.n,), (work_group_size,)), p.signal, p.weights, p.y, p.n)


in_opencl(pattern, bounded_by_min_max)

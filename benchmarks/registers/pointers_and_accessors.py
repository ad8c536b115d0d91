"""A kernel gets its arrays as USM pointers, or as accessors, which bring their sizes and an offset along."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, output, sycl_kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="pointers_and_accessors",
    catalogue=("usm_pointer_registers",),
    guide="Registers and Performance / Optimizing Register Spills",
    lesson="An accessor is a pointer, two sizes and an offset, for which its kernel needs registers.",
    claim=(
        Claim("registers", on=("gpu",), strength="implied", source="G 1887"),
        Claim("same", within=0.05, source="G 6646"),  # "no overhead": the guide prints no figure
    ),
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 24, per_lane=64)}},
        "guide": {"n": 10_000_000},  # of the program about which it says that
    },
    axes={"work_group_size": (256,)},
    rtol=1e-5,
)

KERNEL = """
#include <sycl/sycl.hpp>
namespace syclex = sycl::ext::oneapi::experimental;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))
void NAME(IN a, IN b, IN c, IN d, IN e, OUT y, int n) {
    const int i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
    if (i < n)
        y[i] = a[i] * b[i] + c[i] * d[i] + e[i];
}
"""


def kernel_of(name, given, written):
    return sycl_kernel(KERNEL.replace("NAME", name).replace("IN ", f"{given} ").replace("OUT ", f"{written} "))


by_accessors = kernel_of(
    "by_accessors", "sycl::accessor<const float, 1, sycl::access_mode::read>", "sycl::accessor<float>"
)
by_pointers = kernel_of("by_pointers", "const float *", "float *")


@pattern.problem
def six_arrays(rng, n):
    a, b, c, d, e = rng.random((5, n), dtype=np.float32)
    return Problem(
        a=a, b=b, c=c, d=d, e=e, y=output(n, np.float32), bytes_moved=6 * 4 * n, operations=4 * n, operation_kind="fp32"
    )


@pattern.reference
def expected(p):
    return {"y": p.a * p.b + p.c * p.d + p.e}


def launch(session, p, kernel, work_group_size):
    space = kapi.NdRange((ceil_div(p.n, work_group_size) * work_group_size,), (work_group_size,))
    session.launch(kernel, space, p.a, p.b, p.c, p.d, p.e, p.y, p.n)


# The memory is USM in both, so that buffers, which are copied, make no difference.
@pattern.naive
def accessors(session, p, work_group_size):
    """The kernel indexes accessors."""
    launch(session, p, by_accessors, work_group_size)


@pattern.optimized
def pointers(session, p, work_group_size):
    """The kernel indexes pointers."""
    launch(session, p, by_pointers, work_group_size)

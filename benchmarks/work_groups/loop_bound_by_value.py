"""Let the host know how long a loop is: then the launch can be exactly as large."""

import numpy as np

from xebench import Claim, Figure, Pattern, ceil_div, kernel
from xebench import kernel_api as kapi

from ..common import spectral_element

pattern = Pattern(
    name="loop_bound_by_value",
    catalogue=("loop_bound_firstprivate",),
    guide="OpenMP Offload Best Practices / Do Not Map Loop Bounds to Get Better ND-Range Partitioning",
    lesson="A bound that stands in device memory makes a launch that fills any GPU, and an if in every work-item.",
    # The guide's index arithmetic runs beyond its arrays (it lacks a remainder at G 12935); this one does not.
    presets={"smoke": {"blocks": (2, 3)}, "default": {"blocks": 8}, "guide": {"blocks": 8}},
    axes={"work_group_size": (64,)},  # of the exact launch (G 13029)
    metric="wall",  # the bound's way to the device counts
    rtol=1e-5,  # sums of 16 products in single precision
)

FILLING = 1024  # work-items of a group of the launch that fills the device (G 12984)


@kernel
def compute_up_to(item: kapi.NdItem, dx, u, w, bound):
    n = item.get_global_id(0)
    while n < bound[0]:
        spectral_element.compute(dx, u, w, n)
        n += item.get_global_range(0)


@pattern.problem
def fields(rng, blocks):
    return spectral_element.fields(rng, blocks)


@pattern.reference
def expected(p):
    return spectral_element.product(*spectral_element.sums(p))


def launch_filling(session, p, bound):
    """Four times what the device holds, since nobody knows how much there is to do: 524,288 work-items in the guide."""
    size = min(FILLING, session.device.max_work_group_size)
    groups = 4 * ceil_div(session.lanes, size)
    session.launch(compute_up_to, kapi.NdRange((groups * size,), (size,)), p.dx, p.u, p.w, bound)


@pattern.naive
def bound_mapped(session, p):
    """Each launch has memory of the device for the bound, and a copy of it; the host is not to look at it."""
    of_host = np.array([p.w.size], np.int32)

    def sample():
        bound = session.alloc(1, np.int32)
        session.copy(bound, of_host)
        launch_filling(session, p, bound)
        session.wait()

    return sample


# Where the guide's version is faster it saves three things; this one saves the memory and the copy.
@pattern.intermediate
def bound_on_device(session, p):
    """The bound is on the device from the start; the launch fills the device as before."""
    bound = session.alloc(1, np.int32)
    session.copy(bound, np.array([p.w.size], np.int32))
    return lambda: launch_filling(session, p, bound)


@pattern.optimized(
    claim=(
        # 0.000415 s against 0.000307 s, on a GPU that the guide does not name
        Claim(
            "faster",
            on=("gpu",),
            figure=Figure(0.000415 / 0.000307, line="G 13038 to 13039", device="Max", inferred="G 11858 to 11861"),
        ),
        # the other cut "may" be worse, says the guide
        Claim("faster", against="bound_on_device", on=("gpu",), strength="implied", source="G 12872, 12990"),
    )
)
def bound_by_value(session, p, work_group_size):
    """The host knows the bound: a work-item for each step of the loop, and none beyond."""
    space = kapi.NdRange((p.w.size,), (work_group_size,))
    session.launch(spectral_element.compute_each, space, p.dx, p.u, p.w)

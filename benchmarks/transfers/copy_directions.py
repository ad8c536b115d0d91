"""Copy an array to the device only if the kernel reads it, and back only if the kernel writes it.

OpenMP says so by map types. These are explicit copies, which do what its runtime does for each type; `buffer_scopes`
has the modes of SYCL's accessors.
"""

import numpy as np

from xebench import Claim, Figure, Pattern
from xebench import kernel_api as kapi

from ..common import spectral_element
from ..common.spectral_element import compute_each

pattern = Pattern(
    name="copy_directions",
    catalogue=("map_type_choice",),
    guide="OpenMP Offload Best Practices / Choose map-type Appropriately",
    lesson="Say what a kernel reads and what it writes: three of the six copies are for nothing.",
    presets={"smoke": {"blocks": (2, 3)}, "default": {"blocks": {"cpu": 8, "gpu": 64}}, "guide": {"blocks": 8}},
    axes={"work_group_size": (64,)},
    stand_in="explicit copies for what OpenMP's map types make its runtime copy",
    metric="wall",
    rtol=1e-5,  # sums of 16 products in single precision
)


@pattern.problem
def fields(rng, blocks):
    return spectral_element.fields_on_host(rng, blocks)


@pattern.reference
def expected(p):
    return spectral_element.product(*spectral_element.sums(p))


def arrays_of(session, p):
    """Device memory for `dx`, `u` and `w`, and the arrays of the host that belong to it."""
    of_host = (p.host.dx.copy(), p.host.u.copy(), p.w)
    return [session.alloc(array.size, np.float32) for array in of_host], of_host


@pattern.naive
def both_ways(session, p, work_group_size):
    """`tofrom` for all three arrays."""
    on_device, of_host = arrays_of(session, p)

    def timed():
        for array, host in zip(on_device, of_host, strict=True):
            session.copy(array, host)
        session.launch(compute_each, kapi.NdRange((p.w.size,), (work_group_size,)), *on_device)
        for array, host in zip(on_device, of_host, strict=True):
            session.copy(host, array)

    return timed


@pattern.optimized(
    claim=Claim(
        "faster",
        on=("gpu",),
        figure=Figure(0.001141 / 0.000908, line="G 12605 to 12606", device="Max", inferred="G 11858 to 11861"),
        source="G 12476, 12605",
    )
)
def needed_ways(session, p, work_group_size):
    """`to`, or `read_only`, for the two that are read; `from`, or `write_only`, for the one that is written."""
    on_device, (dx, u, w) = arrays_of(session, p)

    def timed():
        session.copy(on_device[0], dx)
        session.copy(on_device[1], u)
        session.launch(compute_each, kapi.NdRange((p.w.size,), (work_group_size,)), *on_device)
        session.copy(w, on_device[2])

    return timed

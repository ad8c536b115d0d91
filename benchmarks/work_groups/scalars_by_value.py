"""Hand numbers that a kernel only reads to it as arguments, not through device memory."""

import numpy as np

from xebench import Claim, Figure, Pattern, kernel
from xebench import kernel_api as kapi

from ..common import spectral_element
from ..common.spectral_element import P

pattern = Pattern(
    name="scalars_by_value",
    catalogue=("scalar_firstprivate",),
    guide="OpenMP Offload Best Practices / Do Not Map Read-Only Scalar Variables",
    lesson="A number in device memory costs an allocation, a copy and a load; as an argument it comes with the launch.",
    presets={"smoke": {"blocks": (2, 3)}, "default": {"blocks": 8}, "guide": {"blocks": 8}},
    axes={"work_group_size": (64,)},
    metric="wall",  # allocations and copies count
    rtol=1e-5,  # sums of 16 products in single precision
)


TERMS = np.float32(P)  # an integer times a float would be of double precision, which not every GPU has


# The guide adds or multiplies in each of the 16 steps of its sums, which is the same as once after them.
@kernel
def with_values(item: kapi.NdItem, dx, u, w, s1, s2, s3):
    n = item.get_global_id(0)
    ur, us, ut = spectral_element.contract(dx, u, n)
    w[n] = (ur + TERMS * s1) * (us - TERMS * s2) * (ut * s3)


@kernel
def with_pointers(item: kapi.NdItem, dx, u, w, s1, s2, s3):
    n = item.get_global_id(0)
    ur, us, ut = spectral_element.contract(dx, u, n)
    w[n] = (ur + TERMS * s1[0]) * (us - TERMS * s2[0]) * (ut * s3[0])


@pattern.problem
def fields(rng, blocks):
    return spectral_element.fields(rng, blocks)


def scalars_of(p):
    """Three numbers that only the host knows."""
    return np.float32(p.host.u[p.u.size // 2]), np.float32(1.5), np.float32(0.145)


@pattern.reference
def expected(p):
    ur, us, ut = spectral_element.sums(p)
    return spectral_element.product(ur + P * p.u[p.u.size // 2], us - P * 1.5, ut * np.float32(0.145))


def launch(session, p, work_group_size, kernel_, scalars):
    session.launch(kernel_, kapi.NdRange((p.w.size,), (work_group_size,)), p.dx, p.u, p.w, *scalars)


@pattern.naive
def allocated_and_copied(session, p, work_group_size):
    """Each launch allocates three numbers on the device and copies them there, as `map(to: ...)` does."""
    of_host = [np.array([scalar]) for scalar in scalars_of(p)]

    def sample():
        on_device = [session.alloc(1, np.float32) for _ in of_host]
        for array, scalar in zip(on_device, of_host, strict=True):
            session.copy(array, scalar)
        launch(session, p, work_group_size, with_pointers, on_device)

    return sample


@pattern.intermediate
def copied(session, p, work_group_size):
    """The memory is allocated once, as a pool would; each launch copies."""
    of_host = [np.array([scalar]) for scalar in scalars_of(p)]
    on_device = [session.alloc(1, np.float32) for _ in of_host]

    def sample():
        for array, scalar in zip(on_device, of_host, strict=True):
            session.copy(array, scalar)
        launch(session, p, work_group_size, with_pointers, on_device)

    return sample


@pattern.intermediate
def on_device(session, p, work_group_size):
    """They are on the device already: what is left is that the kernel loads them."""
    arrays = [session.alloc(1, np.float32) for _ in range(3)]
    for array, scalar in zip(arrays, scalars_of(p), strict=True):
        session.copy(array, np.array([scalar]))
    return lambda: launch(session, p, work_group_size, with_pointers, arrays)


@pattern.optimized(
    claim=(
        # 0.001324 s against 0.000730 s, on a GPU that the guide does not name
        Claim(
            "faster",
            on=("gpu",),
            figure=Figure(0.001324 / 0.000730, line="G 12782 to 12783", device="Max", inferred="G 11858 to 11861"),
        ),
        Claim("messages", against="on_device", on=("gpu",), strength="implied", source="G 12637"),
    )
)
def by_value(session, p, work_group_size):
    """Arguments of the kernel."""
    scalars = scalars_of(p)
    return lambda: launch(session, p, work_group_size, with_values, scalars)

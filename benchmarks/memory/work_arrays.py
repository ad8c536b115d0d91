"""Allocate work arrays on the device, where alone they are used; do not copy them there."""

import numpy as np

from xebench import Claim, Figure, Pattern, kernel
from xebench import kernel_api as kapi

from ..common import spectral_element
from ..common.spectral_element import CUBE, P, compute_each

pattern = Pattern(
    name="work_arrays",
    catalogue=("scratch_alloc_on_device",),
    guide="OpenMP Offload Best Practices / Allocate Memory Directly on the Device",
    lesson="What a kernel sets itself needs memory on the device and no copy; better still, memory that stays.",
    presets={"smoke": {"blocks": (2, 3)}, "default": {"blocks": {"cpu": 8, "gpu": 64}}, "guide": {"blocks": 8}},
    axes={"work_group_size": (64,)},
    metric="wall",
    rtol=1e-5,  # sums of 16 products in single precision
)

# In C++ allocations and copies cost a third: keeping the arrays gives 1.2x on a CPU device where Python has 1.4x
# (results/studies/beside-cpp.md).


@kernel
def compute_in_memory(item: kapi.NdItem, dx, u, w, ur, us, ut):
    """The three sums are formed in memory."""
    n = item.get_global_id(0)
    k = n % P
    j = n // P % P
    i = n // (P * P) % P
    block = n // CUBE * CUBE
    ur[n] = np.float32(0)
    us[n] = np.float32(0)
    ut[n] = np.float32(0)
    for m in range(P):
        ur[n] += dx[i * P + m] * u[block + m * P * P + j * P + k]
        us[n] += dx[k * P + m] * u[block + i * P * P + m * P + k]
        ut[n] += dx[j * P + m] * u[block + i * P * P + j * P + m]
    w[n] = ur[n] * us[n] * ut[n]


@pattern.problem
def fields(rng, blocks):
    return spectral_element.fields_on_host(rng, blocks)


@pattern.reference
def expected(p):
    return spectral_element.product(*spectral_element.sums(p))


def mapped(session, p, work_group_size, kernel_, work_arrays):
    """A sample: inputs to the device, the kernel with its work arrays, the result back."""
    dx, u, w = (session.alloc(array.size, np.float32) for array in (p.dx, p.u, p.w))

    def timed():
        session.copy(dx, p.host.dx)
        session.copy(u, p.host.u)
        arrays = work_arrays()
        session.launch(kernel_, kapi.NdRange((p.w.size,), (work_group_size,)), dx, u, w, *arrays)
        session.copy(p.w, w)
        session.wait()  # memory that is freed may not be in use

    return timed


def allocate(session, p):
    return [session.alloc(p.w.size, np.float32) for _ in range(3)]


@pattern.naive
def copied(session, p, work_group_size):
    """Work arrays are allocated and copied to the device like inputs: `map(to: ...)`."""
    of_host = np.zeros(p.w.size, np.float32)

    def work_arrays():
        arrays = allocate(session, p)
        for array in arrays:
            session.copy(array, of_host)
        return arrays

    return mapped(session, p, work_group_size, compute_in_memory, work_arrays)


@pattern.intermediate(
    claim=Claim(
        "faster",
        on=("gpu",),
        figure=Figure(0.001430 / 0.000991, line="G 13359 to 13361", device="Max", inferred="G 11858 to 11861"),
    )
)
def allocated(session, p, work_group_size):
    """Allocated for each launch, without a copy: `map(alloc: ...)`."""
    return mapped(session, p, work_group_size, compute_in_memory, lambda: allocate(session, p))


@pattern.optimized(
    claim=Claim(
        "faster",
        on=("gpu",),
        figure=Figure(0.001430 / 0.000874, line="G 13359 to 13360", device="Max", inferred="G 11858 to 11861"),
    )
)
def allocated_once(session, p, work_group_size):
    """They stay on the device, as variables of `declare target` do."""
    arrays = allocate(session, p)
    return mapped(session, p, work_group_size, compute_in_memory, lambda: arrays)


@pattern.intermediate
def in_registers(session, p, work_group_size):
    """No work arrays, beyond the guide: a work-item has its sums to itself."""
    return mapped(session, p, work_group_size, compute_each, list)

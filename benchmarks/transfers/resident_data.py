"""Leave on the device what the next kernel needs there.

OpenMP says so by `enter data` and `exit data`. These are explicit copies, which do what its runtime does at the ends of
each scope; `buffer_scopes` has SYCL's buffers.
"""

import numpy as np

from xebench import Claim, Figure, Pattern, kernel
from xebench import kernel_api as kapi

from ..common import spectral_element
from ..common.spectral_element import compute_each

pattern = Pattern(
    name="resident_data",
    catalogue=("enter_exit_data",),
    guide="OpenMP Offload Best Practices / Use target enter data and target exit data",
    lesson="Copy in before the first kernel and out after the last; between kernels the arrays stay on the device.",
    presets={"smoke": {"blocks": (2, 3)}, "default": {"blocks": {"cpu": 8, "gpu": 64}}, "guide": {"blocks": 8}},
    # two as in the guide
    axes={"kernels": (2, 20), "work_group_size": (64,)},
    stand_in="explicit copies for what OpenMP's regions copy at their ends",
    metric="wall",
    rtol=1e-5,  # sums of 16 products in single precision
)

# In C++ copies weigh less beside a kernel that takes longer there: 1.1x on a CPU device where Python has 1.4x for two
# kernels and 2.3x for twenty (results/studies/beside-cpp.md).


@kernel
def add_each(item: kapi.NdItem, dx, u, w):
    """A later kernel: adds the same once more."""
    n = item.get_global_id(0)
    ur, us, ut = spectral_element.contract(dx, u, n)
    w[n] += ur * us * ut


@pattern.problem
def fields(rng, blocks, kernels):
    problem = spectral_element.fields_on_host(rng, blocks)
    problem.operations = None
    return problem


@pattern.reference
def expected(p):
    return {"w": p.kernels * spectral_element.product(*spectral_element.sums(p))["w"]}


def launches(session, p, kernels, work_group_size):
    """Device memory, and a function that launches each of the kernels, between what is to be done about copies."""
    arrays = [session.alloc(array.size, np.float32) for array in (p.dx, p.u, p.w)]
    space = kapi.NdRange((p.w.size,), (work_group_size,))

    def launch_all(before, after):
        for number in range(kernels):
            before(number)
            session.launch(add_each if number else compute_each, space, *arrays)
            after(number)

    return arrays, launch_all


@pattern.naive
def scope_for_each(session, p, kernels, work_group_size):
    """Each kernel has its inputs copied in and its result copied out."""
    (dx, u, w), launch_all = launches(session, p, kernels, work_group_size)

    def copy_in(number):
        session.copy(dx, p.host.dx)
        session.copy(u, p.host.u)
        if number:
            session.copy(w, p.w)

    return lambda: launch_all(copy_in, lambda number: session.copy(p.w, w))


@pattern.intermediate(claim=Claim("faster", on=("gpu",), where={"kernels": 20}))
def inputs_stay(session, p, kernels, work_group_size):
    """What is only read is copied once; the result comes and goes with each kernel."""
    (dx, u, w), launch_all = launches(session, p, kernels, work_group_size)

    def copy_in(number):
        if number:
            session.copy(w, p.w)
        else:
            session.copy(dx, p.host.dx)
            session.copy(u, p.host.u)

    return lambda: launch_all(copy_in, lambda number: session.copy(p.w, w))


@pattern.optimized(
    claim=(
        Claim(
            "faster",
            on=("gpu",),
            where={"kernels": 2},
            figure=Figure(0.001204 / 0.000934, line="G 12424 to 12425", device="Max", inferred="G 11858 to 11861"),
        ),
        Claim("faster", on=("gpu",), where={"kernels": 20}),
    )
)
def one_scope(session, p, kernels, work_group_size):
    """Both inputs once, the result once."""
    (dx, u, w), launch_all = launches(session, p, kernels, work_group_size)

    def timed():
        session.copy(dx, p.host.dx)
        session.copy(u, p.host.u)
        launch_all(lambda number: None, lambda number: None)
        session.copy(p.w, w)

    return timed

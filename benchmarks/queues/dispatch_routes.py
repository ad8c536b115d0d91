"""Launch one kernel by different routes: what the host spends before it reaches the runtime."""

import ctypes

import numpy as np

from xebench import Pattern, Problem, inout, kernel
from xebench import kernel_api as kapi
from xebench.dpex import PreparedLaunch, build, compile_kernel, load_numba_dpex

pattern = Pattern(
    name="dispatch_routes",
    guide="Kernels / Kernel Launch",
    # a lesson of this project, which the guide does not teach: its claims are ours
    lesson="A small kernel costs what its dispatch costs: look up types and flatten arguments once, not each time.",
    claim="faster",
    presets={
        "smoke": {"launches": 20},
        "default": {"launches": 200},
        "guide": {"launches": 10_000},
    },
    own_sizes="it is no lesson of the guide",
    metric="wall",
)

# All routes submit to one queue and wait for every kernel.


@kernel
def count_launch(item: kapi.Item, count):
    count[item.get_id(0)] += 1


@pattern.problem
def counter(rng, launches):
    return Problem(count=inout(np.zeros(1, np.int32)), bytes_moved=2 * 4 * launches)


@pattern.reference
def expected(p):
    return {"count": [p.launches]}


def build_for(session, count):
    return build(compile_kernel(count_launch, kapi.Range(1), (count,)), session.queue)


@pattern.naive
def call_kernel(session, p):
    """numba_dpex.call_kernel, which waits by itself."""
    dpex = load_numba_dpex()
    for _ in range(p.launches):
        dpex.call_kernel(count_launch, kapi.Range(1), p.count)


@pattern.intermediate
def call_kernel_async(session, p):
    """numba_dpex.call_kernel_async, then a wait for the kernel and for the release of its arguments."""
    dpex = load_numba_dpex()
    for _ in range(p.launches):
        released, done = dpex.call_kernel_async(count_launch, kapi.Range(1), (), p.count)
        done.wait()
        released.wait()


@pattern.intermediate(claim="faster")
def session_launch(session, p):
    """session.launch of this harness, which finds the prepared launch by the arguments' types."""
    for _ in range(p.launches):
        session.launch(count_launch, kapi.Range(1), p.count).wait()


@pattern.baseline
def dpctl_submit(session, p):
    """The same SPIR-V by SyclQueue.submit of dpctl, with the arguments flattened by hand beforehand."""
    kernel = build_for(session, p.count).kernel
    size, itemsize, stride = (ctypes.c_int64(number) for number in (p.count.size, p.count.itemsize, 1))
    # what a numba-dpex kernel receives of an array
    arguments = [size, itemsize, p.count.usm_data, size, stride]

    def sample():
        for _ in range(p.launches):
            session.queue.submit(kernel, arguments, [1]).wait()

    return sample


@pattern.optimized
def prepared_launch(session, p):
    """xebench.dpex.PreparedLaunch: compiled, built and flattened beforehand."""
    prepared = PreparedLaunch(build_for(session, p.count), session.queue, kapi.Range(1), (p.count,))

    def sample():
        for _ in range(p.launches):
            prepared.submit().wait()

    return sample

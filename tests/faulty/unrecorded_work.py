"""Variants that do their work past the session, as host programs in the wild do."""

import ctypes
import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import dpctl
import dpnp
import numpy as np

from xebench import Pattern, Problem, dpex, output
from xebench import kernel_api as kapi
from xebench.dpex import load_numba_dpex

from .kernels import much_work, sqrt


def declare(name):
    sizes = {"n": 1 << 14}
    pattern = Pattern(
        name,
        guide="none",
        lesson="All work counts.",
        presets={"smoke": sizes, "default": sizes},
        metric="device",
        rtol=1e-6,
    )
    pattern.problem(lambda rng, n: Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32)))
    pattern.reference(lambda p: {"y": np.sqrt(p.x)})
    pattern.naive(sqrt_after_much_work)
    return pattern


@cache
def from_compiled_code(kernel):
    """A host program that numba-dpex compiles, and that launches the kernel."""
    numba_dpex = load_numba_dpex()

    @numba_dpex.dpjit
    def launch(n, x, y):
        numba_dpex.call_kernel(kernel, kapi.Range(n), x, y)

    return launch


def sqrt_after_much_work(session, p):
    session.launch(much_work, kapi.Range(p.n), p.x, p.y)
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


direct = declare("direct")


@direct.optimized
def call_kernel(session, p):
    load_numba_dpex().call_kernel(much_work, kapi.Range(p.n), p.x, p.y)
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


@direct.optimized
def call_kernel_async(session, p):
    numba_dpex = load_numba_dpex()
    _, first = numba_dpex.call_kernel_async(much_work, kapi.Range(p.n), (), p.x, p.y)
    numba_dpex.call_kernel_async(sqrt, kapi.Range(p.n), (first,), p.x, p.y)


@direct.optimized
def by_the_drop_in(session, p):
    dpex.call_kernel(much_work, kapi.Range(p.n), p.x, p.y)
    dpex.call_kernel(sqrt, kapi.Range(p.n), p.x, p.y)


@direct.optimized
def library(session, p):
    dpnp.sqrt(p.x, out=p.y)


@direct.optimized
def library_operators(session, p):
    copy = dpnp.asarray(p.x)
    dpnp.asarray(p.y)[:] = (copy + copy) ** 0.5 * np.float32(0.5**0.5)


@direct.optimized
def methods_of_the_queue(session, p):
    queue = p.x.sycl_queue
    queue.memcpy(p.y.usm_data, p.x.usm_data, p.x.nbytes)
    queue.submit_barrier()
    session.copy(p.y, p.x)
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


unseen = declare("unseen")


@unseen.optimized
def begins_anew(session, p):
    session.launch(much_work, kapi.Range(p.n), p.x, p.y)
    session.begin()
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


@unseen.optimized
def compiled_host_program(session, p):
    from_compiled_code(much_work)(p.n, p.x, p.y)
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


@unseen.optimized
def nothing_recorded(session, p):
    from_compiled_code(much_work)(p.n, p.x, p.y)
    from_compiled_code(sqrt)(p.n, p.x, p.y)


@unseen.optimized
def own_queue(session, p):
    queue = dpctl.SyclQueue(session.device)
    queue.memcpy(p.y.usm_data, p.x.usm_data, p.x.nbytes)
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


@unseen.optimized
def other_queue(session, p):
    dpnp.sqrt(dpnp.ones(p.n, dtype=np.float32))
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


# the naive side is the one whose work was not recorded
unseen_baseline = Pattern(
    "unseen_baseline",
    guide="none",
    lesson="All work counts.",
    presets={"smoke": {"n": 1 << 14}, "default": {"n": 1 << 14}},
    metric="device",
    rtol=1e-6,
)
unseen_baseline.problem(lambda rng, n: Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32)))
unseen_baseline.reference(lambda p: {"y": np.sqrt(p.x)})
unseen_baseline.naive(compiled_host_program)
unseen_baseline.optimized(sqrt_after_much_work)


# part of the work is the host's; milliseconds stand for it, which no launch takes
WORK_S = 0.03
on_host = declare("on_host")


def busy(_=None):
    end = time.perf_counter() + WORK_S
    while time.perf_counter() < end:
        np.sqrt(np.ones(1 << 12, np.float32))


def beside_a_short_kernel(work, name):
    def variant(session, p):
        work()
        session.launch(sqrt, kapi.Range(p.n), p.x, p.y)

    variant.__name__ = name
    return variant


def in_threads():
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(busy, range(2)))


times = itertools.cycle(range(3))


def now_and_then():
    """So that its time is far from steady: nothing, once, twice."""
    for _ in range(next(times)):
        busy()


for name, work in {
    "busy": busy,
    "asleep": lambda: time.sleep(WORK_S),
    "compiled": lambda: ctypes.CDLL(None).usleep(int(WORK_S * 1e6)),
    "in_threads": in_threads,
    "now_and_then": now_and_then,
}.items():
    on_host.optimized(beside_a_short_kernel(work, name))

slow_baseline = Pattern(
    "slow_baseline",
    guide="none",
    lesson="A baseline that sleeps finds the device in another state.",
    presets={"smoke": {"n": 1 << 14}, "default": {"n": 1 << 14}},
    metric="device",
    rtol=1e-6,
)
slow_baseline.problem(lambda rng, n: Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32)))
slow_baseline.reference(lambda p: {"y": np.sqrt(p.x)})


@slow_baseline.naive
def asleep(session, p):
    time.sleep(WORK_S)
    for _ in range(8):
        session.launch(sqrt, kapi.Range(p.n), p.x, p.y)


@slow_baseline.optimized
def once(session, p):
    session.launch(sqrt, kapi.Range(p.n), p.x, p.y)

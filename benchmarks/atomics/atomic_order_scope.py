"""Ask of an atomic operation no more order than is needed, and give each work-item an address of its own."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, inout, kernel
from xebench import kernel_api as kapi

pattern = Pattern(
    name="atomic_order_scope",
    catalogue=("E42", "atomic_latency"),
    guide="Multi-GPU and Multi-Stack Architecture and Programming / GPU Memory System",
    lesson="Atomics on one address wait for one another; stricter memory order and wider scope may cost more.",
    presets={
        "smoke": {"n": (1 << 8, 251), "steps": 8},
        "default": {"n": {"cpu": 1 << 13, "gpu": fit(1 << 14, per_lane=1)}, "steps": {"cpu": 64, "gpu": 256}},
        "guide": {"n": 1024, "steps": 1024},
    },
    requires=("sub_group_size=32",),
)

GROUP = 32  # work-items of a work-group, which is one sub-group, as in the guide


@kernel(sub_group_size=GROUP)
def count_together(item: kapi.NdItem, total, n, steps):
    if item.get_global_id(0) < n:
        for _ in range(steps):
            kapi.AtomicRef(total, index=0).fetch_add(np.int32(1))


# Order and scope must stand in the kernel as words: three kernels that differ in them alone. In the end each work-item
# adds its own counter to the total, one atomic addition more, so that all variants have the same result.


@kernel(sub_group_size=GROUP)
def count_acq_rel(item: kapi.NdItem, counters, total, n, steps):
    i = item.get_global_id(0)
    if i < n:
        counters[i] = np.int32(0)
        own = kapi.AtomicRef(counters, i, memory_order=kapi.MemoryOrder.ACQ_REL, memory_scope=kapi.MemoryScope.DEVICE)
        for _ in range(steps):
            own.fetch_add(np.int32(1))
        kapi.AtomicRef(total, index=0).fetch_add(own.load())


@kernel(sub_group_size=GROUP)
def count_acq_rel_in_group(item: kapi.NdItem, counters, total, n, steps):
    i = item.get_global_id(0)
    if i < n:
        counters[i] = np.int32(0)
        own = kapi.AtomicRef(
            counters, i, memory_order=kapi.MemoryOrder.ACQ_REL, memory_scope=kapi.MemoryScope.WORK_GROUP
        )
        for _ in range(steps):
            own.fetch_add(np.int32(1))
        kapi.AtomicRef(total, index=0).fetch_add(own.load())


@kernel(sub_group_size=GROUP)
def count_relaxed(item: kapi.NdItem, counters, total, n, steps):
    i = item.get_global_id(0)
    if i < n:
        counters[i] = np.int32(0)
        own = kapi.AtomicRef(counters, i, memory_order=kapi.MemoryOrder.RELAXED, memory_scope=kapi.MemoryScope.DEVICE)
        for _ in range(steps):
            own.fetch_add(np.int32(1))
        kapi.AtomicRef(total, index=0).fetch_add(own.load())


count_relaxed_unrolled = kernel(sub_group_size=GROUP, unroll=8)(count_relaxed.py_func)


@pattern.problem
def counting(rng, n, steps):
    if n * steps >= 1 << 31:
        raise ValueError(f"n={n}, steps={steps}: 32 bits must hold their product, so give less than 2**31 together")
    return Problem(total=inout(np.zeros(1, np.int32)))


@pattern.reference
def expected(p):
    return {"total": [p.n * p.steps]}


def items(p):
    return kapi.NdRange((ceil_div(p.n, GROUP) * GROUP,), (GROUP,))


def own_address(session, p, count):
    counters = session.alloc(p.n, np.int32)
    return lambda: session.launch(count, items(p), counters, p.total, p.n, p.steps)


@pattern.naive
def own_address_acq_rel(session, p):
    """An address each; every addition orders what stands before and after it, for the whole device."""
    return own_address(session, p, count_acq_rel)


# the guide's program can be built either way; it does not say which is faster, nor print a time
@pattern.optimized(claim=Claim("faster"))
def own_address_relaxed(session, p):
    """An address each, and no order: enough to count."""
    return own_address(session, p, count_relaxed)


@pattern.intermediate(
    claim=Claim("faster", against="own_address_relaxed", on=("gpu",), strength="implied", source="G 16640")
)
def own_address_unrolled(session, p):
    """Eight additions a turn, as the guide's compiler has them: they do not depend on the loop's counter."""
    return own_address(session, p, count_relaxed_unrolled)


# Of the scope it says that it avoids data races (G 3811). Intel's compiler makes the same code of both scopes, so that
# one too narrow for a shared number has no race that could show; `fence_and_counter` and `missing_barriers` have races.
@pattern.intermediate
def own_address_acq_rel_in_group(session, p):
    """The order of the naive variant, for the work-group only."""
    return own_address(session, p, count_acq_rel_in_group)


@pattern.antipattern(
    claim=Claim("slower", against="own_address_relaxed", on=("gpu",), strength="implied", source="G 16638")
)
def one_address(session, p):
    """Every work-item adds to the same number, relaxed."""
    session.launch(count_together, items(p), p.total, p.n, p.steps)

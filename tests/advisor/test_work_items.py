"""Facts of accesses, by running a kernel's Python for some work-items."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.device


def test_facts_of_several_kinds_of_access() -> None:
    import xebench  # first on the pinned stack

    session = xebench.open_session()
    import dpnp
    import numpy as np

    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def mixed(item: kapi.NdItem, x, where, sums, out, own):
        i, k = item.get_global_id(0), item.get_local_id(0)
        own[k] = x[where[i]]
        kapi.group_barrier(item.get_group())
        total = np.float32(0)
        for step in range(4):
            total += x[i * 4 + step]
        kapi.AtomicRef(sums, 0).fetch_add(total)
        if i % 2 == 0:
            out[i] = total
        else:
            out[i] = own[k]

    def of(name: str, dtype: str = "float32") -> object:
        return dpnp.asarray(np.arange(256)[::-1].copy(), dtype=dtype, sycl_queue=session.queue)

    x, where, out = of("x"), of("where", "int32"), of("out")
    sums = dpnp.zeros(1, dtype="float32", sycl_queue=session.queue)

    def call() -> None:
        own = kapi.LocalAccessor(16, np.float32)
        session.launch(mixed, kapi.NdRange((64,), (16,)), x, where, sums, out, own)

    (facts,) = xebench.advise(call, queue=session).facts.kernels
    assert not facts.unreadable
    found = {(access.kind, access.text): access for access in facts.accesses}
    assert found["load", "x[where[i]]"].lane_stride == -4
    block = found["load", "x[i * 4 + step]"]
    assert (block.count, block.lane_stride, block.step_stride) == (4, 16, 4)
    (atomic,) = (access for access in facts.accesses if access.kind == "atomic")
    assert (atomic.shared, atomic.lane_stride) == (16, 0)
    assert found["store", "own[k]"].space == "local"
    assert facts.barriers == 1
    assert facts.divergent_share is None, "it may depend on what others have in local memory"


def test_a_kernel_that_depends_on_other_work_items_is_unreadable() -> None:
    import xebench

    session = xebench.open_session()
    import dpnp
    import numpy as np

    from xebench import kernel
    from xebench import kernel_api as kapi

    @kernel
    def turned(item: kapi.NdItem, x, own):
        k = item.get_local_id(0)
        own[k] = k
        kapi.group_barrier(item.get_group())
        x[own[15 - k]] = 1

    x = dpnp.zeros(16, dtype="int32", sycl_queue=session.queue)

    def call() -> None:
        own = kapi.LocalAccessor(16, np.int32)
        session.launch(turned, kapi.NdRange((16,), (16,)), x, own)

    advised = xebench.advise(call, queue=session)
    assert "depends on integers of other work-items in own" in advised.facts.kernels[0].unreadable
    assert not advised.advice

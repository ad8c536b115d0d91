"""Let independent copies run at once: a device with several copy engines gives each its own."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, output

from ..common.staging import host_array

pattern = Pattern(
    name="copy_beside_copy",
    catalogue=("copy_beside_copy",),
    guide="Host/Device Coordination / Overlapping Data Transfer from Host to Device with Computation on Device",
    lesson="Copies that do not need each other go to several queues, or to an out-of-order one, and run side by side.",
    presets={
        "smoke": {"n": (1 << 14, 16381)},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 22, per_cache_byte=1 / 16)}},
        "guide": {"n": 10_000_000},
    },
    metric="span",
    requires=("usm_host",),
)

# "Some GPUs" have such engines, says the guide (G 7868), so the claim is ours. One link is shared by all copies in a
# direction: what engines gain is bounded by it.
SIDE_BY_SIDE = Claim("faster", on=("gpu",), strength="ours", source="G 7868 to 7973")


@pattern.problem
def two_arrays(rng, n):
    return Problem(
        a=rng.random(n, dtype=np.float32),
        b=rng.random(n, dtype=np.float32),
        first=output(n, np.float32),
        second=output(n, np.float32),
        host_bytes=2 * 4 * n,
    )


@pattern.reference
def expected(p):
    return {"first": p.a, "second": p.b}


def two_copies(session, p, first_queue, second_queue):
    """The sample: both arrays are copied from host USM to the device."""
    sources = []
    for data in (p.host.a, p.host.b):
        array, view = host_array(session, p.n, np.float32)
        view[:] = data
        sources.append(array)

    def sample():
        session.copy(p.first, sources[0], queue=first_queue)
        session.copy(p.second, sources[1], queue=second_queue)

    return sample


@pattern.naive
def one_after_the_other(session, p):
    """An in-order queue."""
    queue = session.new_queue()
    return two_copies(session, p, queue, queue)


@pattern.optimized(claim=SIDE_BY_SIDE)
def out_of_order_queue(session, p):
    """SYCL's default: nothing orders the two."""
    queue = session.new_queue(in_order=False)
    return two_copies(session, p, queue, queue)


@pattern.optimized(claim=Claim("faster"))
def two_queues(session, p):
    """An in-order queue for each."""
    return two_copies(session, p, session.new_queue(), session.new_queue())

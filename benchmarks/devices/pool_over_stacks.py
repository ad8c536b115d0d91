"""Arrays of one allocation lie on one stack of a GPU or the other; arrays of their own are halved, as the work is."""

import numpy as np

from xebench import Claim, Pattern, fit

from ..common import parts, staying_parts

pattern = Pattern(
    name="pool_over_stacks",
    catalogue=("one_stack_residency",),
    guide="Multiple Stacks / Implicit Scaling, Memory Coloring",
    lesson="A driver halves each allocation over the stacks, as it halves a launch: allocate each array by itself.",
    presets={
        "smoke": {"n": (1 << 12, 4093), "rounds": 2},
        "default": {"n": {"cpu": 1 << 20, "gpu": fit(1 << 24, bytes_each=12)}, "rounds": {"cpu": 2, "gpu": 8}},
        "guide": {"n": 1 << 27, "rounds": 8},
    },
    own_sizes="the guide names no size",
    metric="wall",
    environment={"ZE_FLAT_DEVICE_HIERARCHY": "COMPOSITE"},  # else each stack is a device of its own
)

ARRAYS = 3


@pattern.problem
def two_arrays(rng, n):
    return staying_parts.two_arrays(rng, n)


@pattern.reference
def expected(p):
    return {"sums": staying_parts.folded(p.a + np.float32(parts.FACTOR) * p.b)}


def triad_of(session, p, a, b, total):
    """A sample: the stacks share the elements, and whose memory these are in decides what crosses over."""
    for array, of_host in ((a, p.host.a), (b, p.host.b)):
        session.copy(array, of_host)
    fold_all = staying_parts.folder(session, p, [(session.queue, 0, total)])

    def sample():
        for _ in range(p.rounds):
            session.launch(parts.add_scaled, parts.items(p.n), a, b, total)
        fold_all()

    return sample


@pattern.naive
def of_one_pool(session, p):
    """Three arrays in a row: the first is on the first stack, the last on the second, and that between on both."""
    pool = session.alloc(ARRAYS * p.n, np.float32)
    return triad_of(session, p, *(pool[k * p.n : (k + 1) * p.n] for k in range(ARRAYS)))


@pattern.optimized(claim=Claim("faster", on=("gpu",), requires=("stacks=2",), strength="implied", source="G 17819"))
def allocated_each(session, p):
    """Half of each array is on the stack that works on it."""
    return triad_of(session, p, *(session.alloc(p.n, np.float32) for _ in range(ARRAYS)))

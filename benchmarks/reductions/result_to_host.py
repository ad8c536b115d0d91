"""Leave a sum on the device while the device goes on with it: bringing it to the host takes as long as adding it up."""

import numpy as np

from xebench import Claim, Pattern, Problem, ceil_div, fit, inout, kernel
from xebench import kernel_api as kapi
from xebench.dpex import work_group

GUIDES_N = 10 << 20  # of the guide's published program

pattern = Pattern(
    name="result_to_host",
    catalogue=("reduction_result_to_host",),
    guide="Kernels / Reduction",
    lesson="A copy of one number from a discrete GPU waits as long as a reduction of ten million takes.",
    presets={
        "smoke": {"n": (1 << 16, 65521)},
        "default": {"n": {"cpu": 1 << 22, "gpu": fit(1 << 25, bytes_each=4)}},
        "guide": {"n": GUIDES_N},
    },
    axes={"work_group_size": (256,)},
    metric="wall",
    state="cold",  # as in the guide's reductions
    requires=("sub_groups",),
)

PER_ITEM = 32  # elements that a work-item adds up


@kernel
def add_block(item: kapi.NdItem, x, total):
    own = np.int32(0)
    for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        own = np.int32(own + x[i])
    of_group = work_group.reduce_add(own)
    if item.get_local_id(0) == 0:
        kapi.AtomicRef(total, index=0).fetch_add(of_group)


@pattern.problem
def integers(rng, n):
    x = rng.integers(0, 4, n, dtype=np.int32)  # small: the sum of 2**29 fits into 32 bits
    return Problem(x=x, total=inout(np.zeros(1, np.int32)), bytes_moved=4 * n, operations=n, operation_kind="int32")


@pattern.reference
def expected(p):
    return {"total": [p.x.sum(dtype=np.int32)]}


def add_up(session, p, work_group_size):
    groups = ceil_div(p.n, PER_ITEM * work_group_size)
    session.launch(add_block, kapi.NdRange((groups * work_group_size,), (work_group_size,)), p.x, p.total)


@pattern.naive
def copied_to_host(session, p, work_group_size):
    """The sum, and then its copy to the host, which waits for it."""
    on_host = np.empty(1, np.int32)

    def timed():
        add_up(session, p, work_group_size)
        session.copy(on_host, p.total)
        session.wait()

    return timed


# For ten million numbers on a discrete GPU, says the guide, the copy takes almost as long as the sum: the sum alone is
# about twice as fast. Below 1.5 the copy takes less than half as long. Nothing in dpctl says which GPUs are discrete.
# That leaving the copy out saves any time, at other sizes too, is ours.
@pattern.optimized(
    claim=(
        Claim("faster", on=("gpu",), where={"n": GUIDES_N}, at_least=1.5, strength="implied", source="G 4695"),
        Claim("faster", on=("gpu",)),
    )
)
def left_on_device(session, p, work_group_size):
    """The sum alone: whoever needs it next is on the device."""
    add_up(session, p, work_group_size)

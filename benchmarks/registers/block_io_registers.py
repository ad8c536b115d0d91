"""Save the registers that hold an address for each lane: give one address for the sub-group."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

pattern = Pattern(
    name="block_io_registers",
    catalogue=("E28",),
    guide="Registers and Performance / Using Sub-group Block Load/Store",
    lesson="The addresses of 16 lanes take 128 bytes of registers; that of a contiguous block takes 8.",
    # not less time
    claim=tuple(Claim(word, on=("gpu",), source="G 2299 to 2343") for word in ("registers", "addresses")),
    presets={
        "smoke": {"n": (1 << 17, 509 << 8)},
        "default": {"n": {"cpu": 1 << 21, "gpu": fit(1 << 25, bytes_each=8)}},
        "guide": {"n": 1024 * 1024},
    },
    # Every lane of a sub-group must be there for block access: work-groups are a multiple of the sub-group's size.
    # The guide's are of 32 items.
    axes={"sub_group_size": "device", "work_group_size": (256, 32)},
    requires=("sub_groups",),
)


@kernel(sub_group_size="sub_group_size")
def copy_by_lane(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    y[i] = x[i]


@kernel(sub_group_size="sub_group_size")
def copy_by_block(item: kapi.NdItem, x, y):
    of_group = item.get_group().get_group_id(0) * item.get_local_range(0)
    first = of_group + sub_group.group_id() * sub_group.max_size()
    sub_group.block_write(y, first, sub_group.block_read(x, first))


@pattern.problem
def integers(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(x=rng.integers(0, 1 << 30, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    return {"y": p.x}


@pattern.naive
def address_per_lane(session, p, work_group_size):
    """Every lane computes and sends an address of its own."""
    session.launch(copy_by_lane, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)


@pattern.optimized
def address_per_sub_group(session, p, work_group_size):
    """Block access: one address serves all lanes."""
    session.launch(copy_by_block, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)

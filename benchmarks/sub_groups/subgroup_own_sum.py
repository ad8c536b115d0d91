"""Take the function that sub-groups have for a job, not one of your own out of general shuffles."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

pattern = Pattern(
    name="subgroup_own_sum",
    catalogue=("sg_specialised_functions",),
    guide="Sub-Groups and SIMD Vectorization / Data Sharing",
    lesson="A shuffle from any lane moves data that a shuffle by a mask, or a sum of the sub-group, need not move.",
    presets={
        "smoke": {"n": (1 << 17, 509 << 8)},
        "default": {
            "n": {"cpu": 1 << 21, "gpu": fit(1 << 25, per_lane=16)},
        },
        "guide": {"n": 1 << 24},
    },
    own_sizes="the guide gives the advice without a program",
    axes={"sub_group_size": "device", "work_group_size": (256,)},
    requires=("sub_groups",),
)

ROUNDS = 16  # sums of each sub-group, of other numbers each time, so that memory does not decide


@kernel(sub_group_size="sub_group_size")
def sum_by_general_shuffles(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    lanes = sub_group.max_size()
    value = x[i]
    for _ in range(ROUNDS):
        total = value
        distance = lanes // 2
        while distance > 0:
            other = np.int32((sub_group.local_id() + distance) & (lanes - 1))  # lanes are a power of two
            total = np.int32(total + sub_group.shuffle(total, other))
            distance //= 2
        value = np.int32(value ^ total)
    y[i] = value


@kernel(sub_group_size="sub_group_size")
def sum_by_shuffles_with_mask(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    value = x[i]
    for _ in range(ROUNDS):
        total = value
        distance = sub_group.max_size() // 2
        while distance > 0:
            total = np.int32(total + sub_group.shuffle_xor(total, np.int32(distance)))
            distance //= 2
        value = np.int32(value ^ total)
    y[i] = value


@kernel(sub_group_size="sub_group_size")
def sum_by_sub_group(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    value = x[i]
    for _ in range(ROUNDS):
        value = np.int32(value ^ sub_group.reduce_add(value))
    y[i] = value


@pattern.problem
def integers(rng, n, work_group_size):
    if n % work_group_size:
        raise ValueError(f"n={n}: work-groups must be whole, so give a multiple of {work_group_size}")
    return Problem(x=rng.integers(0, 100, n, dtype=np.int32), y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    value = p.x.reshape(-1, p.sub_group_size)
    for _ in range(ROUNDS):
        value = value ^ value.sum(axis=1, dtype=np.int32, keepdims=True)  # 32 bits wrap, as on the device
    return {"y": value.ravel()}


@pattern.naive
def general_shuffles(session, p, work_group_size):
    """A tree of one's own: each lane adds the number of a lane that it computes."""
    session.launch(sum_by_general_shuffles, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)


# "Always a good idea", says the guide of shuffles for a special purpose, "on specific devices".
@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 1390"))
def shuffles_with_mask(session, p, work_group_size):
    """The same tree by the shuffle that is meant for trees: lanes whose numbers differ in one bit exchange."""
    session.launch(sum_by_shuffles_with_mask, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)


@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def sum_of_sub_group(session, p, work_group_size):
    """The sub-group's own sum, which the guide does not speak of here."""
    session.launch(sum_by_sub_group, kapi.NdRange((p.n,), (work_group_size,)), p.x, p.y)

"""Take the shuffle that is made for the job: down for the next lane, broadcast for one lane's number."""

import numpy as np

from xebench import Claim, Pattern, Problem, fit, kernel, output
from xebench import kernel_api as kapi
from xebench.dpex import sub_group

pattern = Pattern(
    name="subgroup_neighbours",
    catalogue=("sg_specialised_functions",),
    guide="Sub-Groups and SIMD Vectorization / Data Sharing",
    lesson="A general shuffle finds any lane at run time; the next lane and a fixed one have functions of their own.",
    presets={
        "smoke": {"n": (1 << 17, 509 << 8)},
        "default": {"n": {"cpu": 1 << 18, "gpu": fit(1 << 25, per_lane=16)}},
        "guide": {"n": 1 << 24},
    },
    own_sizes="the guide gives the advice without a program",
    axes={"sub_group_size": "device", "work_group_size": (256,)},
    odd_sizes={},
    requires=("sub_groups",),
)

ROUNDS = 16  # exchanges of each sub-group, so that memory does not decide
TILE = 1 << 20  # numbers that repeat: numpy would need seconds for the rounds of all


@kernel(sub_group_size="sub_group_size")
def exchange_by_general_shuffles(item: kapi.NdItem, x, y, first_lane):
    i = item.get_global_id(0)
    lane, last = sub_group.local_id(), np.int32(sub_group.size() - 1)
    value = x[i]
    for _ in range(ROUNDS):
        following = sub_group.shuffle(value, min(np.int32(lane + 1), last))
        first = sub_group.shuffle(value, first_lane)
        value = np.int32((following if lane < last else np.int32(0)) ^ np.int32(value + first))
    y[i] = value


@kernel(sub_group_size="sub_group_size")
def exchange_by_shuffle_down(item: kapi.NdItem, x, y, first_lane):
    i = item.get_global_id(0)
    lane, last = sub_group.local_id(), np.int32(sub_group.size() - 1)
    value = x[i]
    for _ in range(ROUNDS):
        following = sub_group.shuffle_down(value, np.int32(1))
        first = sub_group.shuffle(value, first_lane)
        value = np.int32((following if lane < last else np.int32(0)) ^ np.int32(value + first))
    y[i] = value


@kernel(sub_group_size="sub_group_size")
def exchange_by_broadcast(item: kapi.NdItem, x, y):
    i = item.get_global_id(0)
    lane, last = sub_group.local_id(), np.int32(sub_group.size() - 1)
    value = x[i]
    for _ in range(ROUNDS):
        following = sub_group.shuffle_down(value, np.int32(1))
        first = sub_group.broadcast(value, np.int32(0))
        value = np.int32((following if lane < last else np.int32(0)) ^ np.int32(value + first))
    y[i] = value


@pattern.problem
def integers(rng, n, work_group_size, sub_group_size):
    if n % work_group_size or work_group_size % sub_group_size:
        raise ValueError(f"n={n}: sub-groups must be whole, so give a multiple of {work_group_size}")
    x = np.resize(rng.integers(0, 100, min(n, TILE), dtype=np.int32), n)
    return Problem(x=x, y=output(n, np.int32), bytes_moved=8 * n)


@pattern.reference
def expected(p):
    value = p.x[:TILE].reshape(-1, p.sub_group_size)
    for _ in range(ROUNDS):
        following = np.pad(value[:, 1:], ((0, 0), (0, 1)))
        value = following ^ (value + value[:, :1])  # 32 bits wrap, as on the device
    return {"y": np.resize(value, p.n)}


def items(p, work_group_size):
    return kapi.NdRange((p.n,), (work_group_size,))


@pattern.naive
def general_shuffles(session, p, work_group_size):
    """Both numbers come from lanes whose numbers are computed."""
    session.launch(exchange_by_general_shuffles, items(p, work_group_size), p.x, p.y, np.int32(0))


@pattern.optimized(claim=Claim("faster", on=("gpu",), strength="implied", source="G 1390"))
def shuffle_down(session, p, work_group_size):
    """The next lane's number comes by a shuffle down by one."""
    session.launch(exchange_by_shuffle_down, items(p, work_group_size), p.x, p.y, np.int32(0))


@pattern.optimized(claim=Claim("faster", against="shuffle_down", on=("gpu",), strength="implied", source="G 1390"))
def broadcast(session, p, work_group_size):
    """And the first lane's number by a broadcast."""
    session.launch(exchange_by_broadcast, items(p, work_group_size), p.x, p.y)

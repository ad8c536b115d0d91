"""Read early into a register what is needed next: an index, and the value that it names."""

import math

import numpy as np

from xebench import Claim, Pattern, device_func, kernel
from xebench import kernel_api as kapi

from ..common import indirect
from ..common.in_opencl import in_opencl
from ..common.indirect import ROOTS, SUB_GROUP

pattern = Pattern(
    name="early_loads",
    catalogue=("E47",),
    guide="Prefetch / Indirect access in a loop that is not unrolled",
    lesson="A read that is issued a step before its result is needed costs no wait, if there is work meanwhile.",
    presets={
        "smoke": {"per_item": 3},
        "default": {"per_item": {"cpu": 256, "gpu": 512}},
        "guide": {"per_item": 2048},
    },
    own_sizes="the guide's program prefetches to a cache (`prefetch_indirect`); the registers are ours",
    # One work-group, as in the guide, so that hardly another thread can hide the wait.
    axes={"work_group_size": (512,)},
    rtol=indirect.RTOL,
    requires=(f"sub_group_size={SUB_GROUP}",),
)

AHEAD = 2  # steps behind the last one, of which places are read early and no value is used


@device_func
def add_roots(total, value):
    """Eight a turn: the guide leaves this loop to the compiler, but options of a Python kernel are for all loops."""
    for m in range(0, ROOTS, 8):
        first = value + np.float32(m)
        total += math.sqrt(first)
        total += math.sqrt(first + np.float32(1))
        total += math.sqrt(first + np.float32(2))
        total += math.sqrt(first + np.float32(3))
        total += math.sqrt(first + np.float32(4))
        total += math.sqrt(first + np.float32(5))
        total += math.sqrt(first + np.float32(6))
        total += math.sqrt(first + np.float32(7))
    return total


# Places are [sub-group, step, lane]. As in the guide the loop over steps is not unrolled.
@kernel(unroll="disable", sub_group_size=SUB_GROUP)
def sum_of_roots(item: kapi.NdItem, places, values, sums):
    i = item.get_local_id(0)
    sub_group, lane = i // SUB_GROUP, i % SUB_GROUP
    total = np.float32(0)
    for step in range(places.shape[1] - AHEAD):
        total = add_roots(total, values[places[sub_group, step, lane]])
    sums[i] = total


@kernel(unroll="disable", sub_group_size=SUB_GROUP)
def next_place_early(item: kapi.NdItem, places, values, sums):
    i = item.get_local_id(0)
    sub_group, lane = i // SUB_GROUP, i % SUB_GROUP
    total = np.float32(0)
    place = places[sub_group, 0, lane]
    for step in range(places.shape[1] - AHEAD):
        value = values[place]
        place = places[sub_group, step + 1, lane]
        total = add_roots(total, value)
    sums[i] = total


@kernel(unroll="disable", sub_group_size=SUB_GROUP)
def next_value_early(item: kapi.NdItem, places, values, sums):
    i = item.get_local_id(0)
    sub_group, lane = i // SUB_GROUP, i % SUB_GROUP
    total = np.float32(0)
    following = values[places[sub_group, 0, lane]]
    place = places[sub_group, 1, lane]
    for step in range(places.shape[1] - AHEAD):
        value = following
        following = values[place]
        place = places[sub_group, step + 2, lane]
        total = add_roots(total, value)
    sums[i] = total


@pattern.problem
def table_and_places(rng, per_item, work_group_size):
    return indirect.table_and_places(rng, per_item, work_group_size, AHEAD)


pattern.reference(indirect.sums_of_roots)


def launch(session, p, work_group_size, add):
    session.launch(add, kapi.NdRange((work_group_size,), (work_group_size,)), p.places, p.values, p.sums)


@pattern.naive
def as_needed(session, p, work_group_size):
    """The place is read, then the value, then its roots are added."""
    launch(session, p, work_group_size, sum_of_roots)


@pattern.optimized(claim=Claim("faster", on=("gpu",)))
def place_a_step_ahead(session, p, work_group_size):
    """The next place is read before the roots are added."""
    launch(session, p, work_group_size, next_place_early)


@pattern.optimized(claim=Claim("faster", against="place_a_step_ahead", on=("gpu",)))
def value_a_step_ahead(session, p, work_group_size):
    """The next value, too, so that neither is waited for."""
    launch(session, p, work_group_size, next_value_early)


in_opencl(pattern, place_a_step_ahead)

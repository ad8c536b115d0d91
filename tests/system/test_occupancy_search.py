"""The nearest better launch, and what is said of a limit."""

from dataclasses import fields, replace
from math import log2

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from occupancy_kit import occupancy

from xebench.system.gpus import find_gpu, gpus
from xebench.system.occupancy import (
    LaunchShape,
    Occupancy,
    UnsupportedLaunch,
    difference,
    explain,
    nearest_better,
    occupancy_of,
)

TGL, PVC, GEN9 = find_gpu("tgl"), find_gpu("pvc"), find_gpu("gen9")
KIB = 1024


def better_than(current: Occupancy, *, best: bool = False) -> Occupancy:
    found = nearest_better(current, best=best)
    assert found is not None
    return found


def test_the_guides_wasted_contexts_are_won_back():
    # R=4: 57 % for good; the nearest fuller work-group leaves no context idle
    better = better_than(occupancy(TGL, 512, 8, barriers=1))
    assert (better.launch.work_group_size, better.xe_core_occupancy) == (448, 1)


def test_nearest_and_best_differ():
    current = occupancy(TGL, 384, 8)
    nearest, best = better_than(current), better_than(current, best=True)
    assert nearest.launch.work_group_size == 392
    assert current.xe_core_occupancy < nearest.xe_core_occupancy < best.xe_core_occupancy == 1
    assert best.launch.work_group_size == 448


def test_work_groups_must_divide_the_global_size():
    better = better_than(occupancy(TGL, 512, 8, global_size=64 * 64 * 128))
    assert (better.launch.work_group_size, better.launch.sub_group_size) == (256, 8)
    assert better.device_occupancy == pytest.approx(96 / 112)


def test_of_equal_changes_the_work_group_size_is_the_easiest():
    current = occupancy(PVC, 256, 32, 64 * KIB, global_size=1 << 20)
    assert current.limited_by == "slm"
    nearest = better_than(current)
    # 48K would not let a third work-group in; 32K, or a sub-group of 16, is as far as a work-group of 512
    assert difference(current.launch, nearest.launch) == "work-group size 256 -> 512"
    assert nearest.device_occupancy == 0.5
    assert better_than(current, best=True).device_occupancy == 1


def test_less_slm_where_it_is_the_nearest():
    current = occupancy(PVC, 512, 16, 66 * KIB, global_size=1 << 20)
    nearest = better_than(current)
    assert difference(current.launch, nearest.launch) == "SLM bytes 67584 -> 65536"
    assert (current.device_occupancy, nearest.device_occupancy) == (0.5, 1)


def test_large_grf_is_given_up_only_if_nothing_else_helps():
    half = better_than(occupancy(PVC, 512, 32, large_grf=True))
    assert half.launch == LaunchShape(512, 32)
    odd = better_than(occupancy(PVC, 352, 32, large_grf=True))
    assert odd.launch.large_grf
    assert odd.xe_core_occupancy > 22 / 64


def test_a_launch_too_small_for_the_gpu_gets_more_threads_from_narrower_sub_groups():
    better = better_than(occupancy(GEN9, 256, 32, global_size=8 * 256))
    assert better.launch.sub_group_size == 16 and better.device_occupancy == pytest.approx(128 / 168)


def test_a_full_launch_has_nothing_better():
    assert nearest_better(occupancy(PVC, 256, 16, global_size=1 << 20)) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (occupancy(TGL, 384, 8), "threads: 2 work-groups of 48 threads leave 16 of 112 contexts idle"),
        (occupancy(TGL, 512, 8), "threads: 1 work-group of 64 threads leave 48 of 112 contexts idle"),
        (occupancy(PVC, 256, 16), "threads: 4 work-groups of 16 threads take all contexts of an Xe-core"),
        (
            occupancy(PVC, 256, 32, 60 * KIB),
            "slm: each work-group takes 65536 of 131072 bytes, so 2 work-groups of 8 threads fit",
        ),
        (
            occupancy(PVC, 16, 16, barriers=2),
            "barriers: the 64 registers of an Xe-core serve 32 work-groups of 1 threads",
        ),
        (
            occupancy(msgspec.structs.replace(PVC, max_work_groups_per_xe_core=16), 16, 16),
            "work-groups: an Xe-core holds at most 16 work-groups of 1 threads",
        ),
        (
            occupancy(PVC, 512, 32, large_grf=True),
            "large GRF: threads of twice the registers halve the 64 contexts of an Xe-core",
        ),
        (
            occupancy(GEN9, 256, 32, global_size=2048),
            "global size: 8 of the 21 work-groups of a full wave (5376 work-items)",
        ),
    ],
)
def test_the_limit_in_words(found: Occupancy, said: str):
    assert explain(found) == said


@st.composite
def sparse_launches(draw):
    gpu = draw(st.sampled_from(gpus()))
    sub_group_size = draw(st.sampled_from(gpu.sub_group_sizes))
    size = sub_group_size * draw(st.integers(1, gpu.max_work_group_size // sub_group_size))
    slm_bytes = draw(st.integers(0, gpu.max_slm_per_work_group_bytes))
    global_size = draw(st.none() | st.integers(1, 5000).map(size.__mul__))
    return occupancy_of(LaunchShape(size, sub_group_size, slm_bytes, draw(st.integers(0, 2)), global_size), gpu)


@settings(max_examples=40, deadline=None)
@given(sparse_launches())
def test_better_is_fuller_by_one_change_and_none_nearer_is(current):
    better = nearest_better(current)
    before = current.launch
    distance = 1e9
    if better is not None:
        assert better.device_occupancy > current.device_occupancy
        after = better.launch
        changed = [each.name for each in fields(LaunchShape) if getattr(before, each.name) != getattr(after, each.name)]
        assert len(changed) == 1
        distance = abs(log2(getattr(after, changed[0]) / getattr(before, changed[0])))
        assert difference(before, after).count(" -> ") == 1
    for launch in _all_neighbours(current):
        try:
            found = occupancy_of(launch, current.gpu)
        except UnsupportedLaunch:
            continue
        changes = zip(
            (launch.work_group_size, launch.sub_group_size, launch.slm_bytes or 1),
            (before.work_group_size, before.sub_group_size, before.slm_bytes or 1),
            strict=True,
        )
        if sum(abs(log2(new / old)) for new, old in changes) < distance - 1e-6:
            assert found.device_occupancy <= current.device_occupancy + 1e-9


def _all_neighbours(current):
    gpu, launch = current.gpu, current.launch
    step = launch.sub_group_size
    yield from (replace(launch, work_group_size=size) for size in range(step, gpu.max_work_group_size + 1, step))
    yield from (replace(launch, sub_group_size=size) for size in gpu.sub_group_sizes)
    yield from (replace(launch, slm_bytes=size) for size in gpu.slm_sizes_bytes if size < launch.slm_bytes)


@settings(max_examples=40, deadline=None)
@given(sparse_launches())
def test_best_is_at_least_as_full_as_nearest(current):
    nearest, best = nearest_better(current), nearest_better(current, best=True)
    assert (nearest is None) == (best is None)
    if nearest is not None and best is not None:
        assert best.device_occupancy >= nearest.device_occupancy - 1e-9

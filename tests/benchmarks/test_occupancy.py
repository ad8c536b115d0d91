"""The launches of the patterns on occupancy, held against the guide's tables by the model; no device is needed."""

from __future__ import annotations

from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numba_sycl.signature import index_space_extents
from xebench.measuring.place import accepted_parameters
from xebench.patterns.pattern import Pattern
from xebench.patterns.pattern_file import load_file
from xebench.patterns.registry import builtin_files
from xebench.system.gpus import GpuParameters, find_gpu
from xebench.system.occupancy import LaunchShape, UnsupportedLaunch, occupancy_of
from xebench.system.runtime import load

GUIDES = find_gpu("tgl")  # the guide's example: 672 threads


def pattern_of(name: str) -> Pattern:
    load()
    path = next(path for path in builtin_files() if path.stem == name)
    return load_file(path)[0]


class NotingSession:
    """Stands in for a session on a GPU, of this sub-group size: notes what would be launched."""

    def __init__(self, sub_group_size: int, gpu: GpuParameters) -> None:
        self.device = SimpleNamespace(max_work_group_size=gpu.max_work_group_size, local_mem_size=64 * 1024)
        self.lanes = gpu.threads * max(gpu.sub_group_sizes)
        self.cores = gpu.threads // gpu.threads_per_xe_core
        self.shapes: list[LaunchShape] = []
        self._gpu = gpu
        self._sub_group_size = sub_group_size

    def core_threads(self, sub_group_size: int) -> int:
        return self._gpu.threads_per_xe_core

    def launch(self, kernel: Any, space: Any, *arguments: Any) -> None:
        extents, local = index_space_extents(space)
        assert local is not None
        slm = [a for a in arguments if type(a).__name__ == "LocalAccessor"]
        slm_bytes = sum(int(np.prod(a._shape)) * np.dtype(a._dtype).itemsize for a in slm)
        self.shapes.append(LaunchShape(prod(local), self._sub_group_size, slm_bytes, int(bool(slm)), prod(extents)))


def shape_of(name: str, variant: str, sub_group_size: int, gpu: GpuParameters = GUIDES, **axes: int) -> LaunchShape:
    """What a variant launches on a GPU, at the guide's size."""
    pattern = pattern_of(name)
    sizes = pattern.presets["guide"]
    session = NotingSession(sub_group_size, gpu)
    problem = SimpleNamespace(**sizes, x=None, y=None, a=None, b=None, total=None)
    function = pattern.variants[variant].function
    given = accepted_parameters(function, {"sub_group_size": sub_group_size, **axes})
    timed = function(session, problem, **given)
    if timed is not None:
        timed()
    (shape,) = session.shapes
    return shape


def percent(shape: LaunchShape, gpu: GpuParameters = GUIDES) -> float:
    return 100 * occupancy_of(shape, gpu).device_occupancy


#: The guide's GPU, and those of today, with each of their sub-group sizes.
EVERY = [(gpu, lanes) for gpu in map(find_gpu, ("tgl", "a770", "max1550")) for lanes in gpu.sub_group_sizes]


@pytest.mark.parametrize(
    ("variant", "expected"), [("one_row", 100), ("two_rows", 86), ("three_rows", 86), ("four_rows", 57)]
)
def test_rows_of_128_with_a_barrier_fill_the_guides_core_as_it_says(variant: str, expected: int) -> None:
    assert round(percent(shape_of("barrier_work_group", variant, 8))) == expected  # G 516 to 530


def test_more_than_the_largest_work_group_is_refused_as_the_guide_says() -> None:
    with pytest.raises(UnsupportedLaunch, match="work-groups of 640"):
        percent(shape_of("barrier_work_group", "five_rows", 8))


@pytest.mark.parametrize(
    ("variant", "groups", "expected"), [("one_group", 1, 2.4), ("a_sixth", 7, 16.7), ("all_of_it", 42, 100)]
)
def test_groups_of_the_vector_addition_are_those_of_the_guides_table(
    variant: str, groups: int, expected: float
) -> None:
    shape = shape_of("vector_add_groups", variant, 32, work_group_size=512)
    assert shape.work_groups == groups
    assert percent(shape) == pytest.approx(expected, abs=0.05)  # G 765 to 782


def test_a_few_groups_more_make_a_second_round_that_is_nearly_empty() -> None:
    shape = shape_of("vector_add_groups", "and_a_few_more", 32, work_group_size=512)
    tail = occupancy_of(shape, GUIDES).tail_occupancy
    assert shape.work_groups == 44 and tail is not None
    assert 100 * tail == pytest.approx(4.7, abs=0.1)  # G 784


@pytest.mark.parametrize(("gpu", "lanes"), EVERY)
def test_one_row_fills_every_gpu(gpu: GpuParameters, lanes: int) -> None:
    assert occupancy_of(shape_of("barrier_work_group", "one_row", lanes, gpu), gpu).xe_core_occupancy == 1


@pytest.mark.parametrize(("gpu", "lanes"), EVERY)
def test_work_groups_with_a_barrier_fill_every_gpu_or_leave_part_of_it_empty(gpu: GpuParameters, lanes: int) -> None:
    emptiest, filling = (
        shape_of("barrier_work_group", name, lanes, gpu) for name in ("emptiest_groups", "filling_groups")
    )
    assert occupancy_of(filling, gpu).xe_core_occupancy == 1 > occupancy_of(emptiest, gpu).xe_core_occupancy
    assert emptiest.work_group_size / 2 < filling.work_group_size < emptiest.work_group_size


@pytest.mark.parametrize("barrier", ["", "_with_barrier"])
@pytest.mark.parametrize(("gpu", "lanes"), EVERY)
def test_dividing_groups_fill_a_core_of_every_gpu_and_odd_ones_do_not(
    gpu: GpuParameters, lanes: int, barrier: str
) -> None:
    names = "odd_groups" + barrier, "dividing_groups" + barrier
    odd, dividing = (shape_of("vector_add_barrier", name, lanes, gpu) for name in names)
    assert occupancy_of(dividing, gpu).xe_core_occupancy == 1 > occupancy_of(odd, gpu).xe_core_occupancy
    assert percent(dividing, gpu) == 100 > percent(odd, gpu)


@pytest.mark.parametrize("barrier", ["", "_with_barrier"])
def test_on_the_guides_gpu_the_launches_are_the_guides(barrier: str) -> None:
    names = "odd_groups" + barrier, "dividing_groups" + barrier
    shapes = [shape_of("vector_add_barrier", name, 8) for name in names]
    assert [(shape.work_groups, shape.work_group_size) for shape in shapes] == [(8, 320), (24, 224)]  # G 914, 935


@pytest.mark.parametrize(
    ("variant", "groups", "size"),
    [("outermost_loop", 8, 1), ("two_loops", 128, 1), ("three_loops", 256, 8), ("four_loops", 512, 64)],
)
def test_collapsed_loops_are_cut_as_the_guides_runtime_prints(variant: str, groups: int, size: int) -> None:
    session = NotingSession(32, GUIDES)
    pattern = pattern_of("collapse_loops")
    problem = SimpleNamespace(**pattern.presets["guide"], dx=None, u=None, w=None)
    pattern.variants[variant].function(session, problem)
    (shape,) = session.shapes
    assert (shape.work_groups, shape.work_group_size) == (groups, size)  # G 11987 to 12071


@pytest.mark.parametrize("sub_group_size", [8, 16])
def test_the_less_slm_a_group_asks_for_the_more_of_them_are_resident(sub_group_size: int) -> None:
    variants = ("largest_array", "quarter_of_it", "array_as_needed")
    shapes = [shape_of("slm_per_work_group", name, sub_group_size, work_group_size=128) for name in variants]
    parts = [percent(shape) for shape in shapes]
    assert parts == sorted(parts) and len(set(parts)) == 3
    assert len({(shape.work_group_size, shape.global_size) for shape in shapes}) == 1, "the same launch otherwise"


def test_each_limit_leaves_the_guides_gpu_emptier_than_none() -> None:
    slm, size, none = (
        percent(shape_of("occupancy_limits", name, 16))
        for name in ("limited_by_slm", "limited_by_size", "nothing_scarce")
    )
    assert slm < size < none

"""What the patterns of SLM, sub-groups and registers claim, of what size they are, and what they count."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_device import GPU

from xebench.patterns.declaration import PatternInfo
from xebench.patterns.pattern import Pattern
from xebench.patterns.pattern_file import load_file
from xebench.patterns.plan import Family, build_plan
from xebench.patterns.problem import Room
from xebench.patterns.registry import builtin_files, discover
from xebench.records.claim import Claim
from xebench.system.runtime import load, missing

CHAPTERS = ("slm", "sub_groups", "registers")
INFOS = {info.name: info for info in discover() if info.chapter in CHAPTERS}
CLAIMS = {
    (info.name, variant.name): variant.claims for info in INFOS.values() for variant in info.variants if variant.claims
}

#: One stack of a Max 1550, and a GPU with more lanes and less cache.
BIG_GPUS = (Room(512 * 8 * 32, GPU.global_cache_bytes), Room(132 * 2048, 50 << 20))


def of_time(pattern: str, variant: str) -> list[tuple[str, str]]:
    return [(claim.word, claim.against) for claim in CLAIMS.get((pattern, variant), ()) if claim.of_time]


def family(info: PatternInfo, room: Room) -> Family:
    return build_plan([info], "default")[0].on("gpu", GPU.sub_group_sizes, room)


def pattern_of(name: str) -> Pattern:
    load()
    path = next(path for path in builtin_files() if path.stem == name)
    return load_file(path)[0]


def problem_of(name: str, **numbers: Any) -> Any:
    pattern = pattern_of(name)
    assert pattern.make_problem is not None
    return pattern.make_problem(np.random.default_rng(1), **numbers)


def expected_of(name: str, **numbers: Any) -> Any:
    """The reference's outputs, with the problem that they are of."""
    pattern, problem = pattern_of(name), problem_of(name, **numbers)
    assert pattern.make_reference is not None
    return problem, pattern.make_reference(SimpleNamespace(**{**numbers, **problem.fields}))


def claims() -> list[Claim]:
    return [claim for claims in CLAIMS.values() for claim in claims]


def test_all_that_is_claimed_is_claimed_of_gpus() -> None:
    of_any_device = "G 6646"  # accessors cost nothing in kernels
    assert {claim.on for claim in claims() if claim.source != of_any_device} == {("gpu",)}


@pytest.mark.parametrize(
    "own",
    [
        ("slm_convolution_cache", "cooperative_halo"),
        ("subgroup_vector_payload", "four_elements"),
        ("subgroup_coalesced_copy", "interleaved_by_constant"),
        ("subgroup_coalesced_store", "interleaved_by_constant"),
        ("partial_subgroups", "whole_sub_groups"),
    ],
)
def test_what_is_ours_does_not_carry_the_guides_claim(own: tuple[str, str]) -> None:
    assert all(claim.is_ours and not claim.source for claim in CLAIMS[own])


@pytest.mark.parametrize(
    ("pattern", "variant", "compared"),
    [
        ("subgroup_shuffle_transpose", "shuffles", [("faster", "tile_in_slm")]),
        ("block_io_registers", "address_per_sub_group", []),
        ("subgroup_sizes", "lanes_32", []),
        ("slm_convolution_cache", "serial_halo", [("faster", "global_memory")]),
        ("restrict_and_unroll", "restrict", [("faster", "unrolled_by_hand"), ("same", "loads_first")]),
        ("slm_histogram", "local_atomics", [("faster", "bins_of_sub_group"), ("faster", "one_item_zeroes")]),
    ],
)
def test_times_are_compared_as_the_guide_compares_them(
    pattern: str, variant: str, compared: list[tuple[str, str]]
) -> None:
    assert of_time(pattern, variant) == compared


def test_registers_and_addresses_are_what_block_access_saves() -> None:
    assert [claim.word for claim in CLAIMS["block_io_registers", "address_per_sub_group"]] == [
        "registers",
        "addresses",
    ]


def test_the_guides_ten_times_are_those_of_tiles_over_a_sum_in_a_register() -> None:
    (claim,) = (claim for claim in CLAIMS["tiled_matmul", "slm_tiles"] if claim.figure)
    assert claim.against == "accumulate_in_register"
    assert claim.figure is not None
    assert claim.figure.speedup == pytest.approx(10.06, abs=0.01)
    assert claim.figure.device == "", "the guide names no product"


def test_nothing_is_claimed_of_256_bins_in_slm_but_how_they_are_zeroed() -> None:
    said = [claim for claim in CLAIMS["slm_histogram", "local_atomics"] if claim.is_said_at({"bins": 256})]
    assert [claim.against for claim in said] == ["one_item_zeroes"]


@pytest.mark.parametrize("room", BIG_GPUS)
@pytest.mark.parametrize(
    ("name", "elements_of_item", "bytes_of_element"),
    [
        ("subgroup_coalesced_copy", 16, 8),
        ("subgroup_coalesced_store", 16, 4),
        ("subgroup_vector_payload", 16, 8),
        ("subgroup_block_io", 16, 8),
        ("block_io_registers", 1, 8),
        ("subgroup_sizes", 1, 8),
    ],
)
def test_what_moves_memory_leaves_the_caches_of_a_big_gpu_and_fills_it_8_times(
    name: str, elements_of_item: int, bytes_of_element: int, room: Room
) -> None:
    n = int(family(INFOS[name], room).parameters["n"])
    assert n / elements_of_item >= 8 * room.lanes
    assert n * bytes_of_element >= 4 * room.cache_bytes


@pytest.mark.parametrize("room", BIG_GPUS)
@pytest.mark.parametrize(
    ("name", "elements_of_item", "waves"),
    [
        ("slm_convolution_cache", 1, 16),
        ("slm_bank_conflicts", 1, 16),
        ("subgroup_divergence", 1, 8),
        # 256 words an item, as in the guide, whose own size is half a wave of one stack of a Max
        ("slm_histogram", 256, 0.25),
        ("histogram_in_registers", 256, 0.25),
    ],
)
def test_what_computes_fills_a_big_gpu(name: str, elements_of_item: int, waves: float, room: Room) -> None:
    n = int(family(INFOS[name], room).parameters["n"])
    assert waves * room.lanes <= n / elements_of_item < 4 * waves * room.lanes


def test_the_size_that_the_guide_requires_is_skipped_where_it_is_not_offered() -> None:
    (needed,) = pattern_of("subgroup_sizes").variants["lanes_32"].requires
    device = replace(GPU, sub_group_sizes=(8, 16))
    assert "32" in str(missing(device, (needed,)))


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("subgroup_coalesced_copy", {"n": 524287, "work_group_size": 256}),
        ("subgroup_coalesced_store", {"n": 524287, "work_group_size": 32}),
        ("subgroup_vector_payload", {"n": 524287, "work_group_size": 256}),
        ("subgroup_block_io", {"n": 524287, "work_group_size": 256}),
        ("block_io_registers", {"n": 524287, "work_group_size": 256}),
        ("subgroup_sizes", {"n": 33, "work_group_size": 32}),
        ("subgroup_divergence", {"n": 8191, "steps": 1, "run_length": 64, "work_group_size": 256}),
        ("subgroup_shuffle_transpose", {"n": 100}),
        ("histogram_in_registers", {"n": 4096}),
        ("slm_histogram", {"n": 4096, "bins": 256}),
        ("slm_bank_conflicts", {"n": 33, "steps": 2, "work_group_size": 32}),
        ("restrict_and_unroll", {"n": 33, "sub_group_size": 16}),
        ("tiled_matmul", {"n": 100}),
    ],
)
def test_a_size_that_cannot_be_cut_is_told_in_a_line(name: str, numbers: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=rf"^n={numbers['n']}: .* give a multiple of \d+$") as refused:
        problem_of(name, **numbers)
    whole = int(str(refused.value).split()[-1])
    assert problem_of(name, **{**numbers, "n": whole}).bytes_moved > 0


def test_a_convolution_is_made_of_whole_work_groups() -> None:
    with pytest.raises(ValueError, match=r"^n=8191: work-groups must be whole, so give a multiple of 256$"):
        problem_of("slm_convolution_cache", n=8191, work_group_size=256)
    problem = problem_of("slm_convolution_cache", n=8192, work_group_size=256)
    assert problem.signal.size == 8192
    assert problem.bytes_moved == 4 * (8192 + 257 + 8192)
    assert problem.operations == 2 * (257 * 8192 - 128 * 129)


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 1 << 17])
def test_steps_through_banks_end_where_a_loop_of_32_bits_ends(steps: int) -> None:
    _, found = expected_of("slm_bank_conflicts", n=32, steps=steps, work_group_size=32)
    for item in (0, 1, 31):
        assert found["y"][item] == sum(item * step for step in range(steps)) % (1 << 32)


@pytest.mark.parametrize(("bins", "bits"), [(1024, 16), (512, 16), (256, 8), (64, 8)])
def test_a_histogram_counts_the_low_bits_of_each_number(bins: int, bits: int) -> None:
    problem, found = expected_of("slm_histogram", n=256 * 64, bins=bins)
    counts = [0] * bins
    for word in problem.words.tolist():
        for shift in range(0, 64, bits):
            counts[(word >> shift) & (bins - 1)] += 1
    assert found["counts"].tolist() == counts

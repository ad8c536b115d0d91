"""What the patterns of registers and conditionals share: references against plain loops, and the least work."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from xebench.patterns.pattern import Pattern
from xebench.patterns.pattern_file import load_file
from xebench.patterns.registry import builtin_files
from xebench.system.runtime import load

SLM_OF_SMALL_GPUS = 48 << 10


def pattern_of(name: str) -> Pattern:
    load()
    return load_file(next(path for path in builtin_files() if path.stem == name))[0]


def solved(name: str, **numbers: Any) -> tuple[Any, Any]:
    """A problem of these sizes, and the reference's outputs."""
    pattern = pattern_of(name)
    assert pattern.make_problem is not None and pattern.make_reference is not None
    problem = pattern.make_problem(np.random.default_rng(1), **numbers)
    return problem, pattern.make_reference(SimpleNamespace(**{**numbers, **problem.fields}))


def test_a_force_is_the_sum_over_all_sources() -> None:
    problem, found = solved("explicit_simd_nbody", n=5, sources=64)
    coefficients = (0.269327, -0.0750978, 0.0114808, -0.00109313, 0.0000605491, -0.00000147177)
    for target, force in zip(problem.targets.tolist(), found["forces"].tolist(), strict=True):
        total = 0.0
        for source in problem.source_places.tolist():
            r2 = (source - target) ** 2
            long_range = sum(c * r2**power for power, c in enumerate(coefficients))
            total += ((r2 + 0.01) ** -1.5 - long_range) * (source - target)
        assert force == pytest.approx(0.23 * total, rel=1e-5)


def test_forces_do_not_cancel() -> None:
    _, found = solved("explicit_simd_nbody", n=1000, sources=64)
    assert (found["forces"] > 0).all()


def test_an_element_beyond_an_end_counts_as_zero_and_costs_nothing() -> None:
    problem, found = solved("remove_conditionals", n=300, work_group_size=100)
    taps = 0
    for i in range(300):
        total = 0
        for k in range(257):
            if 0 <= i - 128 + k < 300:
                total += int(problem.signal[i - 128 + k]) * int(problem.weights[k])
                taps += 1
        assert found["y"][i] == total
    assert problem.operations == 2 * taps


def test_no_window_reaches_over_both_ends() -> None:
    with pytest.raises(ValueError, match=r"^n=64: no element may have both ends in its window, so give at least 257$"):
        solved("remove_conditionals", n=64, work_group_size=64)


def test_the_first_vector_comes_from_the_item_that_mirrors_it_in_its_group() -> None:
    problem, found = solved("simd16_slm_barrier", n=64)
    vectors = problem.x.reshape(64, 10, 8)
    sums = found["y"].reshape(64, 10, 8)
    for item, mirror in ((0, 31), (31, 0), (33, 62)):
        assert (sums[item, 5] == vectors[mirror, 0]).all()
        assert (sums[item, 1] == vectors[item, 1] + vectors[item, 6] + vectors[mirror, 0]).all()


@pytest.mark.parametrize("name", ["high_register_pressure", "simd16_slm_barrier"])
def test_all_lanes_add_up_the_same_number_of_items(name: str) -> None:
    with pytest.raises(ValueError, match=r"^n=33: work-groups must be whole, so give a multiple of 32$"):
        solved(name, n=33)
    problem, found = solved(name, n=64)
    assert problem.x.size == 64 * 80
    assert problem.bytes_moved == 3 * problem.x.nbytes
    assert found["y"].shape == problem.x.shape


def test_a_spectral_element_is_differentiated_there_and_back() -> None:
    problem, found = solved("grf_mode_and_unrolling", elements=2, order=4, layers=2)
    d, u, metrics = problem.d, problem.u, problem.metrics
    e, k, j, i = 1, 2, 3, 0

    def gradient(k: int, j: int, i: int) -> list[float]:
        r = sum(d[m, i] * u[e, k, j, m] for m in range(4))
        s = sum(d[m, j] * u[e, k, m, i] for m in range(4))
        t = sum(d[m, k] * u[e, m, j, i] for m in range(4))
        rr, rs, rt, ss, st, tt = metrics[e, k, j, i]
        return [rr * r + rs * s + rt * t, rs * r + ss * s + st * t, rt * r + st * s + tt * t]

    total = sum(
        d[i, m] * gradient(k, j, m)[0] + d[j, m] * gradient(k, m, i)[1] + d[k, m] * gradient(m, j, i)[2]
        for m in range(4)
    )
    assert found["w"][e, k, j, i] == total


def test_the_elements_arrays_fit_the_slm_of_small_gpus_except_at_the_guides_order() -> None:
    presets = pattern_of("grf_mode_and_unrolling").presets
    needed = {name: 8 * (4 * sizes["order"] ** 3 + sizes["order"] ** 2) for name, sizes in presets.items()}
    assert needed["smoke"] == needed["default"] <= SLM_OF_SMALL_GPUS
    assert needed["guide"] == 56448


def test_moments_are_weighted_by_the_distance_from_the_centre() -> None:
    problem, found = solved("live_ranges", n=4, work_group_size=4)
    series, centre = problem.series[:, 2].astype(float), float(problem.centres[2])
    weights = [65 - abs(k - centre) for k in range(64)]
    mean = math.fsum(w * x for w, x in zip(weights, series, strict=True)) / math.fsum(weights)
    squares = math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, series, strict=True))
    assert found["means"][2] == pytest.approx(mean)
    assert found["variances"][2] == pytest.approx(squares / math.fsum(weights))


@pytest.mark.parametrize("name", ["private_histogram", "volatile_and_addresses"])
def test_32_bins_are_named_by_the_low_bits_of_each_byte(name: str) -> None:
    problem, found = solved(name, n=256 * 64)
    counts = np.bincount(problem.words.view(np.uint8) & 31, minlength=32)
    assert (found["counts"] == counts).all()
    assert problem.bytes_moved == problem.words.nbytes + 2 * 4 * 32


@pytest.mark.parametrize(
    ("name", "numbers", "size"),
    [
        ("private_histogram", {"n": 4096}, "n"),
        ("volatile_and_addresses", {"n": 4096}, "n"),
        ("explicit_simd_nbody", {"n": 10, "sources": 65}, "sources"),
        ("grf_mode_and_unrolling", {"elements": 1, "order": 7, "layers": 2}, "order"),
    ],
)
def test_a_size_that_cannot_be_cut_is_told_in_a_line(name: str, numbers: dict[str, int], size: str) -> None:
    with pytest.raises(ValueError, match=rf"^{size}={numbers[size]}: .* give a multiple of \d+$"):
        solved(name, **numbers)


@pytest.mark.parametrize(
    ("variant", "ratios"),
    [
        ("lanes_32_large_grf", [36.1 / 32.2]),
        ("lanes_16", []),  # half as many lanes do half of the work at the guide's sizes
        ("lanes_16_large_grf", [30.3 / 27.7]),
    ],
)
def test_more_registers_a_lane_are_claimed_with_the_guides_times(variant: str, ratios: list[float]) -> None:
    claims = pattern_of("high_register_pressure").variants[variant].claims
    figures = [claim.figure for claim in claims if claim.figure]
    assert [figure.speedup for figure in figures] == pytest.approx(ratios)
    assert {(figure.device, figure.metric) for figure in figures} <= {("Max 1550", "wall")}


@pytest.mark.parametrize("name", ["grf_mode_and_unrolling", "high_register_pressure", "simd16_slm_barrier"])
def test_large_register_files_are_asked_of_intels_gpus_alone(name: str) -> None:
    large = [variant for variant in pattern_of(name).variants.values() if variant.name.endswith("_grf")]
    assert large
    assert all("intel_gpu" in variant.requires for variant in large), "elsewhere the option changes nothing"

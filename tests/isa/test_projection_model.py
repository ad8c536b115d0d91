"""The roof model: by hand, by its properties, and against the figures that the guide measured."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from occupancy_kit import occupancy

from xebench.isa.projection import RoofBound, bound, engines_share, guide_figures
from xebench.system.gpus import find_gpu, gpus
from xebench.system.occupancy import UnsupportedLaunch

STACK = find_gpu("max1550-stack")
NAMES = [gpu.code for gpu in gpus()]


#: What a bound may be: of any type, as the checker of types does not know that it equals numbers.
ABOUT_1000: Any = pytest.approx(1000)


def test_the_longer_of_two_roofs_is_the_bound() -> None:
    # 512 engines x 16 lanes x 2 operations x 1.6 GHz, and half of 3276.8 GB/s
    assert bound(STACK, 1_638_400, None) == RoofBound(ABOUT_1000, None)
    assert bound(STACK, None, 26_214_400) == RoofBound(None, ABOUT_1000)
    both = bound(STACK, 1_638_400, 2 * 26_214_400)
    assert both.time_ns == pytest.approx(2000) and both.bound_by == "compute"
    assert bound(STACK, 3 * 1_638_400, 2 * 26_214_400).bound_by == "memory"


def test_integers_are_added_three_at_a_time_after_xe_lp_and_doubles_have_a_rate_of_their_own() -> None:
    assert STACK.peak_gops("int32") == pytest.approx(26214.4)
    assert STACK.peak_gops("fp64") == STACK.peak_gops("fp32")
    # the guide prints Advisor's ceiling of a Tiger Lake GPU for 32-bit integers: 973.06
    tgllp = find_gpu("tgllp")
    assert tgllp.peak_gops("int32") == pytest.approx(tgllp.product.ceilings_gops["int32"], rel=0.03)
    assert tgllp.peak_gops("fp64") is None
    assert tgllp.peak_gops("bf16") is None


def test_data_that_fit_into_a_cache_of_known_bandwidth_come_from_there() -> None:
    # 6500 GB/s instead of 1638.4
    kept = bound(STACK, 6_500_000, None, working_set_bytes=100_000_000)
    assert (kept.memory_ns, kept.l3_ns, kept.bound_by) == (None, ABOUT_1000, "L3")
    for too_large in (300_000_000, None):
        assert bound(STACK, 1_638_400, None, working_set_bytes=too_large) == RoofBound(ABOUT_1000, None)
    # Arc A770: the size of its cache is known, its bandwidth is not
    assert bound(find_gpu("a770"), 560_000, None, working_set_bytes=1000).bound_by == "memory"


def test_slm_has_a_roof_of_its_own() -> None:
    # 1024 bytes a clock in each of 64 Xe-cores at 1.6 GHz
    assert STACK.peak_slm_gbps == pytest.approx(104_857.6)
    both = bound(STACK, 1_638_400, None, slm_bytes=2 * 104_857_600)
    assert both.time_ns == pytest.approx(2000) and both.bound_by == "SLM"
    # of Tiger Lake the guide prints what Advisor measured
    assert (find_gpu("tgllp").peak_slm_gbps, find_gpu("tgllp").peak_l3_gbps) == (913.87, 460.06)


def test_the_bandwidth_of_max_1100_is_known() -> None:
    assert find_gpu("max1100").peak_memory_gbps == pytest.approx(1228.8)


def test_what_is_not_known_has_no_bound() -> None:
    nothing = bound(STACK, None, None)
    assert (nothing.time_ns, nothing.bound_by) == (None, None)
    unknown = find_gpu("gen9")
    assert unknown.peak_memory_gbps is None
    assert bound(unknown, 1000, 1000).time_ns is None


@pytest.mark.parametrize(
    ("global_size", "share"),
    [
        (1 << 20, 1.0),
        (16, 1 / 512),  # one thread
        (1024, 8 / 512),  # a work-group of 64 threads stays on its Xe-core of 8 engines
        (64 * 1024, 1.0),
        (32 * 1024, 0.5),
    ],
)
def test_engines_without_a_thread_do_not_compute(global_size: int, share: float) -> None:
    found = occupancy(STACK, min(1024, global_size), 16, global_size=global_size)
    assert engines_share([found]) == pytest.approx(share)
    slower = bound(STACK, None, 26_214_400, share=engines_share([found]))
    assert slower.compute_ns == pytest.approx(1000 / share)


def test_of_several_launches_the_one_that_uses_most_counts() -> None:
    small, large = (occupancy(STACK, 256, 16, global_size=n) for n in (256, 1 << 20))
    assert engines_share([small, large]) == 1.0
    assert engines_share([]) == 1.0


@given(
    name=st.sampled_from(NAMES),
    work_group=st.integers(1, 64).map(lambda n: 16 * n),
    groups=st.integers(1, 100_000),
    slm=st.integers(0, 65536),
    barriers=st.integers(0, 1),
)
def test_the_share_is_a_share_and_grows_with_the_launch(
    name: str, work_group: int, groups: int, slm: int, barriers: int
) -> None:
    gpu = find_gpu(name)
    try:
        found, more = (
            occupancy(gpu, work_group, 16, slm, barriers, global_size=n * work_group) for n in (groups, groups + 1)
        )
    except UnsupportedLaunch:
        return
    share = engines_share([found])
    assert 0 < share <= 1
    assert engines_share([more]) >= share - 1e-12
    # occupied contexts cannot lie on fewer engines than their number of threads asks for
    assert share >= found.device_occupancy - 1e-12


def test_no_figure_of_the_guide_breaks_the_bound() -> None:
    figures = guide_figures()
    assert {one.id for one in figures} == {"E75", "E85", "E86", "E89", "E90", "E91"}
    for one in figures:
        assert one.fraction is not None
        assert 0 < one.fraction < 1, one


def test_streams_of_the_guide_reach_two_thirds_of_the_bound_or_more() -> None:
    plain = [one.fraction for one in guide_figures() if one.roof == "memory" and not one.beside]
    assert len(plain) == 11
    assert min(fraction for fraction in plain if fraction is not None) > 0.58


def test_a_gpu_of_another_clock_has_another_roof() -> None:
    slow = replace(STACK, products=(replace(STACK.product, clock_mhz=800.0),))
    assert slow.peak_gops("fp32") == pytest.approx(13107.2)

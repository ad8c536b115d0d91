"""Every figure on occupancy that the guide and its notebook print, misprints named.

"Guide" is the chapter Thread Mapping and GPU Occupancy if no other is named, "notebook" the one of that name.
"""

import math

import pytest
from occupancy_kit import occupancy

from xebench.system.gpus import find_gpu
from xebench.system.occupancy import UnsupportedLaunch

TGL = find_gpu("tgl")
GEN9 = find_gpu("p630")


def rounded(fraction, printed):
    """The fraction in percent, rounded to as many decimals as the text has."""
    return f"{100 * fraction:.{_decimals(printed)}f}"


def truncated(fraction, printed):
    """As `rounded`, cut off instead."""
    scale = 10 ** _decimals(printed)
    return f"{math.floor(100 * fraction * scale + 1e-9) / scale:.{_decimals(printed)}f}"


def _decimals(printed):
    return len(printed.partition(".")[2])


class TestFullOccupancyOfTigerLake:
    """Guide, "Configurations to ensure full occupancy": 64 threads, sub-groups 8 to 32, work-group 512."""

    def test_limits(self):
        assert TGL.max_work_group_size // 8 == 64
        assert (min(TGL.sub_group_sizes), max(TGL.sub_group_sizes)) == (8, 32)
        assert TGL.max_work_group_size == 512

    @pytest.mark.parametrize("sub_group_size", [8, 16, 32])
    def test_threads_times_sub_group_size_is_at_most_512(self, sub_group_size):
        assert occupancy(TGL, 512, sub_group_size).threads_per_work_group * sub_group_size == 512
        with pytest.raises(UnsupportedLaunch):
            occupancy(TGL, 512 + sub_group_size, sub_group_size)

    def test_all_contexts_in_one_work_group_would_be_too_large(self):
        with pytest.raises(UnsupportedLaunch, match="tgllp has no work-groups of 896: use at most 512"):
            occupancy(TGL, 112 * 8, 8)

    def test_rule_of_the_notebook_is_not_the_model(self):
        # notebook: below 64 work-items of sub-group size 8 Tiger Lake cannot be filled, as if an Xe-core held
        # 14 work-groups at most; the calculator allows 112
        assert occupancy(TGL, 56, 8).xe_core_occupancy == 1


class TestBarrierExample:
    """Guide and notebook, "Utilization for various configurations": sub-groups of 8, work-group 128 R.

    The guide's rows are shifted (R=2 "with 7 work-groups", R=3 written as 128 x 4); the notebook's are right.
    """

    @pytest.mark.parametrize(
        ("rows", "threads", "utilisation", "full", "work_groups"),
        [(1, 16, "14", "100", 7), (2, 32, "28.6", "86", 3), (3, 48, "42.9", "86", 2), (4, 64, "57", "57", 1)],
    )
    def test_printed(self, rows, threads, utilisation, full, work_groups):
        found = occupancy(TGL, 128 * rows, 8, barriers=1)
        assert found.threads_per_work_group == threads
        assert rounded(found.work_group_utilisation, utilisation) == utilisation
        assert found.work_groups_per_xe_core == work_groups
        assert rounded(found.xe_core_occupancy, full) == full
        assert found.limited_by == "threads"

    def test_28_2_of_the_notebook_is_a_misprint(self):
        assert rounded(occupancy(TGL, 256, 8, barriers=1).work_group_utilisation, "28.2") == "28.6"

    def test_57_percent_wastes_43(self):
        assert rounded(1 - occupancy(TGL, 512, 8, barriers=1).xe_core_occupancy, "43") == "43"

    @pytest.mark.parametrize("rows", [5, 8])
    def test_more_than_four_rows_fail_to_launch(self, rows):
        with pytest.raises(UnsupportedLaunch, match="use at most 512"):
            occupancy(TGL, 128 * rows, 8, barriers=1)

    def test_three_rows_do_not_divide_the_range_of_the_guide(self):
        # 64 x 64 x 128 = 524288 work-items; the guide does not say that R=3 cannot be launched over them
        with pytest.raises(UnsupportedLaunch, match="524288 is no multiple of the work-group size 384"):
            occupancy(TGL, 384, 8, barriers=1, global_size=64 * 64 * 128)

    def test_the_whole_range_takes_many_waves(self):
        found = occupancy(TGL, 128, 8, barriers=1, global_size=64 * 64 * 128)
        assert found.waves == pytest.approx(4096 / 42)
        assert found.device_occupancy == 1


def test_slm_of_a_work_group_bounds_its_size():
    # guide, Impact of Local Memory: bytes per work-item times work-group size must fit; the guide says into
    # 128K per Xe-core, the calculator, which is used, 64K
    assert occupancy(TGL, 512, 32, 512 * 4).work_groups_per_xe_core
    assert occupancy(TGL, 256, 32, 256 * 256).work_groups_per_xe_core
    with pytest.raises(UnsupportedLaunch, match="tgllp has no 131072 bytes of SLM per work-group: use at most 65536"):
        occupancy(TGL, 256, 32, 128 * 1024)


# guide, table of VectorAdd2<groups>: work-groups of 512, sub-groups of 32, 672 contexts
VECTOR_ADD_2 = {
    1: "2.4",
    2: "4.8",
    3: "7.1",
    4: "9.5",
    5: "11.9",
    6: "14.3",
    7: "16.7",
    8: "19",
    12: "28.6",
    16: "38.1",
    20: "47.6",  # printed 47.7, a misprint of 320/672 = 47.62
    24: "57.1",
    28: "66.7",
    32: "76.2",
    36: "85.7",
    40: "95.2",
    42: "100",
}


@pytest.mark.parametrize(("groups", "printed"), VECTOR_ADD_2.items())
def test_vector_add_2_on_tiger_lake(groups, printed):
    found = occupancy(TGL, 512, 32, global_size=512 * groups)
    assert found.threads_per_work_group == 16
    assert rounded(found.device_occupancy, printed) == printed
    assert found.waves == groups / 42
    assert found.limited_by == ("threads" if groups == 42 else "global size")


@pytest.mark.parametrize(
    ("groups", "tail"),
    [(44, "4.8"), (48, "14.3")],  # 44 is printed "then 4.7", cut off from 4.76
)
def test_vector_add_2_with_a_second_wave(groups, tail):
    found = occupancy(TGL, 512, 32, global_size=512 * groups)
    assert found.device_occupancy == 1
    assert rounded(found.tail_occupancy, tail) == tail
    assert found.average_device_occupancy == pytest.approx(groups / 42 / 2)


def test_vector_add_1_on_tiger_lake():
    # 53760 work-groups, 27.5 M work-items, 860 K threads, 100 %; the listed program has half of that, the row
    # is of another array size
    found = occupancy(TGL, 512, 32, global_size=3 * 5 * 7 * 2**18)
    assert found.launch.work_groups == 53760
    assert found.launch.global_size is not None
    assert round(found.launch.global_size / 1e6, 1) == 27.5
    assert found.launch.work_groups * found.threads_per_work_group // 1000 == 860
    assert found.device_occupancy == found.average_device_occupancy == 1
    assert found.waves == 1280


# notebook, vec_add on Gen9: work-groups of 256, sub-groups of 32; figures are cut off, not rounded
VEC_ADD = {
    1: ("14.2", "4.7"),
    2: ("28.5", "9.5"),
    3: ("42.8", "14.2"),
    4: ("57.1", "19"),
    5: ("71.4", "23.8"),
    6: ("85.7", "28.5"),
    7: ("100", "33.3"),
    8: ("100", "38"),
    12: ("100", "57"),
    16: ("100", "76"),
    20: ("100", "95"),
    24: ("100", "100"),
}


@pytest.mark.parametrize(("groups", "printed"), VEC_ADD.items())
def test_vec_add_on_gen9(groups, printed):
    found = occupancy(GEN9, 256, 32, global_size=256 * groups)
    xe_core, device = printed
    assert found.threads_per_work_group == 8
    # "XeCore Occupancy" is of the first Xe-core, with as many of the work-groups as it holds
    assert truncated(found.xe_core_occupancy, xe_core) == xe_core
    assert truncated(found.device_occupancy, device) == device


class TestVectorAdd3And4:
    """Guide: work-groups that leave contexts of an Xe-core idle, and others that fill it."""

    def test_model_of_eight_work_groups_of_320(self):
        found = occupancy(TGL, 320, 8, barriers=1, global_size=8 * 320)
        assert found.threads_per_work_group == 40
        assert found.work_groups_per_xe_core == 2
        assert rounded(found.xe_core_occupancy, "71.4") == "71.4"
        assert rounded(found.device_occupancy, "47.6") == "47.6"

    @pytest.mark.parametrize("barriers", [0, 1])
    def test_twenty_four_work_groups_of_224_fill_it(self, barriers):
        found = occupancy(TGL, 224, 8, barriers=barriers, global_size=24 * 224)
        assert (found.threads_per_work_group, found.work_groups_per_xe_core) == (28, 4)
        assert (found.device_occupancy, found.waves) == (1, 1)


def test_work_items_that_give_every_context_one_sub_group():
    # Getting Started, Work Size: 512 x 8 x 16; Implicit Scaling: 1024 x 8 x 32 on two stacks
    assert find_gpu("a770").threads * 16 == 65536
    assert find_gpu("max1550").threads * 32 == 262144

"""Occupancy in words."""

import json

from occupancy_kit import occupancy

from xebench.isa.gpu_views import OCCUPANCY
from xebench.report import units
from xebench.system.gpus import find_gpu

PVC, TGL = find_gpu("pvc"), find_gpu("tgl")


def test_a_launch_in_words():
    assert OCCUPANCY.as_text(occupancy(TGL, 384, 8, global_size=384 * 1000)).splitlines() == [
        "Iris Xe (Tiger Lake, 96 EUs) (tgllp): 6 Xe-cores of 112 contexts",
        "work-group 384, sub-group 8: 48 threads, 42.9 % of an Xe-core",
        "Xe-core: 2 work-groups, occupancy 85.7 %",
        "device: occupancy 85.7 % at its peak, 85.0 % over 83.33 waves, 28.6 % in the last one",
        "limited by threads: 2 work-groups of 48 threads leave 16 of 112 contexts idle",
        "nearest better: work-group size 384 -> 400 gives 89.3 %",
        "fullest near it: work-group size 384 -> 128 gives 100 %",
    ]


def test_a_full_launch_in_words():
    lines = OCCUPANCY.as_text(occupancy(PVC, 256, 16)).splitlines()
    assert lines[3] == "device: occupancy 100 %"
    assert lines[-1] == "no single change of work-group size, sub-group size or SLM makes it fuller"


def test_whole_waves_have_no_tail():
    lines = OCCUPANCY.as_text(occupancy(PVC, 256, 16, global_size=1 << 20)).splitlines()
    assert lines[3] == "device: occupancy 100 % at its peak, 100 % over 8.00 waves"


def test_of_a_launch_that_fills_no_wave_it_is_an_upper_bound():
    small = occupancy(PVC, 256, 16, global_size=1 << 15)
    assert small.is_upper_bound
    line = "device: occupancy 25.0 % at most: 0.25 of a wave, in which work-groups need not begin together"
    assert OCCUPANCY.as_text(small).splitlines()[3] == line
    assert units.occupancy(0.25, True) == "<= 25.0 %" and units.occupancy(1.0, False) == "100 %"
    assert not occupancy(PVC, 256, 16, global_size=1 << 17).is_upper_bound


def test_json_is_the_model_s_own():
    full = occupancy(PVC, 256, 16)
    assert json.loads(OCCUPANCY.as_json(full)) == full.to_json()

"""Heat maps of occupancy."""

import json

from xebench.isa.gpu_views import HEAT_MAP
from xebench.system.gpus import find_gpu
from xebench.system.occupancy import heat_map

PVC = find_gpu("pvc")


def test_sizes_of_work_groups_stand_below_and_those_of_slm_beside_one_another():
    lines = [line.split() for line in HEAT_MAP.as_text(heat_map(PVC, 32), PVC, 32, 80).splitlines()]
    assert ["group", "0", "1K", "2K", "4K", "8K", "16K", "24K", "32K", "48K", "64K", "96K", "128K"] in lines
    assert ["256", "100", "100", "100", "100", "100", "100", "62", "50", "25", "25", "12", "12"] in lines
    assert ["1024", *["100"] * 9, "100", "50", "50"] in lines


def test_what_cannot_launch_is_a_dash():
    text = HEAT_MAP.as_text(heat_map(PVC, 16, large_grf=True), PVC, 16, 80)
    assert ["1024", *["-"] * 12] in [line.split() for line in text.splitlines()]


def test_a_heat_map_of_thirteen_columns_fits_into_eighty():
    assert max(map(len, HEAT_MAP.as_text(heat_map(PVC, 16), PVC, 16, 80).splitlines())) <= 80


def test_json_has_every_point():
    cells = heat_map(PVC, 16, large_grf=True)
    data = json.loads(HEAT_MAP.as_json(cells, PVC, 16))
    assert (data["gpu"], data["sub_group_size"], len(data["cells"])) == ("pvc", 16, len(cells))
    assert data["cells"][-1] == {
        "work_group_size": 1024,
        "slm_bytes": 131072,
        "work_groups_per_xe_core": 0,
        "xe_core_occupancy": 0.0,
        "limited_by": "cannot launch",
    }

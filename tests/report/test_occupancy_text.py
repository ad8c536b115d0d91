"""Occupancy in words and as heat maps."""

import io
import re

import pytest
from rich.console import Console

from harness.gpu_model.gpus import find_gpu
from harness.gpu_model.occupancy import occupancy
from harness.gpu_model.occupancy_search import heat_map
from harness.report.occupancy_table import heat_html, heat_table, occupancy_lines, percent

PVC, TGL = find_gpu("pvc"), find_gpu("tgl")


def test_a_launch_in_words():
    assert occupancy_lines(occupancy(TGL, 384, 8, global_size=384 * 1000)) == [
        "Iris Xe (Tiger Lake, 96 EUs) (tgllp): 6 Xe-cores of 112 contexts",
        "work-group 384, sub-group 8: 48 threads, 42.9 % of an Xe-core",
        "Xe-core: 2 work-groups, occupancy 85.7 %",
        "device: occupancy 85.7 % at its peak, 85.0 % over 83.33 waves, 28.6 % in the last one",
        "limited by threads: 2 work-groups of 48 threads leave 16 of 112 contexts idle",
        "nearest better: work-group size 384 -> 400 gives 89.3 %",
        "fullest near it: work-group size 384 -> 128 gives 100.0 %",
    ]


def test_a_full_launch_in_words():
    lines = occupancy_lines(occupancy(PVC, 256, 16))
    assert lines[3] == "device: occupancy 100.0 %"
    assert lines[-1] == "no single change of work-group size, sub-group size or SLM makes it fuller"


def test_whole_waves_have_no_tail():
    assert occupancy_lines(occupancy(PVC, 256, 16, global_size=1 << 20))[3] == (
        "device: occupancy 100.0 % at its peak, 100.0 % over 8.00 waves"
    )


@pytest.mark.parametrize(("fraction", "text"), [(0, "0.0 %"), (6 / 7, "85.7 %"), (1, "100.0 %")])
def test_percent(fraction, text):
    assert percent(fraction) == text


def _shown(renderable):
    console = Console(width=120, color_system=None, file=io.StringIO())
    console.print(renderable)
    return console.file.getvalue()


def test_heat_map_for_the_terminal():
    cells = heat_map(PVC, 32, work_group_sizes=(1024, 256, 512), slm_sizes_bytes=(0, 65536, 1000, 262144))
    lines = [re.sub("[│┃]", " ", line).split() for line in _shown(heat_table(cells, PVC, 32)).splitlines()]
    assert ["group", "0", "1000", "64K", "256K"] in lines
    assert ["256", "100", "100", "25", "-"] in lines
    assert ["512", "100", "100", "50", "-"] in lines
    assert ["1024", "100", "100", "100", "-"] in lines


def test_heat_map_for_a_page():
    page = heat_html(heat_map(PVC, 32, work_group_sizes=(256,), slm_sizes_bytes=(0, 65536, 262144)), PVC, 32)
    assert "<tr><th>work-group</th><th>0</th><th>64K</th><th>256K</th></tr>" in page
    assert '<td title="2 work-groups per Xe-core, limited by slm" style="background:#f9dfa6">25</td>' in page
    assert '<td title="cannot launch">-</td>' in page
    assert page.count("<tr>") == page.count("</tr>") == 2

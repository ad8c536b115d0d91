"""A GPU is one entry of the catalogue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporary_copy import copy_with, python_m

LAUNCH = ("--work-group", "256", "--sub-group", "16")


@pytest.mark.slow
def test_the_documented_gpu_is_known_everywhere(tmp_path: Path) -> None:
    folder = copy_with(tmp_path / "copy", "A GPU")
    for name in ("xyz", "example", "e10"):
        told = json.loads(python_m(folder, "xebench", "occupancy", "--gpu", name, *LAUNCH, "--json"))
        # 80 contexts of an Xe-core are five work-groups of 16 threads
        assert (told["gpu"], told["work_groups_per_xe_core"], told["xe_core_occupancy"]) == ("xyz", 5, 1.0)
    text = python_m(folder, "xebench", "occupancy", "--gpu", "xyz", *LAUNCH)
    assert text.startswith("Example E10 (xyz): 16 Xe-cores of 80 contexts")


@pytest.mark.slow
def test_what_other_rooms_need_of_it_is_in_the_entry(tmp_path: Path) -> None:
    folder = copy_with(tmp_path / "copy", "A GPU")
    (folder / "ask.py").write_text(
        "from xebench.gpu_model.gpus import find_gpu, gpu_of_device, gpu_of_platform\n"
        "from xebench.gpu_model.roof_model import bound\n"
        "from xebench.isa.compilation import Target\n"
        "print(Target('xyz').device, gpu_of_platform('XYZ2').code, gpu_of_device('Intel Example E10').code,\n"
        "      bound(find_gpu('e10'), 400_000, None).time_ns)\n"
    )
    assert python_m(folder, "ask").split() == ["pvc", "xyz", "xyz", "1000.0"]

"""Sizes of the preset default on a GPU, against what a GPU measured: memory lessons leave its caches, and launches are
long beside an empty kernel. What has another size by now is taken to last longer in proportion.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import stored

from xebench.patterns.declaration import PatternInfo
from xebench.patterns.plan import build_plan
from xebench.patterns.problem import CACHES, Room, fit, fitted, is_fit
from xebench.patterns.registry import BENCHMARKS, discover
from xebench.results import load_run

if not stored.HERE:
    pytest.skip(stored.WHY, allow_module_level=True)

MEASURED = BENCHMARKS.parent / "results/h200-default"
#: Shorter launches are remarked on in reports, since the fixed cost draws speed-ups towards 1.
EMPTY_KERNELS = 10
#: Work that grows with a power of a size.
POWERS = {"edge": 3, "side": 2}
PATTERNS = {info.name: info for info in discover() if info.metric == "device"}


class Launches(NamedTuple):
    """What a pattern's launches were on the device."""

    parameters: Mapping[str, float]
    empty_kernels: float
    caches: float
    memory_bound: bool


def measured() -> tuple[Room, dict[str, Launches]]:
    run = load_run(MEASURED)
    device = run.devices.iloc[0]
    room = Room(2048 * int(device["compute_units"]), int(device["global_cache_bytes"]))
    kernels = run.events[run.events["kind"] == "kernel"]
    spent_ns = (kernels["end_ns"] - kernels["start_ns"]).groupby(kernels["case_id"]).median()
    summaries = run.summaries[run.summaries["n"] > 0].set_index("case_id")
    found: dict[str, Launches] = {}
    for pattern, cases in run.cases.groupby("pattern"):
        own = [case_id for case_id in cases["case_id"] if case_id in spent_ns and case_id in summaries.index]
        if own:
            shortest = min(own, key=lambda case_id: float(spent_ns[case_id]))
            case = cases.set_index("case_id").loc[shortest]
            caches = math.nan if pd.isna(case["working_set_bytes"]) else case["working_set_bytes"] / room.cache_bytes
            found[str(pattern)] = Launches(
                json.loads(case["parameters"]),
                float(spent_ns[shortest]) / float(device["empty_kernel_ns"]),
                float(caches),
                set(summaries.loc[own, "bound_by"].dropna()) == {"memory"},
            )
    return room, found


ROOM, LAUNCHES = measured()


def growth(info: PatternInfo) -> float:
    """The work at the sizes of today over that which was measured; a size that is new was 1."""
    before = LAUNCHES[info.name].parameters
    now = build_plan([info], "default")[0].on("gpu", (32,), ROOM).parameters
    sizes = [name for name in now if name in info.presets["default"]]
    return math.prod((float(now[name]) / float(before.get(name, 1))) ** POWERS.get(name, 1) for name in sizes)


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() & LAUNCHES.keys()))
def test_launches_last_ten_empty_kernels_or_the_pattern_says_why_not(name: str) -> None:
    info = PATTERNS[name]
    lasts = LAUNCHES[name].empty_kernels * growth(info)
    assert lasts >= EMPTY_KERNELS or info.short_launches, f"{lasts:.0f} empty kernels"


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() & LAUNCHES.keys()))
def test_lessons_that_memory_limits_leave_the_caches(name: str) -> None:
    info = PATTERNS[name]
    sizes = [size.get("gpu") if isinstance(size, Mapping) else size for size in info.presets["default"].values()]
    if LAUNCHES[name].memory_bound and any(map(is_fit, sizes)) and not info.short_launches:
        assert LAUNCHES[name].caches * growth(info) >= CACHES


@pytest.mark.parametrize(
    ("lanes", "cache_bytes"), [(132 << 11, 60 << 20), (512 << 8, 16 << 20), (1024 << 8, 408 << 20)]
)
def test_a_memory_lesson_is_fitted_to_caches_and_lanes_of_any_gpu(lanes: int, cache_bytes: int) -> None:
    room = Room(lanes, cache_bytes)
    size, why = fitted(fit(1 << 20, bytes_each=12), room)
    assert 12 * size >= CACHES * cache_bytes and "12 bytes each" in why
    assert 12 * size >= 1200 * lanes
    assert size in {1 << power for power in range(20, 40)}


def test_a_command_of_several_devices_lasts_as_long_as_the_launches_that_it_names() -> None:
    lanes = 132 << 11
    size, why = fitted(fit(1 << 24, bytes_each=12, launches=10), Room(lanes, 60 << 20))
    assert 12 * size >= 10 * 830 * lanes and "10 launches" in why


def test_launches_need_the_bytes_of_an_element() -> None:
    with pytest.raises(ValueError, match="launches needs bytes_each"):
        fit(1 << 24, launches=10)


def test_the_stored_run_is_there() -> None:
    assert Path(MEASURED).is_dir() and len(PATTERNS.keys() & LAUNCHES.keys()) > 40

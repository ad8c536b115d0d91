"""Memory limits as people write them and as containers set them, and the budget of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from xebench.errors import XebenchError
from xebench.runner.resource_limits import FIRST_SAMPLE_S, RunBudget, host_memory_bytes, parse_memory

GIB = 1 << 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8G", 8 * GIB),
        ("1.5g", 3 * GIB // 2),
        ("512 MiB", GIB // 2),
        ("80%", 8 * GIB),
        ("1000000000", 1_000_000_000),
        ("2T", 2048 * GIB),
    ],
)
def test_memory_is_a_size_or_a_part_of_the_host(text: str, expected: int) -> None:
    assert parse_memory(text, 10 * GIB) == expected


@pytest.mark.parametrize("text", ["", "much", "8X", "-1G", "0", "80%G", "8G%"])
def test_a_memory_limit_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(XebenchError, match="write a size as 8G"):
        parse_memory(text, GIB)


@pytest.mark.parametrize("text", ["1", "1M", "511M", "4%"])
def test_a_memory_limit_below_what_a_worker_needs_is_refused(text: str) -> None:
    with pytest.raises(XebenchError, match="a worker process needs at least 512M; raise it"):
        parse_memory(text, 10 * GIB)


def control_groups(root: Path, limits: dict[str, str], own: str) -> Path:
    for group, limit in limits.items():
        folder = root / "sys/fs/cgroup" / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory.max").write_text(limit)
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"1:name=systemd:/x\n0::/{own}\n")
    return root


def test_a_container_has_less_memory_than_its_host(tmp_path: Path) -> None:
    limits = {"jobs": "4096\n", "jobs/mine": "max\n", "others": "1\n"}
    assert host_memory_bytes(control_groups(tmp_path, limits, "jobs/mine")) == 4096


def test_without_control_groups_the_host_counts(tmp_path: Path) -> None:
    assert host_memory_bytes(tmp_path) > 1 << 20
    assert host_memory_bytes(control_groups(tmp_path, {"": "max\n"}, "")) == host_memory_bytes(tmp_path / "nothing")


def test_a_budget_is_spent_by_the_clock() -> None:
    now = 100.0
    budget = RunBudget(5, clock=lambda: now)
    now = 104.0
    assert budget.left_s() == 1
    now = 107.0
    assert budget.left_s() == -2
    assert RunBudget(None).left_s() == float("inf")


def test_a_budget_is_of_the_whole_command_and_keeps_what_the_end_takes() -> None:
    now, tries = 100.0, 0

    def end() -> float:
        nonlocal now, tries
        tries += 1
        now += 1
        return 3.0

    budget = RunBudget(20, clock=lambda: now, begun_s=90.0, reserve_s=end)
    assert budget.left_s() == 20 - 11 - 3
    now = 111.0
    assert budget.left_s() == -1
    assert tries == 1, "the end is not tried when nothing is left"


def test_a_budget_leaves_time_for_a_first_sample_and_says_what_the_start_took() -> None:
    now, has_sample = 100.0, False
    budget = RunBudget(10, clock=lambda: now)
    now = 104.0
    budget.begin_sampling(lambda: has_sample)
    assert budget.spent == "the budget of 10 s for the run is spent"
    now = 109.0
    budget.begin_sampling(lambda: has_sample)
    assert budget.left_s() == FIRST_SAMPLE_S
    assert budget.spent.endswith("spent (9 s of it before the first family: raise --run-budget)")
    now = 119.0
    assert budget.left_s() == FIRST_SAMPLE_S - 10
    has_sample = True
    assert budget.left_s() == -9
    now, has_sample = 109.0 + FIRST_SAMPLE_S, False
    assert budget.left_s() < 0, "a device that gives none ends the run as well"

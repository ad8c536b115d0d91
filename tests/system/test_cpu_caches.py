"""The CPU's caches, from made-up files of /sys."""

from __future__ import annotations

from pathlib import Path

from xebench.system.runtime.machine import cache_bytes_by_level, last_level_cache_bytes


def add(root: Path, cpu: int, index: int, level: int, kind: str, size: str, cores: str) -> None:
    folder = root / f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
    folder.mkdir(parents=True)
    for name, value in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", cores)):
        (folder / name).write_text(f"{value}\n")


def test_each_last_level_cache_counts_once(tmp_path: Path) -> None:
    for cpu in range(4):
        add(tmp_path, cpu, 0, 1, "Data", "32K", str(cpu))
        add(tmp_path, cpu, 1, 1, "Instruction", "64K", str(cpu))
        add(tmp_path, cpu, 2, 2, "Unified", "1024K", str(cpu))
        add(tmp_path, cpu, 3, 3, "Unified", "32768K", "0-1" if cpu < 2 else "2-3")
    assert last_level_cache_bytes(tmp_path) == 2 * (32 << 20)
    assert cache_bytes_by_level(tmp_path) == {1: 4 * (32 << 10), 2: 4 << 20, 3: 2 * (32 << 20)}


def test_without_a_third_level_the_second_is_the_last(tmp_path: Path) -> None:
    add(tmp_path, 0, 0, 1, "Data", "32K", "0")
    add(tmp_path, 0, 1, 2, "Unified", "2M", "0-3")
    assert last_level_cache_bytes(tmp_path) == 2 << 20


def test_a_kernel_that_tells_nothing_or_nonsense_gives_none(tmp_path: Path) -> None:
    assert last_level_cache_bytes(tmp_path) is None
    add(tmp_path, 0, 0, 1, "Data", "much", "0")
    assert last_level_cache_bytes(tmp_path) is None

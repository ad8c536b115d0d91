"""The caches of the host's CPU, as the system's kernel reports them: CPU devices' drivers often name a smaller one."""

from __future__ import annotations

from pathlib import Path


def last_level_cache_bytes(root: Path = Path("/")) -> int | None:
    """The last-level caches of all cores together, each counted once; None if the system does not report them.

    Args:
        root: where ``sys`` is looked for.
    """
    by_level = cache_bytes_by_level(root)
    return by_level[max(by_level)] if by_level else None


def cache_bytes_by_level(root: Path = Path("/")) -> dict[int, int]:
    """The data caches of each level, of all cores together, each counted once; empty if the system does not report
    them.

    Args:
        root: where ``sys`` is looked for.
    """
    sizes: dict[tuple[int, str], int] = {}
    for folder in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cache/index[0-9]*"):
        try:
            kind, level, size, cores = (
                (folder / name).read_text().strip() for name in ("type", "level", "size", "shared_cpu_list")
            )
            if kind != "Instruction":
                sizes[int(level), cores] = _bytes(size)
        except (OSError, ValueError):
            continue
    levels = sorted({level for level, _ in sizes})
    return {level: sum(size for (of, _), size in sizes.items() if of == level) for level in levels}


def _bytes(text: str) -> int:
    """``32768K`` in bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)

"""Folders for what can be made again: files appear whole, and a disk that refuses is no error."""

from __future__ import annotations

from pathlib import Path

from numba_sycl import disk_cache
from numba_sycl.disk_cache import keep

__all__ = ["default_folder", "keep"]


def default_folder(kind: str) -> Path:
    """The default folder for files of a kind: ``xebench/KIND`` in the user's cache folder."""
    return disk_cache.default_folder(kind, "xebench")

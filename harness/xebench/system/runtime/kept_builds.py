"""Builds that Intel's GPU driver keeps on disk."""

from __future__ import annotations

import os
from pathlib import Path


def kept_builds() -> frozenset[str]:
    """Names of their files."""
    above = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("NEO_CACHE_DIR") or Path(above) / "neo_compiler_cache")
    return frozenset(path.name for path in folder.glob("*_cache"))

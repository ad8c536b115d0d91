"""The versions of what makes a kernel's SPIR-V: part of the name of what is kept of it on disk."""

from __future__ import annotations

import hashlib
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path


@lru_cache
def toolchain(*packages: str) -> str:
    """Versions of Python and of packages, and a hash of this room's own source."""
    own = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        own.update(path.read_bytes())
    versions = [f"{name} {metadata.version(name)}" for name in packages]
    return "; ".join([f"python {sys.version}", *versions, f"xebench.dpex {own.hexdigest()}"])

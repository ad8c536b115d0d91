"""The current stack's code in this environment: numba-dpex is hidden, the libraries are the pinned stack's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HIDE = """
import sys
from xebench.system import runtime
runtime.load()
from xebench.system.runtime import packages
packages.stack = lambda: packages.Stack.CURRENT
for name in ("numba", "numba_dpex", "llvmlite"):
    sys.modules[name] = None
"""


def run_without_numba(code: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process that cannot import numba."""
    return subprocess.run(
        [sys.executable, "-c", HIDE + code, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=cwd,
    )

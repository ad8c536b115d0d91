"""The modules that our own target makes of the whole suite are valid SPIR-V."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from optional import needs

from xebench.system.kernel_files import Pack
from xebench.system.runtime.packages import is_current

pytestmark = [
    pytest.mark.device,
    pytest.mark.slow,
    pytest.mark.skipif(not is_current(), reason="numba-dpex compiles on this stack"),
]


def complaints(module: bytes, file: Path) -> str:
    """What the validator says of a module; nothing if it is valid."""
    file.write_bytes(module)
    command = ["spirv-val", "--target-env", "spv1.3", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip()


@needs("spirv-val")
def test_every_module_of_the_suite_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "suite.zip"
    command = [sys.executable, "-m", "xebench", "pack", "--output", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert path.exists(), done.stderr
    pack = Pack.open(path)
    of_python = [kernel for kernel in pack.index.kernels if kernel.source != kernel.key]
    modules = {digest: kernel for kernel in of_python for digest in (kernel.spirv, kernel.narrow) if digest}
    invalid = {
        f"{kernel.origin}: {kernel.kernel} {kernel.signature} {kernel.options}": said
        for digest, kernel in modules.items()
        if (said := complaints(pack.module(digest), tmp_path / "module.spv"))
    }
    assert not invalid
    assert len(modules) > 300

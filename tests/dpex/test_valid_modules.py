"""The modules that our own target makes of the whole suite are valid SPIR-V."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from optional import needs

from numba_sycl.stacks import is_current
from tools.compilers.modules import compile_suite, read_index

pytestmark = [
    pytest.mark.device,
    pytest.mark.slow,
    pytest.mark.skipif(not is_current(), reason="numba-dpex compiles on this stack"),
]


def complaints(module: Path) -> str:
    """What the validator says of a module; nothing if it is valid."""
    command = ["spirv-val", "--target-env", "spv1.3", str(module)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip()


@needs("spirv-val")
def test_every_module_of_the_suite_is_valid(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    assert compile_suite(folder) == []
    modules = list(folder.glob("*.spv"))
    named = {
        kernel.key: f"{kernel.origin}: {kernel.kernel} {kernel.signature}" for kernel in read_index(folder).kernels
    }
    invalid = {named[path.name.partition(".")[0]]: said for path in modules if (said := complaints(path))}
    assert not invalid
    assert len(modules) > 300

"""Kernels on disk: whatever a kernel depends on may change between two of its compilations."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.device

PROGRAM = Path(__file__).with_name("changing_kernels.py")
#: A kernel that reads a module by getattr has no identity, so it is not kept.
NEVER_KEPT = {"an_attribute_by_getattr"}


def run(folder: Path, *arguments: str) -> dict[str, float]:
    command = [sys.executable, str(PROGRAM), *arguments]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    results: dict[str, float] = json.loads(said)
    return results


def kept(folder: Path) -> int:
    return len(list(folder.rglob("*.spv")))


def test_a_changed_kernel_is_compiled_anew_and_leaves_the_earlier_one_as_it_was(tmp_path: Path) -> None:
    names = set(first := run(tmp_path, "change"))
    assert "a_global_of_a_function" in names
    assert first == dict.fromkeys(names, 3)
    assert kept(tmp_path) == 2 * len(names - NEVER_KEPT)
    assert run(tmp_path) == dict.fromkeys(names, 2)
    assert kept(tmp_path) == 3 * len(names - NEVER_KEPT)
    assert run(tmp_path, "change") == dict.fromkeys(names, 3)
    assert kept(tmp_path) == 3 * len(names - NEVER_KEPT)

"""``xebench build``: native binaries of a user's kernels, one line for what cannot be built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from optional import needs

from xebench.system.zebin import zebin_sections

pytestmark = pytest.mark.device
OWN_SAXPY = Path(__file__).parents[2] / "docs/examples/own_saxpy.py"


def build(*arguments: str, cwd: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path} if path is not None else None
    command = [sys.executable, "-m", "xebench", "build", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment, timeout=300)


@needs("ocloc")
def test_each_kernel_becomes_a_binary_for_each_gpu(tmp_path: Path) -> None:
    done = build(str(OWN_SAXPY), "--gpu", "pvc,dg2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = [tmp_path / line for line in done.stdout.splitlines()]
    assert sorted(files) == sorted((tmp_path / "binaries").iterdir())
    kernels = {file.name.partition(".")[0] for file in files}
    assert len(files) == len(set(files)) == 2 * len({file.name.split(".")[1] for file in files})
    assert kernels and {file.name.split(".")[2] for file in files} == {"pvc", "dg2"}
    for file in files:
        assert ".ze_info" in zebin_sections(file.read_bytes())


@needs("ocloc")
def test_what_ocloc_does_not_know_is_a_line_and_status_2(tmp_path: Path) -> None:
    done = build(str(OWN_SAXPY), "--gpu", "nobody", cwd=tmp_path)
    assert done.returncode == 2
    *_, line, last = done.stderr.strip().splitlines()
    assert line.endswith("for nobody: refused: this ocloc does not know the GPU nobody")
    assert last == "xebench: not every kernel was built: see above"


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    done = build(str(OWN_SAXPY), "--gpu", "pvc", cwd=tmp_path, path=str(tmp_path))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.strip().splitlines() == [
        "xebench: ocloc is not on the path: install it (Debian: intel-opencl-icd), or give one with --ocloc"
    ]
    done = build("--gpu", "pvc", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() == "xebench: name the pattern FILES whose kernels are to be built"
    assert build(str(OWN_SAXPY), cwd=tmp_path).stderr.strip().endswith("see xebench build --help")

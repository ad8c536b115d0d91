"""The pack of a pattern file: made by the compiler of either stack, launched where there is none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_kit import run_here
from current_stack import run_without_numba

from xebench.dpex.spirv_cache import NUMBA_DPEX, OWN, this_compiler
from xebench.errors import XebenchError
from xebench.system.kernel_files import Pack, compiler_label, pack_beside
from xebench.system.runtime.packages import is_current

pytestmark = pytest.mark.device

PATTERN = """
import numpy as np
from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    "numbers", guide="none", lesson="Kernels of constants.",
    presets={"smoke": {"n": 8}, "default": {"n": 16}, "guide": {"n": 32}},
    axes={"step": (1, 2), "sub_group_size": "device"},
)

def of_size(n, step, lanes):
    @kernel(sub_group_size=lanes)
    def captured(item: kapi.NdItem, y):
        y[item.get_global_id(0)] = np.int32(n * step)
    return captured

@kernel
def given(item: kapi.Item, y, value):
    y[item.get_id(0)] = value

@pattern.problem
def problem(rng, n):
    return Problem(y=output(n, np.int32))

@pattern.reference
def expected(p):
    return {"y": np.full(p.n, p.n * p.step, np.int32)}

@pattern.naive
def argument(session, p):
    session.launch(given, kapi.Range(p.n), p.y, np.int32(p.n * p.step))

@pattern.optimized
def constant(session, p, sub_group_size):
    session.launch(of_size(p.n, p.step, sub_group_size), kapi.NdRange((p.n,), (8,)), p.y)
"""

RUN = """
from pathlib import Path
import numpy as np
from xebench.patterns.pattern_file import load_file
from xebench.measuring.bound_problem import Bound
from xebench.measuring.session.device_memory import DeviceMemory
from xebench.measuring.session.session import Session
session = Session.on("opencl:cpu:0")
(pattern,) = load_file(Path(sys.argv[1]))
for n in (8, 16, 32):
    for variant in pattern.variants.values():
        y = session.alloc(n, np.int32)
        bound = Bound(y=y, n=n, step=2)
        extra = {"sub_group_size": 16} if variant.name == "constant" else {}
        variant.function(session, bound, **extra)
        session.wait()
        print(set(DeviceMemory(session.queue).read(y).tolist()) == {2 * n})
"""


def packing(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "xebench", "pack", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pattern file with its pack beside it."""
    path = tmp_path_factory.mktemp("patterns") / "numbers.py"
    path.write_text(PATTERN)
    done = packing(str(path))
    assert done.returncode == 0, done.stderr
    return path


def test_it_has_a_kernel_for_every_constant_that_a_device_can_ask_for(file: Path) -> None:
    kernels = Pack.open(pack_beside(file)).index.kernels
    captured = [kernel for kernel in kernels if kernel.kernel == "captured" and kernel.atomic64]
    sizes, steps, sub_group_sizes = 3, 2, 4
    assert len(captured) == sizes * steps * sub_group_sizes
    assert {kernel.options for kernel in captured} == {f'{{"sub_group_size": {size}}}' for size in (8, 16, 32, 64)}
    assert [kernel.atomic64 for kernel in kernels if kernel.kernel == "given"] == [False, True]
    assert {kernel.origin for kernel in kernels} == {"numbers.py"}


def test_it_says_what_compiled_it(file: Path) -> None:
    versions = Pack.open(pack_beside(file)).index.versions
    assert set(versions) == set(OWN if is_current() else NUMBA_DPEX)
    assert compiler_label(versions) == this_compiler()
    assert this_compiler().startswith("xebench " if is_current() else "numba-dpex ")


def test_it_runs_without_numba(file: Path) -> None:
    done = run_without_numba(RUN, str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 6


@pytest.mark.skipif(not is_current(), reason="numba-dpex makes the project's pack here")
def test_the_projects_pack_is_not_made_by_another_compiler() -> None:
    done = packing()
    assert done.returncode == XebenchError.exit_code
    assert done.stderr.strip() == (
        "xebench: the project's pack is made where numba-dpex is: name a pattern FILE, or another --output"
    )


@pytest.mark.parametrize(
    ("name", "said"), [("nowhere.py", "no pattern file at .*"), ("pack.zip", ".* is no Python file: give one .*")]
)
def test_what_is_no_pattern_file_is_one_line(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pack.zip").touch()
    assert run_here(monkeypatch, "pack", tmp_path / name) == XebenchError.exit_code
    assert re.fullmatch(f"xebench: {said}", capsys.readouterr().err.strip())


def test_it_is_checked_without_compiling_and_a_change_is_seen(file: Path) -> None:
    assert packing(str(file), "--check").returncode == 0
    changed = file.with_name("changed.py")
    changed.write_text(PATTERN.replace("= value", "= value + 1"))
    pack_beside(changed).write_bytes(pack_beside(file).read_bytes())
    done = packing(str(changed), "--check")
    assert done.returncode == XebenchError.exit_code
    missing, last = done.stderr.strip().splitlines()
    assert missing.startswith("kernel given is not shipped for (Item<1>, int32[:]C, int32): ")
    assert last == "xebench: the pack lacks kernels: 1 failures, see above"

"""Kernels that numba-dpex compiled are found again on disk."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numba_sycl import CompiledKernel, PreparedLaunch, SpirvCache, build, compile_kernel, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.tensor import tensor as dpt


def make(constant: int) -> Any:
    @kernel
    def run(item: kapi.Item, x):
        x[item.get_id(0)] = constant

    return run


def compiled(constant: int, cache: SpirvCache | None, queue: Any) -> CompiledKernel:
    return compile_kernel(make(constant), kapi.Range(4), (dpt.zeros(4, dtype="i8", sycl_queue=queue),), cache=cache)


@pytest.mark.device
@pytest.mark.numba_dpex
def test_a_second_compilation_comes_from_disk(tmp_path: Path, queue: Any) -> None:
    cache = SpirvCache(tmp_path)
    first, second = compiled(7, cache, queue), compiled(7, cache, queue)
    assert (first.cached, second.cached) == (False, True)
    assert second.spirv == first.spirv
    assert second.name == first.name
    assert set(second.stages) == {"typing"}
    x = dpt.zeros(4, dtype="i8", sycl_queue=queue)
    PreparedLaunch(build(second, queue), queue, kapi.Range(4), (x,)).submit().wait()
    assert dpt.asnumpy(x).tolist() == [7] * 4


@pytest.mark.device
@pytest.mark.numba_dpex
def test_another_constant_is_another_kernel(tmp_path: Path, queue: Any) -> None:
    cache = SpirvCache(tmp_path)
    assert compiled(7, cache, queue).spirv != compiled(8, cache, queue).spirv
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.device
@pytest.mark.numba_dpex
def test_a_corrupted_entry_is_compiled_again(tmp_path: Path, queue: Any) -> None:
    cache = SpirvCache(tmp_path)
    first = compiled(7, cache, queue)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    assert not compiled(7, cache, queue).cached
    assert compiled(7, cache, queue).spirv == first.spirv


@pytest.mark.device
@pytest.mark.numba_dpex
def test_without_a_fingerprint_nothing_is_stored(tmp_path: Path, queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xebench.dpex.numba_compiler.fingerprint", lambda kernel, signature: None)
    cache = SpirvCache(tmp_path)
    for _ in range(2):
        assert not compiled(7, cache, queue).cached
    assert not list(tmp_path.iterdir())


PROGRAM = """
import json, sys, xebench.dpex as dpex, dpctl.tensor as dpt
from numba_sycl import kernel_api as kapi
from xebench.dpex.numba_compiler import fingerprint

@dpex.device_func
def half(x):
    return x / 2

@dpex.kernel(unroll=2)
def run(item: kapi.Item, x):
    for j in range(4):
        x[item.get_id(0)] += half(j)

@dpex.kernel
def with_a_set(item: kapi.Item, x):
    if "ab" in {"ab", "b", "c"}:
        x[item.get_id(0)] = 1

x = dpt.zeros(4, dtype="f4")
done = dpex.compile_kernel(run, kapi.Range(4), (x,), cache=dpex.SpirvCache(sys.argv[1]))
dpex.PreparedLaunch(dpex.build(done, x.sycl_queue), x.sycl_queue, kapi.Range(4), (x,)).submit().wait()
key = fingerprint(with_a_set, done.signature)
print(json.dumps([done.cached, done.sha256, dpt.asnumpy(x).tolist(), key]))
"""


@pytest.mark.device
@pytest.mark.numba_dpex
def test_a_fresh_process_of_another_hash_seed_compiles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, cache = tmp_path / "program.py", str(tmp_path / "cache")
    program.write_text(PROGRAM)
    monkeypatch.setattr(sys, "argv", [str(program), cache])
    runpy.run_path(str(program))
    cached, *first = json.loads(capsys.readouterr().out)
    assert not cached
    assert first[1] == [np.float32(3)] * 4
    assert len(first[2]) == 64
    environment = {**os.environ, "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    done = subprocess.run(
        [sys.executable, str(program), cache], capture_output=True, text=True, check=True, env=environment
    )
    assert json.loads(done.stdout) == [True, *first]

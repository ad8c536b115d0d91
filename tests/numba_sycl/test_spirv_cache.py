"""SPIR-V on disk: found again, never wrongly, whatever happened to the folder."""

import json
import multiprocessing
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest

from numba_sycl import CompiledKernel, PreparedLaunch, SpirvCache, build, compile_kernel, kernel
from numba_sycl.spirv_cache import CachedSpirv
from numba_sycl.tensor import tensor as dpt
from xebench import kernel_api as kapi

SPIRV = b"\x03\x02\x23\x07" + bytes(range(256))
KEY = "a" * 64


def make(constant: int) -> Any:
    @kernel
    def run(item: kapi.Item, x):
        x[item.get_id(0)] = constant

    return run


def compiled(constant: int, cache: SpirvCache | None, queue: Any) -> CompiledKernel:
    return compile_kernel(make(constant), kapi.Range(4), (dpt.zeros(4, dtype="i8", sycl_queue=queue),), cache=cache)


@pytest.mark.parametrize("told", ["", "/elsewhere"])
def test_the_default_folder_is_the_users_cache(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", told)
    assert SpirvCache().folder == Path(platformdirs.user_cache_dir("numba-sycl")) / "spirv"


def test_what_is_stored_is_found(tmp_path: Path) -> None:
    cache = SpirvCache(tmp_path / "not" / "yet")
    assert cache.load(KEY) is None
    cache.store(KEY, CachedSpirv("kernel", SPIRV, SPIRV[:8], 7))
    assert SpirvCache(tmp_path / "not" / "yet").load(KEY) == ("kernel", SPIRV, SPIRV[:8], 7)
    assert [path.name for path in cache.folder.iterdir()] == [f"{KEY}.spv"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data.replace(b'"kernel"', b'"kernal"'),
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"another program's file",
        lambda data: SPIRV,
        lambda data: data.replace(b"SPIR-V 1", b"SPIR-V 0"),
    ],
)
def test_a_damaged_entry_is_ignored_and_written_again(tmp_path: Path, damage: Any) -> None:
    cache = SpirvCache(tmp_path)
    cache.store(KEY, CachedSpirv("kernel", SPIRV))
    cache.path(KEY).write_bytes(damage(cache.path(KEY).read_bytes()))
    assert cache.load(KEY) is None
    cache.store(KEY, CachedSpirv("kernel", SPIRV))
    assert cache.load(KEY) == ("kernel", SPIRV, b"", 0)


def test_an_entry_under_another_name_is_ignored(tmp_path: Path) -> None:
    cache = SpirvCache(tmp_path)
    cache.store(KEY, CachedSpirv("kernel", SPIRV))
    cache.path(KEY).rename(cache.path("b" * 64))
    assert cache.load("b" * 64) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = SpirvCache(tmp_path / "file" / "folder")
    cache.store(KEY, CachedSpirv("kernel", SPIRV))
    assert cache.load(KEY) is None


def test_an_entry_that_cannot_be_replaced_is_no_error(tmp_path: Path) -> None:
    cache = SpirvCache(tmp_path)
    (cache.path(KEY) / "occupied").mkdir(parents=True)
    cache.store(KEY, CachedSpirv("kernel", SPIRV))
    assert cache.load(KEY) is None
    assert [path.name for path in tmp_path.iterdir()] == [f"{KEY}.spv"], "no leftovers"


def _store_many(folder: str, name: str) -> None:
    cache = SpirvCache(folder)
    for _ in range(200):
        cache.store(KEY, CachedSpirv(name, name.encode().join([SPIRV] * 50)))
        found = cache.load(KEY)
        if found is None or found[1] != found[0].encode().join([SPIRV] * 50):
            os._exit(1)


def test_processes_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_store_many, args=(str(tmp_path), name)) for name in ("one", "two", "three")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert SpirvCache(tmp_path).load(KEY) is not None


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
from xebench import kernel_api as kapi
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

"""SPIR-V on disk: found again, never wrongly, whatever happened to the folder."""

import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from numba_sycl import SpirvCache
from numba_sycl.spirv_cache import CachedSpirv

SPIRV = b"\x03\x02\x23\x07" + bytes(range(256))
KEY = "a" * 64


@pytest.mark.parametrize("told", ["", "/elsewhere"])
def test_the_default_folder_is_the_users_cache(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", told)
    assert SpirvCache().folder == (Path(told) if told else Path.home() / ".cache") / "numba-sycl" / "spirv"


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

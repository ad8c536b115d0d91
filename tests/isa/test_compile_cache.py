"""Compilations kept on disk."""

from dataclasses import replace
from pathlib import Path

import isa_kit as kit
import pytest

from xebench.isa.compilation import CompileCache, Compiled, Compiler, Source, Target
from xebench.isa.kernel_code import compile_all
from xebench.isa.ocloc import find_compiler

COMPILER = Compiler(("ocloc",), "1.0", "libigc.so.1.0.1")
SOURCE = Source(b"\x03\x02\x23\x07abc")
TARGET = Target("pvc", ("-O",), "large", 16)
DONE = Compiled("ok", zeinfo="kernels:", assembly={"k": "//.kernel k"})


def test_what_is_stored_is_found(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "new")
    assert cache.load(COMPILER, SOURCE, TARGET) is None
    cache.store(COMPILER, SOURCE, TARGET, DONE)
    assert cache.load(COMPILER, SOURCE, TARGET) == DONE


def test_everything_that_the_result_depends_on_is_in_the_key(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    others = [
        (replace(COMPILER, version="1.1"), SOURCE, TARGET),
        (replace(COMPILER, igc="libigc.so.2.0"), SOURCE, TARGET),
        (COMPILER, Source(b"\x03\x02\x23\x07abd"), TARGET),
        (COMPILER, replace(SOURCE, language="opencl"), TARGET),
        (COMPILER, SOURCE, replace(TARGET, gpu="dg2")),
        (COMPILER, SOURCE, replace(TARGET, build_options=())),
        (COMPILER, SOURCE, replace(TARGET, grf_mode="default")),
        (COMPILER, SOURCE, replace(TARGET, forced_simd=None)),
    ]
    paths = {cache.path(*each) for each in [(COMPILER, SOURCE, TARGET), *others]}
    assert len(paths) == len(others) + 1
    # where the program lies says nothing about what it makes
    assert cache.path(replace(COMPILER, command=("/elsewhere",)), SOURCE, TARGET) in paths


def test_a_damaged_entry_is_none(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.store(COMPILER, SOURCE, TARGET, DONE)
    path = cache.path(COMPILER, SOURCE, TARGET)
    whole = path.read_bytes()
    for damaged in (b"", whole[:30], b"{}", whole[:-9] + b"x" * 9):
        path.write_bytes(damaged)
        assert cache.load(COMPILER, SOURCE, TARGET) is None


@pytest.mark.parametrize("status", ["timeout", "crashed", "refused", "unreadable"])
def test_a_failure_is_not_kept(status: str, tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.store(COMPILER, SOURCE, TARGET, Compiled(status, "memory ran out"))
    assert cache.load(COMPILER, SOURCE, TARGET) is None


def test_a_cache_to_renew_knows_nothing_and_keeps_all(tmp_path: Path) -> None:
    CompileCache(tmp_path).store(COMPILER, SOURCE, TARGET, replace(DONE, zeinfo="old"))
    renewing = CompileCache(tmp_path, renew=True)
    assert renewing.load(COMPILER, SOURCE, TARGET) is None
    renewing.store(COMPILER, SOURCE, TARGET, DONE)
    assert CompileCache(tmp_path).load(COMPILER, SOURCE, TARGET) == DONE


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    CompileCache(tmp_path / "file" / "below").store(COMPILER, SOURCE, TARGET, DONE)


def test_the_compiler_runs_once_for_equal_jobs(tmp_path: Path) -> None:
    compiler = find_compiler(str(kit.fake_ocloc(tmp_path / "fake")))
    cache = CompileCache(tmp_path / "cache")
    jobs = [(SOURCE, Target("pvc")), (SOURCE, Target("pvc")), (SOURCE, Target("crash"))]
    first = compile_all(compiler, jobs, cache)
    assert sorted(kit.calls(tmp_path / "fake")) == ["crash||", "pvc||"]
    assert {target.gpu: done.status for (_, target), done in first.items()} == {"pvc": "ok", "crash": "crashed"}
    assert compile_all(compiler, jobs, cache) == first
    assert kit.calls(tmp_path / "fake")[2:] == ["crash||"]

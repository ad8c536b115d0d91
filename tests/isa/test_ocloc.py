"""Finding the compiler, and what becomes of compilations, with a stand-in that fails on demand."""

from pathlib import Path

import isa_kit as kit
import pytest

from xebench.isa.compilation import Compiler, Source, Target
from xebench.isa.ocloc import compile_source, find_compiler
from xebench.system.offline_compiler import NoCompiler

SOURCE = Source(b"kernel void k() {}", "opencl")


def test_the_version_is_asked_for(tmp_path: Path) -> None:
    compiler = find_compiler(str(kit.fake_ocloc(tmp_path / "fake")))
    assert compiler.version == "99.1.2"
    # the stand-in loads no library
    assert compiler.igc == ""


def test_without_a_compiler_the_error_says_what_to_install() -> None:
    with pytest.raises(NoCompiler, match=r"/nowhere/ocloc is no program: install it .*intel-opencl-icd"):
        find_compiler("/nowhere/ocloc")
    assert NoCompiler.exit_code == 3


def test_a_program_that_is_no_compiler_is_refused() -> None:
    with pytest.raises(NoCompiler, match="does not print its version"):
        find_compiler("true")


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    return find_compiler(str(kit.fake_ocloc(tmp_path / "fake")))


def test_the_last_attempt_is_the_kernels_assembly(compiler: Compiler) -> None:
    done = compile_source(compiler, SOURCE, Target("pvc"))
    assert done.status == "ok"
    assert ".first try" not in done.assembly["eighty_doubles"]


def test_the_width_is_that_of_the_assembly(compiler: Compiler, tmp_path: Path) -> None:
    assert compile_source(compiler, SOURCE, Target("pvc")).simd_widths == {"eighty_doubles": 16}
    dump = sorted((tmp_path / "fake").glob("*.asm"))
    # another width that was tried does not count, whatever its name
    other = dump[0].with_name("OCL_asm0_9_simd8_entry_0001.asm")
    other.write_text(dump[0].read_text())
    done = compile_source(compiler, SOURCE, Target("pvc"))
    assert done.simd_widths == {"eighty_doubles": 16}
    assert ".first try" not in done.assembly["eighty_doubles"]
    # metadata that repeat what the kernel requires are wrong where there is only the width that was forced
    for path in dump:
        path.unlink()
    assert compile_source(compiler, SOURCE, Target("pvc", forced_simd=8)).simd_widths == {"eighty_doubles": 8}


@pytest.mark.parametrize(("told", "name"), [("sleep 60", "VERSION_TIMEOUT_S"), ("echo 1.2.3", "TIMEOUT_S")])
def test_a_compiler_that_gives_no_answer_is_refused(
    told: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "ocloc"
    script.write_text(f"#!/bin/sh\nif [ $1 = query ]; then {told}; else sleep 60; fi\n")
    script.chmod(0o755)
    monkeypatch.setattr(f"xebench.isa.ocloc.{name}", 0.3)
    with pytest.raises(NoCompiler, match=r"gives no answer within 0.3 s: give another with --ocloc"):
        find_compiler(str(script))


def test_what_the_linker_says_is_no_reason(tmp_path: Path) -> None:
    script = tmp_path / "ocloc"
    script.write_text('#!/bin/sh\nif [ $1 = query ]; then echo 1.2.3; else echo "  317:  find library"; exit 9; fi\n')
    script.chmod(0o755)
    with pytest.raises(NoCompiler, match=r"fails on one line of OpenCL C \(exit status 9\): give another"):
        find_compiler(str(script))


def test_options_reach_the_compiler(compiler: Compiler, tmp_path: Path) -> None:
    spirv = Source(b"\x03\x02\x23\x07")
    compile_source(compiler, spirv, Target("dg2", ("-cl-fast-relaxed-math",), "large", 16))
    compile_source(compiler, SOURCE, Target("pvc"))
    assert kit.calls(tmp_path / "fake") == [
        "dg2-g10|-cl-fast-relaxed-math -cl-intel-256-GRF-per-thread|16",
        "pvc|-cl-std=CL2.0|",
    ]


@pytest.mark.parametrize(
    ("gpu", "status", "reason"),
    [
        ("crash", "crashed", "ended by SIGSEGV"),
        ("double", "refused", "error: use of type 'double' requires cl_khr_fp64 support"),
        ("unknown", "refused", "this ocloc does not know the GPU unknown"),
        ("family", "refused", "ocloc made no binaries for family: name one GPU"),
        ("several", "refused", "ocloc made 2 binaries for several: name one GPU"),
        ("cut", "unreadable", "the binary cannot be read: the ELF file is cut short"),
    ],
)
def test_a_failure_is_an_outcome_with_a_reason(compiler: Compiler, gpu: str, status: str, reason: str) -> None:
    done = compile_source(compiler, SOURCE, Target(gpu))
    assert (done.status, done.reason) == (status, reason)
    assert not done.assembly


def test_a_compiler_that_hangs_is_ended(compiler: Compiler) -> None:
    done = compile_source(compiler, SOURCE, Target("slow"), timeout_s=0.2)
    assert (done.status, done.reason) == ("timeout", "no result within 0.2 s")


def test_an_option_of_the_grf_mode_stands_once() -> None:
    target = Target("pvc", ("-cl-intel-256-GRF-per-thread",), "large")
    assert target.options == ("-cl-intel-256-GRF-per-thread",)

"""The command: with a stand-in for the compiler, and with the compiler that is installed."""

from __future__ import annotations

import json
from pathlib import Path

import isa_kit as kit
import pandas as pd
import pytest
from click.testing import CliRunner
from command_kit import Done, Here
from optional import needs

from xebench.cli.gpu_commands import isa
from xebench.isa.compilation import Source, Target
from xebench.isa.ocloc import compile_source, find_compiler
from xebench.isa.table import ISA
from xebench.patterns.registry import discover

HERE = Path(__file__).parent
GPUS = HERE.parents[1] / "harness/xebench/system/data/gpus.json"


@pytest.fixture
def run(here: Here) -> Here:
    """Runs ``xebench isa`` in this process, to the exit status that is given."""

    def isa_of(*arguments: str, status: int = 0) -> Done:
        done = here("isa", *arguments)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return isa_of


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--simd", "12"], "write 8, 16 or 32"),
        (["--simd", "x"], "write 8, 16 or 32"),
        (["--grf", "huge"], "write default, large or auto"),
    ],
)
def test_wrong_options_are_refused_with_their_values(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(isa, arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_an_unknown_pattern_is_told_before_the_compiler_is_looked_for(run: Here) -> None:
    assert "no pattern" in run("no_such", "--ocloc", "/nowhere/ocloc", status=2).stderr


def test_without_a_compiler_the_status_is_3(run: Here) -> None:
    done = run("--ocloc", "/nowhere/ocloc", status=3)
    assert done.stderr.startswith("xebench: /nowhere/ocloc is no program")
    assert not done.stdout


@pytest.mark.device
def test_when_nothing_was_compiled_the_status_is_2(tmp_path: Path, run: Here) -> None:
    ocloc = kit.fake_ocloc(tmp_path / "fake")
    arguments = ("sound", "--path", str(HERE / "troubled_patterns.py"), "--gpu", "crash", "--no-cache")
    done = run(*arguments, "--ocloc", str(ocloc), status=2)
    assert "no kernel was compiled (ended by SIGSEGV)" in done.stderr


def test_a_gpu_that_nobody_knows_is_told_before_the_work(tmp_path: Path, run: Here) -> None:
    ocloc = kit.fake_ocloc(tmp_path / "fake")
    done = run(
        "sound", "--path", str(HERE / "troubled_patterns.py"), "--gpu", "pvc,unknown", "--ocloc", str(ocloc), status=2
    )
    assert "xebench: this ocloc does not know the GPU unknown: unknown GPU 'unknown': use one of gen9" in done.stderr
    assert "collecting" not in done.stderr


@pytest.mark.device
def test_axes_of_the_compiler_are_rows(tmp_path: Path, run: Here) -> None:
    ocloc = kit.fake_ocloc(tmp_path / "fake")
    arguments = ("sound", "--path", str(HERE / "troubled_patterns.py"), "--gpu", "pvc,crash", "--no-cache", "--json")
    options = ("--grf", "default,large", "--simd", "16,32", "--build-options", "-cl-mad-enable")
    done = run(*arguments, *options, "--ocloc", str(ocloc), status=2)
    # the stand-in's binary holds another kernel than the pattern's, so every row says why it has no figures
    rows = json.loads(done.stdout)["rows"]
    points = {(row["gpu"], row["grf_mode"], row["forced_simd"]) for row in rows}
    assert points == {(gpu, grf, simd) for gpu in ("pvc", "crash") for grf in ("default", "large") for simd in (16, 32)}
    assert {row["status"] for row in rows} == {"unreadable", "crashed"}
    assert "crash|-cl-mad-enable -cl-intel-256-GRF-per-thread|32" in kit.calls(tmp_path / "fake")


@pytest.mark.device
def test_a_gpu_of_a_file_is_compiled_for_as_the_file_says(tmp_path: Path, run: Here) -> None:
    """Its name is the row's, its field `ocloc` the compiler's; what a kernel needs is looked up in it, too."""
    ocloc = kit.fake_ocloc(tmp_path / "fake")
    pvc = next(gpu for gpu in json.loads(GPUS.read_text())["gpus"] if gpu["code"] == "pvc")
    own = {name: value for name, value in pvc.items() if name not in ("code", "name", "products")}
    file = tmp_path / "my-gpu.json"
    file.write_text(json.dumps({**own, "ocloc": "own-name"}))
    arguments = ("sound", "--path", str(HERE / "troubled_patterns.py"), "--gpu", str(file), "--no-cache", "--json")
    done = run(*arguments, "--ocloc", str(ocloc), status=2)
    assert {row["gpu"] for row in json.loads(done.stdout)["rows"]} == {"my-gpu"}
    assert {call.partition("|")[0] for call in kit.calls(tmp_path / "fake")} == {"own-name"}


@needs("ocloc")
@pytest.mark.device
def test_a_kernel_in_opencl_c_is_compiled_from_its_text(tmp_path: Path, run: Here) -> None:
    example = Path(__file__).parents[2] / "docs/examples/own_opencl_kernel.py"
    done = run("own_volatile", "--path", str(example), "--gpu", "pvc", "--json", "--keep", str(tmp_path))
    loads = {row["variant"]: row["loads_global"] for row in json.loads(done.stdout)["rows"]}
    assert loads["volatile"] >= 64 * loads["register"] > 0
    assert [path.read_text().count("volatile") for path in tmp_path.rglob("*.cl")] == [1]


@needs("ocloc")
@pytest.mark.device
def test_the_installed_compiler(tmp_path: Path, run: Here) -> None:
    name = next(info.name for info in discover() if info.name == "subgroup_vector_payload")
    page = tmp_path / "isa.html"
    done = run(name, "--gpu", "pvc", "--json", "--keep", str(tmp_path / "keep"), "--html", str(page), "--no-cache")
    rows = {row["variant"]: row for row in json.loads(done.stdout)["rows"]}
    assert {row["status"] for row in rows.values()} == {"ok"}
    # the lesson of the pattern: one element a message against four
    assert json.loads(rows["one_element"]["messages"])["load.global.d32"] == 16
    assert json.loads(rows["vector_of_four"]["messages"])["load.global.d32x4"] == 4
    for row in rows.values():
        assert (tmp_path / "keep" / row["asm"]).read_text().startswith(f"//.kernel {row['kernel']}")
    assert "load.ugm.d32x4.a64" in page.read_text()


@needs("ocloc")
@pytest.mark.device
@pytest.mark.slow
def test_every_kernel_of_the_suite_is_compiled_for_pvc(run: Here) -> None:
    done = run("--gpu", "pvc", "--json")
    data = json.loads(done.stdout)
    assert len({row["pattern"] for row in data["rows"]}) > 20
    bad = [
        (row["pattern"], row["kernel"], row["status"], row["reason"])
        for row in data["rows"]
        if row["status"] not in ("ok", "skipped") and "subgroup size 8" not in row["reason"]  # which pvc has not
    ]
    assert not bad


@needs("ocloc")
@pytest.mark.device
@pytest.mark.numba_dpex
def test_a_crash_of_the_installed_compiler_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the repair of xebench.dpex, IGC 1 of Debian 12 aborts on any kernel that asks for its id."""
    # the stack is importable only now
    from numba_sycl import compile_kernel, kernel
    from numba_sycl.tensor import tensor as dpt
    from xebench import kernel_api as kapi
    from xebench.dpex import llvm14_text

    @kernel
    def copy(item: kapi.Item, x, y):
        y[item.get_id(0)] = x[item.get_id(0)]

    monkeypatch.setattr(llvm14_text, "load_whole_builtins", lambda text: text)
    x = dpt.empty(4, dtype="i4")
    compiler = find_compiler()
    done = compile_source(compiler, Source(compile_kernel(copy, kapi.Range(4), (x, x)).spirv), Target("pvc"))
    if not compiler.igc.startswith("libigc.so.1."):
        pytest.skip(f"{compiler.label} takes the kernel as it is: {done.status}")
    assert (done.status, done.reason) == ("crashed", "ended by SIGABRT")


@needs("ocloc")
@pytest.mark.device
def test_the_table_as_a_file(tmp_path: Path, run: Here) -> None:
    for name, read in (("isa.csv", pd.read_csv), ("isa.parquet", pd.read_parquet)):
        run("subgroup_vector_payload", "--gpu", "pvc", "--table", str(tmp_path / name))
        table = read(tmp_path / name)
        assert list(table.columns) == [column.name for column in ISA]
        assert set(table["variant"]) >= {"one_element", "vector_of_four"}
    refused = CliRunner().invoke(isa, ["--table", "isa.txt"])
    assert (refused.exit_code, "must end in .csv or .parquet" in refused.output) == (2, True)


@needs("ocloc")
@pytest.mark.device
def test_claims_on_code_are_answered(run: Here) -> None:
    arguments = ("claimed", "--path", str(HERE / "claimed_patterns.py"), "--gpu", "pvc,dg2")
    text = " ".join(run(*arguments).stdout.split())
    for gpu, numbers in (("pvc", "2 against 3"), ("dg2", "4 against 6")):  # 16 lanes a message there
        assert f"holds: claimed/one_load, {gpu}: fewer messages than two_loads [ours]: {numbers} messages" in text
        assert f"no effect: claimed/one_load, {gpu}: fewer messages than two_loads by at least 3 times [ours]" in text
        assert f"no effect: claimed/one_load, {gpu}: fewer spills than two_loads [ours]: 0 against 0 bytes" in text
        assert f"undecided: claimed/no_kernel, {gpu}: fewer instructions than one_load [ours]: no code of" in text
    told = json.loads(run(*arguments, "--json").stdout)["claims"]
    assert [(one["gpu"], one["variant"], one["claim"]["word"], one["answer"]) for one in told][:3] == [
        ("pvc", "one_load", "messages", "holds"),
        ("dg2", "one_load", "messages", "holds"),
        ("pvc", "one_load", "messages", "no effect"),
    ]

"""What docs/extending.md adds, added to a copy of the project and used there."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import stored
from shared_folder import shared_folder
from temporary_copy import ROOT, apply, copy_of, diffs, environment, python, python_m

from xebench.results import load_run

pytestmark = [pytest.mark.device, stored.needed]

FIXTURES = ROOT / "tests/results/fixtures"
STORED = [*sorted(path for path in FIXTURES.iterdir() if path.is_dir()), ROOT / "results/h200-two-devices"]

#: Submits the same kernel eight times: waiting for each leaves the device idle in between.
WAITS = """
import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

SIZES = {"n": 1 << 10}
PRESETS = {"smoke": SIZES, "default": SIZES}
pattern = Pattern("waits", guide="none", lesson="Do not wait.", metric="gaps", presets=PRESETS)

@kernel
def double(item: kapi.Item, x, y):
    y[item.get_id(0)] = x[item.get_id(0)] + x[item.get_id(0)]

@pattern.problem
def numbers(rng, n):
    return Problem(x=rng.random(n, dtype=np.float32), y=output(n, np.float32))

@pattern.reference
def expected(p):
    return {"y": p.x + p.x}

@pattern.naive
def wait_each_time(session, p):
    for _ in range(8):
        session.launch(double, kapi.Range(p.n), p.x, p.y)
        session.wait()

@pattern.optimized
def wait_at_the_end(session, p):
    for _ in range(8):
        session.launch(double, kapi.Range(p.n), p.x, p.y)
"""


#: The page's sections, in its order.
SECTIONS = re.findall(r"^## (A .+)$", (ROOT / "docs/extending.md").read_text(encoding="utf-8"), re.MULTILINE)
RUN = ROOT / "results/cpu-epyc-2-cores"

#: Opens every stored run in the copy, all tables but the largest, and makes a report of each.
OPEN = f"""
from pathlib import Path
from xebench.report import formats
from xebench.results import load_run
from xebench.results.schema import RUN_TABLES

folders = map(Path, {[str(ROOT / "results"), str(FIXTURES)]})
runs = sorted(file.parent for folder in folders for file in folder.rglob("manifest.json"))
for folder in runs:
    run = load_run(folder)
    for table in RUN_TABLES:
        if table not in ("events", "checks"):
            getattr(run, table)
    assert formats.render(run, "text")
print(len(runs))
"""

#: The tests that say what is stale, and what that is.
STALE = {
    "tests/test_glossary.py": "`docs/glossary.md`",
    "tests/isa/test_code_answers.py": "`docs/without-a-gpu.md`",
    "tests/pages/test_generated_code.py": "`docs/generated-code.md`",
}

#: Whose addition a complaint is about that names a word; all others are about the first section's pattern.
ABOUT = {"[metric": "A metric", "[roof": "A roof", "[claim": "A word of a claim", "every_word": "A word of a claim"}


class Stage(NamedTuple):
    """What came of a section.

    Attributes:
        files: that each of its diffs touches.
        stale: what tests complain of once it is added.
    """

    files: list[set[str]]
    stale: set[str]


def complaints(folder: Path) -> set[str]:
    """The tests of lists that fail in the copy."""
    own = {name: value for name, value in environment(folder).items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no", "-rfE", *STALE]
    options = ["-k", "up_to_date or values_that_the_code_has or word_is_explained"]
    done = subprocess.run([*command, *options], cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "ERROR" not in done.stdout, done.stdout
    return set(re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE))


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of each section, and at "copy" the folder that has all additions."""
    with shared_folder(tmp_path_factory, "extended") as shared:
        if not (made := shared / "stages.pickle").exists():
            made.write_bytes(pickle.dumps(make_stages(Path(tempfile.mkdtemp(dir=shared)))))
        stages: dict[str, Any] = pickle.loads(made.read_bytes())
        return stages


def make_stages(empty: Path) -> dict[str, Any]:
    """The same, in an empty folder."""
    folder = copy_of(empty)
    found: dict[str, Any] = {"copy": folder}
    for section in SECTIONS:
        changes = diffs(section)
        for diff in changes:
            apply(diff, folder)
        files = [set(re.findall(r"^\+\+\+ b/(.+)$", diff, re.MULTILINE)) for diff in changes]
        found[section] = Stage(files, set())
        if section == SECTIONS[0]:
            of_pattern = complaints(folder)
    for test in of_pattern | complaints(folder):
        about = SECTIONS[0] if test in of_pattern else next(ABOUT[word] for word in ABOUT if word in test)
        found[about].stale.add(STALE[test.partition("::")[0]])
    return found


@pytest.fixture(scope="module")
def copy(stages: dict[str, Any]) -> Path:
    """A copy with everything that the page adds."""
    folder: Path = stages["copy"]
    return folder


@pytest.fixture(scope="module")
def tables(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """The tables of a run of the pattern and of one with the metric."""
    with shared_folder(tmp_path_factory, "extended-run") as folder:
        pattern, output = folder / "waits.py", folder / "run"
        if not (output / "pairs.parquet").exists():
            pattern.write_text(WAITS)
            run = ("run", "one_pass", "waits", "--path", str(pattern), "--preset", "smoke", "--device", "cpu")
            # too few samples to judge whether a run starts slowly, so all of them count
            python_m(copy, "xebench", *run, "--output", str(output), "--budget", "0.1", "--max-samples", "12")
        return {path.stem: pd.read_parquet(path) for path in output.glob("*.parquet")}


@pytest.mark.nightly
@pytest.mark.numba_dpex
def test_a_pattern_is_a_file(tables: dict[str, pd.DataFrame]) -> None:
    cases = tables["cases"].query("pattern == 'one_pass'")
    assert set(cases["source"]) == {"benchmarks/fusion/one_pass.py"}
    assert set(cases["status"]) == {"ok"}
    assert (tables["pairs"].query("pattern == 'one_pass'")["speedup"] > 0).all()


@pytest.mark.nightly
@pytest.mark.numba_dpex
def test_a_metric_is_a_row_and_a_function(tables: dict[str, pd.DataFrame]) -> None:
    cases = tables["cases"].query("pattern == 'waits'")
    assert set(cases["metric"]) == {"gaps"} and set(cases["status"]) == {"ok"}
    (pair,) = tables["pairs"].query("pattern == 'waits'").to_dict("records")
    hot = tables["samples"].query("case_id.str.startswith('waits/') and state == 'hot'")
    waiting = hot[hot["valid"] & hot["case_id"].str.startswith("waits/wait_each_time/")]
    assert pair["metric"] == "gaps" and pair["speedup"] > 0
    assert pair["baseline_ns"] == pytest.approx(waiting["gaps_ns"].median())
    for sample in hot.itertuples():
        events = tables["events"].query(f"sample_id == {sample.sample_id}").sort_values("sequence")
        executions = events.groupby(np.arange(len(events)) // 8)
        idle_ns = executions["end_ns"].max() - executions["start_ns"].min()
        idle_ns -= executions["end_ns"].sum() - executions["start_ns"].sum()
        assert len(executions) == sample.batch and sample.gaps_ns == pytest.approx(idle_ns.mean())


SMALL = """
import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

SIZES = {"n": 64}
pattern = Pattern("small", guide="none", lesson="Small numbers.", presets={"smoke": SIZES, "default": SIZES})

@kernel
def copy(item: kapi.Item, x, y):
    y[item.get_id(0)] = x[item.get_id(0)]

@pattern.problem
def numbers(rng, n):
    x = np.ones(n, np.float32)
    x[:4] = 1e-40
    return Problem(x=x, y=output(n, np.float32))

@pattern.reference
def expected(p):
    return {"y": p.x}

def copied(session, p):
    session.launch(copy, kapi.Range(p.n), p.x, p.y)

pattern.naive(copied)

@pattern.optimized
def copied_as_well(session, p):
    copied(session, p)
"""


@pytest.mark.nightly
@pytest.mark.numba_dpex
def test_a_check_is_a_file_and_a_row(copy: Path, tables: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    assert set(tables["cases"]["subnormal_results"]) == {0}
    (pattern := tmp_path / "small.py").write_text(SMALL)
    output = tmp_path / "run"
    python_m(copy, "xebench", "run", str(pattern), "--preset", "smoke", "--device", "cpu", "--output", str(output))
    assert set(pd.read_parquet(output / "cases.parquet")["subnormal_results"]) == {4}
    told = " ".join(python_m(copy, "xebench", "report", str(output), "small").split())  # lines may be broken
    assert told.count("4 of its results are subnormal numbers") == 1


@pytest.mark.nightly
@pytest.mark.parametrize("folder", STORED)
def test_runs_that_are_older_than_an_addition_are_read(copy: Path, folder: Path) -> None:
    """Finished or killed, of this version or of the one before: the new columns are null in them."""
    read = f"import xebench; run = xebench.load_run({str(folder)!r})"
    columns = "run.samples['gaps_ns'], run.devices['atomics_roof_gops'], run.cases['subnormal_results']"
    nulls = f"print(*(column.isna().all() for column in ({columns})))"
    assert python(copy, "-c", f"{read}; {nulls}") == "True True True\n"


@pytest.mark.nightly
@pytest.mark.parametrize("section", SECTIONS)
def test_an_addition_takes_one_or_two_files(stages: dict[str, Any], section: str) -> None:
    stage: Stage = stages[section]
    assert stage.files and all(1 <= len(files) <= 2 for files in stage.files)


@pytest.mark.nightly
def test_old_runs_stay_readable_with_all_additions(copy: Path) -> None:
    assert int(python(copy, "-c", OPEN)) >= 4


@pytest.mark.nightly
def test_what_tests_complain_of_is_what_the_page_says(stages: dict[str, Any]) -> None:
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8").partition("## Before you commit\n")[2]
    rows = dict(re.findall(r"^\| (a .+?) \| (.+) \|$", text, re.MULTILINE))
    said = {addition: set(re.findall(r"`docs/.+?`", what)) for addition, what in rows.items()}
    found = {section.lower(): stages[section].stale for section in SECTIONS if stages[section].stale}
    assert found == {addition: pages for addition, pages in said.items() if pages}


@pytest.mark.nightly
def test_a_probe_of_a_new_group_measures(copy: Path) -> None:
    told = json.loads(python_m(copy, "xebench", "roofline", "atomic_add", "--device", "cpu", "--json"))
    (result,) = told["results"]
    assert result["status"] == "ok" and result["value"] > 0


ROOF = """
import xebench
from xebench.system import runtime

runtime.load()
from xebench.roofs.bench import Bench, measure_probes
from xebench.session.session import Session
from xebench.results import TABLES
from xebench.records.device_facts import Roof
from synthetic import Synthetic

assert Roof.ATOMICS.column in TABLES["devices"]
(result,) = measure_probes(Bench(Session.on("cpu")), Roof.ATOMICS.probes)
assert result.status == "ok", result
made = Synthetic(**{Roof.ATOMICS.column: result.value})
made.times(made.case("v", "naive", operations=1000, operation_kind="atomic"), [100.0] * 8)
row = made.run().summaries.iloc[0]
print(xebench.__file__, result.value, row["roof_fraction"] * result.value, row["bound_by"])
"""


@pytest.mark.nightly
def test_a_roof_is_a_row(copy: Path) -> None:
    kits = f"import sys; sys.path.insert(1, {str(ROOT / 'tests/kits')!r})"
    package, measured, placed, bound_by = python(copy, "-c", f"{kits}\n{ROOF}").split()
    assert Path(package).is_relative_to(copy)
    assert float(measured) > 0
    assert float(placed) == pytest.approx(10), "1,000 operations in 100 ns"
    assert bound_by == "atomics"


WORD = """
from xebench import Claim
from xebench.isa.table import ISA
from xebench.report.claims_text import describe_claim
from xebench.vocabulary import CodeClaim

claim = Claim("barriers", against="two_barriers")
assert claim.fault() is None and claim.of_code
assert set(CodeClaim.BARRIERS.columns) <= {column.name for column in ISA}
print(describe_claim(claim))
"""


@pytest.mark.nightly
def test_a_word_of_a_claim_is_a_row(copy: Path) -> None:
    assert python(copy, "-c", WORD) == "fewer barriers than two_barriers\n"


@pytest.mark.nightly
def test_a_report_format_is_a_module(copy: Path) -> None:
    lines = python_m(copy, "xebench", "report", str(RUN), "--format", "speedups").splitlines()
    assert len(lines) == load_run(RUN).pairs["speedup"].notna().sum()
    assert any(line.startswith("kernel_fusion/all_fused: ") and line.endswith("x") for line in lines)
    assert "speedups" in python_m(copy, "xebench", "report", "--help")


LAUNCH = ("--work-group", "256", "--sub-group", "16")
GPU = """
from xebench.system.gpus import find_gpu, gpu_of_device, gpu_of_platform
from xebench.isa.compilation import Target
print(Target('xyz').device, gpu_of_platform('XYZ2').code, gpu_of_device('Intel Example E10').code,
      find_gpu('e10').threads)
"""


@pytest.mark.nightly
def test_a_gpu_is_an_entry_that_all_rooms_know(copy: Path) -> None:
    for name in ("xyz", "example", "e10"):
        told = json.loads(python_m(copy, "xebench", "occupancy", "--gpu", name, *LAUNCH, "--json"))
        # 80 contexts of an Xe-core are five work-groups of 16 threads
        assert (told["gpu"], told["work_groups_per_xe_core"], told["xe_core_occupancy"]) == ("xyz", 5, 1.0)
    text = python_m(copy, "xebench", "occupancy", "--gpu", "xyz", *LAUNCH)
    assert text.startswith("Example E10 (xyz): 16 Xe-cores of 80 contexts")
    assert python(copy, "-c", GPU).split() == ["pvc", "xyz", "xyz", "1280"]

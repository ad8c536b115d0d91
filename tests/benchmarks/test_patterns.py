"""Every pattern of the project, at preset smoke on the CPU device: declared as the rules say, and right."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_device import GPU
from optional import needs
from shared_folder import shared_folder
from submissions import FILE, SHORT, Submissions, expected, submissions, variant_of

import xebench
from numba_sycl.stacks import is_current
from xebench.patterns.plan import build_plan
from xebench.patterns.registry import builtin_files, discover
from xebench.records.claim import from_json, is_expected
from xebench.results import Run
from xebench.system.runtime import missing
from xebench.vocabulary import SAMPLED_STATES

INFOS = discover()
#: Of each a parameter; those with ranks need a launcher.
PATTERNS = [pytest.param(info.name, marks=[needs("mpiexec")] if info.chapter == "ranks" else ()) for info in INFOS]
TWINS = [(info.name, variant.name, variant.against) for info in INFOS for variant in info.variants if variant.against]
EXPECTED = expected()


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run of everything that is tested, for all processes; short, since only the results are looked at."""
    here = [item for item in request.session.items if isinstance(item, pytest.Function) and item.path == Path(__file__)]
    tests = [item for item in here if "run" in item.fixturenames]
    names = {str(item.callspec.params["name"]) if hasattr(item, "callspec") else "*" for item in tests}
    with shared_folder(tmp_path_factory, "smoke-of-all") as folder:
        output = folder / "run"
        command = [sys.executable, "-m", "xebench", "run", *({"*"} & names or sorted(names))]
        stderr = ""
        if not (output / "manifest.json").exists():
            done = subprocess.run(
                [*command, *SHORT, "--output", str(output)], capture_output=True, text=True, check=False, timeout=1200
            )
            stderr = done.stderr
        assert (output / "manifest.json").exists(), stderr
        return xebench.load_run(output)


def _as_claimed(case: Mapping[Any, Any]) -> bool:
    """Whether a case computed the right result, ended as a claim says, or needs what no CPU device has."""
    lacking = (
        "needs a GPU",
        "matrix engine",
        "needs a device on which oneMKL uses",
        "needs 2 devices",
        "needs the level_zero",
        "needs the headers of intel-sycl-rt",
        "pip install onedpl-devel",
        "needs a C++ compiler",
        *(("numba-dpex is needed", "copies between sub-devices", "needs a SYCL runtime") if is_current() else ()),
    )
    if case["status"] == "skipped" and any(what in case["reason"] for what in lacking):
        return True
    return case["status"] == "ok" or is_expected(case["status"], case["reason"], from_json(case["claims"]))


@pytest.mark.device
@pytest.mark.parametrize("name", PATTERNS)
def test_every_variant_computes_the_right_result(run: Run, name: str) -> None:
    cases = run.cases[run.cases["pattern"] == name]
    assert len(cases) >= 2
    bad = cases[[not _as_claimed(case) for case in cases.to_dict("records")]]
    assert bad.empty, bad[["variant", "status", "reason"]].to_string()


@pytest.mark.device
@pytest.mark.parametrize("name", PATTERNS)
def test_every_variant_was_sampled_and_its_commands_recorded(run: Run, name: str) -> None:
    cases = run.cases[run.cases["pattern"] == name]
    taken = run.samples[run.samples["state"].isin(SAMPLED_STATES) & run.samples["case_id"].isin(cases["case_id"])]
    assert set(taken["case_id"]) == set(cases["case_id"][cases["status"] == "ok"])
    if (cases["metric"] != "wall").all():
        assert set(taken["sample_id"]) <= set(run.events["sample_id"])


@pytest.fixture(scope="module")
def submitted(run: Run) -> Submissions:
    return submissions(run)


@pytest.mark.device
@pytest.mark.parametrize("name", PATTERNS)
def test_every_variant_submits_what_its_lesson_is_about(submitted: Submissions, name: str) -> None:
    found = submitted.get(name, {})
    ran = {variant_of(title) for title in found}  # another machine may lack what the others need
    wanted = {title: lines for title, lines in EXPECTED.get(name, {}).items() if variant_of(title) in ran}
    if changes := [
        line
        for title in sorted({*wanted, *found})
        if wanted.get(title) != found.get(title)
        for line in (f"  {title}", *_changes(wanted.get(title, []), found.get(title, [])))
    ]:
        renew = f"if that is meant, renew {FILE.name} on each stack: python tests/kits/submissions.py {name}"
        pytest.fail("\n".join((f"{name} submits something else than before:", *changes, renew)), pytrace=False)


def _changes(before: Sequence[str], now: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in difflib.ndiff(before, now) if line[0] in "-+"]


#: Pairs that are claimed to differ in time and are one program to the device, and why.
ONE_PROGRAM = {
    ("atomic_order_scope", "own_address_unrolled"): "our compiler unrolls both loops alike",
}


@pytest.mark.device
def test_members_that_are_claimed_to_differ_in_time_are_different_programs(run: Run) -> None:
    code = {
        (case["family_id"], case["variant"]): [(k["spirv_sha256"], k["build_options"]) for k in json.loads(kernels)]
        for case in run.cases.to_dict("records")
        if (kernels := case["kernels"])
    }
    of_time = run.pairs[run.pairs["claim"].isin(["faster", "slower"]) & run.pairs["same_program"].fillna(False)]
    same = {
        (pair["pattern"], pair["variant"])
        for pair in of_time.to_dict("records")
        # a driver may make one program of two sources
        if code[pair["family_id"], pair["variant"]] == code[pair["family_id"], pair["baseline"]]
    }
    assert same <= set(ONE_PROGRAM)


@pytest.mark.device
@pytest.mark.parametrize(("name", "twin", "variant"), TWINS)
def test_a_twin_is_launched_as_its_variant(run: Run, name: str, twin: str, variant: str) -> None:
    cases = run.cases[run.cases["pattern"] == name].set_index("variant")["kernels"]
    own, other = ([json.loads(kernels) for kernels in cases.loc[[side]]] for side in (twin, variant))
    assert own and all(own), "it launches kernels"
    assert {kernel["language"] for family in own for kernel in family} == {"opencl"}
    assert [_launched(family) for family in own] == [_launched(family) for family in other]


def _launched(kernels: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What a twin shares with its kernel: all but the code, and where its local memory is declared."""
    shared = ("name", "global_size", "local_size", "sub_group_size")
    return [[kernel[name] for name in shared] for kernel in kernels]


@pytest.mark.device
def test_a_partial_sub_group_that_is_taken_for_a_whole_one_is_wrong_as_claimed(run: Run) -> None:
    assumed = run.pairs[run.pairs["variant"] == "size_assumed"]
    assert len(assumed) == 3
    assert set(assumed["answer"]) == {"holds"}


@pytest.mark.device
def test_the_run_is_complete_and_nothing_failed(run: Run) -> None:
    assert run.complete
    assert run.cases["case_id"].is_unique
    assert set(run.pairs["pattern"]) == {info.name for info in INFOS}


@pytest.mark.parametrize("path", builtin_files(), ids=lambda path: path.stem)
def test_a_pattern_file_is_a_page_that_teaches(path: Path) -> None:
    (info,) = (info for info in INFOS if info.source == str(path))
    assert info.name == path.stem, "file and pattern have the same name"
    assert set(info.presets) == {"smoke", "default", "guide"}
    assert "/" in info.guide
    assert len(info.lesson) > 40
    roles = {variant.role for variant in info.variants}
    assert "naive" in roles and "optimized" in roles
    assert all(variant.summary for variant in info.variants), "every variant says in a line what it does"
    assert path.read_text().startswith('"""')


def test_a_gpu_of_sub_groups_of_32_alone_is_asked_for_no_others() -> None:
    """Of the kind that skipped seven families, with smaller work-groups and less SLM than most."""
    device = replace(GPU, name="another GPU", sub_group_sizes=(32,), max_work_group_size=1024, compute_units=132)
    families = [family.on("gpu", device.sub_group_sizes) for family in build_plan(INFOS, "default")]
    lacking = {family.pattern.name: missing(device, (), **_limits(family.axes)) for family in families}
    assert set(lacking.values()) == {None}
    sizes = {family.axes["sub_group_size"] for family in families if "sub_group_size" in family.axes}
    assert sizes == {32}


def _limits(axes: Mapping[str, Any]) -> dict[str, int]:
    return {name: axes[name] for name in ("work_group_size", "sub_group_size") if name in axes}


@pytest.mark.nightly
@pytest.mark.device
def test_what_follows_the_device_is_right_with_sub_groups_of_32(tmp_path: Path) -> None:
    names = [info.name for info in INFOS if "sub_group_size" in info.axes]
    assert len(names) >= 7
    command = [sys.executable, "-m", "xebench", "run", *names, "--preset", "smoke", "--device", "cpu"]
    options = ["--state", "hot", "--set", "sub_group_size=32", "--budget", "0.01", "--output", str(tmp_path / "run")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = xebench.load_run(tmp_path / "run").cases
    assert set(cases["pattern"]) == set(names)
    assert all(_as_claimed(case) for case in cases.to_dict("records"))


@pytest.mark.parametrize("path", builtin_files(), ids=lambda path: path.stem)
def test_no_launch_is_sized_by_a_hint(path: Path) -> None:
    assert "vector_width" not in path.read_text(), "use session.lanes"

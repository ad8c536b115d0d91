"""Patterns of queues, memory, fusion and reductions: what they claim and count, and sizes that divide nothing."""

from __future__ import annotations

import re
import subprocess
import sys

import pandas as pd
import pytest

import xebench
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.plan import build_plan
from xebench.patterns.problem import Room
from xebench.patterns.registry import discover
from xebench.records.claim import Claim
from xebench.results import Run

INFOS = {info.name: info for info in discover() if info.chapter in {"queues", "memory", "fusion", "reductions"}}
#: 16 waves are 5 million work-items, and the last cache is as large as any.
LARGE_GPU = Room(lanes=327_680, cache_bytes=408 << 20)
ARRAYS_BYTES = {"kernel_fusion": 6 * 4, "usm_kinds": 3 * 4, "reduction_trees": 4}  # for each element


def claims(info: PatternInfo, variant: str) -> tuple[Claim, ...]:
    return next(each.claims for each in info.variants if each.name == variant)


def said(name: str, variant: str) -> set[tuple[str, str]]:
    return {(claim.word, claim.against) for claim in claims(INFOS[name], variant)}


#: Patterns of which every claim is ours: the guide says it of some devices, or says what a switch does and no more.
OURS = {
    "dispatch_routes",
    "early_loads",
    "reads_vs_writes",
    "memory_pool",
    "copy_beside_copy",
    "overlap_transfer_compute",
}


@pytest.mark.parametrize("name", INFOS)
def test_what_the_guide_claims_names_its_lines(name: str) -> None:
    found = [claim for variant in INFOS[name].variants for claim in variant.claims]
    assert found
    of_guide = [claim for claim in found if not claim.is_ours]
    assert bool(of_guide) == (name not in OURS), "these claims are our own"
    for claim in of_guide:
        assert re.fullmatch(r"G \d+((,| to) \d+)*", claim.source)


def test_the_chain_of_reductions_is_judged_step_by_step() -> None:
    assert said("reduction_chunks", "chunk_per_item") == {("faster", "atomic_per_element")}
    assert said("reduction_chunks", "strided_few_items") == {("faster", "chunk_per_item")}
    assert said("reduction_sum", "strided_enough_items") == {("faster", "strided_few_items")}
    assert said("reduction_trees", "tree_two_stages") == {("faster", "tree_one_stage")}
    assert said("reduction_blocked", "blocked_then_tree") == {("same", "blocked_then_serial")}
    (ours,) = claims(INFOS["reduction_blocked"], "block_loads_then_tree")
    assert ours.is_ours


def test_queues_of_one_context_are_claimed_to_be_like_one_queue() -> None:
    assert said("multiple_queues", "shared_context") == {("same", "one_queue")}
    assert said("redundant_queue_construction", "queues_made_before") == {("same", "one_queue")}
    assert said("redundant_queue_construction", "one_queue") == {("faster", "queue_each_step")}
    (ours,) = claims(INFOS["redundant_queue_construction"], "queue_and_context_each_step")
    assert ours.is_ours and ours.word == "slower"
    by_work = {
        claim.where["work"]: claim.word for claim in claims(INFOS["multiple_queues"], "separate_contexts_built_before")
    }
    assert by_work == {1: "slower", 1000: "same"}


def test_the_loop_that_is_unrolled_is_compared_with_the_same_one_rolled() -> None:
    assert said("prefetch_indirect", "unrolled") == {("faster", "as_needed")}


def test_kinds_of_memory_have_the_ratios_of_the_guides_times() -> None:
    speedups = {
        (variant.name, claim.against): round(claim.figure.speedup, 1)
        for variant in INFOS["usm_kinds"].variants
        for claim in variant.claims
        if claim.figure is not None
    }
    assert speedups == {
        ("copied_once", "copied_each_step"): 14.4,
        ("copied_once", "host_memory"): 5.8,
        ("host_memory", "copied_each_step"): 2.5,
        ("shared_memory", "copied_each_step"): 14.7,
        ("shared_memory", "host_memory"): 6.0,
        ("device_memory", "copied_each_step"): 73.5,
        ("device_memory", "shared_memory"): 5.0,
        ("device_memory", "copied_once"): 5.1,
    }


def test_what_builds_keeps_no_builds_on_disk_and_what_must_come_from_memory_is_cold() -> None:
    uncached = {name for name, info in INFOS.items() if info.environment.get("NEO_CACHE_PERSISTENT") == "0"}
    assert uncached == {"multiple_queues", "redundant_queue_construction"}
    assert {name for name, info in INFOS.items() if info.state == "cold"} == {
        "reduction_blocked",
        "reduction_chunks",
        "reduction_sum",
        "reduction_trees",
        "result_to_host",
        "intermediates_on_device",
        "prefetch_distance",
        "prefetch_indirect",
        "prefetch_nbody1d",
    }


@pytest.mark.parametrize("name", [*ARRAYS_BYTES, "atomics_global_vs_local", "usm_vs_buffers"])
def test_a_large_gpu_has_waves_of_work_that_its_cache_does_not_hold(name: str) -> None:
    (family, *_) = build_plan([INFOS[name]], "default")
    n = int(family.on("gpu", (16, 32), LARGE_GPU).parameters["n"])
    assert n >= 16 * LARGE_GPU.lanes
    caches = 2 if name == "usm_kinds" else 4  # `copied_each_step` moves all of it in each step
    assert n * ARRAYS_BYTES.get(name, LARGE_GPU.cache_bytes) >= caches * LARGE_GPU.cache_bytes
    assert int(family.on("cpu", (), LARGE_GPU).parameters["n"]) <= 1 << 22


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One short run at a size that no work-group divides."""
    output = tmp_path_factory.mktemp("odd") / "run"
    names = [name for name, info in INFOS.items() if "n" in info.presets["smoke"]]
    command = [sys.executable, "-m", "xebench", "run", *names, "--preset", "smoke", "--device", "cpu"]
    options = ["--state", "hot", "--set", "n=8191", "--set", "work=2", "--budget", "0.01", "--output", str(output)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return xebench.load_run(output)


@pytest.mark.nightly
@pytest.mark.device
def test_sizes_that_divide_nothing_are_right(odd: Run) -> None:
    assert set(odd.cases["pattern"]) == {name for name, info in INFOS.items() if "n" in info.presets["smoke"]}
    lacking = r"needs (a GPU of Intel|the level_zero backend)|.*: needs the headers of intel-sycl-rt"
    elsewhere = odd.cases["reason"].str.match(lacking, na=False)
    assert set(odd.cases["status"][~elsewhere]) == {"ok"}


@pytest.mark.device
def test_bytes_of_the_link_are_told_apart_from_those_of_memory(odd: Run) -> None:
    cases = odd.cases.drop_duplicates("pattern").set_index("pattern")
    steps = cases["param_steps"]["redundant_queue_construction"]
    assert cases["host_bytes"]["redundant_queue_construction"] == 4 * steps
    assert cases["bytes_moved"]["redundant_queue_construction"] == 4 * 8191 * steps
    assert cases.loc["usm_kinds", "bytes_moved"] == 4 * 4 * 4 * 8191, "four streams in each of four steps"
    assert pd.isna(cases["bytes_moved"]["allocation_in_loop"]), "25 numbers say nothing of a roof"


@pytest.mark.device
def test_bytes_over_the_link_are_those_that_the_host_touches(odd: Run) -> None:
    turns = (
        odd.cases[odd.cases["pattern"] == "usm_vs_buffers"].drop_duplicates("param_stride").set_index("param_stride")
    )
    assert turns["host_bytes"].to_dict() == {
        1: 2 * 2 * 4 * 8191,
        1000: 2 * 4 * (8191 + 9),
        200_000: 2 * 4 * (8191 + 1),
    }, "two steps"

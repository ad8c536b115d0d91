"""A small run made of synthetic samples: two patterns, one of them with a variant that was wrong; and one with pairs of
every answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_run import changed
from synthetic import Synthetic, noisy

from xebench.records.claim import Claim, Figure, to_json
from xebench.results import Run, RunWriter, schema
from xebench.results.analysis.summaries import CheckRow
from xebench.vocabulary import CheckResult

BLOCKS = 30


def blank(table: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(schema.columns(table, measured=True)), **values}


def device_row() -> dict[str, Any]:
    return blank(
        "devices", device="level_zero:gpu:0", name="A GPU", vendor="Intel", backend="level_zero", driver_version="1.2",
        device_class="gpu", compute_units=512, sub_group_sizes="8,16,32", local_memory_bytes=65536,
        global_memory_bytes=1 << 34, global_cache_bytes=1 << 24, max_work_group_size=1024, max_alloc_bytes=1 << 32,
        max_clock_mhz=2400, timer_resolution_ns=52, aspects="fp16", selftest="ok", bandwidth_roof_gbps=500.0,
        fp32_roof_gflops=15000.0, int32_roof_gops=5000.0, aa_speedup=1.0, aa_low=0.9996, aa_high=1.00031,
    )  # fmt: skip


def case_row(pattern: str, variant: str, role: str, status: str = "ok", reason: str = "") -> dict[str, Any]:
    claims = [Claim("faster", source="G 12")] if role == "optimized" else []
    return blank(
        "cases", case_id=f"{pattern}/{variant}/default/-/gpu", pattern=pattern, chapter="slm", guide="SLM / Cache",
        catalogue="E34", variant=variant, role=role, preset="default",
        family_id=f"{pattern}/default/-/gpu", parameters='{"n": 1000, "work_group_size": 256}',
        preset_parameters='{"n": 1000}',
        device="level_zero:gpu:0", device_class="gpu", metric="device", claims=to_json(claims),
        status=status, reason=reason, stopped_by="precision", seed=1, bytes_moved=1_000_000, operations=2_000_000,
        operation_kind="fp32", kernels="[]", source="p.py",
    )  # fmt: skip


def sample_rows(case_id: str, length_ns: float, numbers: Iterator[int], seed: int) -> list[dict[str, Any]]:
    noise = np.random.default_rng(seed).normal(1, 0.005, BLOCKS)
    return [
        blank(
            "samples", case_id=case_id, sample_id=next(numbers), block=block, instance=block // 5, order=0, state="hot",
            host_ns=int(length_ns * factor) + 20_000, device_ns=int(length_ns * factor),
            span_ns=int(length_ns * factor) + 3_000, queue_ns=3_000, valid=True, sample_flags="",
        )
        for block, factor in enumerate(noise)
    ]  # fmt: skip


@pytest.fixture
def gpu_row() -> dict[str, Any]:
    return device_row()


def write_run(folder: Path, lengths_ns: Sequence[float] = (40_000, 20_000, 5_000)) -> Run:
    """A run of three cases with these times, and one that was wrong."""
    cases = [
        case_row("convolution", "plain", "naive"),
        case_row("convolution", "cached", "optimized"),
        case_row("histogram", "plain", "naive"),
        case_row(
            "histogram", "broken", "optimized", "wrong", "y: 1 of 9 elements differ; first at (0,): 1 instead of 2"
        ),
    ]
    writer = RunWriter.create(folder, {"command": ["xebench", "run"], "packages": {"dpctl": "0.17.0"}})
    writer.append("devices", [device_row()])
    writer.append("cases", cases)
    numbers = itertools.count()
    for seed, (case, length) in enumerate(zip(cases[: len(lengths_ns)], lengths_ns, strict=True)):
        rows = sample_rows(case["case_id"], length, numbers, seed)
        writer.append("samples", rows)
        writer.append_checks([CheckRow(case["case_id"], rows[0]["sample_id"], next(numbers), CheckResult.PASSED)])
    return writer.finish()


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[..., Run]:
    """Makes a run in a folder of that name."""
    return lambda name, *lengths_ns: write_run(tmp_path / name, lengths_ns)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_run(tmp_path / "run")


#: Of `all_answers`: variant, its time in us where the naive one has 1000, its claims, its status and its reason.
EVERY_END: tuple[tuple[str, float, tuple[Claim, ...], str, str], ...] = (
    ("all_in_one_kernel", 100, (Claim("faster", figure=Figure(2.9, "Max 1550", "G 4530"), on=("gpu",)),), "ok", ""),
    ("slow", 2000, (Claim("faster", source="G 20"),), "ok", ""),
    ("equal", 1000, (Claim("faster", source="G 21"),), "ok", ""),
    ("few_samples", 500, (Claim("faster", source="G 22"),), "ok", ""),
    ("only_looked_at", 700, (), "ok", ""),
    ("not_here", 0, (Claim("faster", on=("gpu",)),), "skipped", "needs sub-groups of 16"),
    ("as_fast_as_the_one_kernel_of_all", 100, (Claim("same", against="all_in_one_kernel"),), "ok", ""),
    ("a_thousand_times", 1, (Claim("faster"),), "ok", ""),
    ("races", 0, (Claim("wrong", source="G 23"),), "wrong", "b: 3615 of 4096 elements differ"),
    ("crashes", 0, (Claim("faster", source="G 24"),), "crashed", "signal 11 in kernel twice"),
)


@pytest.fixture
def all_answers() -> Run:
    """A run on a CPU device with every answer, claims of the guide and of ours."""
    made = Synthetic(aa_low=0.9993, aa_high=1.0004)
    chapter = {
        "chapter": "sub_groups",
        "parameters": '{"n": 8, "sub_group_size": 16, "work_group_size": 256}',
        "pattern": "ends",
    }
    made.times(made.case("one_by_one", "naive", claims="[]", program="one", **chapter), noisy(1e6))
    made.case("renamed", "optimized", claims=to_json([Claim("faster")]), program="one", **chapter)
    for seed, (variant, time_us, claims, status, reason) in enumerate(EVERY_END, 1):
        case = made.case(variant, "optimized", claims=to_json(claims), status=status, reason=reason or None, **chapter)
        if time_us:
            few = variant == "few_samples"
            times = noisy(1e3 * time_us, seed=seed)[: 4 if few else None]
            made.times(case, times, instances=[0] * 4 if few else None)
    run = made.run()
    created = {"created": "2026-11-21T10:00:00+00:00", "finished": "2026-11-21T10:03:52+00:00"}
    return changed(run, path=Path("runs/answers"), manifest={**run.manifest, **created})

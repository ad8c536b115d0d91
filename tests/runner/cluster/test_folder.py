"""Rows of several hosts in one run folder: numbers that never meet, keys with the place, resumes without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import rows_kit

from xebench.measuring.case_rows import CaseResult, fixed_columns
from xebench.patterns.declaration import PatternInfo, VariantInfo
from xebench.patterns.plan import Family
from xebench.results import RunWriter, load_run
from xebench.runner.cluster.order import FamilyResult
from xebench.runner.cluster.tasks import Folder, calibrated, missing_families
from xebench.vocabulary import Status


def family(name: str) -> Family:
    variants = (VariantInfo("a", "naive", (), ""), VariantInfo("b", "optimized", (), ""))
    info = PatternInfo(name, "f", "g", "l", (), "device", {"smoke": {"n": 8}}, {}, variants, f"{name}.py")
    return Family(info, "smoke", {"n": 8}, {"n": 8})


def result_of(measured: Family, host: str, first: int = 0, *, checked: bool = True) -> FamilyResult:
    """What a worker sends of a family of two variants, a block of one sample each."""
    device = rows_kit.device(host=host)
    cases = fixed_columns(measured, device, 1)
    ids = [row["case_id"] for row in cases.values()]
    end = first + len(ids)
    samples = [rows_kit.sample("a", first + i, 100.0, case_id=case_id, block=0) for i, case_id in enumerate(ids)]
    checks = [{"case_id": case_id, "first_sample": first, "end_sample": end, "result": "passed"} for case_id in ids]
    done = [{**row, **CaseResult(Status.OK, None).columns()} for row in cases.values()]
    tables: list[tuple[str, list[dict[str, Any]]]] = [("samples", samples)]
    if checked:
        tables += [("checks", checks), ("cases", done)]
    return FamilyResult(device, tables, first, end, ())


def folder_of(writer: RunWriter, earlier: Any = None) -> Folder:
    return Folder(writer, "cpu", seed=1, precision=0.01, earlier=earlier)


def test_what_workers_number_alike_has_numbers_of_its_own(tmp_path: Path) -> None:
    plan = [family("first"), family("second"), family("never")]
    with RunWriter.create(tmp_path / "run", {}) as writer:
        folder = folder_of(writer)
        folder.announce(plan)
        folder.take(plan[0], result_of(plan[0], "north", first=4))
        folder.take(plan[1], result_of(plan[1], "south"))
        folder.give_up(plan[2], Status.CRASHED, "gone")
        run = writer.finish()
    assert run.samples["sample_id"].tolist() == [0, 1, 2, 3] and run.samples["checked"].all()
    assert run.cases["case_id"].tolist() == [
        "first/a/smoke/-/cpu@north/opencl:cpu:0",
        "first/b/smoke/-/cpu@north/opencl:cpu:0",
        "second/a/smoke/-/cpu@south/opencl:cpu:0",
        "second/b/smoke/-/cpu@south/opencl:cpu:0",
        "never/a/smoke/-/cpu",
        "never/b/smoke/-/cpu",
    ]
    assert run.cases["status"].tolist() == ["ok"] * 4 + ["crashed"] * 2
    assert calibrated(run) == {("north", "opencl:cpu:0"), ("south", "opencl:cpu:0")}
    assert missing_families(plan, run, "cpu") == ([], [])


def test_a_family_that_was_cut_off_is_measured_again_wherever_that_is(tmp_path: Path) -> None:
    plan = [family("whole"), family("torn"), family("never")]
    with RunWriter.create(tmp_path / "run", {}) as writer:
        folder = folder_of(writer)
        folder.announce(plan)
        folder.take(plan[0], result_of(plan[0], "north"))
        folder.take(plan[1], result_of(plan[1], "north", checked=False))  # killed while it was written
    earlier = load_run(tmp_path / "run")
    missing, _ = missing_families(plan, earlier, "cpu")
    assert [one.pattern.name for one in missing] == ["torn", "never"]
    with RunWriter.resume(tmp_path / "run", {}) as writer:
        folder = folder_of(writer, earlier)
        folder.announce(missing)
        for one in missing:
            folder.take(one, result_of(one, "south"))
        run = writer.finish()
    assert run.samples["sample_id"].tolist() == list(range(8))
    assert run.cases["host"].tolist() == ["north"] * 2 + ["south"] * 4
    torn = run.samples[run.samples["case_id"].str.startswith("torn/")]
    assert torn["checked"].tolist() == [False, False, True, True]
    assert len(run.devices) == 2


def test_what_a_short_budget_left_wide_stands_until_there_is_better(tmp_path: Path) -> None:
    (one,) = plan = [family("wide")]
    with RunWriter.create(tmp_path / "run", {}) as writer:
        folder = folder_of(writer)
        folder.announce(plan)
        wide = result_of(one, "north")
        cases = [{**row, "stopped_by": "round"} for row in dict(wide.tables)["cases"]]
        folder.take(one, replace(wide, tables=[*wide.tables, ("cases", cases)]))
    earlier = load_run(tmp_path / "run")
    assert missing_families(plan, earlier, "cpu") == ([], plan)
    with RunWriter.resume(tmp_path / "run", {}) as writer:
        folder = folder_of(writer, earlier)
        folder.announce([])
        folder.give_up(one, Status.INTERRUPTED, "no time")
        folder.take(one, replace(result_of(one, "south", checked=False), lacks=1))
        again = load_run(tmp_path / "run")
        assert set(again.cases["status"]) == {"ok"} and again.samples["checked"].tolist() == [True, True]
        folder.take(one, result_of(one, "south"))
        run = writer.finish()
    assert set(run.cases["host"]) == {"south"}
    assert run.samples["checked"].tolist() == [False, False, True, True]

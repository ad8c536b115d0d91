"""Runs of every schema version are read, reported and compared; what their time did not know is null."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from rows_kit import write_pair

from xebench.analysis.claim import from_json
from xebench.errors import RunFolderError
from xebench.report import formats
from xebench.tables import Run, RunWriter, compare_runs, load_run, schema, upgrade
from xebench.vocabulary import RUN_BUDGET, Answer

FIXTURES = Path(__file__).parent / "fixtures"
COMPLETE = tuple(f"schema-{version}" for version in range(1, 6))
KILLED = tuple(f"schema-{version}-killed" for version in range(2, 6))
NAMES = (*COMPLETE, *KILLED)
#: A variant that the pattern of the complete runs has had since version 5, and which is wrong, as is claimed.
LATER = "size_assumed"
REFERENCE = Path(__file__).parents[2] / "results" / "cpu-epyc-2-cores"


def load(name: str) -> Run:
    return load_run(FIXTURES / name)


def test_there_is_a_run_of_each_version() -> None:
    versions = [load(name).manifest["schema_version"] for name in NAMES]
    assert set(versions) == set(range(1, schema.SCHEMA_VERSION + 1))


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_any_version_has_the_tables_of_today(name: str) -> None:
    run = load(name)
    for table in schema.RUN_TABLES:
        frame = getattr(run, table)
        assert [*frame][: len(schema.columns(table))] == [*schema.columns(table)], table
        for column in schema.columns(table).values():
            assert frame[column.name].dtype == column.dtype
    assert run.complete == (name in COMPLETE)
    assert set(run.cases["chapter"]) == {"own" if name in KILLED else "sub_groups"}
    assert run.samples["checked"].any()


@pytest.mark.parametrize("name", COMPLETE)
def test_every_sample_of_a_complete_run_counts(name: str) -> None:
    run = load(name)
    assert run.samples["checked"].all() and run.samples["valid"].any()
    pairs = run.pairs[run.pairs["variant"] != LATER]
    assert len(pairs) == (2 if name in ("schema-1", "schema-2") else 4) and pairs["speedup"].notna().all()
    assert set(run.cases["axis_odd_size"]) == {7, 31}


@pytest.mark.parametrize("name", KILLED)
def test_of_a_killed_run_only_what_was_checked_counts(name: str) -> None:
    """The first session was cut off in its first pass, the second one in the second."""
    run = load(name)
    sampled = run.samples[run.samples["state"] != "compile"]
    sessions = sampled.groupby(["instance", "checked"])["sample"].agg(["min", "max"])
    assert sorted(sessions.index) == [(0, False), (0, True), (1, False)]
    assert sessions.loc[(0, False), "max"] < sessions.loc[(0, True), "min"]
    assert sessions.loc[(0, True), "max"] < sessions.loc[(1, False), "min"]
    compiled = run.samples[run.samples["state"] == "compile"].groupby("case_id")["checked"]
    for case, checked in compiled:
        assert checked.is_monotonic_increasing and checked.nunique() == 2, f"{case}: the first session's are superseded"
    counted = sampled[sampled["checked"] & (sampled["state"] == "hot")]
    assert run.summaries["n"].tolist() == [len(counted) / 2] * 2
    assert "superseded" not in ",".join(run.samples["flags"])


@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_what_a_run_knew(name: str) -> None:
    run = load(name)
    if run.manifest["schema_version"] < 3:
        assert run.cases["sizes"].isna().all() and run.pairs["sizes"].isna().all()
        assert not [column for column in run.cases if column.startswith("size_")]
    else:
        sizes = run.cases["sizes"].map(json.loads)
        column = "n" if name in KILLED else "rounds"
        assert run.cases[f"size_{column}"].tolist() == [size[column] for size in sizes]
        assert set(run.cases["overrides"]) == ({"{}"} if name in KILLED else {"{}", '{"rounds": 2}'})


@pytest.mark.parametrize("form", formats.names())
@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_any_version_is_reported_in_every_format(name: str, form: str) -> None:
    run = load(name)
    text = formats.render(run, form)
    for variant in set(run.cases["variant"]) - {LATER}:
        assert variant in text


@pytest.mark.parametrize(("before", "after"), [*itertools.product(COMPLETE, COMPLETE)])
def test_runs_of_any_two_versions_are_compared(before: str, after: str) -> None:
    found = compare_runs(load(before), load(after))
    found = found[found["variant"] != LATER]
    both = found[found["outcome"] != "none"]
    if {before, after} in ({"schema-1"}, {"schema-2"}, {"schema-1", "schema-2"}):
        assert len(both) == len(found) == 4
        assert not both["reason"].str.contains("not known").any(), "by preset, as they always were"
    elif {before, after} <= {"schema-3", "schema-4", "schema-5"}:
        assert len(both) == len(found) == 8
    else:
        # two sizes of a point, and a run that does not know which of them it had
        assert both.empty
        assert found["reason"].str.contains("sizes that are not known").all()


def test_a_run_that_knows_its_sizes_is_compared_with_one_that_does_not(tmp_path: Path) -> None:
    new = load("schema-3")
    own = new.cases["overrides"] == "{}"
    presets = Run.of_tables(
        new.path, new.manifest, {**tables(new), "cases": new.cases.loc[own, [*schema.TABLES["cases"]]]}
    )
    found = compare_runs(load("schema-2"), presets)
    assert len(found) == 4 and set(found["outcome"]) <= {"same", "faster", "slower", "inconclusive"}
    assert found["reason"].str.startswith("sizes that are not known before, rounds=1 after: ").all()


def tables(run: Run) -> dict[str, pd.DataFrame]:
    return {table: getattr(run, table)[[*schema.columns(table)]] for table in schema.RUN_TABLES}


def test_the_reference_run_is_read_reported_and_compared() -> None:
    run = load_run(REFERENCE)
    assert run.complete or run.manifest["ended_by"] == RUN_BUDGET
    assert run.samples["checked"].all()
    assert set(run.pairs["answer"]) <= set(Answer)
    assert "tiled_matmul" in formats.render(run, "text")
    found = compare_runs(run, run)
    assert set(found["outcome"]) <= {"same", "inconclusive", "none"} and len(found) == len(run.cases)
    assert (found["outcome"] == "none").sum() == (run.cases["status"] != "ok").sum()


@pytest.mark.parametrize("name", NAMES)
def test_claims_of_any_version_are_claims(name: str) -> None:
    run = load(name)
    for claims, role in zip(run.cases["claims"], run.cases["role"], strict=True):
        assert all(claim.fault() is None for claim in from_json(claims))
        assert role != "naive" or claims == "[]"
    assert run.pairs["answer"].isin([*Answer]).all()


@pytest.mark.parametrize(
    ("verdict", "outcome", "reason", "answer"),
    [
        ("confirmed", "faster", "claimed faster; faster by 3 %", "holds"),
        ("refuted", "slower", "claimed faster; slower by 3 %", "inverts"),
        ("refuted", "same", "claimed faster; 1.001", "no effect"),
        ("inconclusive", "inconclusive", "noise: too wide", "undecided"),
        ("inconclusive", "none", "wrong result: 3 differ", "undecided"),
        ("not applicable", "faster", "faster by 3 %; the guide makes no claim", "no claim"),
        ("not applicable", "none", "skipped: needs fp64", "skipped"),
        ("not applicable", "none", "refused: needs 9 GiB", "skipped"),
        ("not applicable", "none", "failed: boom; the guide makes no claim", "no claim"),
    ],
)
def test_a_verdict_of_earlier_versions_is_an_answer(verdict: str, outcome: str, reason: str, answer: str) -> None:
    old = pd.DataFrame({"verdict": [verdict], "outcome": [outcome], "reason": [reason]}, dtype="string")
    assert upgrade.frame("pairs", old, 3)["answer"].tolist() == [answer]


@pytest.mark.parametrize("name", ["schema-1", "schema-2-killed"])
def test_a_run_of_an_earlier_version_is_not_resumed(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(FIXTURES / name, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "state": "interrupted"}))
    version = manifest["schema_version"]
    with pytest.raises(RunFolderError, match=rf"begun by an earlier xebench \(schema {version}\): start a new run"):
        RunWriter.resume(folder, {})


@pytest.mark.parametrize("damage", [5, [{"case_ids": 5, "first": 0}], [{"first": 0, "end": None}]])
def test_marks_of_an_earlier_version_that_were_tampered_with_are_refused(damage: object, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(FIXTURES / "schema-2-killed", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "unchecked": damage}))
    with pytest.raises(RunFolderError, match="'unchecked' is damaged .*: restore it"):
        load_run(folder)


@pytest.mark.parametrize("column", ["flags", "case_id", "state"])
def test_damage_of_an_earlier_run_is_named(column: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(FIXTURES / "schema-1", folder)
    path = folder / "samples.parquet"
    whole = pd.read_parquet(path)
    whole.drop(columns=column).to_parquet(path)
    with pytest.raises(RunFolderError, match=f"samples.parquet is damaged: .* lacks the column {column}"):
        load_run(folder)
    whole.assign(**{column: None}).to_parquet(path)
    with pytest.raises(RunFolderError, match=rf"samples.parquet is damaged: samples\.{column} is null in row 0"):
        load_run(folder)


def test_what_an_earlier_version_lacked_is_damage_in_a_present_run(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_pair(writer)
        writer.finish()
    (tmp_path / "run" / "checks.parquet").unlink()
    with pytest.raises(RunFolderError, match=r"checks.parquet is missing"):
        load_run(tmp_path / "run")


@pytest.mark.parametrize("folder", ["default", "guide", "sub-groups-of-32"])
def test_the_published_runs_of_a_discrete_gpu_are_read(folder: str) -> None:
    run = load_run(REFERENCE.parent / "nvidia-h200" / folder)
    assert set(run.cases["device_class"]) == {"gpu"} and set(run.devices["sub_group_sizes"]) == {"32"}
    assert run.pairs["speedup"].notna().sum() > 40
    assert "NVIDIA H200" in formats.render(run, "text")

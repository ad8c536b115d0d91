"""Stored runs of this schema version are read and reported; those in `results` are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stored

from xebench.records import points
from xebench.records.claim import from_json
from xebench.report import formats
from xebench.results import Run, compare_runs, load_run, schema
from xebench.vocabulary import RUN_BUDGET, Answer

FIXTURES = Path(__file__).parent / "fixtures"
COMPLETE = (f"schema-{schema.SCHEMA_VERSION}",)
KILLED = (f"schema-{schema.SCHEMA_VERSION}-killed",)
NAMES = (*COMPLETE, *KILLED)
RESULTS = Path(__file__).parents[2] / "results"
REFERENCE = RESULTS / "cpu-epyc-2-cores"
STORED = sorted(path.parent.relative_to(RESULTS).as_posix() for path in RESULTS.glob("**/manifest.json"))


def load(name: str) -> Run:
    return load_run(FIXTURES / name)


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_run_has_the_tables_of_today(name: str) -> None:
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
    assert run.pairs.loc[run.pairs["variant"] != "size_assumed", "speedup"].notna().all()
    assert set(run.cases["param_odd_size"]) == {7, 31}


@pytest.mark.parametrize("name", KILLED)
def test_of_a_killed_run_only_what_was_checked_counts(name: str) -> None:
    """The first session was cut off in its first pass, the second one in the second."""
    run = load(name)
    sampled = run.samples[run.samples["state"] != "compile"]
    sessions = sampled.groupby(["instance", "checked"])["sample_id"].agg(["min", "max"])
    assert sorted(sessions.index) == [(0, False), (0, True), (1, False)]
    first, last = sessions["min"], sessions["max"]
    assert last[(0, False)] < first[(0, True)] and last[(0, True)] < first[(1, False)]
    compiled = run.samples[run.samples["state"] == "compile"].groupby("case_id")["checked"]
    for case, checked in compiled:
        assert checked.is_monotonic_increasing and checked.nunique() == 2, f"{case}: the first session's are superseded"
    counted = sampled[sampled["checked"] & (sampled["state"] == "hot")]
    assert run.summaries["n"].tolist() == [len(counted) / 2] * 2


@pytest.mark.parametrize("name", NAMES)
def test_keys_join_the_tables(name: str) -> None:
    run = load(name)
    cases = run.cases.set_index("case_id")
    assert cases.index.is_unique
    for case_id, case in cases.iterrows():
        assert case["family_id"] == str(case_id).replace(f"/{case['variant']}/", "/", 1)
    for table in (run.summaries, run.pairs):
        for column in ("family_id", "variant", "parameters"):
            assert (cases.loc[table["case_id"], column].to_numpy() == table[column].to_numpy()).all()
    others = cases.loc[run.pairs["baseline_case_id"]]
    assert (others["variant"].to_numpy() == run.pairs["baseline"].to_numpy()).all()
    assert (others["family_id"].to_numpy() == run.pairs["family_id"].to_numpy()).all()


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_all_sizes_and_axes(name: str) -> None:
    run = load(name)
    for case in run.cases.to_dict("records"):
        parameters, preset = json.loads(case["parameters"]), json.loads(case["preset_parameters"])
        assert set(preset) == ({"n"} if name in KILLED else {"rounds"})
        axes = set() if name in KILLED else {"odd_size", "sub_group_size"}
        assert set(parameters) - set(preset) == set(points.swept(case)) == axes
        set_apart = {"rounds"} if case.get("param_rounds") == 2 else set()
        assert set(points.point(case)) == axes | set_apart
        assert ("rounds=2" in case["case_id"]) == bool(set_apart)


@pytest.mark.parametrize("form", formats.names())
@pytest.mark.parametrize("name", NAMES)
def test_a_stored_run_is_reported_in_every_format(name: str, form: str) -> None:
    run = load(name)
    text = formats.render(run, form)
    for variant in set(run.cases["variant"]) - {"size_assumed"}:
        assert variant in text


@pytest.mark.parametrize("name", NAMES)
def test_claims_of_a_stored_run_are_claims(name: str) -> None:
    run = load(name)
    for claims, role in zip(run.cases["claims"], run.cases["role"], strict=True):
        assert all(claim.fault() is None for claim in from_json(claims))
        assert role != "naive" or claims == "[]"
    assert run.pairs["answer"].isin([*Answer]).all() and run.pairs["reason_code"].notna().all()


@pytest.mark.nightly
@stored.needed
@pytest.mark.parametrize("name", STORED)
def test_every_stored_run_is_of_this_version_and_reported(name: str) -> None:
    run = load_run(RESULTS / name)
    assert run.manifest["schema_version"] == schema.SCHEMA_VERSION
    assert run.complete or run.manifest["ended_by"] == RUN_BUDGET
    assert run.samples["checked"].any()
    assert set(run.pairs["answer"]) <= set(Answer) and run.pairs["reason_code"].notna().all()
    assert run.devices["name"][0] in formats.render(run, "markdown")
    assert not list((RESULTS / name).glob(".*")), "no lock"


@pytest.mark.nightly
@stored.needed
def test_the_reference_run_is_compared_with_itself() -> None:
    run = load_run(REFERENCE)
    assert "\ntiled_matmul, n=384, device time\n" in formats.render(run, "text", patterns=["tiled_matmul"])
    found = compare_runs(run, run)
    assert set(found["outcome"]) <= {"same", "inconclusive", "none"} and len(found) == len(run.cases)
    assert (found["outcome"] == "none").sum() == (run.cases["status"] != "ok").sum()

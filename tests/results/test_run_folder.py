"""Run folders: finished, killed, resumed, refused, damaged."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest
from rows_kit import case, device, event, sample, write_pair

from xebench.errors import BrokenEnvironment, RunFolderError
from xebench.report import formats
from xebench.results import Run, RunWriter, files, load_run, schema
from xebench.results.columns import Column

MANIFEST = {"command": ["xebench", "run"], "created": "2024-05-01T00:00:00+00:00"}


def finished(path: Path, state: Literal["complete", "interrupted"] = "complete") -> Run:
    with RunWriter.create(path, MANIFEST) as writer:
        write_pair(writer)
        return writer.finish(state)


def same(one: Run, other: Run) -> bool:
    return all(getattr(one, table).equals(getattr(other, table)) for table in schema.RUN_TABLES)


def test_a_finished_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    run = finished(path)
    loaded = load_run(path)
    assert same(run, loaded)
    assert loaded.complete
    assert loaded.manifest["command"] == ["xebench", "run"]
    assert loaded.manifest["schema_version"] == schema.SCHEMA_VERSION
    assert loaded.manifest["created"] == MANIFEST["created"]
    assert loaded.pairs.iloc[0]["speedup"] == pytest.approx(2)
    assert loaded.pairs.iloc[0]["answer"] == "holds"
    assert list(loaded.events["submit_ns"]) == [2**60 + 10 * number for number in range(20)]
    names = {entry.name for entry in path.iterdir()}
    assert names == {f"{table}.parquet" for table in schema.RUN_TABLES} | {
        "manifest.json",
        "summaries.csv",
        "pairs.csv",
        ".lock",
    }


def test_text_that_is_no_unicode_does_not_end_a_run(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {"command": ["caf\udce9"]}) as writer:
        writer.append("cases", [case("a", "naive", status="crashed", reason="caf\udce9")])
        writer.finish()
    assert load_run(tmp_path / "run").cases["reason"].tolist() == ["caf\\udce9"]


def test_the_csv_files_say_the_same(tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    for table in ("summaries", "pairs"):
        read = pd.read_csv(tmp_path / "run" / f"{table}.csv")
        own = [name for name in read.columns if not name.startswith("param_")]  # which only files have
        assert own == list(getattr(run, table).columns)
        assert len(read) == len(getattr(run, table))
    assert read["speedup"].iloc[0] == pytest.approx(2)


def test_a_run_without_rows_is_a_run(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", MANIFEST) as writer:
        writer.finish()
    loaded = load_run(tmp_path / "run")
    assert loaded.complete
    assert all(getattr(loaded, table).empty for table in schema.RUN_TABLES)


def test_an_unfinished_run_is_read_with_its_summaries_and_pairs(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", MANIFEST) as writer:
        write_pair(writer)
        loaded = load_run(tmp_path / "run")
    assert not loaded.complete
    assert loaded.manifest["state"] == "running"
    assert list(loaded.summaries["median_ns"]) == [200, 100]
    assert same(loaded, finished(tmp_path / "other"))


def test_kill_9_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    program = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parents[1] / "kits")!r})
        from rows_kit import *
        from xebench.results import RunWriter
        writer = RunWriter.create({str(tmp_path / "run")!r}, {{}})
        write_pair(writer)
        for number in range(20, 10**9):
            writer.append("samples", [sample("a", number, 200.0, block=number)])
            print(number, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            if int(line) >= 100:
                break
        process.send_signal(signal.SIGKILL)
        acknowledged = max([100, *(int(line) for line in lines.read().split())])
    assert process.wait(timeout=30) == -signal.SIGKILL
    loaded = load_run(tmp_path / "run")
    assert not loaded.complete
    assert loaded.samples["sample_id"].tolist()[: acknowledged + 1] == list(range(acknowledged + 1))
    assert len(loaded.samples) <= acknowledged + 2  # one more may have been written and not yet told
    assert loaded.pairs.iloc[0]["speedup"] == pytest.approx(2)
    with RunWriter.resume(tmp_path / "run", {}) as writer:  # the lock died with its holder
        assert writer.next_numbers()[0] == len(loaded.samples)


@pytest.mark.parametrize("state", ["running", "interrupted"])
def test_resume_keeps_every_row_and_goes_on(tmp_path: Path, state: str) -> None:
    path = tmp_path / "run"
    with RunWriter.create(path, MANIFEST) as writer:
        write_pair(writer)
        writer.append("cases", [case("c", "intermediate", status="interrupted")])
        if state == "interrupted":
            writer.finish("interrupted")
    before = load_run(path)
    with RunWriter.resume(path, {"command": ["again"]}) as writer:
        assert same(before, load_run(path))
        first, block = writer.next_numbers()
        assert (first, block) == (20, 10)
        writer.append("cases", [case("c", "intermediate")])
        writer.append("samples", [sample("c", first, 150.0, block=block)])
        writer.append("events", [event("c", first)])
        writer.finish()
    after = load_run(path)
    assert after.complete
    assert len(after.samples) == 21
    assert list(after.cases["status"]) == ["ok", "ok", "ok"]
    assert [session["command"] for session in after.manifest["resumed"]] == [["again"]]
    assert after.manifest["command"] == MANIFEST["command"]
    assert not (path / "journal").exists()


def test_numbers_begin_at_zero(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        assert writer.next_numbers() == (0, 0)
        writer.append("samples", [sample("a", 4, 1.0, block=None)])
        assert writer.next_numbers() == (5, 0)


def test_a_file_in_the_place_of_the_journal_is_one_line(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.finish("interrupted")
    (tmp_path / "run" / "journal").write_text("x")
    with pytest.raises(RunFolderError, match="journal is no folder .*: remove it"):
        RunWriter.resume(tmp_path / "run", {})


def test_an_earlier_run_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "run"
    finished(path)
    (path / "report.html").write_text("mine")
    with pytest.raises(RunFolderError, match="holds a run already: add --overwrite"):
        RunWriter.create(path, {})
    assert load_run(path).complete
    with RunWriter.create(path, {}, overwrite=True) as writer:
        assert not list(path.glob("*.parquet"))
        writer.append("devices", [device()])
        writer.finish()
    assert load_run(path).samples.empty
    assert (path / "report.html").read_text() == "mine"


def test_an_unfinished_run_that_is_replaced_leaves_no_rows(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_pair(writer)
    with RunWriter.create(tmp_path / "run", {}, overwrite=True):
        assert load_run(tmp_path / "run").samples.empty


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_holds_something_else_is_never_touched(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunFolderError, match="is not empty and holds no run"):
        RunWriter.create(tmp_path, {}, overwrite=overwrite)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_two_writers_of_one_folder_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with RunWriter.create(path, {}) as writer:
        write_pair(writer)
        for second in (
            lambda: RunWriter.create(path, {}, overwrite=True),
            lambda: RunWriter.resume(path, {}),
        ):
            with pytest.raises(RunFolderError, match=rf"being written by another run \(process {os.getpid()}\)"):
                second()
        assert len(load_run(path).samples) == 20
    RunWriter.resume(path, {}).close()


@pytest.mark.parametrize("name", ["file", "file/run"])
def test_a_path_that_cannot_be_a_folder_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot write .*name another folder") as caught:
        RunWriter.create(tmp_path / name, {})
    assert "\n" not in str(caught.value)


def test_what_the_end_needs_is_tried_at_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: pd.DataFrame, path: Path, **_: object) -> None:
        raise NotImplementedError("Support for codec 'zstd' not built")

    path = tmp_path / "run"
    run = finished(path)
    with monkeypatch.context() as patched:
        patched.setattr(pd.DataFrame, "to_parquet", broken)
        with pytest.raises(BrokenEnvironment, match=r"tables could not be written at the end \(.*codec 'zstd'"):
            RunWriter.create(path, {}, overwrite=True)
    assert same(run, load_run(path)), "what was there is not thrown away"
    monkeypatch.setattr("xebench.results.run_folder.LEAST_FREE_BYTES", 2**80)
    with pytest.raises(RunFolderError, match="MiB free: make room"):
        RunWriter.create(tmp_path / "other", {})


def test_a_full_disk_at_the_end_keeps_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: pd.DataFrame, path: Path, **_: object) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    path = tmp_path / "run"
    with RunWriter.create(path, {}) as writer:
        write_pair(writer)
        with monkeypatch.context() as patched:
            patched.setattr(pd.DataFrame, "to_parquet", full)
            with pytest.raises(RunFolderError, match=r"No space left on device\): free space"):
                writer.finish()
        assert len(load_run(path).samples) == 20
        assert not [entry for entry in path.iterdir() if "parquet" in entry.name]
        writer.finish()
    assert load_run(path).complete


def test_a_journal_that_was_not_yet_dropped_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the tables and the removal of the journal."""
    monkeypatch.setattr("xebench.results.run_folder._discard_journal", lambda folder: None)
    run = finished(tmp_path / "run")
    assert (tmp_path / "run" / "journal").is_dir()
    assert same(run, load_run(tmp_path / "run"))
    assert load_run(tmp_path / "run").complete


def test_a_complete_run_is_read_from_its_tables_where_a_journal_folder_is_empty(tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    (tmp_path / "run" / "journal").mkdir()
    found = load_run(tmp_path / "run")
    assert found.complete and same(run, found)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.joinpath("manifest.json").unlink(), "holds no run"),
        (lambda path: path.joinpath("manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda path: path.joinpath("manifest.json").write_text("[]"), "is not a run's manifest"),
        (lambda path: path.joinpath("samples.parquet").unlink(), "samples.parquet is missing"),
        (lambda path: path.joinpath("samples.parquet").write_bytes(b"PAR1"), "samples.parquet is damaged"),
        (lambda path: path.joinpath("pairs.parquet").write_bytes(b""), "pairs.parquet is damaged"),
        (
            lambda path: pd.DataFrame({"sample_id": [1]}).to_parquet(path / "events.parquet"),
            "events.parquet is damaged: the frame of table events lacks the column case_id",
        ),
        (
            lambda path: (
                pd.read_parquet(path / "samples.parquet").assign(device_ns="slow").to_parquet(path / "samples.parquet")
            ),
            r"samples.parquet is damaged: samples\.device_ns holds",
        ),
    ],
)
def test_damage_is_named(tmp_path: Path, damage, message: str) -> None:
    finished(tmp_path / "run")
    damage(tmp_path / "run")
    with pytest.raises(RunFolderError, match=message) as caught:
        read_all(tmp_path / "run")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", [0, 100])
def test_a_table_that_was_cut_off_is_named_though_nothing_of_it_is_read(tmp_path: Path, kept: int) -> None:
    path = finished(tmp_path / "run").path / "events.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RunFolderError, match=r"events.parquet is damaged \(its end is missing\)"):
        load_run(tmp_path / "run")


def read_all(folder: Path) -> None:
    """Ask for every table: a damaged one is found when it is read."""
    run = load_run(folder)
    for table in schema.RUN_TABLES:
        getattr(run, table)


def test_of_a_finished_run_only_the_table_that_is_asked_for_is_read(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    for path in (tmp_path / "run").glob("*.parquet"):
        if path.name != "pairs.parquet":
            path.write_bytes(b"damagedPAR1")
    run = load_run(tmp_path / "run")
    assert len(run.pairs) == 1 and run.pairs is run.pairs
    for table in ("events", "cases", "summaries"):
        with pytest.raises(RunFolderError, match=rf"{table}.parquet is damaged"):
            getattr(run, table)


def test_the_report_reads_neither_events_nor_times(tmp_path: Path) -> None:
    """Half of the columns of a long run's samples, and all of its events, are for those who look into a case."""
    finished(tmp_path / "run")
    whole = pd.read_parquet(tmp_path / "run" / "samples.parquet")
    whole[["sample_flags", "valid", "checked"]].to_parquet(tmp_path / "run" / "samples.parquet")
    without_checksums(tmp_path / "run")
    for table in ("events", "machine", "checks"):
        (tmp_path / "run" / f"{table}.parquet").write_bytes(b"damagedPAR1")
    for form in ("text", "markdown", "csv"):
        assert "b" in formats.render(load_run(tmp_path / "run"), form)


def without_checksums(folder: Path) -> None:
    """As of a run that was finished before there were any."""
    manifest = json.loads((folder / "manifest.json").read_text())
    files.write_manifest(folder, {name: value for name, value in manifest.items() if name != "sha256"})


@pytest.mark.parametrize("form", ["html", "pytest-benchmark"])
def test_samples_that_were_changed_are_refused_where_some_columns_are_read(tmp_path: Path, form: str) -> None:
    finished(tmp_path / "run")
    path = tmp_path / "run" / "samples.parquet"
    whole = pd.read_parquet(path)
    whole.assign(host_ns=whole["host_ns"] / 2).to_parquet(path)
    with pytest.raises(RunFolderError, match=r"samples\.parquet is damaged"):
        formats.render(load_run(tmp_path / "run"), form)


def test_a_table_that_changed_since_a_part_of_it_was_read_is_refused(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    run, path = load_run(tmp_path / "run"), tmp_path / "run" / "samples.parquet"
    assert len(run.part("samples", ["valid"]))
    whole = pd.read_parquet(path)
    whole.assign(host_ns=whole["host_ns"] / 2).to_parquet(tmp_path / "other")
    (tmp_path / "other").replace(path)
    with pytest.raises(RunFolderError, match="the run has gone on since it was loaded"):
        _ = run.samples


def test_some_columns_of_a_table_are_those_of_the_whole(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    names = ("valid", "case_id")
    part = load_run(tmp_path / "run").part("samples", names)
    run = load_run(tmp_path / "run")
    assert list(part) == [*names] and part.equals(run.samples[[*names]]) and part.equals(run.part("samples", names))


def test_the_rows_of_some_samples_are_those_of_the_whole(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    names = ("sample_id", "start_ns")
    run = load_run(tmp_path / "run")
    part = load_run(tmp_path / "run").part("events", names, samples=[3, 4])
    assert part["sample_id"].tolist() == [3, 4]
    assert part.equals(run.part("events", names, samples=[4, 3]))
    assert part["start_ns"].tolist() == run.events.set_index("sample_id").loc[[3, 4], "start_ns"].tolist()
    assert part["start_ns"].tolist() == run.part("events", names, samples=[3, 4])["start_ns"].tolist()


def test_a_column_that_was_added_later_is_null_where_it_is_asked_for_alone(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    path = tmp_path / "run" / "events.parquet"
    pd.read_parquet(path).drop(columns="over_host_ns").to_parquet(path)
    without_checksums(tmp_path / "run")
    part = load_run(tmp_path / "run").part("events", ["case_id", "over_host_ns"])
    assert len(part) == 20 and part["over_host_ns"].isna().all()


def test_a_newer_schema_asks_for_an_upgrade(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": schema.SCHEMA_VERSION + 1}))
    with pytest.raises(RunFolderError, match=r"schema version 7 and this xebench reads up to 6: upgrade"):
        load_run(tmp_path / "run")


def test_a_version_before_the_last_is_refused(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 4}))
    with pytest.raises(RunFolderError, match=r"schema version 4 and this xebench reads 6: measure again"):
        load_run(tmp_path / "run")


def test_a_required_column_that_is_missing_is_damage(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    path = tmp_path / "run" / "cases.parquet"
    pd.read_parquet(path).drop(columns="family_id").to_parquet(path)
    with pytest.raises(RunFolderError, match=r"cases.parquet is damaged: .* lacks the column family_id"):
        read_all(tmp_path / "run")


@pytest.mark.parametrize("form", ["finished", "unfinished"])
@pytest.mark.parametrize("table", schema.MEASURED)
def test_a_column_that_was_declared_after_a_run_is_null_in_it(
    tmp_path: Path, table: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/extending.md adds a metric or a roof: whatever may be null may be missing, on disk and in a journal."""
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_pair(writer)
        writer.append("events", [event("a", 0, sequence=1)])
        writer.append("machine", [{"first_sample": 0, "last_sample": 9, "changed": ""}])
        if form == "finished":
            writer.finish()
    later = Column("later_ns", "Float64", "Later.", "ns")
    monkeypatch.setitem(schema.TABLES, table, {**schema.TABLES[table], "later_ns": later})
    measured = {**schema.columns(table, measured=True), "later_ns": later}
    monkeypatch.setitem(schema._MEASURED_COLUMNS, table, measured)
    rows = getattr(load_run(tmp_path / "run"), table)
    assert len(rows) and rows["later_ns"].isna().all() and rows["later_ns"].dtype == "Float64"


def test_a_table_that_is_missing_from_a_present_run_is_damage(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    (tmp_path / "run" / "machine.parquet").unlink()
    with pytest.raises(RunFolderError, match="machine.parquet is missing"):
        load_run(tmp_path / "run")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="there is no run folder .*nowhere"):
        load_run(tmp_path / "nowhere")
    with pytest.raises(RunFolderError, match="there is no run folder .*nowhere"):
        RunWriter.resume(tmp_path / "nowhere", {})
    assert not (tmp_path / "nowhere").exists()


def test_a_run_killed_before_its_first_row_is_read(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "run", {}).close()
    (tmp_path / "run" / "journal" / "samples.0001.arrows").unlink()
    assert load_run(tmp_path / "run").samples.empty
    for path in (tmp_path / "run" / "journal").iterdir():
        path.unlink()
    (tmp_path / "run" / "journal").rmdir()
    assert not load_run(tmp_path / "run").complete


def test_what_is_found_out_during_a_run_is_in_its_manifest_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with RunWriter.create(path, MANIFEST) as writer:
        writer.note(concurrent_runs=[{"pid": 7}])
        assert load_run(path).manifest["concurrent_runs"] == [{"pid": 7}]
        assert writer.finish().manifest["concurrent_runs"] == [{"pid": 7}]

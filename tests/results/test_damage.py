"""A run folder that was damaged, or made by a stranger: other measurements are never read, and no link is followed."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from rows_kit import case, write_pair

from xebench.errors import RunFolderError
from xebench.results import Run, RunWriter, journal, load_run, schema
from xebench.results.files import as_csv


def begun(path: Path) -> Path:
    with RunWriter.create(path, {}) as writer:
        write_pair(writer)
    return path


def finished(path: Path) -> Path:
    with RunWriter.create(path, {}) as writer:
        write_pair(writer)
        writer.finish()
    return path


def tables(run: Run) -> list[pd.DataFrame]:
    return [getattr(run, table) for table in schema.RUN_TABLES]


#: Of the last two a flipped bit is another version, and another state.
REFUSALS = "damaged", "schema version", "not a run's manifest"


@pytest.mark.nightly
@pytest.mark.parametrize("make", [begun, finished])
def test_no_flipped_bit_gives_other_measurements(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """It may take the last batch from a journal, as the torn end of a killed run."""
    folder, source = make(tmp_path / "run"), random.Random(1)
    before = tables(load_run(folder))
    measured = {table: journal.read(folder / journal.FOLDER, table) for table in schema.MEASURED}
    told = 0
    for path in sorted([*folder.glob("*.parquet"), *folder.glob("journal/*.arrows"), folder / "manifest.json"]):
        whole = path.read_bytes()
        for _ in range(15 if whole else 0):
            damaged = bytearray(whole)
            damaged[source.randrange(len(whole))] ^= 1 << source.randrange(8)
            path.write_bytes(damaged)
            try:
                found = tables(load_run(folder))
            except RunFolderError as error:
                told += 1
                assert any(words in str(error) for words in REFUSALS) and "\n" not in str(error)
            else:
                if path.suffix == ".arrows":
                    table = path.name.split(".")[0]
                    rows = journal.read(folder / journal.FOLDER, table)
                    assert rows.equals(measured[table].head(len(rows))), path.name
                else:
                    assert all(one.equals(other) for one, other in zip(found, before, strict=True)), path.name
        path.write_bytes(whole)
    assert told > 30


def test_pages_have_checksums_of_their_own(tmp_path: Path) -> None:
    """Where the manifest has none, and where some columns are read of many."""
    folder = finished(tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert sorted(manifest.pop("sha256")) == sorted(
        path.name for path in folder.iterdir() if path.suffix in (".parquet", ".csv", ".json")
    )
    (folder / "manifest.json").write_text(json.dumps(manifest))
    path = folder / "samples.parquet"
    whole = path.read_bytes()
    first_page = whole.index(b"\x28\xb5\x2f\xfd")  # the magic number of zstd
    path.write_bytes(whole[: first_page + 12] + bytes([whole[first_page + 12] ^ 1]) + whole[first_page + 13 :])
    with pytest.raises(RunFolderError, match=r"samples.parquet is damaged \(.*(crc|CRC|checksum)"):
        load_run(folder).part("samples", ("case_id",))


@pytest.mark.parametrize("make", [begun, finished])
def test_a_manifest_is_read_as_it_was_written(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    folder = make(tmp_path / "run")
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "machine": {"cpu": "another"}}))
    with pytest.raises(RunFolderError, match=r"manifest.json is damaged \(its checksum differs\)"):
        load_run(folder)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "elsewhere" / "victim"
    file.parent.mkdir()
    file.write_text("not mine\nhalf a line")
    return file


@pytest.mark.parametrize("name", [".lock", "journal/samples.0001.arrows", "journal"])
def test_a_run_that_goes_on_follows_no_link(tmp_path: Path, victim: Path, name: str) -> None:
    folder = begun(tmp_path / "run")
    target = victim
    if name == "journal":
        target = victim.parent
        shutil.rmtree(folder / name)
    else:
        (folder / name).unlink()
    (folder / name).symlink_to(target)
    with pytest.raises(RunFolderError) as caught:
        RunWriter.resume(folder, {}).close()
    assert "\n" not in str(caught.value)
    assert victim.read_text() == "not mine\nhalf a line"
    assert [path.name for path in victim.parent.iterdir()] == ["victim"]


@pytest.mark.parametrize("table", ["manifest.json", "samples.parquet", "pairs.csv"])
@pytest.mark.parametrize("form", ["{}", ".{}.part"])
def test_files_that_are_written_replace_links(tmp_path: Path, victim: Path, table: str, form: str) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_pair(writer)
        link = tmp_path / "run" / form.format(table)
        link.unlink(missing_ok=True)
        link.symlink_to(victim)
        writer.finish()
    assert victim.read_text() == "not mine\nhalf a line"
    assert not (tmp_path / "run" / table).is_symlink()
    assert load_run(tmp_path / "run").complete


@pytest.mark.parametrize("name", ["manifest.json", "samples.parquet", "journal/samples.0001.arrows", ".lock"])
def test_a_pipe_is_no_file(tmp_path: Path, name: str) -> None:
    folder = (begun if "/" in name else finished)(tmp_path / "run")
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(RunFolderError) as caught:
        tables(load_run(folder))
        RunWriter.create(folder, {}, overwrite=True).close()
    assert "\n" not in str(caught.value)


def test_a_spreadsheet_computes_no_cell() -> None:
    cells = ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\rx", "-1.5e3", "+7", "x=1", ""]
    written = as_csv(pd.DataFrame({"text": pd.array(cells, "string"), "number": range(-5, 5)}))
    read = list(csv.DictReader(io.StringIO(written, newline="")))
    assert [row["text"] for row in read] == [
        "'=1+1", "'+cmd", "'-x", "'@SUM(A1)", "'\tx", "\\rx", "-1.5e3", "+7", "x=1", ""
    ]  # fmt: skip
    assert [int(row["number"]) for row in read] == [*range(-5, 5)]


def test_the_csv_files_of_a_run_hold_no_formula(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write_pair(writer)
        writer.append("cases", [case("b", "optimized", source="=HYPERLINK(1)")])
        writer.finish()
    assert ",=" not in (tmp_path / "run" / "pairs.csv").read_text()

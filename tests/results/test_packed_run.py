"""One file of a run: nobody is named in it, it says what the folder says, and a stranger's does no harm."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_kit import run_here

from xebench.report import formats
from xebench.results import load_run, packed_run, schema
from xebench.results.packed_run import anonymous

FIXTURES = Path(__file__).parent / "fixtures"
FINISHED, KILLED = FIXTURES / "schema-6", FIXTURES / "schema-6-killed"

USER, HOST = "zorro", "quokka17"
HOME = f"/home/{USER}"
PLANTS = [
    f"{HOME}/my project/pattern.py",
    f"cannot open {HOME}/data.bin: no such file",
    f"-I{HOME}/include -o{HOME}/out.bin",
    f"~{USER}/x ../{USER}/y ~/z",
    f"'/opt/{USER}s secret/lib.so' is missing",
    f"{USER}@{HOST}: denied",
    f"connection to {HOST}.example.com refused",
    f"tcp://{HOST}:8786 and 10.20.30.40:8786",
    "someone@example.com wrote this",
    f"run_{USER}_{HOST.upper()}",
]
TRACES = (USER, HOST, "/home", "my project", "secret", "10.20.30.40", "example.com", "tcp://")


@pytest.fixture(autouse=True)
def zorro_packs_on_quokka17(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: USER)
    monkeypatch.setattr("socket.gethostname", lambda: f"{HOST}.example.com")


def tables_of(folder: Path) -> dict[str, pd.DataFrame]:
    run = load_run(folder)
    return {table: getattr(run, table)[[*schema.columns(table)]] for table in schema.RUN_TABLES}


def is_json(column: pd.Series) -> bool:
    return bool(column.dropna().str.match(r"[\[{]").any())


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "run.zip"
    packed_run.write(path, load_run(FINISHED).manifest, tables_of(FINISHED))
    return path


@pytest.mark.parametrize("plant", PLANTS)
def test_no_text_of_any_table_or_of_the_manifest_names_anybody(plant: str) -> None:
    tables, manifest = tables_of(FINISHED), dict(load_run(FINISHED).manifest)
    columns = []
    for table, data in tables.items():
        for name, column in schema.columns(table).items():
            if column.dtype == "string" and name != "driver_version":  # a version of four numbers is no address
                columns.append(f"{table}.{name}")
                value = json.dumps({"a": [plant], plant: 1}) if is_json(data[name]) else plant
                tables[table] = tables[table].assign(**{name: pd.array([value] * len(data), dtype="string")})
    assert len(columns) > 60
    manifest |= {"command": ["run", "--output", plant], "hosts": {plant: {"cpu": plant}}, "ended_by": plant}
    clean, frames, _ = anonymous(manifest, tables)
    told = json.dumps(clean) + "".join(data.to_json() for data in frames.values())
    assert [trace for trace in TRACES if trace in told.lower()] == []


def test_keys_that_name_a_host_stay_equal_in_all_tables() -> None:
    tables = tables_of(FINISHED)
    for table, data in tables.items():
        named = {
            name: data[name] + f"@{HOST}/{data_device}"
            for name in ("case_id", "family_id", "baseline_case_id")
            if name in data
            for data_device in ["opencl:cpu:0"]
        }
        tables[table] = data.assign(**named, **({"host": HOST} if "host" in data else {}))
    _, clean, _ = anonymous({"hosts": {HOST: {}}}, tables)
    assert set(clean["cases"]["host"]) == {"host1"}
    assert set(clean["pairs"]["case_id"]) <= set(clean["cases"]["case_id"])
    expected = tables["cases"]["case_id"].str.replace(HOST, "host1").tolist()
    assert clean["cases"]["case_id"].tolist() == expected


def test_what_names_nobody_is_as_it_was() -> None:
    for folder in (FINISHED, KILLED):
        tables = tables_of(folder)
        _, clean, kept = anonymous(load_run(folder).manifest, tables)
        for table, data in tables.items():
            pd.testing.assert_frame_equal(clean[table], data, check_dtype=False)
        assert kept == []
    _, clean, _ = anonymous({}, {**tables, "devices": tables["devices"].assign(driver_version="10.20.30.40")})
    assert set(clean["devices"]["driver_version"]) == {"10.20.30.40"}


@pytest.mark.parametrize(
    "text", ["a / b", "GB/s", "p/a/smoke//cpu", "p/a/smoke/-/cpu", "n=1;m=2/cpu", "x //y", "1.5/2"]
)
def test_a_slash_that_is_no_path_stays(text: str) -> None:
    tables = tables_of(FINISHED)
    tables["cases"] = tables["cases"].assign(reason=text)
    assert set(anonymous({}, tables)[1]["cases"]["reason"]) == {text}


def test_a_word_of_the_tables_stays_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "kernel")
    tables = tables_of(FINISHED)
    _, clean, kept = anonymous({}, tables)
    assert kept == ["kernel"]
    pd.testing.assert_frame_equal(clean["events"], tables["events"], check_dtype=False)


def test_words_of_the_users_own_are_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(FINISHED, tmp_path / "run"))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "ended_by": "Skunkworks is over"}))
    assert run_here(monkeypatch, "pack-run", folder, "--output", tmp_path / "x.zip", "--without", "skunkworks") == 0
    assert load_run(tmp_path / "x.zip").manifest["ended_by"] == "removed is over"


@pytest.mark.parametrize("folder", [FINISHED, KILLED], ids=lambda folder: folder.name)
def test_it_says_what_the_folder_says(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here(monkeypatch, "pack-run", folder) == 0
    file = Path(f"{folder.name}.zip")
    assert "<html" in formats.render(load_run(file), "html")
    for form in ("text", "markdown", "csv"):  # the others have the manifest too
        one, other = (formats.render(load_run(each), form).replace(str(each), "RUN") for each in (folder, file))
        assert one.replace("(running)", "(interrupted)") == other, form
    capsys.readouterr()
    assert run_here(monkeypatch, "compare", file, folder) == 0
    assert run_here(monkeypatch, "trace", file, load_run(folder).cases["pattern"].iloc[0]) == 0
    assert capsys.readouterr().err == ""
    again = file.read_bytes()
    assert run_here(monkeypatch, "pack-run", file, "--output", tmp_path / "again.zip") == 0
    assert (tmp_path / "again.zip").read_bytes() == again


def test_the_same_run_gives_the_same_bytes(pack: Path, tmp_path: Path) -> None:
    packed_run.write(tmp_path / "other.zip", load_run(FINISHED).manifest, tables_of(FINISHED))
    assert (tmp_path / "other.zip").read_bytes() == pack.read_bytes()


# ---- a stranger's


def entries(pack: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(pack) as file:
        return {name: file.read(name) for name in file.namelist()}


def made(path: Path, contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in contents.items():
            file.writestr(name, content)


def with_a_way_out(path: Path) -> None:
    kept = entries(path)
    made(path, {("../pairs.parquet" if name == "pairs.parquet" else name): kept[name] for name in kept})


def with_one_twice(path: Path) -> None:
    kept = entries(path)
    del kept["pairs.parquet"]
    made(path, kept)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("manifest.json", b"{}")


def with_another_table(path: Path) -> None:
    kept = entries(path)
    made(path, {**kept, "pairs.parquet": kept["cases.parquet"]})


STRANGE: dict[str, Callable[[Path], Any]] = {
    "a path out of it": with_a_way_out,
    "an entry twice": with_one_twice,
    "another table": with_another_table,
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "empty": lambda path: path.write_bytes(b""),
    "no zip": lambda path: path.write_bytes(b"PK" * 1000),
    "a manifest that is none": lambda path: made(path, {**entries(path), "manifest.json": b"[" * 100_000}),
    "of a newer xebench": lambda path: made(path, {**entries(path), "manifest.json": b'{"schema_version": 99}'}),
}


@pytest.mark.parametrize("change", STRANGE)
def test_a_file_that_no_pack_run_wrote_ends_in_one_line(
    pack: Path, change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    STRANGE[change](pack)
    before = sorted(tmp_path.rglob("*"))
    assert run_here(monkeypatch, "report", pack) == 2
    out, error = capsys.readouterr()
    assert not out and error.startswith("xebench: ") and error.count("\n") == 1, error
    assert sorted(tmp_path.rglob("*")) == before


def test_a_pack_cannot_be_gone_on_with(
    pack: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(monkeypatch, "run", "--resume", pack) == 2
    assert capsys.readouterr().err.count("\n") == 1

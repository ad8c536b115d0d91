"""A run folder that a stranger made, or a disk damaged: every command that reads it shows it, or ends in one line.

Where a table was read and its values cannot be drawn, a traceback stands before the line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from command_kit import run_here

from xebench.errors import BrokenEnvironment
from xebench.report import formats

FIXTURES = Path(__file__).parents[1] / "results" / "fixtures"
FINISHED, KILLED = FIXTURES / "schema-6", FIXTURES / "schema-6-killed"
PATTERN = pd.read_parquet(FINISHED / "cases.parquet")["pattern"].iloc[0]
ESCAPES = "\x1b]52;c;cm0gLXJmIH4=\x07\x1b[2J\x9b31m\u202egnp.exe"


def reading_commands(folder: Path) -> Iterator[list[str]]:
    """Every command that reads a run folder."""
    yield from (["report", str(folder), "--format", form] for form in formats.names())
    yield ["report", str(folder), "--verbose"]
    yield ["trace", str(folder), PATTERN]
    yield ["run", "--resume", str(folder)]


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[list[str]], tuple[int, str]]:
    """Runs a command; gives its exit status and what it wrote, after a look that it ended well or in one line."""

    def no_runtime() -> None:
        raise BrokenEnvironment("this is as far as the test goes")

    monkeypatch.setattr("xebench.system.runtime.load", no_runtime)

    def run(command: list[str]) -> tuple[int, str]:
        status, (out, error) = run_here(monkeypatch, *command), capsys.readouterr()
        assert status in (0, 2) or (command[0] == "run" and status in (1, 3)), command
        if status in (2, 3):
            *traceback, error = re.split(r"(?m)^(?=xebench: a bug of xebench, or damage of )", error)
            assert all("Traceback (most recent call last)" in each for each in traceback), command
            lines = error.splitlines() if command[0] == "run" else [error.removesuffix("\n")]  # a run gives notices
            assert all(line.startswith("xebench: ") for line in lines) and not out, (command, error)
            assert all("\n" not in line for line in lines), (command, error)
        return status, out + error

    return run


def copied(source: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return Path(shutil.copytree(source, folder))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 4
    path.write_bytes(whole)


def replaced(path: Path, make: Callable[[Path], Any]) -> None:
    path.unlink()
    make(path)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "truncated": truncated,
    "emptied": lambda path: path.write_bytes(b""),
    "flipped": flipped,
    "linked to itself": lambda path: replaced(path, lambda link: link.symlink_to(link.name)),
    "linked to a device": lambda path: replaced(path, lambda link: link.symlink_to("/dev/zero")),
    "a folder": lambda path: replaced(path, Path.mkdir),
    "a pipe": lambda path: replaced(path, os.mkfifo),
    "deep": lambda path: path.write_bytes(b"[" * 200_000 + b"]" * 200_000 + b"\n"),
    "of a huge number": lambda path: path.write_bytes(b'{"schema_version": ' + b"9" * 10_000 + b"}\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("source", [FINISHED, KILLED], ids=["finished", "killed"])
def test_damaged_files_are_one_line(tmp_path: Path, ends: Any, source: Path, damage: str) -> None:
    # one reader is behind all commands: the next test but one tries them all, with one damage
    told, commands = 0, list(reading_commands(tmp_path / "run"))
    files = sorted(
        path.relative_to(source) for path in source.rglob("*") if path.suffix in (".json", ".parquet", ".arrows")
    )
    for number, file in enumerate(files):
        folder = copied(source, tmp_path / "run")
        DAMAGES[damage](folder / file)
        status, _ = ends(commands[(number + len(damage)) % len(commands)])
        told += status == 2
    assert told or damage == "flipped"  # the fixtures are older than checksums: see test_damage


@pytest.mark.parametrize("version", [5, 1, 0, -1, 10**30])
def test_another_schema_version_is_one_line(tmp_path: Path, ends: Any, version: int) -> None:
    folder = copied(FINISHED, tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schema_version": version}))
    assert [ends(command)[0] for command in reading_commands(folder)].count(2) > len(formats.names())


@pytest.mark.parametrize(("field", "value"), [("created", 2**70), ("finished", "soon")])
def test_a_manifest_of_nonsense_is_one_line(tmp_path: Path, ends: Any, field: str, value: Any) -> None:
    folder = copied(FINISHED, tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, field: value}))
    for command in reading_commands(folder):
        status, text = ends(command)
        assert status == 2 and "manifest.json is" in text, command


def test_a_run_without_a_date_is_compared(tmp_path: Path, ends: Any) -> None:
    folder = copied(FINISHED, tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    for value in (None, ...):
        own = {**manifest, "created": value} if value is None else {k: v for k, v in manifest.items() if k != "created"}
        (folder / "manifest.json").write_text(json.dumps(own))
        status, text = ends(["compare", str(FINISHED), str(folder)])
        assert status == 0 and "run, undated: " in text


def test_half_a_character_is_shown_as_text(tmp_path: Path, ends: Any) -> None:
    folder, page = copied(FINISHED, tmp_path / "run"), tmp_path / "page.html"
    manifest = json.loads((folder / "manifest.json").read_text())
    machine = {**manifest["machine"], "cpu_model": "x\udc80"}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "machine": machine}))
    assert [ends(command)[0] for command in reading_commands(folder)].count(0) >= len(formats.names())
    assert ends(["report", str(folder), "--format", "html", "--output", str(page)])[0] == 0 and page.exists()


def test_a_complete_run_with_an_empty_table_is_one_line(tmp_path: Path, ends: Any) -> None:
    folder = copied(FINISHED, tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "sha256": {}}))
    summaries = pq.read_table(folder / "summaries.parquet")
    pq.write_table(summaries.slice(0, 0), folder / "summaries.parquet", write_page_checksum=True)
    for command in (["report", str(folder)], ["run", "--resume", str(folder)]):
        status, text = ends(command)
        assert status == 2 and "a bug of xebench, or damage of " in text, command


def test_a_name_that_is_too_long_is_one_line(tmp_path: Path, ends: Any) -> None:
    folder = tmp_path / ("x" * 300)
    for command in [*reading_commands(folder), ["run", "--output", str(folder)]]:
        assert ends(command)[0] == 2


def test_escapes_in_names_are_text_in_a_terminal_and_in_errors(tmp_path: Path, ends: Any) -> None:
    folder = copied(FINISHED, tmp_path / f"run{ESCAPES}\n")
    status, text = ends(["report", str(folder)])
    assert status == 0 and r"\u001b]52;c;cm0gLXJmIH4=" in text.replace("\n", "") and "\x1b" not in text
    status, text = ends(["report", str(tmp_path / f"none{ESCAPES}\n")])
    assert status == 2 and r"none\u001b]52;c;cm0gLXJmIH4=\u0007" in text


def test_a_report_does_not_follow_a_link(tmp_path: Path, ends: Any) -> None:
    victim, link = tmp_path / "victim", tmp_path / "report.html"
    victim.write_text("mine")
    link.symlink_to(victim)
    for command in (
        ["report", str(FINISHED), "--output", str(link)],
        ["trace", str(FINISHED), PATTERN, "-o", str(link)],
    ):
        status, text = ends(command)
        assert status == 2 and "cannot be written (it is a link): name another file" in text
    assert victim.read_text() == "mine"

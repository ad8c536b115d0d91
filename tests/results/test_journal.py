"""Rows on the disk as they are measured: nothing lost, nothing damaged, torn tails ignored."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows_kit import case, device, sample

from xebench.errors import RunFolderError
from xebench.results import SchemaError, journal, schema
from xebench.results.journal import Journal

numbers = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
rows = st.lists(
    st.builds(
        lambda variant, number, time_ns, text: sample(variant, number, time_ns or 1.0, span_ns=time_ns, stage=text),
        st.text(max_size=8),
        st.integers(0, 2**62),
        numbers,
        st.one_of(st.none(), st.text(max_size=12)),
    ),
    max_size=8,
)
once = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def fresh(folder: Path) -> Path:
    """A new folder for each example of a property."""
    return folder / str(len(list(folder.iterdir())))


@once
@given(st.lists(rows, max_size=4))
def test_what_was_appended_is_read_back(tmp_path: Path, batches: list[list[dict[str, object]]]) -> None:
    folder = fresh(tmp_path)
    with Journal(folder) as written:
        for batch in batches:
            written.append("samples", batch)
    expected = schema.measured_frame("samples", [row for batch in batches for row in batch])
    assert journal.read(folder, "samples").equals(expected)


@once
@given(rows.filter(bool), st.data())
def test_a_torn_tail_costs_only_the_torn_row_and_writing_goes_on(
    tmp_path: Path, batch: list[dict[str, object]], data: st.DataObject
) -> None:
    folder = fresh(tmp_path)
    with Journal(folder) as written:
        written.append("samples", batch)
    path = folder / "samples.jsonl"
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    kept = batch[: whole[:cut].count(b"\n")]
    assert journal.read(folder, "samples").equals(schema.measured_frame("samples", kept))
    later = sample("later", 1, 2.0)
    with Journal(folder) as resumed:
        resumed.append("samples", [later])
    assert journal.read(folder, "samples").equals(schema.measured_frame("samples", [*kept, later]))


def test_the_lines_of_a_long_run_are_not_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = [sample("naive", number, 1.0) for number in range(3)]
    with Journal(tmp_path) as written:
        written.append("samples", measured)
    monkeypatch.setattr(journal, "_parse", lambda *line: pytest.fail("a line was read alone"))
    assert journal.read(tmp_path, "samples")["sample_id"].tolist() == [0, 1, 2]


def test_the_last_row_of_a_case_or_device_wins_at_the_place_of_the_first(tmp_path: Path) -> None:
    with Journal(tmp_path) as written:
        written.append("cases", [case("a", "naive", status="interrupted"), case("b", "optimized")])
        written.append("cases", [case("a", "naive", status="wrong", reason="2 of 8 differ")])
        written.append("devices", [device(), device(bandwidth_roof_gbps=12.0)])
    found = journal.read(tmp_path, "cases")
    assert list(found["variant"]) == ["a", "b"]
    assert list(found["status"]) == ["wrong", "ok"]
    assert list(journal.read(tmp_path, "devices")["bandwidth_roof_gbps"]) == [12.0]


def test_rows_are_on_the_disk_when_append_returns(tmp_path: Path) -> None:
    with Journal(tmp_path) as written:
        written.append("samples", [sample("a", 0, 5.0)])
        assert len(journal.read(tmp_path, "samples")) == 1
        written.sync()


def test_a_batch_with_a_bad_row_writes_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path) as written:
        with pytest.raises(SchemaError, match=r"samples\.host_ns in row 1"):
            written.append("samples", [sample("a", 0, 5.0), sample("a", 1, 5.0, host_ns="slow")])
        with pytest.raises(SchemaError, match="summaries is not measured"):
            written.append("summaries", [])
    assert journal.read(tmp_path, "samples").empty


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\x00\x00\x00", "damaged at line 2"),
        (b"[1, 2]", "damaged at line 2 .*not a JSON object"),
        (b'{"case_id": "c"}', "damaged at line 2 .*lacks the column sample"),
        (b"\xff\xfe", "damaged at line 2"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    with Journal(tmp_path) as written:
        written.append("samples", [sample("a", 0, 5.0)])
    with (tmp_path / "samples.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(RunFolderError, match=message) as caught:
        journal.read(tmp_path, "samples")
    assert "samples.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(RunFolderError, match="cannot write .*: free space or name another folder with --output"):
        Journal(blocker / "journal")


def test_a_full_disk_is_one_line_and_keeps_what_was_there(tmp_path: Path) -> None:
    """A file size limit stands for the full disk: the write that crosses it comes back short, then fails."""
    program = f"""
        import resource, sys
        sys.path.insert(0, {str(Path(__file__).parents[1] / "kits")!r})
        from pathlib import Path
        from rows_kit import sample
        from xebench.errors import RunFolderError
        from xebench.results.journal import Journal
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        written = Journal(Path({str(tmp_path)!r}))
        for number in range(100):
            try:
                written.append("samples", [sample("a", number, 5.0)])
            except RunFolderError as error:
                print(number, error)
                break
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=True
    )
    count, _, message = done.stdout.strip().partition(" ")
    assert "cannot write" in message
    assert "free space" in message
    assert "\n" not in message
    assert int(count) > 3
    assert list(journal.read(tmp_path, "samples")["sample_id"]) == list(range(int(count)))
    assert (tmp_path / "samples.jsonl").read_bytes().endswith(b"\n")


def test_files_are_not_inherited_by_workers(tmp_path: Path) -> None:
    with Journal(tmp_path) as written:
        assert not any(os.get_inheritable(file) for file in written._files.values())

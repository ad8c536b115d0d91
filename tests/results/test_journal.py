"""Rows on the disk as they are measured: nothing lost, nothing damaged, torn tails ignored."""

import os
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import ipc
from rows_kit import case, device, sample

from xebench.errors import RunFolderError
from xebench.results import SchemaError, journal, schema
from xebench.results.journal import Journal

FIRST = "samples.0001.arrows"

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
@given(st.lists(rows.filter(bool), min_size=1, max_size=4), st.data())
def test_a_torn_end_costs_only_the_torn_batch_and_writing_goes_on(
    tmp_path: Path, batches: list[list[dict[str, object]]], data: st.DataObject
) -> None:
    folder, ends = fresh(tmp_path), []
    with Journal(folder) as written:
        for batch in batches:
            written.append("samples", batch)
            ends.append(written.length)
    path = folder / FIRST
    cut = data.draw(st.integers(0, ends[-1]))
    os.truncate(path, cut)
    kept = [row for batch, end in zip(batches, ends, strict=True) if end <= cut for row in batch]
    assert journal.read(folder, "samples").equals(schema.measured_frame("samples", kept))
    later = sample("later", 1, 2.0)
    with Journal(folder) as resumed:
        resumed.append("samples", [later])
    assert path.stat().st_size == cut, "a session writes to no file of an earlier one"
    assert journal.read(folder, "samples").equals(schema.measured_frame("samples", [*kept, later]))


def test_any_reader_of_arrow_reads_a_stream(tmp_path: Path) -> None:
    with Journal(tmp_path) as written:
        for number in range(3):
            written.append("samples", [sample("naive", number, 1.0)])
    assert ipc.open_stream((tmp_path / FIRST).read_bytes()).read_all()["sample_id"].to_pylist() == [0, 1, 2]


def test_sessions_are_read_in_their_order(tmp_path: Path) -> None:
    for number in range(11):
        with Journal(tmp_path) as written:
            written.append("samples", [sample("naive", number, 1.0)])
    assert journal.read(tmp_path, "samples")["sample_id"].tolist() == [*range(11)]


def test_a_whole_table_is_written_as_its_rows_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_BATCH_ROWS", 4)
    measured = [sample("naive", number, 1.0, stage=None if number % 2 else "build") for number in range(10)]
    with Journal(tmp_path) as written:
        written.append_frame("samples", schema.measured_frame("samples", measured).assign(checked=True))
    assert journal.read(tmp_path, "samples").equals(schema.measured_frame("samples", measured))


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


@pytest.mark.parametrize("place", [0, 2, 5, 700, -1])
def test_a_damaged_batch_before_others_is_named_and_a_last_one_counts_as_torn(tmp_path: Path, place: int) -> None:
    path, ends = tmp_path / FIRST, [0]
    with Journal(tmp_path) as written:
        for number in range(4):
            written.append("samples", [sample("a", number, 5.0)])
            ends.append(written.length)
    whole = path.read_bytes()
    for batch, (begin, end) in enumerate(pairwise(ends)):
        damaged = bytearray(whole)
        damaged[range(begin, end - 7)[place]] ^= 1  # the last bytes are padding
        path.write_bytes(damaged)
        if batch == 3:
            assert journal.read(tmp_path, "samples")["sample_id"].tolist() == [0, 1, 2]
            continue
        with pytest.raises(RunFolderError, match=r"samples.0001.arrows is damaged \(.*\): restore it") as caught:
            journal.read(tmp_path, "samples")
        assert "\n" not in str(caught.value)


def test_an_earlier_versions_journal_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text("{}\n")
    with pytest.raises(RunFolderError, match=r"samples\.jsonl is a journal of an earlier xebench: resume"):
        journal.read(tmp_path, "samples")


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
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
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
    assert ipc.open_stream((tmp_path / FIRST).read_bytes()).read_all().num_rows == int(count)


def test_files_are_not_inherited_by_workers(tmp_path: Path) -> None:
    with Journal(tmp_path) as written:
        assert not any(os.get_inheritable(file) for file in written._files.values())

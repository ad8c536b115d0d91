"""Samples count when a check speaks for them that passed; whatever is missing, forgotten or torn costs samples only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows_kit import case, check, device, sample

from xebench.errors import RunFolderError
from xebench.results import RunWriter, load_run, schema
from xebench.results.analysis.summaries import CheckRow, superseding, with_checked
from xebench.vocabulary import CheckResult

STATES = ("compile", "warmup", "hot", "cold")
A = "p/a/smoke//cpu"


def checked(samples: list[dict[str, Any]], checks: list[CheckRow]) -> list[bool]:
    tables = (
        schema.measured_frame("samples", samples),
        schema.measured_frame("checks", [check._asdict() for check in checks]),
    )
    return with_checked(*tables)["checked"].tolist()


def rows(*states: str) -> list[dict[str, Any]]:
    return [sample("a", number, 100.0, state=state) for number, state in enumerate(states)]


def test_without_a_check_nothing_counts_but_rows_of_compilation() -> None:
    assert checked(rows(*STATES), []) == [True, False, False, False]


def test_a_check_speaks_for_its_case_and_its_numbers() -> None:
    samples = rows("hot", "hot", "hot", "hot")
    assert checked(samples, [check("a", 1, 3)]) == [False, True, True, False]
    assert checked(samples, [check("b", 0, 9)]) == [False] * 4
    assert checked(samples, [check("a", 0, 1), check("a", 3, 4)]) == [True, False, False, True]


def test_the_last_check_that_speaks_for_a_sample_decides() -> None:
    samples = rows("hot", "hot", "hot")
    wrong = check("a", 1, 2, CheckResult.WRONG)
    assert checked(samples, [check("a", 0, 3), wrong]) == [True, False, True]
    assert checked(samples, [wrong, check("a", 0, 3)]) == [True, True, True]


def test_samples_of_a_wrong_program_do_not_count_and_its_compilation_does() -> None:
    assert checked(rows(*STATES), [check("a", 0, 4, CheckResult.WRONG)]) == [True, False, False, False]


def test_what_is_superseded_counts_no_more_with_its_compilation_and_what_comes_after_does() -> None:
    samples = rows(*STATES, *STATES)
    found = checked(samples, [check("a", 0, 4), *superseding([A], end_sample=4), check("a", 4, 8)])
    assert found == [False] * 4 + [True] * 4


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(list(CheckResult))), max_size=6))
def test_only_what_a_check_says_counts(said: list[tuple[int, int, CheckResult]]) -> None:
    found = checked(rows(*["hot"] * 9), [check("a", *one) for one in said])
    last = [next((result for a, b, result in reversed(said) if a <= number < b), None) for number in range(9)]
    assert found == [result == CheckResult.PASSED for result in last]


def write(writer: RunWriter) -> None:
    writer.append("devices", [device()])
    writer.append("cases", [case("a", "naive"), case("b", "optimized")])
    for block in range(10):
        writer.append("samples", [sample("a", 2 * block, 200.0), sample("b", 2 * block + 1, 100.0)])


@pytest.mark.parametrize("finish", [True, False])
def test_a_run_whose_checks_were_forgotten_has_no_results(finish: bool, tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write(writer)
        if finish:
            writer.finish()
    run = load_run(tmp_path / "run")
    assert len(run.samples) == 20 and run.samples["valid"].all() and not run.samples["checked"].any()
    assert set(run.summaries["n"]) == {0}
    assert run.pairs["speedup"].isna().all() and set(run.pairs["blocks"]) == {0}


def test_only_checked_blocks_are_in_the_statistics(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write(writer)
        writer.append_checks([check("a", 0, 20), check("b", 0, 15)])
        run = writer.finish()
    assert run.summaries["n"].tolist() == [10, 7]
    assert run.pairs["blocks"].tolist() == [7]
    assert load_run(tmp_path / "run").samples["checked"].equals(run.samples["checked"])


def test_a_check_that_was_torn_is_none(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write(writer)
        writer.append_checks([check("a", 0, 20)])
        writer.append_checks([check("b", 0, 20)])
    journal = tmp_path / "run" / "journal" / "checks.0001.arrows"
    os.truncate(journal, journal.stat().st_size - 1)
    samples = load_run(tmp_path / "run").samples
    assert set(samples.loc[samples["checked"], "case_id"]) == {A}


def test_a_journal_whose_checks_are_gone_counts_nothing(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        write(writer)
        writer.append_checks([check("a", 0, 20)])
    (tmp_path / "run" / "journal" / "checks.0001.arrows").unlink()
    assert not load_run(tmp_path / "run").samples["checked"].any()


def test_superseding_adds_to_what_is_there_and_changes_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with RunWriter.create(path, {}) as writer:
        write(writer)
        writer.append_checks([check("a", 0, 20), check("b", 0, 20)])
        first = writer.finish("interrupted")
    assert first.summaries["n"].tolist() == [10, 10]
    with RunWriter.resume(path, {}) as writer:
        writer.append("samples", [sample("a", 20, 200.0, state="compile", sample_flags="short")])
        end, _ = writer.next_numbers()
        streams = sorted((path / "journal").glob("samples.*.arrows"))
        before = [stream.read_bytes() for stream in streams]
        for _ in range(2):
            writer.append_checks(superseding([A], end))
        assert [stream.read_bytes() for stream in streams] == before
        writer.append("samples", [sample("a", 21, 300.0)])
        writer.append_checks([check("a", 21, 22)])
        again = writer.finish()
    assert len(again.samples) == 22
    old = again.samples[~again.samples["checked"]]
    assert set(old["case_id"]) == {A} and len(old) == 11 and old["valid"].all()
    by_variant = again.summaries.set_index("variant")
    assert by_variant["n"].to_dict() == {"a": 1, "b": 10}
    assert by_variant.loc["a", "median_ns"] == 300
    assert pd.isna(by_variant["compile_ns"]["a"]), "an earlier session's compilation is not this one's"


def test_a_full_disk_leaves_what_counts_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    with RunWriter.create(path, {}) as writer:
        write(writer)
        writer.append_checks([check("a", 0, 20), check("b", 0, 20)])
        before = writer.finish("interrupted")

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    with RunWriter.resume(path, {}) as writer:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(RunFolderError, match="No space left"):
            writer.append_checks(superseding([A], 20))
        monkeypatch.undo()
    assert load_run(path).samples.equals(before.samples)


def test_numbers_that_a_check_speaks_for_are_not_given_again(tmp_path: Path) -> None:
    """A power loss may take the end of one file of the journal and leave that of another."""
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.append("samples", [sample("a", 3, 200.0)])
        writer.append_checks([check("a", 0, 20)])
    with RunWriter.resume(tmp_path / "run", {}) as writer:
        assert writer.next_numbers()[0] == 20
        writer.append("samples", [sample("a", 20, 200.0)])
    assert load_run(tmp_path / "run").samples["checked"].tolist() == [True, False]

"""Samples that no check followed are kept, and do not count, whenever the folder is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import RunFolderError
from harness.records import RunWriter, load_run, schema
from harness.records.unchecked import Stretch

KINDS = [("compile", ""), ("warmup", ""), ("hot", "short"), ("hot", "superseded"), ("cold", "short,superseded")]


def rows(first: int = 0) -> list[dict[str, Any]]:
    row = dict.fromkeys(schema.columns("samples")) | {"case_id": "c", "block": 0, "valid": True}
    return [{**row, "sample": first + n, "state": state, "flags": flags} for n, (state, flags) in enumerate(KINDS)]


def valid(path: Path) -> list[bool]:
    return load_run(path).samples["valid"].tolist()


def test_other_flags_stay_and_rows_of_compilation_need_no_check(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.append("samples", rows())
        assert valid(tmp_path / "run") == [True] * 5
        writer.note_unchecked([Stretch(("c",), 0)])
    found = load_run(tmp_path / "run").samples
    assert found["flags"].tolist() == ["", "superseded", "short,superseded", "superseded", "short,superseded"]
    assert found["valid"].tolist() == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("stretch", "expected"),
    [
        (Stretch(("c",), 2), [True, True, False, False, False]),
        (Stretch(("c",), 1, 3), [True, False, False, True, True]),
        (Stretch(("other",), 0), [True] * 5),
    ],
)
def test_a_stretch_holds_its_cases_and_numbers(stretch: Stretch, expected: list[bool], tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.append("samples", rows())
        writer.note_unchecked([stretch])
    assert valid(tmp_path / "run") == expected


def test_what_is_checked_meanwhile_counts(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.note_unchecked([Stretch(("c",), 0)])
        writer.append("samples", rows())
        writer.note_unchecked([])
    assert valid(tmp_path / "run") == [True] * 5


@pytest.mark.parametrize("finish", [True, False])
def test_a_later_session_adds_to_what_is_named_and_is_not_held_by_it(finish: bool, tmp_path: Path) -> None:
    path = tmp_path / "run"
    with RunWriter.create(path, {}) as writer:
        writer.append("samples", rows())
        writer.note_unchecked([Stretch(("c",), 3)])
        if finish:
            writer.finish("interrupted")
    with RunWriter.resume(path, {}) as writer:
        writer.append("samples", rows(5))
        assert valid(path)[:5] == [True, True, True, False, False]
        writer.note_unchecked([Stretch(("c",), 9, 10)])
        assert valid(path) == [True, True, True, False, False, True, True, True, True, False]
        writer.finish("complete")
    assert valid(path) == [True, True, True, False, False, True, True, True, True, False]


def test_a_manifest_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", {}) as writer:
        writer.note(unchecked=[{"case_ids": 5}])
    with pytest.raises(RunFolderError, match="'unchecked' is damaged: restore it"):
        load_run(tmp_path / "run")

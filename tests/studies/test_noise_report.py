"""The summary, from a table that is made up."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tools.studies.noise.__main__ import main
from tools.studies.noise.instruments import Observation, ProgramTimes
from tools.studies.noise.known_pairs import CONDITIONS, repetition_pairs
from tools.studies.noise.study_folder import read_data, write_data, write_report
from tools.studies.noise.tallies import PRECISIONS, RULES, TOOLS, XEBENCH
from xebench.errors import RunFolderError

FACTS = {
    "created": "2024-05-17T12:00:00+00:00",
    "device": {"name": "a device", "device": "opencl:cpu:0"},
    "machine": {"cpu_model": "a processor", "usable_cores": 2, "load_average": [0.1, 0.2, 0.3]},
    "plan": {"seconds_per_pair": 0.5},
    "minutes": 12.0,
    "calibration": {
        "usable": True,
        "twenty": 1.19,
        "lengths": [0.5, 1.0],
        "length_ns": 5e5,
        "line": {"trips": 1000, "fixed_share": 0.05, "residual": 0.001},
        "kernels": {"estimate": 1.0, "low": 0.99, "high": 1.01},
    },
    "tools": {"pyperf": "2.10.0"},
}


def made_up(seed: int = 1) -> list[dict[str, Any]]:
    source = random.Random(seed)
    rows = []
    for pair in (pair for repetition in range(3) for pair in repetition_pairs(repetition, seed)):
        truth = {"faster": 1 + pair.excess, "slower": 1 / (1 + pair.excess), "same": 1.0}[pair.answer]
        for tool in (XEBENCH,) if pair.alone else TOOLS:
            ratio = truth * (1 + source.gauss(0, 0.01))
            first, second = ProgramTimes(20, ratio, ratio, ratio, 0.005), ProgramTimes(20, 1.0, 1.0, 1.0, 0.005)
            observation = Observation(first, second)
            if tool in PRECISIONS:
                low, high = ratio - 0.01, ratio + 0.01
                outcome = "faster" if low > 1 else "slower" if high < 1 else "inconclusive"
                observation = Observation(first, second, ratio, low, high, outcome, "noise", "budget")
            rows.append({**vars(pair), "truth": truth, "tool": tool, "seconds": 0.5, **observation.row()})
    return rows


def test_data_survives_and_the_report_is_made_from_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "noise"
    write_data(folder, made_up(), FACTS)
    text = write_report(folder)
    assert {path.name for path in folder.iterdir()} == {"decisions.parquet", "study.json", "summary.md"}
    for rule in RULES:
        assert text.count(f"| {rule.label} |") == len(CONDITIONS)
    assert "too busy" not in text
    assert " nan" not in text
    assert (folder / "summary.md").read_text() == text


def test_the_command_judges_old_data_again(tmp_path: Path) -> None:
    write_data(tmp_path, made_up(), {**FACTS, "calibration": {**FACTS["calibration"], "usable": False}})  # type: ignore[dict-item]
    done = CliRunner().invoke(main, ["--from-data", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "The machine was too busy for the calibration" in done.output


def test_pieces_add_up(tmp_path: Path) -> None:
    rows = made_up()
    load, quiet = ([row for row in rows if row["condition"] == one] for one in ("load", "quiet"))
    write_data(tmp_path, load, {**FACTS, "minutes": 11.0})
    alone = write_report(tmp_path)
    assert "## Under load" in alone and "## Quiet" not in alone and "| quiet: " not in alone
    write_data(tmp_path, quiet, {**FACTS, "minutes": 12.0}, read_data(tmp_path))
    both = write_report(tmp_path)
    assert len(read_data(tmp_path).rows) == len(rows)
    assert "11.0 minutes" in both and "12.0 minutes" in both and both.count("Versions: ") == 2
    assert "## Under load" in both and "## Quiet" in both


def test_a_study_of_the_first_version_is_read(tmp_path: Path) -> None:
    write_data(tmp_path, made_up(), FACTS)
    (tmp_path / "study.json").write_text(json.dumps(FACTS))
    assert list(read_data(tmp_path).pieces) == [FACTS]


def test_a_folder_without_data_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="holds no study"):
        write_report(tmp_path)

"""The summary and the figure, from a table that is made up."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from click.testing import CliRunner

from harness.errors import RunFolderError
from harness.studies.noise import figure
from harness.studies.noise.__main__ import main
from harness.studies.noise.instruments.observation import Observation, Side
from harness.studies.noise.known_pairs import CONDITIONS, EXCESSES, repetition_pairs
from harness.studies.noise.rules import KNOBS, PRECISIONS, RULES, TOOLS
from harness.studies.noise.study_folder import write_data, write_report

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
        for tool in TOOLS:
            ratio = truth * (1 + source.gauss(0, 0.01))
            first, second = Side(20, ratio, ratio, ratio, 0.005), Side(20, 1.0, 1.0, 1.0, 0.005)
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
    assert {path.name for path in folder.iterdir()} == {
        "decisions.parquet",
        "decisions.csv",
        "study.json",
        "noise.svg",
        "summary.md",
    }
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


def test_a_folder_without_data_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="holds no study"):
        write_report(tmp_path)


def test_the_figure_shows_every_condition_and_ratio() -> None:
    root = ElementTree.fromstring(figure.as_svg(pd.DataFrame(made_up())))
    titles = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text") if text.get("font-weight")]
    assert titles == [f"{name}, {excess:.0%} longer" for name in CONDITIONS for excess in EXCESSES if excess]
    lines = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    drawn = len({knob.tool for knob in KNOBS})
    assert len(lines) == drawn * len(titles)


def test_marks_stay_inside_their_panel() -> None:
    for panel in figure.panels(pd.DataFrame(made_up())):
        for line in panel.lines:
            for x, y in (point.split(",") for point in line.points.split()):
                assert 0 <= float(x) <= figure.WIDTH
                assert 0 <= float(y) <= figure.HEIGHT
        assert len(panel.crosses) == len(PRECISIONS)
        for cross in panel.crosses:
            assert cross["left"] <= cross["x"] <= cross["right"]
            assert cross["top"] <= cross["y"] <= cross["bottom"]

"""The summary and the figure, from a table that is made up."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from click.testing import CliRunner

from tools.studies.noise import study_folder
from tools.studies.noise.__main__ import main
from tools.studies.noise.instruments import Observation, ProgramTimes
from tools.studies.noise.known_pairs import CONDITIONS, EXCESSES, repetition_pairs
from tools.studies.noise.study_folder import read_data, write_data, write_report
from tools.studies.noise.tallies import KNOBS, PRECISIONS, RULES, TOOLS, XEBENCH
from xebench.errors import BrokenEnvironment, RunFolderError

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


def test_the_figure_shows_every_condition_ratio_and_tool() -> None:
    root = ElementTree.fromstring(study_folder.as_svg(pd.DataFrame(made_up())))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for title in (f"{name}, {excess:.0%} longer" for name in CONDITIONS for excess in EXCESSES if excess):
        assert texts.count(title) == 1
    for tool in TOOLS:
        assert any(text and text.startswith(f"{tool}, ") for text in texts)
    assert {"5%", "100%", study_folder.FOUND_LABEL} <= set(texts)


def test_equal_data_give_an_equal_figure() -> None:
    rows = pd.DataFrame(made_up())
    assert study_folder.as_svg(rows) == study_folder.as_svg(rows)


def test_marks_stay_inside_their_panel() -> None:
    panels = study_folder.draw(pd.DataFrame(made_up())).axes
    assert [panel.get_title(loc="left") for panel in panels] == [
        f"{name}, {excess:.0%} longer" for name in CONDITIONS for excess in EXCESSES if excess
    ]
    for panel in panels:
        curves = [line for line in panel.lines if any(line.get_label() == f"{k.tool}, {k.name}" for k in KNOBS)]
        assert len(curves) == len({knob.tool for knob in KNOBS})
        lines: Any = panel.lines
        points = [point for line in lines for point in line.get_xydata()]
        collections: Any = panel.collections  # each of lines
        ends = [end for bars in collections for segment in bars.get_segments() for end in segment]
        assert len(panel.containers) == len(PRECISIONS)
        assert len(ends) == 2 * 2 * len(PRECISIONS)
        for x, y in [*points, *ends]:
            assert -1e-9 <= x <= 1 + 1e-9
            assert -1e-9 <= y <= 1 + 1e-9


def test_without_matplotlib_the_summary_is_written_and_the_figure_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_data(tmp_path, made_up(), FACTS)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BrokenEnvironment, match="needs matplotlib: run make install"):
        write_report(tmp_path)
    assert (tmp_path / "summary.md").is_file()


def test_nothing_but_the_figure_imports_matplotlib() -> None:
    code = "import sys, tools.studies.noise.study_folder; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

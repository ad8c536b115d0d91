"""What a run offers beside its tables: one pattern, a timeline, a picture, a comparison, HTML for notebooks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from synthetic import Synthetic, noisy

from xebench.errors import RunFolderError, XebenchError
from xebench.records.claim import Claim, to_json
from xebench.results import Run, load_run

RESULTS = Path(__file__).parents[2] / "results"
KEPT = RESULTS / "cpu-epyc-2-cores"


@pytest.fixture(scope="module")
def run() -> Run:
    return load_run(KEPT)


@pytest.fixture(scope="module")
def swept() -> Run:
    made = Synthetic()
    for n, time in ((1, 500), (2, 250), (4, 125)):
        axis = {"pattern": "p", "parameters": f'{{"n": {n}}}', "preset_parameters": "{}"}
        made.times(made.case("x", "naive", case_id=f"p/x/{n}", family_id=f"p/{n}", **axis), noisy(1000))
        made.times(made.case("y", "optimized", case_id=f"p/y/{n}", family_id=f"p/{n}", **axis), noisy(time, seed=n))
    return made.run()


@pytest.mark.parametrize("folder", ["cpu-epyc-2-cores", "h200-two-devices"])
def test_the_rows_of_one_pattern_are_those_of_the_whole(folder: str) -> None:
    whole = load_run(RESULTS / folder)
    pattern = whole.pairs["pattern"].iloc[0]
    one = whole.of(pattern)
    for table in ("cases", "summaries", "pairs"):
        data = getattr(whole, table)
        expected = data[data["pattern"] == pattern].reset_index(drop=True)
        found = getattr(one, table)
        pd.testing.assert_frame_equal(found, expected[[*found]], check_dtype=False)
    samples = whole.samples[whole.samples["case_id"].isin(one.cases["case_id"])]
    assert one.samples["sample_id"].tolist() == samples["sample_id"].tolist()
    assert one.devices.equals(whole.devices) and len(one.machine) == len(whole.machine)
    assert set(one.checks["case_id"]) == set(one.cases["case_id"]) & set(whole.checks["case_id"])


def test_columns_of_parameters_are_those_of_the_pattern(run: Run) -> None:
    names = [name for name in run.of("slm_bank_conflicts").cases.columns if name.startswith("param_")]
    assert names == ["param_n", "param_steps", "param_stride", "param_work_group_size"]
    assert len([name for name in run.cases.columns if name.startswith("param_")]) > 3 * len(names)


def test_pairs_are_shown_in_brief(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    brief = run.pairs.brief
    assert len(brief) == len(run.pairs) and len(brief.columns) == 12
    assert {"guide", "ours"} <= set(brief["whose"].dropna()) <= {"guide", "ours", "stand-in"}
    rates = run.pairs.merge(run.summaries, on=["case_id", "state"], how="left")["bandwidth_gbps"]
    assert brief["rate_gbps"].fillna(0).tolist() == rates.fillna(0).tolist()
    shown = repr(run.pairs)
    assert max(map(len, shown.splitlines())) <= 80 and "speedup" in shown and len(shown.splitlines()) < 60
    assert "rate_gbps" in run.pairs._repr_html_()
    assert type(run.pairs.head()) is pd.DataFrame


def test_a_pattern_that_is_not_there_is_named_with_what_was_meant(run: Run) -> None:
    with pytest.raises(RunFolderError, match=r"has no pattern 'tiled_matmull': did you mean tiled_matmul\b"):
        run.of("tiled_matmull")


def test_a_run_in_one_line_and_as_html(run: Run) -> None:
    assert repr(run) == f"<Run {KEPT}: {run.cases.pattern.nunique()} patterns, {len(run.cases)} cases, interrupted>"
    page = run._repr_html_()
    assert "157 patterns" in page and "<table" in page and "inverts" in page and len(page) < 20_000


def test_hostile_names_are_text_in_html(run: Run) -> None:
    other = Run(Path("<script>"), run.manifest, run._read)
    assert "<script>" not in other._repr_html_() and "&lt;script&gt;" in other._repr_html_()


def test_a_run_is_compared_with_a_later_one(swept: Run) -> None:
    assert set(swept.compare(swept)["outcome"]) == {"same"}
    assert "before_speedup" in swept.compare(swept, on="speedup")


def test_another_variant_may_be_the_reference() -> None:
    made = Synthetic()
    claims = to_json([Claim("faster"), Claim("faster", against="a")])
    for name, role, time in (("a", "naive", 400), ("b", "optimized", 100), ("c", "optimized", 200)):
        made.times(made.case(name, role, claims=claims if name == "c" else "[]"), noisy(time, seed=time))
    run = made.run().against("b")
    found = run.pairs.set_index(["variant", "baseline"])
    assert found.loc[("c", "b"), "speedup"] == pytest.approx(0.5, rel=0.05)
    assert found.loc[("a", "b"), "speedup"] == pytest.approx(0.25, rel=0.05)
    assert found["claim"].dropna().to_dict() == {("c", "a"): "faster"}, "that about the declared baseline is left out"
    with pytest.raises(RunFolderError, match="has no variant 'bb': did you mean b"):
        run.against("bb")


class TestPlot:
    def test_a_curve_goes_along_what_is_swept(self, swept: Run) -> None:
        plot = swept.plot("p")
        rows = plot.spec["data"]["values"]
        assert [row["x"] for row in rows] == [1, 2, 4] and plot.spec["encoding"]["x"]["title"] == "n"
        assert [row["y"] for row in rows] == pytest.approx([2, 4, 8], rel=0.05)
        assert swept.plot("p", along="n").spec == plot.spec

    def test_variants_stand_beside_one_another_where_nothing_is_swept(self, run: Run) -> None:
        names = [row["name"] for row in run.plot("atomics_dtype").spec["data"]["values"]]
        assert "in_int32 over in_float64" in names and len(set(names)) == len(names)

    def test_notebooks_show_it_and_files_hold_all_that_it_needs(self, swept: Run, tmp_path: Path) -> None:
        plot = swept.plot("p")
        shown = plot._repr_mimebundle_(include=None, exclude=None)
        assert shown["application/vnd.vegalite.v5+json"] == plot.spec
        assert shown["text/plain"].startswith("speed-up along n: y from 2 at 1 ")
        plot.save(tmp_path / "plot.json")
        assert json.loads((tmp_path / "plot.json").read_text()) == plot.spec
        plot.save(tmp_path / "plot.html")
        page = (tmp_path / "plot.html").read_text()
        assert "src=" not in page.split("vegaEmbed(")[-1] and "speed-up along n" in page
        with pytest.raises(XebenchError, match=r"saved as .html, .json, .png, .svg, not .pdf"):
            plot.save(tmp_path / "plot.pdf")

    def test_a_picture_needs_vl_convert(self, swept: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        with pytest.raises(XebenchError, match="saved as .png by vl-convert: pip install vl-convert-python"):
            swept.plot("p").save(tmp_path / "plot.png")

    def test_pictures_are_drawn(self, swept: Run, tmp_path: Path) -> None:
        pytest.importorskip("vl_convert", reason="an extra: plot")
        plot = swept.plot("p")
        plot.save(tmp_path / "plot.png")
        plot.save(tmp_path / "plot.svg")
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "plot.svg").read_text() and "image/png" in plot._repr_mimebundle_()

    def test_what_cannot_be_drawn_is_named(self, swept: Run, run: Run) -> None:
        with pytest.raises(XebenchError, match="no parameter 'm' with numbers: known are n"):
            swept.plot("p", along="m")
        with pytest.raises(XebenchError, match="immediate_command_lists has no speed-up to draw"):
            run.plot("immediate_command_lists")

"""Two runs side by side: `xebench compare`, and what its exit status gates on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from changed_run import changed
from click.testing import CliRunner, Result
from synthetic import Synthetic

import xebench.results
from xebench.cli.report_commands import FOUND, compare
from xebench.report.comparison import FORMATS, RunComparison
from xebench.results import Run
from xebench.results.run_plot import vega

RunOf = Callable[..., Run]

#: Of the run after: the cached variant takes longer than the plain one, which is as it was.
SLOWER = (40_000, 60_000, 5_000)


@pytest.fixture
def after(run_of: RunOf) -> Run:
    return run_of("after", *SLOWER)


def invoke(before: Run, after: Run, *options: str) -> Result:
    return CliRunner().invoke(compare, [str(before.path), str(after.path), *options], standalone_mode=False)


def test_what_changed_comes_first_and_the_rest_is_counted(run: Run, after: Run) -> None:
    text = invoke(run, after).output
    assert (
        "4 cases, threshold 5 %: 1 slower, 1 not compared, 2 the same; geometric mean of the 3 that are decided 0.69x"
        in " ".join(text.split())
    )
    (changed,) = (line.split() for line in text.splitlines() if line.startswith("convolution/"))
    assert changed[:2] == ["convolution/cached", "slower"] and changed[2:10:2] == ["20.0", "60.0", "+40.0", "0.333x"]
    assert "convolution/plain" in invoke(run, after, "--verbose").output


def test_a_name_without_room_stands_above_its_figures_and_no_word_breaks(run: Run, after: Run) -> None:
    lines = FORMATS["text"](RunComparison(run, after, "time", 0.05), every=True, width=64).splitlines()
    at = lines.index("convolution/")
    assert lines[at + 1].split()[:2] == ["cached", "slower"]
    assert max(map(len, lines)) <= 64


def test_a_speed_up_is_compared_by_pairs(run: Run, after: Run) -> None:
    text = invoke(run, after, "--on", "speedup").output
    (changed,) = (line.split() for line in text.splitlines() if line.startswith("convolution/"))
    assert changed[:4] == ["convolution/cached", "against", "plain", "slower"]
    assert changed[4:7] == ["2.00x", "0.67x", "0.333x"]


def test_what_slows_both_sides_is_no_change_of_a_speed_up(run: Run, run_of: RunOf) -> None:
    twice = run_of("twice", 80_000, 40_000, 10_000)
    assert RunComparison(run, twice, "time", 0.05).count_changes("slower") == 3
    assert RunComparison(run, twice, "speedup", 0.05).count_changes("slower") == 0


def test_answers_that_turned_are_told(run: Run, after: Run) -> None:
    text = invoke(run, after, "--on", "answer").output
    assert "2 answers: 1 turned, 1 as before" in text
    assert "holds" in text and "inverts" in text and "histogram" not in text


@pytest.mark.parametrize(
    ("on", "kind", "status"),
    [
        ("time", "slower", FOUND),
        ("speedup", "slower", FOUND),
        ("time", "answer", FOUND),
        ("answer", "answer", FOUND),
        ("time", "missing", 0),
        ("answer", "missing", 0),
    ],
)
def test_the_status_is_what_was_asked_for(on: str, kind: str, status: int, run: Run, after: Run) -> None:
    done = invoke(run, after, "--on", on, "--fail-on", kind)
    assert done.return_value == status
    assert (f"xebench: --fail-on {kind}: 1 found" in done.output) == bool(status)
    assert invoke(run, after, "--on", on).return_value == 0
    assert invoke(run, run, "--on", on, "--fail-on", kind).return_value == 0


def test_a_change_below_the_threshold_is_none(run: Run, run_of: RunOf) -> None:
    little = run_of("little", 40_000, 21_500, 5_000)
    statuses = [invoke(run, little, "--fail-on", "slower", "--threshold", each).return_value for each in ("5%", "10%")]
    assert statuses == [FOUND, 0]


def test_a_pattern_has_a_threshold_of_its_own(
    run: Run, run_of: RunOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    little = run_of("little", 40_000, 21_500, 5_000)
    given = ("--fail-on", "slower", "--threshold", "5%", "--threshold", "conv*=10%")
    done = invoke(run, little, *given)
    assert done.return_value == 0 and "threshold 5 %, conv* 10 %" in done.output
    assert invoke(run, little, *given, "--threshold", "convolution=1%").return_value == FOUND, "a name before a glob"
    (tmp_path / "pyproject.toml").write_text('[tool.xebench]\nthresholds = { convolution = "10%" }\n')
    monkeypatch.chdir(tmp_path)
    assert invoke(run, little, "--fail-on", "slower").return_value == 0
    assert invoke(run, little, "--threshold", "conv*=x").exit_code != 0


def test_names_choose_the_patterns_that_are_compared(run: Run, after: Run) -> None:
    text = invoke(run, after, "hist*", "--verbose").output
    assert "histogram/" in text and "convolution" not in text
    assert "has no pattern 'hysto'" in str(invoke(run, after, "hysto").exception)


def test_a_difference_in_time_stands_beside_the_ratio(run: Run, after: Run) -> None:
    text = invoke(run, after).output
    assert "+40.0 us" in text and "difference" in text
    assert "difference" not in invoke(run, after, "--on", "speedup").output


def test_the_page_has_a_chart_of_the_changes(run: Run, after: Run) -> None:
    page = FORMATS["html"](RunComparison(run, after, "time", 0.05))
    spec = json.loads(page.rpartition('vegaEmbed("#chart", ')[2].partition(", { actions")[0])
    assert {row["name"] for row in spec["data"]["values"]} == {
        "convolution/plain",
        "convolution/cached",
        "histogram/plain",
    }


def test_a_case_that_is_not_measured_any_more_is_missing(run: Run, run_of: RunOf) -> None:
    fewer = run_of("fewer", 40_000, 20_000)
    done = invoke(run, fewer, "--fail-on", "missing")
    assert done.return_value == FOUND
    assert "histogram/plain" in done.output, "it is shown without --verbose"


@pytest.mark.parametrize("status", ["error", "wrong", "crashed", "timeout"])
def test_a_case_that_failed_in_the_new_run_is_found_whatever_was_asked(
    status: str, run: Run, run_of: RunOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_broken = run.cases["case_id"].str.startswith("convolution/cached")
    cases = run.cases.assign(status=run.cases["status"].mask(is_broken, status), reason="why")
    broken = changed(run, cases=cases, path=run_of("broken").path)
    runs = {each.path: each for each in (run, broken)}
    monkeypatch.setattr(xebench.results, "load_run", runs.__getitem__)
    done = invoke(run, broken, "--fail-on", "slower")
    assert done.return_value == FOUND
    reason = "xebench: --fail-on: 1 failed in the new run: convolution/cached"
    assert reason in done.output and reason in invoke(run, broken, "--fail-on", "slower", "--quiet").output
    assert invoke(run, broken).return_value == 0
    assert RunComparison(broken, changed(broken), "time", 0.05).newly_failed() == [], "it failed before"


@pytest.mark.parametrize(("failed", "count"), [("none", 0), ("old:", 0), ("new:", 1)])
def test_of_two_versions_the_new_one_may_not_fail(failed: str, count: int) -> None:
    made = Synthetic()
    for version in ("old:", "new:"):
        status = "error" if version == failed else "ok"
        made.case(f"{version}plain", "baseline", status=status, reason="why" if status == "error" else None)
    run = made.run()
    assert len(RunComparison(run, run, "time", 0.05).newly_failed()) == count


def test_formats_machine_readable_have_every_row(run: Run, after: Run) -> None:
    data = json.loads(invoke(run, after, "--format", "json").output)
    assert [row["outcome"] for row in data["rows"]] == ["same", "slower", "same", "none"]
    assert data["threshold"] == 0.05 and data["before"] == str(run.path)
    table = list(csv.DictReader(io.StringIO(invoke(run, after, "--format", "csv").output)))
    assert [row["variant"] for row in table] == ["plain", "cached", "plain", "broken"]
    page = invoke(run, after, "--format", "html").output.replace(vega(), "")
    assert page.count("<tr>") == 5 and "http" not in page


def test_markdown_is_a_table(run: Run, after: Run, tmp_path: Path) -> None:
    file = tmp_path / "out.md"
    done = invoke(run, after, "--format", "markdown", "--output", str(file))
    assert done.return_value == 0
    rows = [line for line in file.read_text().splitlines() if line.startswith("|")]
    assert len(rows) == 3 and rows[2].startswith("| slower | convolution/cached | 20.0 us | 60.0 us |")


def test_names_of_strangers_are_text(run: Run, after: Run) -> None:
    comparison = RunComparison(run, after, "time", 0.05)
    hostile = [{**row, "variant": "<script>x</script>\x1b[31m"} for row in comparison.rows]
    vars(comparison)["rows"] = hostile
    assert FORMATS["html"](comparison).count("<script>") == 1, "the page's own"
    assert "\x1b" not in FORMATS["text"](comparison, every=True)


@pytest.mark.parametrize(
    ("text", "reads"), [("5", False), ("-1%", False), ("nan", False), ("0.05", True), ("0%", True)]
)
def test_a_threshold_is_a_part(text: str, reads: bool, run: Run) -> None:
    done = invoke(run, run, "--threshold", text)
    assert (done.exception is None) == reads
    assert reads or "write 5% or 0.05" in str(done.exception)


def test_runs_that_share_nothing_end_in_a_line(run: Run, run_of: RunOf) -> None:
    other = run_of("other", *SLOWER)
    for name in ("cases", "pairs"):
        table = pd.read_parquet(other.path / f"{name}.parquet").assign(device_class="cpu")
        table.to_parquet(other.path / f"{name}.parquet")
    manifest = json.loads((other.path / "manifest.json").read_text())
    (other.path / "manifest.json").write_text(json.dumps({**manifest, "sha256": {}}))
    assert "have no case in common: compare runs of the same patterns" in str(invoke(run, other).exception)

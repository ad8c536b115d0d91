"""The report as a page."""

from __future__ import annotations

import html
import html.parser
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from changed_run import changed
from swept_run import swept, todays
from synthetic import Synthetic, noisy

from xebench.records.claim import Claim, to_json
from xebench.report import units
from xebench.report.formats import html as page_format
from xebench.report.remarks import SIGNS
from xebench.report.result_rows import sorted_pairs
from xebench.report.run_summary import gains
from xebench.results import Run, load_run
from xebench.results.run_plot import vega
from xebench.vocabulary import Answer

RESULTS = Path(__file__).resolve().parents[2] / "results"


def render(run: Run) -> str:
    """The page without the library that draws its charts."""
    whole = page_format.render(run)
    assert whole.count(vega()) == 1
    return whole.replace(vega(), "")


def charts(page: str) -> list[dict[str, Any]]:
    """The specifications of its charts."""
    return [json.loads(html.unescape(found)) for found in re.findall(r"data-spec='(.*?)'", page)]


def said(page: str) -> list[str]:
    """Sentences that describe its charts."""
    return [chart["description"] for chart in charts(page)]


class Checker(html.parser.HTMLParser):
    """Follows open elements, and collects anchors and links."""

    void = frozenset({"meta", "br", "col", "link", "input", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in self.void:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        assert "src" not in named, f"{tag} loads something"
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named["href"] or ""] if "href" in named else []


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert checker.stack == []
    assert len(set(checker.ids)) == len(checker.ids)
    return checker


def test_a_run_that_its_budget_ended_is_not_called_interrupted(run: Run) -> None:
    ended = changed(run, manifest={**run.manifest, "state": "interrupted", "ended_by": "run budget"})
    assert ", ended by its run budget. A speed-up" in render(ended)


def test_the_page_is_well_formed_and_needs_nothing_else(run: Run) -> None:
    page = render(run)
    checker = checked(page)
    guide = "https://www.intel.com/content/www/us/en/docs/oneapi/optimization-guide-gpu/2024-0/overview.html"
    assert page.count(guide) == page.count(f'<a href="{guide}">') == 1, "a reader may follow it"
    assert all(link.startswith("#") or link in ("data:,", guide) for link in checker.links), "it loads something"
    assert "url(" not in page and "@import" not in page
    assert "0.17.0" in page, "provenance is part of the page"


def test_every_pattern_has_an_anchor_and_its_place_in_the_guide(run: Run) -> None:
    page = render(run)
    checker = checked(page)
    assert {"convolution", "histogram"} <= set(checker.ids)
    assert {link[1:] for link in checker.links if link.startswith("#")} <= set(checker.ids), "no link leads nowhere"
    assert page.count('<p class="where">SLM / Cache') == 2


def test_the_page_escapes_what_a_pattern_says(run: Run) -> None:
    run.cases.loc[3, "reason"] = "<script>alert(1)</script>"
    assert render(run).count("<script>") == 1, "the page's own"


def test_patterns_of_names_that_look_alike_have_anchors_of_their_own() -> None:
    made = Synthetic()
    for name in ("a b", "a-b", "<script>alert(1)</script>", "page:choose"):
        made.times(made.case("one", "naive", pattern=name), noisy(100))
        made.times(made.case("other", "optimized", pattern=name), noisy(50))
    checker = checked(render(made.run()))
    assert {"a-b", "a-b.2", "-script-alert-1-script-", "page-choose"} <= set(checker.ids)


def test_a_chapters_mean_is_of_the_guides_claims_and_counts_a_pattern_once() -> None:
    made = Synthetic()
    for pattern, times in {"a": [500, 125], "b": [1000]}.items():  # 4x in the mean, and 1x
        made.times(made.case("naive", "naive", pattern=pattern, chapter="slm"), noisy(1000))
        for number, time in enumerate(times):
            claims = to_json([Claim("faster", source="G 1")])
            named = {"pattern": pattern, "chapter": "slm", "claims": claims}
            made.times(made.case(f"v{number}", "optimized", **named), noisy(time, seed=number + 1))
    ours = {"pattern": "b", "chapter": "slm", "claims": to_json([Claim("faster", strength="ours")])}
    made.times(made.case("ours", "optimized", **ours), noisy(10))
    run = made.run()
    mean, patterns = gains(sorted_pairs(run))["slm"]
    assert mean == pytest.approx(2, rel=0.02) and patterns == 2
    assert f'<td class="n">{units.ratio(mean)} (2)</td>' in render(run)


def test_answers_have_signs_and_are_what_the_filter_sees(all_answers: Run) -> None:
    page = render(all_answers)
    (tokens,) = re.findall(r'data-answers="(.*?)"', page)
    for answer in set(Answer) - {Answer.NOT_ASKED}:
        key = answer.replace(" ", "-")
        assert f'<td class="answer {key}">{SIGNS[answer]} {answer}</td>' in page
        assert key in re.split(r"[!@ ]+", tokens)
    assert {"holds!", "holds!@", "inverts!"} <= set(tokens.split())


def test_an_answer_of_several_instances_is_sure() -> None:
    assert 'data-answers="holds! inverts!' in render(swept()) or 'data-answers="holds! no-effect!' in render(swept())


def test_the_guides_figure_is_beside_ours(all_answers: Run) -> None:
    page = render(all_answers)
    assert "2.9x on Max 1550 (G 4530)" in page
    drawn = [row["guide"] for chart in charts(page) for row in chart["data"]["values"] if row.get("guide")]
    assert drawn == [2.9, 2.9], "in the overview and in the pattern's chart"


def test_what_an_answer_rests_on_is_said_once(all_answers: Run) -> None:
    told = re.findall(r'<td class="why">(.*?)</td>', render(swept()) + render(all_answers), re.DOTALL)
    assert any("blocks of" in each for each in told)
    assert all(each.count("blocks of") <= 1 for each in told)


def test_curves_are_drawn_over_a_swept_parameter() -> None:
    page = render(swept())
    labels = [label for label in said(page) if " along " in label]
    assert [label.split(":")[0] for label in labels] == [
        "speed-up along stride (hot, smoke)",
        "GB/s along stride (hot, smoke)",
    ]
    assert re.search(r"padded from (1|0\.99\d|1\.0\d*) at 1 to (2\.9\d*|3|3\.0\d*) at 16", labels[0])
    assert "plain from" in labels[1] and "padded from" in labels[1]


def test_every_case_has_its_distribution_its_samples_and_a_timeline() -> None:
    page = render(swept())
    labels = said(page)
    assert sum(label.startswith("distribution of the samples: plain median") for label in labels) == 3
    assert sum(label.startswith("samples in order: plain changes by") for label in labels) == 3
    assert page.count("500 of 700 samples") == 6
    assert labels.count("plain (naive), stride=1, 100 us: q0 kernels 1 in 100 us") == 1
    assert "6 cases under the roofs of fp32" in page


def test_the_code_is_shown_where_it_is_what_was_measured() -> None:
    page = render(todays("slm_bank_conflicts"))
    checked(page)
    assert '<table class="code">' in page and "older program" not in page
    assert "kapi.LocalAccessor" in page and "global loads" in page


@pytest.mark.parametrize(
    ("sha256", "reason"),
    [("0" * 64, "the pattern&#39;s file has changed since it was measured"), (None, "the run keeps no hash")],
)
def test_code_that_may_be_another_is_not_shown(sha256: str | None, reason: str) -> None:
    page = render(swept("slm_bank_conflicts", "benchmarks/slm/slm_bank_conflicts.py:12", sha256))
    assert f"Older program: {reason}" in page
    assert '<table class="code">' not in page and "global loads" not in page
    assert "SLM lies in 16 banks" in page, "the lesson is the same"


def test_a_file_that_a_run_names_is_neither_read_nor_executed(tmp_path: Path) -> None:
    path = tmp_path / "evil.py"
    path.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    page = render(swept("evil", f"{path}:1", "0" * 64))
    assert "The pattern&#39;s file is not at hand" in page
    assert not (tmp_path / "executed").exists() and "open(" not in page


@pytest.mark.nightly
@pytest.mark.slow
def test_the_whole_suites_page_is_small() -> None:
    run = load_run(RESULTS / "cpu-epyc-2-cores")
    page = render(run)
    assert len(page.encode()) < 10e6
    assert page.count('<details class="pattern"') == run.pairs["pattern"].nunique()
    checked(page)


def schemes(page: str) -> list[dict[str, str]]:
    """The colours of the light and of the dark page, by name."""
    return [dict(re.findall(r"--([\w-]+): (#\w{6})", root)) for root in re.findall(r":root \{(.*?)\}", page, re.DOTALL)]


def luminance(colour: str) -> float:
    """As the Web Content Accessibility Guidelines (2.1) define it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_can_be_read_on_light_and_on_dark_pages(run: Run) -> None:
    light, dark = schemes(render(run))
    assert light.keys() == dark.keys()
    under = {"page", "panel"}
    pairs = {
        *itertools.product(light.keys() - {*under, "line", "removed", "added", "mark"}, under),
        *(("text", other) for other in ("removed", "added", "mark")),
    }
    for scheme in (light, dark):
        for name, behind in pairs:
            high, low = sorted((luminance(scheme[name]), luminance(scheme[behind])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, f"{name} on {behind}"


def test_the_roofline_names_both_axes_and_its_points_in_words(run: Run) -> None:
    page = render(run)
    roofs = [chart for chart in charts(page) if "under the roofs" in chart["description"]]
    assert all(chart["encoding"]["x"]["title"] == "operations per byte" for chart in roofs)
    assert all(chart["encoding"]["y"]["title"] == "GFLOP/s" for chart in roofs)
    titles = [row["title"] for chart in roofs for row in chart["data"]["values"]]
    assert titles and all("work_group_size=256: " in title and "{" not in title for title in titles)

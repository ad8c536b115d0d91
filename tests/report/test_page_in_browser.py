"""The page in a browser: what is drawn, what can be reached, and what the filter shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from optional import needs
from swept_run import todays
from synthetic import Synthetic, noisy

from tools.screenshots import Page, browser
from xebench.records.claim import Claim, to_json
from xebench.report.formats.html import render
from xebench.results import Run, load_run

pytestmark = [needs("chromium"), pytest.mark.slow]

HOSTILE = "<script>alert(1)</script>"
RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


def show(page: Page, folder: Path, run: Run, *, width: int = 1280, dark: bool = False, anchor: str = "") -> Path:
    """Open a run's page; nothing may be said, asked or loaded."""
    file = folder / "report.html"
    file.write_text(render(run), encoding="utf-8")
    page.look(width, 900, dark=dark)
    page.open(file, anchor)
    assert page.console == []
    return file


def drawn(page: Page) -> list[tuple[str, float, int]]:
    """Label, width and number of parts of each chart that is not hidden, once all are drawn."""
    found: list[tuple[str, float, int]] = page.value(
        """(async () => {
          const charts = [...document.querySelectorAll("[data-spec]")].filter((e) => e.checkVisibility());
          for (const chart of charts) {
            chart.scrollIntoView();
            while (!chart.querySelector("svg")) await new Promise(requestAnimationFrame);
          }
          return charts.map((e) => [
            e.getAttribute("aria-label"),
            e.querySelector("svg").getBoundingClientRect().width,
            e.querySelectorAll("path, line").length,
          ]);
        })()"""
    )
    assert page.console == []
    return found


def shown(page: Page) -> list[str]:
    """The patterns that are not hidden, from the top down."""
    found: list[str] = page.value(
        "[...document.querySelectorAll('details.pattern')].filter(e => e.checkVisibility()).map(e => e.id)"
    )
    return found


def choose(page: Page, **values: Any) -> list[str]:
    """Set controls of the form, as a user does."""
    for name, value in values.items():
        page.value(
            f"(() => {{ const control = document.forms[0].elements[{json.dumps(name)}];"
            f"control[control.type == 'checkbox' ? 'checked' : 'value'] = {json.dumps(value)};"
            "document.forms[0].dispatchEvent(new Event('input')); })()"
        )
    return shown(page)


def three() -> Run:
    """Three patterns whose claims hold, invert, and have no effect."""
    made = Synthetic()
    for name, factor in (("holding", 4.0), ("inverting", 0.25), ("without", 1.0)):
        instances = [block // 5 for block in range(20)]
        claims = to_json([Claim("faster", on=("gpu",) if name == "inverting" else ())])
        made.times(made.case("plain", "naive", pattern=name), noisy(1e5 * factor, seed=1), instances=instances)
        made.times(
            made.case("better", "optimized", pattern=name, claims=claims), noisy(1e5, seed=2), instances=instances
        )
    return made.run()


def test_every_chart_is_drawn_and_has_words(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, todays("slm_bank_conflicts"), anchor="slm_bank_conflicts")
    page.value("document.querySelectorAll('details').forEach(e => e.open = true)")
    charts = drawn(page)
    assert len(charts) > 12
    assert all(label and width > 50 and parts for label, width, parts in charts)
    for word in ("speed-ups of", "along stride", "distribution", "samples in order", "roofs of fp32", "q0 kernels"):
        assert any(word in label for label, *_ in charts), word


def test_hostile_names_are_text(page: Page, tmp_path: Path) -> None:
    made = Synthetic(name=HOSTILE)
    for variant, role in ((HOSTILE, "naive"), ("'\"&lt;", "optimized")):
        hostile = {"pattern": HOSTILE, "chapter": HOSTILE, "guide": HOSTILE}
        case = made.case(variant, role, parameters=json.dumps({HOSTILE: HOSTILE}), **hostile)
        made.times(case, noisy(1e5), flags=[HOSTILE])
        made.sample(case, state="traced", device_ns=1e5)
        made.event((0, 100_000), kind=HOSTILE, queue=HOSTILE)
    show(page, tmp_path, made.run(), anchor="-script-alert-1-script-")
    page.value("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert len(drawn(page)) > 4
    assert page.value("document.scripts.length") == 1
    assert page.value("document.querySelector('details.pattern h3').textContent") == HOSTILE
    assert page.value("document.querySelector('details.pattern').open")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_no_wider_than_the_window(page: Page, tmp_path: Path, width: int, dark: bool) -> None:
    show(page, tmp_path, todays("slm_bank_conflicts"), width=width, dark=dark)
    page.value("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert max(wide for _, wide, _ in drawn(page)) < width
    assert page.value("document.documentElement.scrollWidth") == width
    behind = page.value("getComputedStyle(document.body).backgroundColor")
    assert behind == ("rgb(22, 24, 28)" if dark else "rgb(255, 255, 255)")


def test_the_filter_shows_what_fits(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, three())
    assert choose(page) == ["holding", "inverting", "without"]
    assert choose(page, answer="inverts") == ["inverting"]
    assert page.value("document.getElementById('page:count').textContent") == "1 of 3 patterns"
    assert choose(page, here=True) == [], "it is claimed of GPUs"
    assert choose(page, here=False, answer="no-effect") == ["without"]
    assert choose(page, answer="holds", sure=True) == ["holding"]
    assert choose(page, answer="open") == []
    assert choose(page, answer="all", sure=False, words="INVERT") == ["inverting"]


def test_the_order_changes_and_comes_back(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, three())
    assert choose(page, order="gain") == ["holding", "without", "inverting"]
    assert choose(page, order="loss") == ["inverting", "without", "holding"]
    assert page.value("[...document.querySelectorAll('section.chapter')].every(e => e.hidden)")
    assert choose(page, order="chapter") == ["holding", "inverting", "without"]
    assert page.value("document.querySelectorAll('section.chapter details.pattern').length") == 3


def test_the_keyboard_reaches_and_opens_a_pattern(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, three())
    for _ in range(40):
        page.press("Tab")
        if page.value("document.activeElement.matches('details.pattern > summary')"):
            break
    assert page.value("document.activeElement.parentElement.id") == "holding"
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid", "the focus is seen"
    page.press("Enter")
    assert page.value("document.getElementById('holding').open")


def test_a_link_to_a_pattern_opens_it_whatever_is_chosen(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, three())
    choose(page, answer="holds")
    page.value(
        "new Promise(done => { addEventListener('hashchange', () => setTimeout(done)); location.hash = 'without' })"
    )
    assert page.value("document.getElementById('without').open") and "without" in shown(page)


def test_without_scripts_every_pattern_is_there_and_no_dead_control(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "plain.html"
    file.write_text(render(three()).partition("<script>")[0], encoding="utf-8")
    page.open(file)
    assert shown(page) == ["holding", "inverting", "without"]
    assert not page.value("document.forms[0].checkVisibility()")


def test_the_whole_suites_page_loads_in_silence(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, load_run(RESULTS / "cpu-epyc-2-cores"))
    assert len(shown(page)) == page.value("document.querySelectorAll('details.pattern').length") > 100
    assert len(drawn(page)) > 100
    page.value("document.getElementById('page:open').click()")
    assert page.console == []

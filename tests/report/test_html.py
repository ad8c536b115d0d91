"""The report as a page."""

from __future__ import annotations

import html.parser
import re

import pytest
from changed_run import changed

from xebench.report.answer_words import SIGNS
from xebench.report.formats.html import PLOT_WIDTH, interval_mark, position, render
from xebench.tables import Run
from xebench.vocabulary import Answer


class Checker(html.parser.HTMLParser):
    """Follows open elements, and collects anchors and links."""

    void = frozenset({"meta", "br", "col"})

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
    return checker


def test_a_run_that_its_budget_ended_is_not_called_interrupted(run: Run) -> None:
    ended = changed(run, manifest={**run.manifest, "state": "interrupted", "ended_by": "run budget"})
    assert ", ended by its run budget. A speed-up" in render(ended)


def test_the_page_is_well_formed_and_needs_nothing_else(run: Run) -> None:
    page = render(run)
    checker = checked(page)
    assert all(link.startswith("#") for link in checker.links), "it loads something"
    assert "0.17.0" in page, "provenance is part of the page"


def test_every_pattern_has_an_anchor_and_its_place_in_the_guide(run: Run) -> None:
    page = render(run)
    checker = checked(page)
    assert {"convolution", "histogram"} <= set(checker.ids)
    assert len(set(checker.ids)) == len(checker.ids)
    assert {link[1:] for link in checker.links} <= set(checker.ids), "no link leads nowhere"
    assert page.count("SLM / Cache") == 2


def test_the_page_escapes_what_a_pattern_says(run: Run) -> None:
    run.cases.loc[3, "reason"] = "<script>alert(1)</script>"
    assert "<script>" not in render(run)


def test_answers_have_signs(all_answers: Run) -> None:
    page = render(all_answers)
    for answer in set(Answer) - {Answer.NOT_ASKED}:
        assert f'<td class="answer {answer.replace(" ", "-")}">{SIGNS[answer]} {answer}</td>' in page


def test_the_plot_is_logarithmic_and_clips() -> None:
    assert position(1) == PLOT_WIDTH / 4
    assert position(64) == PLOT_WIDTH == position(1e9)
    assert position(1 / 4) == 0 == position(0)
    assert position(4) - position(2) == pytest.approx(position(2) - position(1))


@pytest.mark.parametrize(
    ("ends", "below", "above", "known"),
    [
        ((2.0, 1.9, 2.1), False, False, True),
        ((100.0, 90.0, 110.0), False, True, True),
        ((60.0, 50.0, 70.0), False, True, True),
        ((0.1, None, None), True, False, False),
    ],
)
def test_what_is_beyond_the_plot_is_marked(
    ends: tuple[float | None, float | None, float | None], below: bool, above: bool, known: bool
) -> None:
    mark = interval_mark(ends)
    assert mark is not None
    assert (mark["below"], mark["above"], mark["known"]) == (below, above, known)


def test_marks_of_clipping_are_drawn_where_something_is_clipped(all_answers: Run) -> None:
    assert render(all_answers).count('class="beyond"') == 1, "of a_thousand_times"
    assert interval_mark((None, None, None)) is None


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
    for scheme in (light, dark):
        for name in scheme.keys() - {"page", "line"}:
            high, low = sorted((luminance(scheme[name]), luminance(scheme["page"])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, name


def test_the_roofline_names_both_axes_and_its_points_in_words(run: Run) -> None:
    page = render(run)
    assert ">operations per byte</text>" in page and ">GFLOP/s</text>" in page
    titles = re.findall(r"<title>(convolution.*?)</title>", page)
    assert titles and all("work_group_size=256: " in title and "{" not in title for title in titles)

"""The page's beginning: chapters with what became of their claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xebench.report import units
from xebench.report.answer_words import SIGNS
from xebench.report.page.families import ReportFamily
from xebench.report.page.pattern_view import PatternView
from xebench.report.result_rows import text
from xebench.report.run_advice import gains


@dataclass(frozen=True)
class Chapter:
    """A chapter: its patterns, answers (sign, word, count, part), and the mean of what the guide calls faster."""

    name: str
    anchor: str
    patterns: Sequence[PatternView]
    counts: Sequence[tuple[str, str, int, float]]
    mean: str


def chapters(views: Sequence[PatternView]) -> list[Chapter]:
    """The chapters of some patterns, in their order."""
    groups: dict[str, list[PatternView]] = {}
    for view in views:
        groups.setdefault(view.chapter, []).append(view)
    return [_chapter(number, name, own) for number, (name, own) in enumerate(groups.items(), 1)]


def _chapter(number: int, name: str, views: Sequence[PatternView]) -> Chapter:
    families: list[ReportFamily] = [each.family for view in views for each in view.families]
    pairs = [pair for family in families for pair in family.pairs]
    answers = Counter(pair.line.answer for pair in pairs if text(pair.row["claim"]))
    total = sum(answers.values())
    counts = [
        (sign, answer, answers[answer], 100 * answers[answer] / total)
        for answer, sign in SIGNS.items()
        if answers[answer]
    ]
    mean, patterns = gains(pair.row for pair in pairs).get(name, (None, 0))
    words = f"{units.ratio(mean)} ({patterns})" if mean else "-"
    return Chapter(name or "without a chapter", f"chapter-{number}", views, counts, words)

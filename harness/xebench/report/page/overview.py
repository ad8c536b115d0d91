"""The page's beginning: chapters with what became of their claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xebench.report import units
from xebench.report.answer_words import SIGNS
from xebench.report.page.families import Family, Pair
from xebench.report.page.pattern_view import PatternView
from xebench.report.result_rows import text
from xebench.vocabulary import Outcome


@dataclass(frozen=True)
class Chapter:
    """A chapter: anchor, patterns, answers (sign, word, count, part of all), and the mean speed-up of its advice."""

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
    families: list[Family] = [each.family for view in views for each in view.families]
    pairs = [pair for family in families for pair in family.pairs]
    answers = Counter(pair.line.answer for pair in pairs if text(pair.row["claim"]))
    total = sum(answers.values())
    counts = [
        (sign, answer, answers[answer], 100 * answers[answer] / total)
        for answer, sign in SIGNS.items()
        if answers[answer]
    ]
    return Chapter(name or "without a chapter", f"chapter-{number}", views, counts, _mean(pairs))


def _mean(pairs: Sequence[Pair]) -> str:
    """The geometric mean of the speed-ups that the claims "faster" are about; "-" where there is none."""
    known = [
        math.log(pair.line.ends[0])
        for pair in pairs
        if text(pair.row["claim"]) == Outcome.FASTER and pair.line.ends[0] is not None and pair.line.ends[0] > 0
    ]
    return f"{units.ratio(math.exp(sum(known) / len(known)))} ({len(known)})" if known else "-"

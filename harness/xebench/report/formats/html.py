"""A run as one HTML file that needs nothing else: an overview by chapter, and every detail of each pattern."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from xebench.records.points import Row, rows
from xebench.report.page import code, figures
from xebench.report.page.families import ReportFamily, RunSamples, SourcePrograms, by_pattern
from xebench.report.page.figures import CaseUnderRoofs, timelines
from xebench.report.page.pattern_view import TIME_HEADINGS, PatternView, chapters, pattern_view
from xebench.report.remarks import SIGNS, failures, notes
from xebench.report.result_rows import device_line, sorted_pairs
from xebench.report.run_summary import (
    NAMED,
    answer_sentences,
    headline,
    helping,
    highlights,
    hurting,
    is_small,
    state,
)
from xebench.report.table_forms import fill
from xebench.results import Run
from xebench.results.analysis.answer import FEW
from xebench.results.run_plot import vega
from xebench.results.speedup_charts import Estimate, Spec, forest, strip


def render(run: Run) -> str:
    """The whole page."""
    families = by_pattern(run)
    anchors = _anchors(families)
    under = figures.under_roofs(run)
    views = _views(run, families, anchors, under)
    return fill(
        "xebench.report",
        "run.html.j2",
        run=run,
        run_name=run.path.name,
        headline=headline(run),
        state=state(run),
        answers=answer_sentences(run),
        highlights=highlights(run),
        extremes=_extremes(run),
        anchors=anchors,
        device=device_line(run),
        notes=notes(run),
        chapters=chapters(views),
        signs=SIGNS,
        few=f"{FEW:g}",
        axis=strip([], "speed-ups: slower left of 1, faster right of it"),
        time_headings=TIME_HEADINGS,
        code_headings=[*code.COLUMNS],
        compiler=code.compiler(),
        failures=failures(run),
        roofs=[*figures.charts(under, anchors)],
        facts=_facts(run.manifest),
        vega=Markup(vega()),
    )


def _extremes(run: Run) -> list[tuple[str, Spec]]:
    """The charts of what helps and hurts most, each with its heading; none of a run of few patterns."""
    pairs = [] if is_small(run) else sorted_pairs(run)
    sides = (("Helps most", helping(pairs)), ("Hurts most", hurting(pairs)))
    return [(title, forest([*filter(None, map(_estimate, own[:NAMED]))])) for title, own in sides if own]


def _estimate(pair: Mapping[Any, Any]) -> Estimate | None:
    return Estimate.of(pair, f"{pair['pattern']}/{pair['variant']}")


def _views(
    run: Run, families: Mapping[str, list[ReportFamily]], anchors: Mapping[str, str], under: Iterable[CaseUnderRoofs]
) -> list[PatternView]:
    measured, programs = RunSamples(run), SourcePrograms()
    cases: dict[str, list[Row]] = {}
    for case in rows(run.cases):
        cases.setdefault(case["pattern"], []).append(case)
    placed: dict[str, list[CaseUnderRoofs]] = {}
    for each in under:
        placed.setdefault(each.pattern, []).append(each)
    executions = measured.executions([_first_family(cases[pattern], own) for pattern, own in families.items()])
    flags = measured.flags()
    return [
        pattern_view(
            pattern,
            anchors[pattern],
            own,
            cases[pattern],
            measured,
            programs=programs,
            under=placed.get(pattern, []),
            timelines=timelines(events),
            flags=flags,
        )
        for (pattern, own), events in zip(families.items(), executions, strict=True)
    ]


def _first_family(cases: Iterable[Row], families: Iterable[ReportFamily]) -> list[Row]:
    """The cases whose executions are shown: of the first family that has samples."""
    first = next((family.family_id for family in families if family.state), None)
    return [case for case in cases if case["family_id"] == first]


def _anchors(patterns: Iterable[str]) -> dict[str, str]:
    """An anchor of each pattern that no other has; those of the page itself have a colon."""
    met: Counter[str] = Counter()
    found: dict[str, str] = {}
    for pattern in patterns:
        word = re.sub(r"[^\w.-]+", "-", pattern)
        met[word] += 1
        found[pattern] = word if met[word] == 1 else f"{word}.{met[word]}"
    return found


def _facts(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The manifest as rows of name and value, nested names joined by dots."""
    found: list[tuple[str, str]] = []
    for name, value in manifest.items():
        if isinstance(value, Mapping):
            found += [(f"{name}.{inner}", text) for inner, text in _facts(value)]
        elif isinstance(value, list | tuple):
            found.append((name, " ".join(map(str, value))))
        else:
            found.append((name, str(value)))
    return found

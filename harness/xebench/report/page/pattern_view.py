"""Everything that the page shows of one pattern, and the chapters at the page's beginning."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from xebench.patterns.declaration import PatternInfo
from xebench.patterns.registry import is_builtin
from xebench.records import points
from xebench.records.claim import from_json
from xebench.records.points import Row
from xebench.report import units
from xebench.report.claims_text import claim_source, describe_claim
from xebench.report.page import code as shipped_code
from xebench.report.page import program_charts
from xebench.report.page.code import SideBySide, side_by_side
from xebench.report.page.families import Pair, ReportFamily, RunSamples, SourcePrograms
from xebench.report.page.figures import CaseUnderRoofs, Chart, Timeline, charts, curves
from xebench.report.page.program_charts import VariantSamples
from xebench.report.remarks import SIGNS, obstacle
from xebench.report.result_rows import number, part_of_roof, text
from xebench.report.run_summary import gains
from xebench.results.speedup_charts import Estimate, Spec, colours, forest, strip
from xebench.vocabulary import JUDGED, REMEDIES, TIME_CLAIMS, Answer

#: Headings of the table of times, after the variant.
TIME_HEADINGS: Final = (
    *("samples", "median", "95 % of the median", "fastest", "drift", "outliers", "of its nearest roof", "compilation"),
)


@dataclass(frozen=True)
class PairView:
    """A row of the table: the pair, and what the answer rests on."""

    pair: Pair
    why: str


@dataclass(frozen=True)
class FamilyView:
    """A family's part of the tables, with the sizes that no other has, and the charts of its samples."""

    family: ReportFamily
    sizes: str
    pairs: Sequence[PairView]
    times: Sequence[Sequence[str]]
    charts: Sequence[Spec]


@dataclass(frozen=True)
class PatternView:
    """A pattern: see the template ``pattern.html.j2`` for what each part is."""

    name: str
    anchor: str
    chapter: str
    section: str
    sizes: str
    info: PatternInfo | None
    obstacle: str
    families: Sequence[FamilyView]
    strip: Spec | None
    forest: Spec | None
    counts: Sequence[tuple[str, str, int]]
    tokens: str
    gain: float
    loss: float
    off_guide: float
    curves: Sequence[Spec]
    roofs: Sequence[Chart]
    timelines: Sequence[Timeline]
    code: Sequence[SideBySide]
    claims: Sequence[tuple[str, str]]
    generated: Sequence[tuple[str, str, str, Sequence[Any]]]
    kernels: Sequence[Sequence[str]]
    flags: Sequence[tuple[str, str, str, str]]
    provenance: Sequence[tuple[str, str]]


def pattern_view(
    name: str,
    anchor: str,
    families: Sequence[ReportFamily],
    cases: Sequence[Row],
    measured: RunSamples,
    *,
    programs: SourcePrograms,
    under: Sequence[CaseUnderRoofs],
    timelines: Sequence[Timeline],
    flags: Mapping[str, tuple[int, Counter[str]]],
) -> PatternView:
    """The view of a pattern.

    Args:
        name: name of the pattern.
        anchor: anchor for links to the view.
        families: its families, in order.
        cases: its rows of the table `cases`.
        measured: the run's samples.
        programs: source files of today and of the run.
        under: the pattern's cases under the roofs.
        timelines: timelines of the pattern's executions.
        flags: number of samples and count of each flag, by case.
    """
    pairs = [pair for family in families for pair in family.pairs]
    estimates = _estimates(families)
    info = programs.measured(cases[0])
    answers = Counter(pair.line.answer for pair in pairs)
    by_variant = colours(case["variant"] for case in cases)
    shared, own = _sizes(families)
    decided = [pair for pair in pairs if pair.line.answer in JUDGED and text(pair.row["claim"]) in TIME_CLAIMS]
    return PatternView(
        name=name,
        anchor=anchor,
        chapter=families[0].head.chapter,
        section=families[0].head.section,
        sizes=shared,
        info=programs.today(cases[0]),
        obstacle=programs.obstacle(cases[0]),
        families=[
            _family(family, sizes, measured, cases, by_variant) for family, sizes in zip(families, own, strict=True)
        ],
        strip=strip(estimates, _strip_label(name, pairs)) if estimates else None,
        forest=forest(estimates) if estimates else None,
        counts=[(sign, answer, answers[answer]) for answer, sign in SIGNS.items() if answers[answer]],
        tokens=" ".join(sorted({pair.token for pair in pairs})),
        gain=max((number(pair.row["speedup_low"]) or 0.0 for pair in decided), default=0.0),
        loss=min((number(pair.row["speedup_high"]) or 1e9 for pair in decided), default=1e9),
        off_guide=max((abs(math.log(each)) for pair in pairs if (each := number(pair.row["of_guide"]))), default=0.0),
        curves=curves(families, by_variant),
        roofs=[*charts(under, colours=by_variant)],
        timelines=timelines,
        code=side_by_side(info) if info else (),
        claims=_claims(cases),
        generated=shipped_code.figures(name) if info and is_builtin(info.source) else (),
        kernels=[row for case in cases for row in _kernels(case)],
        flags=[row for case in cases for row in _flags(case, *flags.get(case["case_id"], (0, Counter())))],
        provenance=_provenance(cases),
    )


def _estimates(families: Sequence[ReportFamily]) -> list[Estimate]:
    """The estimates of a pattern's families; of several families each has in its name what distinguishes them."""
    names = dict.fromkeys(name for family in families for name in family.point)
    varied = [name for name in names if len({str(family.point.get(name)) for family in families}) > 1]
    found = []
    for family in families:
        point = points.words({name: family.point[name] for name in varied if name in family.point})
        for pair in family.pairs:
            if estimate := pair.estimate:
                found.append(replace(estimate, name=": ".join(filter(None, (point, estimate.name)))))
    return found


def _sizes(families: Sequence[ReportFamily]) -> tuple[str, list[str]]:
    """The sizes that all families share, and the others of each."""
    each = [family.head.axes.split(", ") for family in families]
    shared = [size for size in each[0] if all(size in sizes for sizes in each)]
    return ", ".join(shared), [", ".join(size for size in sizes if size not in shared) for sizes in each]


def _strip_label(name: str, pairs: Sequence[Pair]) -> str:
    told = (f"{pair.line.label} {pair.line.speedup}: {pair.line.answer}" for pair in pairs if pair.estimate)
    return f"speed-ups of {name}: {'; '.join(told)}"


def _family(
    family: ReportFamily, sizes: str, measured: RunSamples, cases: Sequence[Row], palette: Mapping[str, str]
) -> FamilyView:
    by_variant = {summary["variant"]: summary for summary in family.summaries}
    ids = {case["variant"]: case["case_id"] for case in cases if case["family_id"] == family.family_id}
    found = [measured.samples(ids[name], family.state, name, palette[name]) for name in by_variant if name in ids]
    sampled: list[VariantSamples] = [each for each in found if each]
    return FamilyView(
        family,
        sizes,
        [_pair(pair) for pair in family.pairs],
        [_times(summary) for summary in family.summaries if summary["median_ns"]],
        [program_charts.distribution(sampled), program_charts.samples_in_order(sampled)] if sampled else [],
    )


def _pair(pair: Pair) -> PairView:
    row = pair.row
    blocks, instances = number(row["blocks"]), number(row["instances"])
    sampled = f"{blocks:.0f} blocks of {instances or 1:.0f} instances" if blocks and pair.estimate else ""
    told = obstacle(row) if pair.line.answer in (*JUDGED, Answer.NO_CLAIM) else pair.line.reason
    return PairView(pair, "; ".join(filter(None, (told, "" if "blocks of" in told else sampled))))


def _times(summary: Row) -> list[str]:
    drift = summary["drift"]
    return [
        f"{summary['variant']} ({summary['role']})",
        str(summary["n"]),
        units.duration(summary["median_ns"]),
        _ends(summary["low_ns"], summary["high_ns"]),
        units.duration(summary["min_ns"]),
        "-" if drift is None else f"{100 * drift:+.2f} %",
        str(summary["outliers"] or 0),
        " of ".join((part_of_roof(number(summary["roof_fraction"])), text(summary["nearest_roof"])))
        if summary["roof_fraction"]
        else "-",
        units.duration(number(summary["compile_ns"])),
    ]


def _ends(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{units.duration(low)} to {units.duration(high)}"


def _claims(cases: Sequence[Row]) -> list[tuple[str, str]]:
    """Each claim once: the variant, the claim's words, and its source."""
    found = (
        (f"{case['variant']} is {describe_claim(claim)}", claim_source(claim))
        for case in cases
        for claim in from_json(case["claims"])
    )
    return [*dict.fromkeys(found)]


def _kernels(case: Row) -> list[list[str]]:
    return [
        [
            case["variant"],
            points.words(points.point(case)),
            kernel["name"],
            str(kernel.get("compiler") or kernel.get("language") or ""),
            str(kernel.get("max_sub_group_size") or "-"),
            _extent(kernel.get("global_size")),
            _extent(kernel.get("local_size")) or "the driver's",
            str(kernel.get("local_bytes", 0)),
            kernel.get("build_options") or "-",
            str(kernel.get("spirv_sha256") or "")[:12],
        ]
        for kernel in json.loads(case["kernels"] or "[]")
    ]


def _extent(size: Sequence[int] | None) -> str:
    return " x ".join(map(str, size or ()))


def _flags(case: Row, samples: int, counts: Counter[str]) -> list[tuple[str, str, str, str]]:
    remedies = {str(flag): remedy for flag, remedy in REMEDIES.items()}
    return [
        (
            case["variant"],
            points.words(points.point(case)),
            f"{flag} in {100 * count / samples:.3g} %",
            remedies.get(flag, ""),
        )
        for flag, count in counts.most_common()
    ]


def _provenance(cases: Sequence[Row]) -> list[tuple[str, str]]:
    """Facts that are the same for all cases, or of each in turn."""
    names = {
        "file": "source",
        "hash of the file and its imports": "source_sha256",
        "metric": "metric",
        "preset": "preset",
        "parameters": "parameters",
        "where parameters are from": "parameters_from",
        "environment": "environment",
        "seed": "seed",
        "data sets": "data_sets",
        "least traffic, bytes": "bytes_moved",
        "least operations": "operations",
        "working set, bytes": "working_set_bytes",
        "sampling ended by": "stopped_by",
        "ran on": "devices",
    }
    return [
        (heading, "; ".join(values))
        for heading, column in names.items()
        if (values := list(dict.fromkeys(str(case[column]) for case in cases if case[column] not in (None, "", "{}"))))
    ]


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

"""The result table of every format: one row a pair under its family's baseline, with the occupancy of its launch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import Any, Final

import pandas as pd

from xebench.records import points
from xebench.records.device_facts import MEMORY, ROOF_DOUBT, Roof, levels_of
from xebench.records.points import DeviceKey, Row, by_device, device_key, rows
from xebench.records.points import rows as rows_of
from xebench.report import units
from xebench.report.case_remarks import case_remarks, tolerance_words
from xebench.report.remarks import asides, classes, guide_words, is_stand_in, obstacle, sentence
from xebench.results import Run
from xebench.results.analysis.compilers import short_name
from xebench.system.gpus import GpuError, GpuParameters, gpu_of_device
from xebench.system.occupancy import LaunchShape, UnsupportedLaunch, drivers_work_group, occupancy_of
from xebench.vocabulary import DeviceClass, State, Status, Strength, find_baseline


def occupancies(run: Run) -> dict[str, dict[str, str]]:
    """The predicted occupancy of each case, as text, by family_id and variant; cases without a prediction are left out.

    It is the average over the waves of a kernel's work-groups; of several kernels, the lowest and the highest.
    """
    known = {name: gpu for name, gpu in _gpus(run).items() if gpu is not None}
    if not known:
        return {}
    found: dict[str, dict[str, str]] = {}
    for case in rows(run.cases):
        if device_key(case) in known and (words := _words(case["kernels"], known[device_key(case)])):
            found.setdefault(case["family_id"], {})[case["variant"]] = words
    return found


def _gpus(run: Run) -> dict[DeviceKey, GpuParameters | None]:
    devices = run.devices[run.devices["device_class"] == DeviceClass.GPU]
    return {key: _gpu(row) for key, row in by_device(devices).items()}


def _gpu(device: Mapping[Any, Any]) -> GpuParameters | None:
    """The GPU of a row of `devices`; None where the catalogue has none of its name, or not with so many engines."""
    try:
        return gpu_of_device(str(device["name"]), int(device["compute_units"]))
    except (GpuError, TypeError):
        return None


def _words(kernels: Any, gpu: GpuParameters) -> str:
    launches = json.loads(kernels) if isinstance(kernels, str) else []
    parts = [part for part in (_average(launch, gpu) for launch in launches) if part is not None]
    if len(parts) < len(launches) or not parts:
        return ""
    lowest, highest = (units.percent(part) for part in (min(parts), max(parts)))
    return lowest if lowest == highest else f"{lowest} to {highest}"


def _average(kernel: Mapping[str, Any], gpu: GpuParameters) -> float | None:
    """The occupancy of one kernel's first launch; None if the run did not keep it, or the model has no such launch."""
    width, extents = kernel.get("max_sub_group_size"), kernel.get("global_size")
    if not width or not extents:
        return None
    items, local = prod(extents), kernel.get("local_size")
    shape = LaunchShape(
        work_group_size=prod(local) if local else drivers_work_group(items, gpu),
        sub_group_size=width,
        slm_bytes=kernel.get("local_bytes", 0),
        # kernels that share memory use a barrier; others may as well, but only groups of one thread would show that
        barriers=int(kernel.get("local_bytes", 0) > 0),
        global_size=items,
        large_grf=any(option in kernel["build_options"] for option in ("large-register-file", "256-GRF")),
    )
    try:
        return occupancy_of(shape, gpu).average_device_occupancy
    except UnsupportedLaunch:
        return None


#: A speed-up and the ends of its interval, where they are known.
Ends = tuple[float | None, float | None, float | None]

UNKNOWN: Final[Ends] = (None, None, None)

#: Share of overlapping command time from which reports mention it.
LEAST_OVERLAP: Final = 0.01

#: GB/s and GFLOP/s from which a rate is shown: the lesson is not about smaller ones.
LEAST_RATE: Final = 0.01


@dataclass(frozen=True)
class ResultRow:
    """One line of the result table, as text. The baseline's own line has no answer.

    Attributes:
        chapter, pattern, axes: pattern of the line, and its point on the axes.
        metric: metric of the times and speed-ups.
        baseline: the variant that the family's speed-ups are counted from.
        variant, role: the program.
        time: time of one execution. A variant has the baseline's time divided by the speed-up, so that the three agree.
        time_ns: the time as a number.
        rate: bandwidth and operations, as ``37.4 GB/s, 235 GFLOP/s``; "" if the pattern does not count them.
        compiling: compile time of the kernels; "" if none were compiled.
        against: variant on the other side, if not the baseline.
        speedup, interval: speed-up and its interval, as text; without an interval the number of blocks.
        ends: interval as numbers.
        roof: share of the nearest roof that the case reaches, with its name; "-" if unknown.
        overlap: share of the time with two or more commands at once, or the reason why it is unknown; "" for families
            on one queue without overlap.
        copies: bandwidth of copies between host and device, with its share of the link's; "" if unknown.
        error: largest error relative to the tolerances; "" if no result was compared.
        occupancy: predicted occupancy of the launch; "" if unknown, as on a CPU device.
        answer: the bare word.
        claim: the claim's word; "" without a claim.
        claimed_for: classes of devices: "GPUs"; "" for all.
        claimed_by: see `claimant`.
        guide: the guide's figure and the lines that say it: "2.9x on Max 1550 (G 4530)".
        section: the place of the lesson in the guide; of the baseline's line alone.
        obstacle: short reason why there is no answer or no speed-up.
        asides: short remarks beside the answer: the obstacle, the guide's figure, the claim.
        reason: the whole sentence.
        pair: its row of the table `pairs`; empty for a baseline.
        summary: its rows of `cases` and `summaries` in one, where it is compared with nothing; otherwise empty.
    """

    chapter: str
    pattern: str
    axes: str
    metric: str
    baseline: str
    variant: str
    role: str
    time: str = ""
    time_ns: float | None = None
    rate: str = ""
    compiling: str = ""
    against: str = ""
    speedup: str = ""
    interval: str = ""
    ends: Ends = UNKNOWN
    roof: str = ""
    overlap: str = ""
    copies: str = ""
    error: str = ""
    occupancy: str = ""
    answer: str = ""
    claim: str = ""
    claimed_for: str = ""
    claimed_by: str = ""
    guide: str = ""
    section: str = ""
    obstacle: str = ""
    asides: tuple[str, ...] = ()
    reason: str = ""
    pair: Mapping[Any, Any] = field(default_factory=dict, repr=False)
    summary: Row = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """The variant, with what it is compared with where that is not the baseline."""
        return f"{self.variant} against {self.against}" if self.against else self.variant

    @property
    def source(self) -> str:
        """The source of the claim, with the guide's figure and lines: ``guide: 2.9x on Max 1550 (G 4530)``, or
        ``ours``.
        """
        return f"{self.claimed_by}: {self.guide}" if self.claimed_by and self.guide else self.claimed_by


def result_rows(run: Run) -> list[ResultRow]:
    """The rows of a run by chapter, pattern and axes; each group begins with its baseline."""
    rows: list[ResultRow] = []
    known = occupancies(run)
    cases = {case["case_id"]: case for case in rows_of(run.cases)}
    variants = {(case["family_id"], case["variant"]): case for case in cases.values()}
    remarked = case_remarks(run)
    several_hosts = run.devices["host"].nunique() > 1
    families: dict[str, list[Row]] = {}
    for summary in rows_of(run.summaries):
        families.setdefault(summary["family_id"], []).append(summary)
    for (family_id, state), group in groupby(sorted_pairs(run), key=_family):
        pairs = list(group)
        of_any_state = families[family_id]
        summaries = [summary for summary in of_any_state if text(summary["state"]) == state]
        baseline = _baseline_row(pairs, [*summaries, *of_any_state])
        family = [baseline, *(_row(pair, baseline.variant) for pair in pairs)]
        family = _with_copies(_with_overlap(_with_rates(family, summaries, cases), summaries), summaries)
        family = [_with_remarks(row, variants.get((family_id, row.variant)), remarked) for row in family]
        family = [replace(row, axes=_with_host(row.axes, pairs[0])) for row in family] if several_hosts else family
        occupancy = known.get(family_id, {})
        rows += _with_occupancy(family, [occupancy.get(row.variant, "") for row in family])
    return sorted([*rows, *_alone(run, families, cases)], key=lambda row: row.chapter)


def _alone(run: Run, families: Mapping[str, Sequence[Row]], cases: Mapping[str, Row]) -> Iterator[ResultRow]:
    """The rows of measured variants of families that compare nothing."""
    compared = {pair["family_id"] for pair in sorted_pairs(run)}
    for family_id, summaries in families.items():
        for summary in summaries if family_id not in compared else ():
            if summary["median_ns"]:
                alone = {**cases[summary["case_id"]], **summary}
                row = _baseline_row([{**alone, "baseline": alone["variant"], "baseline_ns": None}], [summary])
                (row,) = _with_rates([row], [summary], cases)
                yield replace(row, chapter=text(alone["chapter"]), summary=alone)


def _with_remarks(row: ResultRow, case: Row | None, remarked: Mapping[str, Sequence[str]]) -> ResultRow:
    """The row with its error beside the tolerance, and with what is remarkable about how its case was measured."""
    if case is None or row.against:  # said in the row beside the baseline
        return row
    return replace(row, error=tolerance_words(case), asides=(*row.asides, *remarked.get(case["case_id"], ())))


def _with_host(axes: str, pair: dict[Any, Any]) -> str:
    """The point of a family, with the host that it was measured on."""
    host = f"on {pair['host']}" if text(pair["host"]) else ""
    return ", ".join(filter(None, [axes, host]))


def _with_overlap(family: Sequence[ResultRow], summaries: Sequence[Row]) -> list[ResultRow]:
    """The rows with how much of each variant's commands overlapped.

    It is shown if any variant has overlap or uses several queues. A variant shows it only if it differs from the
    baseline's.
    """
    shares = {summary["variant"]: summary["overlap"] for summary in summaries}
    notes = {summary["variant"]: text(summary["overlap_note"]) for summary in summaries}
    wanted = any((summary["queues"] or 0) > 1 for summary in summaries) or any(notes.values())
    if not wanted and not any((share or 0) >= LEAST_OVERLAP for share in shares.values()):
        return list(family)
    words = [notes.get(row.variant) or units.percent(number(shares.get(row.variant))) for row in family]
    baseline, *others = (replace(row, overlap=word) for row, word in zip(family, words, strict=True))
    return [_telling_overlap(baseline, "-"), *(_telling_overlap(row, "-", baseline.overlap) for row in others)]


def _telling_overlap(row: ResultRow, *known: str) -> ResultRow:
    return row if row.overlap in known else replace(row, asides=(*row.asides, f"overlap {row.overlap}"))


def _with_rates(family: Sequence[ResultRow], summaries: Sequence[Row], cases: Mapping[str, Row]) -> list[ResultRow]:
    """The rows with what each variant moves and computes in its time, and how long it was compiled."""
    own = {summary["variant"]: summary for summary in summaries}
    return [_with_rate(row, own[row.variant], cases) if row.variant in own else row for row in family]


def _with_rate(row: ResultRow, summary: Row, cases: Mapping[str, Row]) -> ResultRow:
    row = replace(row, compiling=units.duration(summary["compile_ns"]) if summary["compile_ns"] else "")
    if not row.time_ns or not summary["median_ns"]:
        return row
    faster = summary["median_ns"] / row.time_ns  # the tables' rates are of the median
    kind = text(cases[summary["case_id"]]["operation_kind"])
    of_operations = "GFLOP/s" if kind.startswith("fp") else f"Gop/s {kind}".rstrip()
    rates = ((summary["bandwidth_gbps"], "GB/s"), (summary["rate_gops"], of_operations))
    told = (f"{units.figure(value * faster)} {unit}" for value, unit in rates if value and value * faster >= LEAST_RATE)
    return replace(row, rate=", ".join(told))


def _with_copies(family: Sequence[ResultRow], summaries: Sequence[Row]) -> list[ResultRow]:
    """The rows with the speed of each variant's copies, if their times can be trusted."""
    words = {row["variant"]: _copy_words(row) for row in summaries if row["link_fraction"] is not None}
    return [replace(row, copies=words.get(row.variant, "")) for row in family]


def _copy_words(summary: Row) -> str:
    part = text(summary["link_note"]) or f"{units.percent(summary['link_fraction'])} of the link"
    return f"{units.figure(summary['copy_gbps'])} GB/s, {part}"


def _with_occupancy(family: Sequence[ResultRow], occupancy: Sequence[str]) -> list[ResultRow]:
    """The rows with what is predicted of each; said beside the answers where that is not the same of all."""
    differ = len(set(filter(None, occupancy))) > 1
    return [
        replace(row, occupancy=words, asides=(*row.asides, f"occupancy {words}") if differ and words else row.asides)
        for row, words in zip(family, occupancy, strict=True)
    ]


def _family(pair: dict[Any, Any]) -> tuple[str, str]:
    return pair["family_id"], text(pair["state"])


def sorted_pairs(run: Run) -> list[dict[Any, Any]]:
    """The pairs in the order in which reports show them."""
    # pairs without a block of an unfinished run are reported by `failures`, all together
    untouched = (run.pairs["reason_code"] == Status.INTERRUPTED).fillna(False) & (run.pairs["blocks"] == 0)
    return sorted(run.pairs[~untouched].to_dict("records"), key=_order)


def _order(pair: dict[Any, Any]) -> tuple[Any, ...]:
    place = str(pair["chapter"]), pair["pattern"]
    return *place, points.order(pair["parameters"]), pair["family_id"], text(pair["state"])


def _row(pair: dict[Any, Any], baseline: str) -> ResultRow:
    ends = number(pair["speedup"]), number(pair["speedup_low"]), number(pair["speedup_high"])
    own = pair["baseline"] == baseline
    time_ns = _time_ns(pair, ends[0]) if own else None
    return ResultRow(
        chapter=text(pair["chapter"]),
        pattern=pair["pattern"],
        axes=size_words(pair),
        metric=pair["metric"],
        baseline=baseline,
        variant=pair["variant"],
        role=pair["role"],
        time=units.duration(time_ns) if own else "",
        time_ns=time_ns,
        against="" if own else pair["baseline"],
        speedup=units.ratio(*ends),
        interval=_interval(pair, ends),
        ends=ends,
        # a wrong or failed program has no share of a roof
        roof=_roof({} if pd.isna(pair["variant_ns"]) else pair) if own else "",
        answer=pair["answer"],
        claim=text(pair["claim"]),
        claimed_for=classes(pair["claimed_for"]),
        claimed_by=claimant(pair),
        guide=guide_words(pair, with_source=True),
        obstacle=obstacle(pair),
        asides=asides(pair),
        reason=sentence(pair),
        pair=pair,
    )


def _interval(pair: dict[Any, Any], ends: Ends) -> str:
    """The interval, or how many blocks a speed-up without one is of."""
    if ends[0] is None or ends[1] is not None:
        return units.interval(*ends[1:])
    return f"{pair['blocks']} block{'' if pair['blocks'] == 1 else 's'}"


def _time_ns(pair: dict[Any, Any], speedup: float | None) -> float | None:
    """The medians of both sides are kept in the tables; load that hits a whole block is not in the speed-up."""
    baseline_ns = number(pair["baseline_ns"])
    return baseline_ns / speedup if baseline_ns and speedup else None


def _baseline_row(pairs: Sequence[dict[Any, Any]], cases: Sequence[Row]) -> ResultRow:
    """The line of the baseline.

    Args:
        pairs: pairs of one family and state.
        cases: summaries of the family in this state, then in any state; a case without samples has none.
    """
    pair = pairs[0]
    case = find_baseline(cases, role=lambda row: str(row["role"])) or {}
    name = case.get("variant", pair["baseline"])
    times = [number(other["baseline_ns"]) for other in pairs if other["baseline"] == name]
    # a failed pair has no baseline time, even if the baseline was measured
    time_ns = next(filter(None, times), number(case.get("median_ns")))
    return ResultRow(
        chapter=text(pair["chapter"]),
        pattern=pair["pattern"],
        axes=size_words(pair),
        metric=pair["metric"],
        baseline=name,
        variant=name,
        role=str(case.get("role", "")),
        section=text(pair["guide"]),
        time=units.duration(time_ns),
        time_ns=time_ns,
        roof=_roof(case),
    )


def claimant(pair: Mapping[Any, Any]) -> str:
    """The source of a pair's claim: "guide", "ours", "stand-in" for the guide's claim about what a stand-in does not
    measure, or "" if there is no claim or no source is recorded.
    """
    strength = text(pair["strength"])
    if not strength or strength == Strength.OURS:
        return "ours" if strength else ""
    return "stand-in" if is_stand_in(pair) else "guide"


def _roof(row: Mapping[Any, Any]) -> str:
    """The part of its roof that a case reaches, with the roof's name: ``72.1 % of SLM bandwidth``."""
    part = part_of_roof(number(row.get("roof_fraction")))
    return part if part == "-" else f"{part} of {text(row.get('nearest_roof')) or 'its roof'}"


def part_of_roof(fraction: float | None) -> str:
    """The part of its roof that a case reaches; a star, and no figure, where `remarks.above_roofs_line` doubts it."""
    return ">100 %*" if fraction is not None and fraction > ROOF_DOUBT else units.percent(fraction)


def size_words(row: Mapping[Any, Any]) -> str:
    """Every parameter of a pair or case, and the state of the caches where it is not the usual one."""
    cold = ["cold"] if row["state"] == State.COLD else []
    return ", ".join(filter(None, [points.words(points.parse(row["parameters"])), *cold]))


def point_words(pair: dict[Any, Any]) -> str:
    """Parameters that are swept or not the preset's own, and the state of the caches where it is not the usual one."""
    cold = ["cold"] if pair["state"] == State.COLD else []
    return ", ".join(filter(None, [points.words(points.point(pair)), *cold]))


def number(value: Any) -> float | None:
    """A float, or None for a missing value."""
    return None if value is None or pd.isna(value) else float(value)


def text(value: Any) -> str:
    """A string, empty for a missing value."""
    return "" if value is None or pd.isna(value) else str(value)


def _caches(levels: Any) -> str:
    """The measured limits of a device's caches: ``; from L1 789 GB/s, L2 446 GB/s``."""
    best: dict[str, float] = {}
    for level in levels_of(levels):
        if level.level != MEMORY:
            best[level.level] = max(best.get(level.level, 0.0), level.gbps)
    shown = ", ".join(f"{name} {units.figure(value)} GB/s" for name, value in best.items())
    return f"; from {shown}" if shown else ""


def device_line(run: Run) -> str:
    """The devices, their roofs and the compilers of kernels in one line."""
    if run.devices.empty:
        return "no device was recorded"
    devices = "; ".join(_device_line(device) for device in run.devices.to_dict("records"))
    compilers = short_compilers(run)
    return f"{devices}; kernels by {compilers}" if compilers else devices


def short_compilers(run: Run) -> str:
    """The compilers of the Python kernels, without their parts; empty without any."""
    return " and ".join(dict.fromkeys(map(short_name, run.compilers)))


def _device_line(device: Mapping[Any, Any]) -> str:
    roofs = units.roofs({roof: number(device[roof.column]) for roof in Roof})
    source = text(device["roofs_from"])
    measured = f"roofs measured on {source[9:19]}" if source.startswith("measured 2") else "measured roofs"
    roof = f"; {measured}: {roofs}{_caches(device['bandwidth_levels'])}" if roofs else ""
    what = f"{device['device']}, class {device['device_class']}, driver {device['driver_version']}"
    host = f"{device['host']}: " if text(device["host"]) else ""
    return f"{host}{device['name']} ({what}){roof}"

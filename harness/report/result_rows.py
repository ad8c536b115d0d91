"""The result table that every format shows: one row a pair, and the cases that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from harness.analysis import points
from harness.analysis.fixed_cost import FEW
from harness.analysis.levels import MEMORY, levels_of
from harness.analysis.noise_floor import noise_floor
from harness.analysis.times import counted
from harness.records import Run
from harness.report import units
from harness.vocabulary import NEVER_RUN, REMEDIES, Answer, Outcome, Role, Roof, State, Status


@dataclass(frozen=True)
class ResultRow:
    """One line of the result table, as text; ``answer`` is the bare word, for colour.

    ``brief`` is the reason in a few words, ``reason`` the whole sentence. The baseline's own line has no speed-up.
    """

    chapter: str
    pattern: str
    axes: str
    variant: str
    role: str
    time: str
    speedup: str = ""
    interval: str = ""
    roof: str = ""
    answer: str = ""
    brief: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        """The variant, with its role where that is not the usual one."""
        return self.variant if self.role == Role.OPTIMIZED else f"{self.variant} ({self.role})"


def result_rows(run: Run) -> list[ResultRow]:
    """The rows of a run by chapter, pattern and axes; each group begins with its baseline."""
    rows: list[ResultRow] = []
    for _, group in groupby(sorted_pairs(run), key=_point):
        pairs = list(group)
        rows += [_baseline_row(run, pairs), *map(_row, pairs)]
    return rows


def _point(pair: dict[Any, Any]) -> tuple[str, ...]:
    return pair["pattern"], pair["preset"], pair["axes"], str(pair["sizes"]), str(pair["state"])


def sorted_pairs(run: Run) -> list[dict[Any, Any]]:
    """The pairs in the order in which reports show them."""
    # pairs without a block of an unfinished run are told of by `failures`, all together
    untouched = run.pairs["reason"].str.startswith("interrupted") & (run.pairs["blocks"] == 0)
    return sorted(run.pairs[~untouched].to_dict("records"), key=_order)


def _order(pair: dict[Any, Any]) -> tuple[Any, ...]:
    place = str(pair["chapter"]), pair["pattern"]
    return *place, points.order(pair["axes"]), points.order(pair["sizes"]), str(pair["state"])


def _row(pair: dict[Any, Any]) -> ResultRow:
    return ResultRow(
        chapter=pair["chapter"],
        pattern=pair["pattern"],
        axes=_where(pair),
        variant=pair["variant"],
        role=pair["role"],
        time=units.duration(number(pair["variant_ns"])),
        speedup=units.ratio(*(number(pair[name]) for name in ("speedup", "speedup_low", "speedup_high"))),
        interval=units.interval(number(pair["speedup_low"]), number(pair["speedup_high"])),
        # the time of a program that is wrong or failed is no part of a roof
        roof=part_of_roof(None if pd.isna(pair["variant_ns"]) else number(pair["roof_fraction"])),
        answer=pair["answer"],
        brief=brief_reason(pair),
        reason=pair["reason"],
    )


def _baseline_row(run: Run, pairs: Sequence[dict[Any, Any]]) -> ResultRow:
    pair = pairs[0]
    same = run.summaries["variant"] == pair["baseline"]
    for column in ("pattern", "preset", "axes", "sizes"):
        same &= _equal(run.summaries[column], pair[column])
    cases = run.summaries[same]
    in_state = cases[_equal(cases["state"], pair["state"])]
    case = (cases if in_state.empty else in_state).iloc[0]
    times = [number(other["baseline_ns"]) for other in pairs]
    return ResultRow(
        chapter=pair["chapter"],
        pattern=pair["pattern"],
        axes=_where(pair),
        variant=pair["baseline"],
        role=case["role"],
        # of a pair that failed the baseline's time is not known, though it may have one
        time=units.duration(next(filter(None, times), number(case["median_ns"]))),
        roof=part_of_roof(number(case["roof_fraction"])),
    )


def _equal(column: pd.Series[Any], value: Any) -> pd.Series[bool]:
    """Where a column has a value; a null, such as the sizes of old runs, equals a null."""
    return column.isna() if pd.isna(value) else (column == value).fillna(False)


def brief_reason(pair: dict[Any, Any]) -> str:
    """What is to be said beside the answer, in a few words; the sentence is in the table ``pairs``."""
    outcome, answer = pair["outcome"], pair["answer"]
    words = [] if pd.isna(pair["claimed_for"]) or pair["claimed_for"] == pair["device_class"] else ["claimed for GPUs"]
    if outcome == Outcome.NONE:
        return str(pair["reason"]).partition(";")[0]
    if outcome == Outcome.INCONCLUSIVE:
        return ", ".join([str(pair["reason"]).partition(":")[0].rpartition("; ")[2], *words])
    if answer == Answer.NO_CLAIM:
        return str(outcome)
    if answer in (Answer.INVERTS, Answer.NO_EFFECT):
        words.insert(0, f"{outcome}, claimed {pair['claim']}")
    return ", ".join(words)


def part_of_roof(fraction: float | None) -> str:
    """The part of its roof that a case reaches; a star where `above_roofs_line` says more."""
    return units.percent(fraction) + ("*" if fraction is not None and fraction > 1 else "")


def above_roofs_line(run: Run) -> str:
    """What a part of a roof above 100 % means, in one line; empty when there is none."""
    above = run.summaries[(run.summaries["roof_fraction"] > 1).fillna(False)]
    if above.empty:
        return ""
    # runs of earlier versions know of no level but the memory
    reasons = above["roof_note"].fillna("faster than the memory: its data came from a cache")
    return f"* above 100 %: {'; '.join(f'{count} {reason}' for reason, count in reasons.value_counts().items())}"


def disturbed_line(run: Run) -> str:
    """Which roofs were measured while others used the machine, in one line; empty when none was."""
    names = None if run.devices.empty else run.devices.iloc[0]["roofs_disturbed"]
    if pd.isna(names) or not names:
        return ""
    return (
        f"roofs were measured on a busy machine and may be too low: {names}; 'xebench roofline --refresh' on a quiet "
        "one measures them for later runs"
    )


def noise_line(run: Run) -> str:
    """The instrument's own error in this run, in one line; empty if it was not measured."""
    error = None if run.devices.empty else noise_floor({str(k): v for k, v in run.devices.iloc[-1].items()})
    return f"noise floor: {error}" if error else ""


def flag_line(run: Run) -> str:
    """How many samples carry each flag, in one line; empty when none does."""
    flags = run.samples["flags"].dropna().str.split(",").explode()
    shown = [f"{count} {flag}" for flag, count in flags[flags != ""].value_counts().items()]
    if unchecked := int((~run.samples["checked"]).sum()):
        shown.append(f"{unchecked} that no check followed")
    if not shown:
        return ""
    unused = int((~counted(run.samples)).sum())
    remedies = "".join(f"; {flag}: {remedy}" for flag, remedy in REMEDIES.items() if (flags == flag).any())
    return f"flags: {', '.join(shown)}; of {len(run.samples)} samples {unused} are not used{remedies}"


def instance_line(run: Run) -> str:
    """Whose intervals lack the differences between instances, in one line; empty when none does."""
    with_interval = run.pairs[run.pairs["speedup_low"].notna()]
    alone = int((with_interval["instances"].fillna(1) == 1).sum())  # older runs knew of no instances
    if not alone:
        return ""
    which = "the intervals" if alone == len(with_interval) else f"{alone} of {len(with_interval)} intervals"
    return (
        f"{which} are of one instance: where arrays and code lie in memory, which makes equal kernels differ by up to "
        "20 % on a CPU device, is not in them; --instances 6 takes it in"
    )


def fixed_cost_line(run: Run) -> str:
    """How many speed-ups are of kernels hardly longer than an empty one, in one line; empty when none is."""
    short = int((run.pairs["times_empty_kernel"] < FEW).sum())
    if not short:
        return ""
    which = f"{short} of {len(run.pairs)} speed-ups {'is' if short == 1 else 'are'}"
    return (
        f"fixed cost: {which} of device times less than {FEW:g} times an empty kernel's, so that what every launch "
        "costs draws them towards 1; a larger preset shows more"
    )


def remarks(run: Run) -> list[str]:
    """What is to be said of a run's results, a line each."""
    lines = (above_roofs_line, disturbed_line, flag_line, instance_line, fixed_cost_line)
    return [text for line in lines if (text := line(run))]


def notes(run: Run) -> list[str]:
    """What a reader must know of the whole run, a line each: its noise, and the remarks."""
    return [*filter(None, [noise_line(run)]), *remarks(run)]


def _where(pair: dict[Any, Any]) -> str:
    """Axes, sizes that are not the preset's own, and the state of the caches where it is not the usual one."""
    cold = ["cold"] if pair["state"] == State.COLD else []
    return ", ".join(filter(None, [points.words(pair["overrides"]), points.words(pair["axes"]), *cold]))


def number(value: Any) -> float | None:
    """A float, or None for a missing value."""
    return None if pd.isna(value) else float(value)


def failures(run: Run) -> list[tuple[str, str, str]]:
    """Cases that have no result: key, status and reason; those that an unfinished run lacks as one entry a reason."""
    never_over = run.cases["status"].isin([*NEVER_RUN, Status.INTERRUPTED])
    bad = pd.concat([run.failed_cases, run.cases[never_over]]).sort_index()
    unfinished = bad["status"] == Status.INTERRUPTED
    named = [(row["case_id"], row["status"], row["reason"]) for row in bad[~unfinished].to_dict("records")]
    counts = bad[unfinished]["reason"].value_counts(sort=False)
    return named + [(f"{count} cases", "interrupted", str(reason)) for reason, count in counts.items()]


def answer_counts(run: Run) -> dict[str, int]:
    """How many pairs got each answer, in the order of `harness.vocabulary.Answer`."""
    counts = run.pairs["answer"].value_counts()
    return {answer: int(counts[answer]) for answer in Answer if answer in counts}


def _caches(levels: Any) -> str:
    """What the caches of a device were measured to give at most: ``; from L1 789 GB/s, L2 446 GB/s``."""
    best: dict[str, float] = {}
    for level in levels_of(levels):
        if level.level != MEMORY:
            best[level.level] = max(best.get(level.level, 0.0), level.gbps)
    shown = ", ".join(f"{name} {units.figure(value)} GB/s" for name, value in best.items())
    return f"; from {shown}" if shown else ""


def device_line(run: Run) -> str:
    """The device and its roofs in one line."""
    if run.devices.empty:
        return "no device was recorded"
    device = run.devices.iloc[0]
    roofs = units.roofs({roof: number(device[roof.column]) for roof in Roof})
    roof = f"; measured roofs {roofs}{_caches(device['bandwidth_levels'])}" if roofs else ""
    what = f"{device['device']}, class {device['device_class']}, driver {device['driver_version']}"
    return f"{device['name']} ({what}){roof}"

"""Select the samples that count, and make one row for each case and state: its time, interval and parts of roofs.

A sample counts once, and if a check of its case's results speaks for it. A worker checks every variant again at the end
of a round. What was sampled in one that was cut off, by a signal, a crash, a spent budget or a full disk, may be of a
program that had begun to compute something else. So the table `checks` is only ever added to, after the samples that a
row speaks for: a row that is missing costs samples, and never lets a wrong one count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from xebench.records.device_facts import MEMORY, MIXES, ROOF_DOUBT, Roof, levels_of
from xebench.records.points import DeviceKey, Row, by_device, device_key, rows
from xebench.results.analysis import intervals, metrics, statistics
from xebench.results.analysis.statistics import Floats
from xebench.vocabulary import RESCUES, SAMPLED_STATES, CheckResult, Flag, Metric, State, metric_named


class CheckRow(NamedTuple):
    """A row of the table `checks`; the columns are explained where they are declared, in `xebench.results.columns`."""

    case_id: str
    first_sample: int
    end_sample: int
    result: CheckResult


def superseding(case_ids: Iterable[str], end_sample: int) -> list[CheckRow]:
    """Rows that make all earlier samples of these cases invalid, as the cases are measured again."""
    return [CheckRow(case_id, 0, end_sample, CheckResult.SUPERSEDED) for case_id in case_ids]


def with_checked(samples: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """The measured table `samples` with its derived column ``checked``.

    Rows of compilation and traced executions need no check; those of an earlier session's code are superseded like
    samples.
    """
    numbers = samples["sample_id"].to_numpy("int64")
    of_case = samples.groupby("case_id").indices
    last = np.full(len(samples), "", dtype=object)
    for check in checks.itertuples(index=False):
        own = of_case.get(check.case_id, np.empty(0, dtype="int64"))
        last[own[(numbers[own] >= check.first_sample) & (numbers[own] < check.end_sample)]] = check.result
    compiled = samples["state"].isin((State.COMPILE, State.TRACED)).to_numpy(bool)
    checked = (last == CheckResult.PASSED) | (compiled & (last != CheckResult.SUPERSEDED))
    return samples.assign(checked=pd.array(checked, dtype="boolean"))


@dataclass(frozen=True)
class Series:
    """The times of a case in one state, in order.

    Attributes:
        time_ns: time of each sample that counts.
        instances: instance of each sample.
    """

    time_ns: Floats
    instances: Floats

    @classmethod
    def of(cls, samples: pd.DataFrame) -> Series:
        """The usable samples among some rows."""
        return cls(samples["time_ns"].to_numpy(), samples["instance"].to_numpy())


NONE: Final = Series(np.empty(0), np.empty(0))


def spoilt(cases: pd.DataFrame, samples: pd.DataFrame) -> dict[tuple[str, str], str]:
    """The flag that spoilt most samples of a case and state, and what to do, for each such case and state.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
    """
    described = {row["case_id"]: row for row in rows(cases)}
    found: dict[tuple[str, str], str] = {}
    sampled = samples[samples["state"].isin(SAMPLED_STATES)]
    for key, own in sampled.groupby(["case_id", "state"]):
        case_id, state = map(str, key)
        lost = own.loc[~own["valid"].fillna(value=False).astype(bool), "sample_flags"]
        if 2 * len(lost) <= len(own):
            continue
        variant, metric = (str(described[case_id][name]) for name in ("variant", "metric"))
        counts = {flag: int(lost.str.split(",").map(lambda flags, flag=flag: flag in flags).sum()) for flag in Flag}
        flag = max((flag for flag in Flag if flag.invalidates(metric)), key=lambda flag: counts[flag])
        rests_on = metric_named(metric).rests_on
        rescue = next(rescue for evidence, rescue in RESCUES.items() if evidence in flag.spoils & rests_on)
        found[case_id, state] = (
            f"{counts[flag]} of {len(own)} samples of {variant} are flagged {flag!s} ({flag.meaning}): {rescue}"
        )
    return found


def counting_samples(samples: pd.DataFrame) -> pd.Series[bool]:
    """Mark the samples that count: their timestamps can be trusted, and a check of the results came after them."""
    return samples["valid"] & samples["checked"]


def usable(cases: pd.DataFrame, samples: pd.DataFrame) -> pd.DataFrame:
    """The samples in a measured state that count, in order, with the time of the case's metric in a column ``time_ns``.

    The column ``instance`` is 0 where a run has no instances; ``position`` is how many samples of the case came before
    in the instance and state, warm-up included.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
    """
    metric = samples["case_id"].map(dict(zip(cases["case_id"], cases["metric"], strict=True)))
    times = pd.Series(pd.NA, index=samples.index, dtype="Float64")
    for word in Metric:
        times = times.mask(metric == word, samples[word.column])
    trusted = counting_samples(samples) & samples["state"].isin(SAMPLED_STATES) & (times > 0).fillna(False)
    instances = samples["instance"].astype("float64").fillna(0)
    described = samples.assign(
        time_ns=times.astype("float64"), instance=instances, position=_positions(samples, instances)
    )
    return described[trusted].sort_values("sample_id", kind="stable")


def _positions(samples: pd.DataFrame, instances: pd.Series[float]) -> pd.Series[int]:
    sampled = samples[samples["state"].isin((State.WARMUP, *SAMPLED_STATES))].sort_values("sample_id", kind="stable")
    keys = [sampled["case_id"], instances.loc[sampled.index]]
    warming = sampled["state"] == State.WARMUP
    # each state has a warm-up of its own
    begins = warming & ~warming.groupby(keys).shift(fill_value=False)
    return sampled.groupby([*keys, begins.groupby(keys).cumsum()]).cumcount()


def states_of(samples: pd.DataFrame) -> dict[str, list[str]]:
    """The measured states in which each case has samples, whether they count or not, by case."""
    seen: dict[str, list[str]] = {}
    rows = samples.loc[samples["state"].isin(SAMPLED_STATES), ["case_id", "state"]].drop_duplicates()
    for case_id, state in rows.itertuples(index=False):
        seen.setdefault(case_id, []).append(state)
    return seen


def in_order(*states: Iterable[str]) -> Sequence[str | None]:
    """The `SAMPLED_STATES` that are in any of ``states``, or one None if none is."""
    present = {state for several in states for state in several}
    return [state for state in SAMPLED_STATES if state in present] or [None]


#: Columns of `cases` that a summary repeats.
_KEPT: Final = (
    "case_id", "family_id", "pattern", "variant", "role", "preset", "parameters", "host", "device", "device_class",
    "metric", "status", "reason",
)  # fmt: skip

_NOTHING_RAN: Final[Row] = dict.fromkeys(("overlap", "concurrency", "copy_gbps", "link_fraction", "link_apart"))


def summaries(cases: pd.DataFrame, samples: pd.DataFrame, devices: pd.DataFrame, events: pd.DataFrame) -> list[Row]:
    """The rows of the table `summaries`: one for each case and state, one without state for a case never sampled.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`, for the roofs.
        events: The table `events`, for what ran at the same time.
    """
    trusted = usable(cases, samples)
    used = by_device(devices)
    together = _of_events(trusted, metrics.concurrency_of_samples(events).join(_of_links(cases, events, used)))
    by_state = {key: _describe(Series.of(data)) for key, data in trusted.groupby(["case_id", "state"])}
    of_nothing = _describe(NONE)
    compilations = samples[counting_samples(samples) & (samples["state"] == State.COMPILE)]
    compiled = compilations.groupby("case_id")["host_ns"].sum(min_count=1).to_dict()
    states = states_of(samples)
    first = events[events["sample_id"].isin(events.drop_duplicates("case_id")["sample_id"])]
    queues = first.groupby("case_id")["queue"].nunique().to_dict()
    notes = metrics.notes(first)
    result: list[Row] = []
    for case in rows(cases):
        for state in in_order(states.get(case["case_id"], ())):
            described = by_state.get((case["case_id"], state), of_nothing)
            result.append(
                {
                    **{name: case[name] for name in _KEPT},
                    "state": state,
                    "compile_ns": compiled.get(case["case_id"]),
                    "queues": queues.get(case["case_id"]),
                    "overlap_note": notes.get(case["case_id"]),
                    **described,
                    **_with_link_note(together.get((case["case_id"], state), _NOTHING_RAN)),
                    **_against_roofs(case, state, described["median_ns"], used.get(device_key(case), {})),
                }
            )
    return result


def _of_links(cases: pd.DataFrame, events: pd.DataFrame, used: Mapping[DeviceKey, Row]) -> pd.DataFrame:
    """The copies of each sample at the links of the device that made them."""
    own: dict[DeviceKey, list[str]] = {}
    for case in rows(cases[["host", "device", "case_id"]]):
        own.setdefault(device_key(case), []).append(case["case_id"])
    parts = [
        metrics.link_of_samples(
            events[events["case_id"].isin(own.get(one, ()))], metrics.link_roofs(device["link_roofs"])
        )
        for one, device in used.items()
    ]
    return pd.concat(parts) if parts else metrics.link_of_samples(events, {})


def _of_events(trusted: pd.DataFrame, samples: pd.DataFrame) -> dict[tuple[str, str | None], Row]:
    """The events of each case and state in its typical sample.

    Args:
        trusted: the samples that count.
        samples: totals of each sample's events, by sample number.
    """
    found = trusted[["case_id", "state", "sample_id"]].join(samples, on="sample_id", how="inner")
    medians = found.groupby(["case_id", "state"])[[*_NOTHING_RAN]].median().reset_index()
    return {(row["case_id"], row["state"]): {name: row[name] for name in _NOTHING_RAN} for row in rows(medians)}


def _with_link_note(row: Row) -> Row:
    doubt = (row["link_apart"] or 0) > ROOF_DOUBT
    note = "copies faster than the measured roof of the link: it was measured too low" if doubt else None
    return {**row, "link_note": note}


def _describe(series: Series) -> Row:
    measured = series.time_ns
    median = intervals.typical_time(measured, series.instances)
    low_quartile, high_quartile = np.quantile(measured, (0.25, 0.75)) if measured.size else (None, None)
    return {
        "n": measured.size,
        "median_ns": median.estimate,
        "low_ns": median.low,
        "high_ns": median.high,
        "min_ns": measured.min() if measured.size else None,
        "q25_ns": low_quartile,
        "q75_ns": high_quartile,
        "outliers": statistics.outliers(measured),
        "drift": intervals.drift(measured).estimate - 1,
    }


@dataclass(frozen=True)
class _Limit:
    """The limit of a case: a roof, or for bandwidth one level of it; ``value`` in the roof's unit."""

    roof: Roof
    name: str
    bound_by: str
    value: float


def _against_roofs(case: Row, state: str | None, median_ns: float, device: Row) -> Row:
    """The fraction of the nearest limit that a case reaches; empty if it states no work, or has no roof."""
    kinds = (None, case["operation_kind"])
    asked = [roof for roof in Roof if roof.operation_kind in kinds and roof not in MIXES]
    limits = [_limit(roof, case, state, device, median_ns) for roof in asked]
    fractions = {limit: _number(case[limit.roof.work]) / median_ns / limit.value for limit in limits}
    reached = {limit: fraction for limit, fraction in fractions.items() if not math.isnan(fraction)}
    row: Row = {
        "bandwidth_gbps": _number(case["bytes_moved"]) / median_ns,
        "rate_gops": _number(case["operations"]) / median_ns,
        **dict.fromkeys(("roof_fraction", "bound_by", "nearest_roof", "roof_note")),
    }
    row["bandwidth_fraction"] = next((part for limit, part in reached.items() if limit.roof is Roof.BANDWIDTH), None)
    if reached:
        nearest = max(reached, key=lambda limit: reached[limit])
        fraction = reached[nearest]
        row |= {"roof_fraction": fraction, "bound_by": nearest.bound_by, "nearest_roof": nearest.name}
        if fraction > ROOF_DOUBT:
            row |= _explained(nearest, _working_set(case))
    return row


def _limit(roof: Roof, case: Row, state: str | None, device: Row, median_ns: float) -> _Limit:
    measured = _Limit(roof, str(roof), roof.bound_by, _number(device.get(roof.column)))
    if roof is not Roof.BANDWIDTH:
        return measured
    memory = _of_mix(replace(measured, name=f"{MEMORY} {roof}"), case, device)
    if _number(case["bytes_moved"]) / median_ns > ROOF_DOUBT * memory.value:
        # the mix is the problem's, and a variant may write where others read
        memory = max([memory, *_mixes(memory, device)], key=lambda limit: limit.value)
    working_set, levels = _working_set(case), levels_of(device.get("bandwidth_levels"))
    if state == State.COLD or working_set is None or not levels:
        return memory
    # a working set between two measured sizes is no faster than the smaller one
    level = next((level for level in reversed(levels) if level.working_set_bytes <= working_set), levels[0])
    if level.level == MEMORY and level.gbps <= measured.value:
        return memory
    bound_by = roof.bound_by if level.level == MEMORY else "cache"
    return replace(memory, name=f"{level.level} {roof}", bound_by=bound_by, value=level.gbps)


def _of_mix(memory: _Limit, case: Row, device: Row) -> _Limit:
    """The roof of a case's mix of reads and writes: of the two measured mixes around it the higher one."""
    part, known = case["read_part"], _mixes(memory, device)
    sides = [
        [limit for limit in known if part is not None and sign * (limit.roof.reads - part) >= 0] for sign in (-1, 1)
    ]
    if not all(sides):
        return memory
    around = [min(side, key=lambda limit: abs(limit.roof.reads - part)) for side in sides]
    return replace(max(around, key=lambda limit: limit.value), roof=memory.roof)


def _mixes(memory: _Limit, device: Row) -> list[_Limit]:
    """The roofs of mixes of reads and writes that are known."""
    values = {roof: _number(device.get(roof.column)) for roof in MIXES}
    return [replace(memory, roof=roof, name=str(roof), value=value) for roof, value in values.items() if value > 0]


def _working_set(case: Row) -> float | None:
    """An upper bound of the bytes that a case goes over: its arrays, and the bytes that it must move."""
    arrays, moved = case["working_set_bytes"], case["bytes_moved"]
    return None if arrays is None or moved is None else min(arrays, moved)


def _explained(limit: _Limit, working_set: float | None) -> Row:
    """Explain a fraction above a limit: no roof is higher than the device, so something was counted wrong."""
    if limit.roof is Roof.BANDWIDTH and working_set is None:
        return {"bound_by": "cache", "roof_note": "faster than the memory: its data came from a cache"}
    doubt = f"{limit.name} was measured too low, or {limit.roof.work} counts too much"
    return {"roof_note": f"faster than the measured roof: {doubt}"}


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)

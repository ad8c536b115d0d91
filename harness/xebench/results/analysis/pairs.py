"""Every variant against the naive one of its family, or the one that a claim names: the speed-up over blocks, and
whether the claim holds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from xebench.records.claim import columns
from xebench.records.points import Row, by_device, device_key, rows
from xebench.results.analysis import answer, intervals, summaries
from xebench.results.analysis.answer import HostTimes, Side, allowed_ns, with_fixed_cost
from xebench.results.analysis.judge import Pair, pairs_of_family
from xebench.results.analysis.moderation import FEWEST_PAIRS, NOTHING, Prior, moderated_speedup, prior_of
from xebench.results.analysis.noise import noise_of
from xebench.results.analysis.speedups import log_speedups
from xebench.results.analysis.statistics import Floats, SeriesStart, start_of_instances
from xebench.vocabulary import REMEDIES, Answer, DeviceClass, Flag, Status, StopReason, metric_named

#: Columns of the variant's case that a pair repeats.
_KEPT: Final = (
    "case_id", "family_id", "pattern", "chapter", "guide", "catalogue", "preset", "parameters", "preset_parameters",
    "host", "device", "device_class", "metric", "variant", "role",
)  # fmt: skip


def pairs(
    cases: pd.DataFrame,
    samples: pd.DataFrame,
    devices: pd.DataFrame,
    summaries: Iterable[Row],
    *,
    alone_decides: bool = False,
) -> list[Row]:
    """The rows of the table `pairs`, for each state that was measured: one for each claim, and one for each variant
    but the baseline of which nothing is claimed against the baseline. What is claimed of generated code has none.

    A family without a naive, baseline or antipattern variant has no pairs.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`, for the timers, the empty kernel and the cost of a launch.
        summaries: The rows of the table `summaries`, for the fractions of the roof.
        alone_decides: True if one instance may decide (`answer.Circumstances`).
    """
    blocks = _BlockMedians(cases, samples)
    used = by_device(devices)
    roofs = {(row["case_id"], row["state"]): (row["roof_fraction"], row["nearest_roof"]) for row in summaries}
    compared = list(_sampled_pairs(cases, blocks))
    priors = _priors(compared)
    # the last one of each pattern: a resumed run may have cases of an earlier file
    sources = {case["pattern"]: case["source_sha256"] for case in rows(cases) if case["source_sha256"]}
    result: list[Row] = []
    for pair in compared:
        device = used.get(device_key(pair.case), {})
        row = _row(pair, device, priors.get(pair.kind, NOTHING), alone_decides=alone_decides)
        row = with_fixed_cost(row, device.get("empty_kernel_ns"))
        fraction, roof = roofs.get((pair.case["case_id"], pair.state), (None, None))
        edited = pair.case["source_sha256"] not in (None, sources.get(pair.case["pattern"]))
        own = {"state": pair.state, "roof_fraction": fraction, "nearest_roof": roof, "edited": edited}
        result.append({**row, **own})
    noise = noise_of((row["speedup_low"], row["speedup_high"]) for row in result)
    return [{**row, "barely": _is_barely(row, noise)} for row in result]


@dataclass(frozen=True)
class MeasuredPair:
    """The measurements of two cases, before any conclusion.

    Attributes:
        baseline, case: rows of the table `cases`.
        state: state of the caches; None if nothing was sampled.
        speedup: speed-up of the case over the baseline, with the interval over this pair's instances alone.
        ratios: log speed-up in each block, by instance.
        prior: spread between instances in the run's other pairs.
        quantum: error that the timer's quantum makes in the speed-up, as a relative size.
        same_program: True if both send the same requests to the device; None if that is unknown.
    """

    baseline: Row
    case: Row
    state: str | None
    speedup: intervals.Interval
    ratios: Sequence[Floats]
    prior: Prior
    quantum: float
    same_program: bool | None


def measured_pairs(cases: pd.DataFrame, samples: pd.DataFrame, devices: pd.DataFrame) -> Iterator[MeasuredPair]:
    """The measurements of each pair without a claim, in each state, for callers that compare in another way than
    `pairs`.

    Args:
        cases: The table `cases`.
        samples: The table `samples`.
        devices: The table `devices`.
    """
    used, compared = by_device(devices), list(_sampled_pairs(cases, _BlockMedians(cases, samples)))
    priors = _priors(compared)
    for pair in compared:
        if pair.claim is None:
            yield _measured(pair, used.get(device_key(pair.case), {}), priors.get(pair.kind, NOTHING))


def _measured(pair: _SampledPair, device: Row, prior: Prior) -> MeasuredPair:
    shared, quantum = pair.shared.settled, 0.0
    if shared.baseline_ns.size and metric_named(pair.case["metric"]).on_device_clock:
        quantum = _quantum(shared, device.get("timer_resolution_ns") or 0)
    speedup = intervals.speedup(shared.ratios)
    return MeasuredPair(pair.baseline, pair.case, pair.state, speedup, shared.ratios, prior, quantum, pair.same_program)


#: Columns of `_Shared` that have a row for each side, in its order.
_OF_BOTH: Final = ("measured_ns", "host_ns", "session_ns", "events", "waited")


@dataclass(frozen=True)
class _Shared:
    """The blocks that both sides have, in order.

    Attributes:
        baseline_ns, variant_ns: times of one execution.
        instances: instance of each block.
        positions: index of each block within its instance, warm-up included.
        measured_ns: measured time of each side in each block; one value covers a batch of executions.
        host_ns: host time of one execution, for each side and block.
        session_ns: part of `host_ns` spent in calls of the session; 0 in runs without this column.
        events: number of events in one execution, for each side; NaN in runs without this column.
        waited: part of the core time that others had, for each side and block; NaN where it is unknown.
        throttled: part of the blocks in which the machine was in another state.
        disturbance: the most frequent flag of these blocks.
    """

    baseline_ns: Floats
    variant_ns: Floats
    instances: Floats
    positions: Floats
    measured_ns: Floats
    host_ns: Floats
    session_ns: Floats
    events: Floats
    waited: Floats
    throttled: float
    disturbance: Flag

    @cached_property
    def ratios(self) -> list[Floats]:
        """The log speed-up of each block, by instance."""
        (ratios,) = log_speedups({"": self.baseline_ns, "variant": self.variant_ns}, "").values()
        return intervals.by_instance(ratios, self.instances)

    @cached_property
    def start(self) -> SeriesStart:
        """The slow start of the pair, in which the two sides do not yet differ as they will in the end."""
        positions = intervals.by_instance(self.positions, self.instances)
        return start_of_instances(list(zip(self.ratios, positions, strict=True)))

    @cached_property
    def settled(self) -> _Shared:
        """Without the blocks of a start that is over."""
        return self.later if self.start.over else self

    @cached_property
    def later(self) -> _Shared:
        """The blocks after the start."""
        if not self.start.length:
            return self
        kept = self.positions >= self.start.length
        one = {name: getattr(self, name)[kept] for name in ("baseline_ns", "variant_ns", "instances", "positions")}
        both = {name: getattr(self, name)[:, kept] for name in _OF_BOTH}
        return replace(self, **one, **both)

    @property
    def bias(self) -> float:
        """How much the log speed-up would change if neither side had waited for cores; NaN where it is unknown."""
        left = np.log(np.maximum(1 - self.waited, LEAST_LEFT))
        return float(np.median(left[0] - left[1])) if left.size else math.nan

    @property
    def most_waited(self) -> float:
        """The larger of the parts of their core time that others had of the two sides; NaN where it is unknown."""
        return float(np.median(self.waited, axis=1).max()) if self.waited.size else math.nan

    def medians(self) -> list[float]:
        """The log speed-up of each instance that counts."""
        return [float(np.median(group)) for group in intervals.counted_groups(self.ratios)]


#: Least part of its core time that a side is taken to have had: there is no more to be known of one that had none.
LEAST_LEFT: Final = 0.001

_NONE: Final = np.empty(0)
_NEITHER: Final = np.empty((2, 0))
_NOTHING_SHARED: Final = _Shared(*(_NONE,) * 4, *(_NEITHER,) * 5, throttled=0.0, disturbance=next(iter(REMEDIES)))


class _BlockMedians:
    """The median of the samples that count, for each case, state and block."""

    def __init__(self, cases: pd.DataFrame, samples: pd.DataFrame) -> None:
        self._states = summaries.states_of(samples)
        self.spoilt = summaries.spoilt(cases, samples)
        trusted = summaries.usable(cases, samples)
        described = trusted.assign(
            measured_ns=trusted["time_ns"] * trusted["batch"].astype("float64").fillna(1),
            session_ns=trusted["session_ns"].astype("float64").fillna(0),
            **{name: trusted[name].astype("float64") for name in ("host_ns", "events", "waited")},
        )
        marks = trusted["sample_flags"].str.get_dummies(",").reindex(columns=[*REMEDIES], fill_value=0)
        grouped = described.join(marks).groupby(["case_id", "state", "block"])
        blocks = pd.DataFrame(
            {
                **{name: grouped[name].median() for name in ("time_ns", *_OF_BOTH)},
                "instance": grouped["instance"].first(),
                "position": grouped["position"].first(),
            }
        ).join(grouped[[*REMEDIES]].max())
        self._blocks = {key: data.droplevel([0, 1]) for key, data in blocks.groupby(level=[0, 1])}

    def states(self, *cases: Row) -> Sequence[str | None]:
        return summaries.in_order(*(self._states.get(case["case_id"], ()) for case in cases))

    def shared(self, baseline: Row, case: Row, state: str | None) -> _Shared:
        base, own = (self._blocks.get((side["case_id"], state)) for side in (baseline, case))
        if base is None or own is None:
            return _NOTHING_SHARED
        _, in_base, in_own = np.intersect1d(base.index, own.index, assume_unique=True, return_indices=True)
        disturbed = base[[*REMEDIES]].to_numpy(bool)[in_base] | own[[*REMEDIES]].to_numpy(bool)[in_own]
        both = {
            name: np.array([side[name].to_numpy()[at] for side, at in ((base, in_base), (own, in_own))])
            for name in _OF_BOTH
        }
        return _Shared(
            base["time_ns"].to_numpy()[in_base],
            own["time_ns"].to_numpy()[in_own],
            base["instance"].to_numpy()[in_base],
            base["position"].to_numpy()[in_base],
            **both,
            throttled=float(disturbed.any(axis=1).mean()) if disturbed.size else 0.0,
            disturbance=[*REMEDIES][int(disturbed.sum(axis=0).argmax())],
        )


@dataclass(frozen=True)
class _SampledPair(Pair):
    """A comparison in one state.

    Attributes:
        state: state of the caches; None if nothing was sampled.
        shared: both sides' blocks.
        spoilt: reason why most samples of a side are invalid; None if most are valid.
    """

    state: str | None
    shared: _Shared
    spoilt: str | None

    @property
    def kind(self) -> tuple[str | None, ...]:
        """Host, device, metric and state: pairs that share them share a prior."""
        return *device_key(self.case), self.case["metric"], self.state


def _sampled_pairs(cases: pd.DataFrame, blocks: _BlockMedians) -> Iterator[_SampledPair]:
    families: dict[str, list[Row]] = {}
    for case in rows(cases):
        families.setdefault(case["family_id"], []).append(case)
    for one in itertools.chain.from_iterable(map(pairs_of_family, families.values())):
        for state in blocks.states(one.baseline, one.case):
            sides = (one.baseline["case_id"], one.case["case_id"])
            spoilt = next((told for side in sides if (told := blocks.spoilt.get((side, str(state))))), None)
            shared = blocks.shared(one.baseline, one.case, state)
            yield _SampledPair(one.baseline, one.case, one.claim, state, shared, spoilt)


def _priors(pairs: Iterable[_SampledPair]) -> Mapping[tuple[str | None, ...], Prior]:
    """The pooled variance between instances for each device, metric and state."""
    medians: dict[tuple[str | None, ...], list[Sequence[float]]] = {}
    for pair in pairs:
        if pair.claim is not None and pair.claim.of_accuracy:  # its times are another pair's, too
            continue
        if pair.baseline is not pair.case and {pair.baseline["status"], pair.case["status"]} == {Status.OK}:
            medians.setdefault(pair.kind, []).append(pair.shared.settled.medians())
    return {kind: prior_of(known) for kind, known in medians.items() if len(known) >= FEWEST_PAIRS}


def _row(pair: _SampledPair, device: Row, prior: Prior, *, alone_decides: bool) -> Row:
    baseline, case, shared = pair.baseline, pair.case, pair.shared.settled
    # the interval's own count: an instance that was cut off is excluded
    counted = intervals.counted_groups(intervals.by_instance(shared.baseline_ns, shared.instances))
    failed = pair.ended(len(counted), pair.spoilt)
    quantum, speedup, host = 0.0, intervals.UNKNOWN, None
    if not failed:
        metric = metric_named(case["metric"])
        if metric.on_device_clock:
            quantum = _quantum(shared, device.get("timer_resolution_ns") or 0)
        if metric.is_of_commands and np.isfinite(shared.host_ns).all():
            host = _host_times(shared, case["device_class"], device.get("empty_kernel_host_ns"))
        exact = intervals.speedup(shared.ratios)
        if case["stopped_by"] == StopReason.PRECISION:  # as the sampling saw it
            exact = moderated_speedup(exact, prior)
        speedup = intervals.blurred(exact, quantum)
        if len(counted) == 1:
            speedup = intervals.blurred(speedup, answer.INSTANCES_DIFFER[DeviceClass(case["device_class"])])
    said, least = columns(pair.claim), pair.least(device)
    later = intervals.UNKNOWN
    if not failed and not shared.start.over:
        later = intervals.speedup(shared.later.ratios)
    judged = failed or pair.judge(
        speedup,
        device,
        answer.Circumstances(
            case["stopped_by"],
            intervals.drift(shared.baseline_ns / shared.variant_ns, shared.instances),
            shared.throttled,
            quantum,
            host,
            shared.disturbance,
            pair.shared.start,
            later,
            pair.spoilt,
            alone_decides,
            shared.bias,
            shared.most_waited,
        ),
    )
    return {
        **{name: case[name] for name in _KEPT},
        "baseline_case_id": baseline["case_id"],
        "baseline": baseline["variant"],
        "baseline_ns": None if failed else np.median(shared.baseline_ns),
        "variant_ns": None if failed else np.median(shared.variant_ns),
        "speedup": speedup.estimate,
        "speedup_low": speedup.low,
        "speedup_high": speedup.high,
        "blocks": sum(group.size for group in counted),
        "instances": len(counted),
        "outcome": judged.outcome,
        "same_program": pair.same_program,
        **said,
        "of_guide": _part(speedup.estimate, said["guide_speedup"]),
        "at_guides_size": pair.at_guides_size(device),
        "at_least": least if least > 1 else None,
        "answer": judged.answer,
        "barely": False,
        "stand_in": bool(case["stand_in"]),
        "reason_code": str(judged.code),
        "reason": judged.reason,
    }


def _is_barely(row: Row, noise: float) -> bool:
    """True if a claim of a difference holds, and the difference is smaller than the noise."""
    differs = row["claim"] in answer.SURE and row["answer"] == Answer.HOLDS
    return differs and max(row["speedup"], 1 / row["speedup"]) < 1 + noise


def _part(speedup: float | None, printed: float | None) -> float | None:
    """A speed-up as a part of the one that the guide prints."""
    return speedup / printed if printed and speedup and math.isfinite(speedup) else None


def _host_times(shared: _Shared, device_class: str, empty_kernel_ns: float | None) -> HostTimes:
    recorded = np.array([shared.baseline_ns, shared.variant_ns])
    beside = shared.host_ns - shared.session_ns - recorded

    def over_blocks(values: Floats) -> intervals.Interval:
        return intervals.grouped_interval(intervals.by_instance(values, shared.instances))

    baseline, variant = (
        Side(
            name,
            over_blocks(beside[at]),
            allowed_ns(device_class, empty_kernel_ns, float(np.median(shared.events[at]))),
            float(np.median(recorded[at])),
        )
        for at, name in enumerate(("the baseline", "the variant"))
    )
    return HostTimes(baseline, variant, over_blocks(beside[1] - beside[0]))


def _quantum(shared: _Shared, resolution_ns: float) -> float:
    """Error that the timer's quantum makes in the speed-up, as a relative size: the sum of both sides'.

    A time of 40.4 quanta reads 40 or 41, more often 40: the median of many readings is off by up to half a quantum,
    and no number of them shows it. Where all readings are the same, the kernel may keep step with the timer. Then each
    execution may be off by nearly a whole quantum, and executions that are timed as a batch do not average it out.
    """
    return sum(
        resolution_ns / float(np.median(time_ns))
        if np.ptp(measured_ns) < resolution_ns / 2
        else resolution_ns / 2 / float(np.median(measured_ns))
        for time_ns, measured_ns in zip((shared.baseline_ns, shared.variant_ns), shared.measured_ns, strict=True)
    )

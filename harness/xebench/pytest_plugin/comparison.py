"""Two functions sampled in turns, and judged as a run judges a pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

from xebench.analysis import answer
from xebench.analysis.claim import Claim, to_json
from xebench.analysis.pairs import pairs
from xebench.errors import XebenchError
from xebench.runtime import DeviceInfo
from xebench.sampling.blocks import sample_family
from xebench.sampling.limits import Sampling
from xebench.sampling.stopping import decide
from xebench.tables import schema
from xebench.vocabulary import Metric, Role, State, is_valid

NAIVE, OPTIMISED = "naive", "optimised"
ROLES: Final = {NAIVE: Role.NAIVE, OPTIMISED: Role.OPTIMIZED}


class Sample(Protocol):
    """Device time of one execution in ns, its flags, and what was measured."""

    def __call__(self, function: Callable[[], Any]) -> tuple[float, Sequence[Any], Any]: ...


def compared(
    sample: Sample,
    device: DeviceInfo,
    functions: Sequence[Callable[[], Any]],
    claim: str | Claim,
    precision: float,
    budget_s: float,
) -> tuple[dict[str, Any], list[float]]:
    """The pair, with the columns of the table ``pairs``, and the times of the second function in ns.

    Raises:
        XebenchError: the claim is none of time, or a function submits nothing that is recorded.
    """
    said = Claim(claim) if isinstance(claim, str) else claim
    if not said.of_time or said.fault():
        raise XebenchError(f"claim {claim!r}: {said.fault() or 'compare takes one of time'}: faster, slower or same")
    taken: list[dict[str, Any]] = []
    by_name = dict(zip(ROLES, functions, strict=True))

    def measure(variant: str, *, state: str, block: int, order: int, batch: int) -> float:
        time_ns, flags, measured = sample(by_name[variant])
        valid = is_valid(flags, Metric.DEVICE) and time_ns > 0
        times = {"device_ns": time_ns, "host_ns": measured.host_ns, "commands": len(measured.commands)}
        place = {"case_id": variant, "state": state, "block": block, "order": order, "instance": 0}
        marks = {"valid": valid, "checked": True, "flags": ",".join(flags), "batch": 1, "sample": len(taken)}
        taken.append({**times, **place, **marks})
        return time_ns if valid else math.nan

    for function in functions:
        sample(function)  # what compiles is not sampled
    sampling = Sampling(precision=precision, budget_s=budget_s, min_instances=1)
    rule = partial(decide, baseline=NAIVE, sampling=sampling)
    ended = sample_family(list(ROLES), measure, rule, sampling, seed=0)
    pair = _judged(taken, device, said, answer.same_within(precision), ended.stopped_by)
    return pair, [one["device_ns"] for one in taken if one["case_id"] == OPTIMISED and one["state"] == State.HOT]


def _judged(
    taken: Sequence[Mapping[str, Any]], device: DeviceInfo, claim: Claim, band: float, stopped_by: str
) -> dict[str, Any]:
    place = {
        "host": None,
        "device": device.device,
        "device_class": device.device_class,
        "metric": Metric.DEVICE,
        "status": "ok",
    }
    family = {"pattern": "compare", "preset": "-", "axes": "{}", "sizes": "{}", "overrides": "{}"}
    cases = [
        {
            **place,
            **family,
            "case_id": name,
            "variant": name,
            "role": role,
            "claims": to_json([claim] if name == OPTIMISED else []),
            "same_within": band,
            "stopped_by": stopped_by,
        }
        for name, role in ROLES.items()
    ]
    (pair,) = pairs(_frame("cases", cases), _frame("samples", taken), _frame("devices", [device.to_row()]), _no_roofs())
    wanted = ("claim", "answer", "outcome", "reason", "blocks", "baseline_ns", "variant_ns")
    return {name: pair[name] for name in (*wanted, "speedup", "speedup_low", "speedup_high")}


def _no_roofs() -> list[dict[str, Any]]:
    return [{"case_id": name, "state": State.HOT, "roof_fraction": None} for name in ROLES]


def _frame(table: str, content: Sequence[Mapping[str, Any]]) -> Any:
    blank = dict.fromkeys(schema.columns(table))
    return schema.frame(table, [{**blank, **row} for row in content])

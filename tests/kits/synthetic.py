"""Runs made of numbers: cases and samples with known times, in the tables of the schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xebench.records.claim import Claim, to_json
from xebench.results import Run, frame
from xebench.results.analysis.pairs import pairs
from xebench.results.analysis.summaries import summaries

DEVICE = "opencl:cpu:0"


class Synthetic:
    """Collects rows; `run` makes the tables of them as `load_run` would."""

    def __init__(self, **device: Any) -> None:
        known = {"device": DEVICE, "name": "Test CPU", "driver_version": "1.0", "device_class": "cpu"}
        self.devices = [{**known, "timer_resolution_ns": 1.0, **device}]
        self.cases: list[dict[str, Any]] = []
        self.samples: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def case(self, variant: str, role: str, **changed: Any) -> str:
        """A case of the pattern `p` on the device, ok unless changed; returns its id."""
        device = self.devices[0]
        known = {
            "pattern": "p",
            "chapter": "f",
            "variant": variant,
            "role": role,
            "preset": "smoke",
            "parameters": '{"n": 8}',
            "preset_parameters": '{"n": 8}',
            "device": device["device"],
            "device_class": device["device_class"],
            "metric": "device",
            "claims": "[]" if role == "naive" else to_json([Claim("faster")]),
            "status": "ok",
            **changed,
        }
        point = f"{known['preset']}/{known['parameters']}/{known['device_class']}"
        place = f"@{known['host']}/{known['device']}" if known.get("host") else ""
        case_id = f"{known['pattern']}/{variant}/{point}{place}"
        self.cases.append({**known, "case_id": case_id, "family_id": f"{known['pattern']}/{point}{place}"})
        return case_id

    def sample(self, case_id: str, **changed: Any) -> None:
        """One sample, valid, checked and hot unless changed."""
        number = len(self.samples)
        known = {
            "case_id": case_id,
            "sample_id": number,
            "state": "hot",
            "valid": True,
            "checked": True,
            "sample_flags": "",
        }
        self.samples.append({**known, **changed})

    def event(self, *intervals: tuple[int, int], kind: str = "kernel", queue: str = "q0") -> None:
        """Events of the last sample, with these starts and ends."""
        last = self.samples[-1]
        for start, end in intervals:
            known = {
                "case_id": last["case_id"],
                "sample_id": last["sample_id"],
                "sequence": len(self.events),
                "kind": kind,
            }
            times = {"submit_ns": start, "start_ns": start, "end_ns": end}
            self.events.append({**known, "name": kind, "queue": queue, **times})

    def times(
        self,
        case_id: str,
        device_ns: Iterable[float],
        state: str = "hot",
        flags: Sequence[str] = (),
        instances: Sequence[int] | None = None,
    ) -> None:
        """A sample in each block, with these device times, of these instances: six by default, one after the other."""
        times_ns = list(device_ns)
        for block, time_ns in enumerate(times_ns):
            self.sample(
                case_id,
                block=block,
                instance=6 * block // len(times_ns) if instances is None else instances[block],
                state=state,
                device_ns=time_ns,
                span_ns=2 * time_ns,
                host_ns=3 * time_ns,
                build_ns=0.0,
                sample_flags=",".join(flags),
            )

    def run(self) -> Run:
        """The tables."""
        devices, cases = frame("devices", self.devices), frame("cases", self.cases)
        samples, events = frame("samples", self.samples), frame("events", self.events)
        summary = summaries(cases, samples, devices, events)
        tables = {
            "devices": devices,
            "cases": cases,
            "samples": samples,
            "events": events,
            "summaries": frame("summaries", summary),
            "pairs": frame("pairs", pairs(cases, samples, devices, summary)),
        }
        return Run.of_tables(Path("synthetic"), {"state": "complete"}, tables)


def noisy(median_ns: float, blocks: int = 20, spread: float = 0.005, seed: int = 0) -> NDArray[Any]:
    """Lognormal times around a median."""
    return median_ns * np.random.default_rng(seed).lognormal(0, spread, blocks)

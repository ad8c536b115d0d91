"""Serve families to worker processes, and turn whatever happens to a worker into rows.

A worker serves many families. When it crashes or hangs, the variant that was at work is marked, a new worker takes
the family on without it, and nothing that was measured is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from harness.errors import BrokenEnvironment, NoDevice, XebenchError
from harness.patterns.plan import Family
from harness.runner.process import WorkerDied, WorkerHung, WorkerProcess
from harness.runner.sampler import Sampling

# Starting the stack takes seconds; on a loaded machine a multiple of that.
START_TIMEOUT_S = 300.0


class Sink(Protocol):
    """Where rows go: a :class:`harness.records.RunWriter`."""

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows of a table."""


class Manager:
    """Runs families one after another on one device.

    Args:
        device: the row of the device, for the static columns of the cases.
        sink: where rows go.
        sampling: how long to sample.
        timeout_s: silence after which a worker counts as hung.
        seed: of the data and of the block orders.
        notice: called with the name of the variant at work, for progress.
        make_worker: starts a worker; for tests.
    """

    def __init__(
        self,
        device: Mapping[str, Any],
        sink: Sink,
        *,
        sampling: Sampling,
        timeout_s: float,
        seed: int,
        notice: Callable[[str], None] = lambda text: None,
        make_worker: Callable[[str], WorkerProcess] = WorkerProcess,
    ) -> None:
        self._device = device
        self._sink = sink
        self._sampling = sampling
        self._timeout_s = timeout_s
        self._seed = seed
        self._notice = notice
        self._make_worker = make_worker
        self._worker: WorkerProcess | None = None
        self._next_sample = 0

    def measure_roofs(self) -> Mapping[str, Any]:
        """The device's measured roofs: columns of the table ``devices``."""
        worker = self._ready_worker()
        worker.ask("calibrate")
        roofs: Mapping[str, Any] = {}
        while (message := worker.listen(START_TIMEOUT_S))["kind"] != "done":
            self._raise_failure(message)
            if message["kind"] == "roofs":
                roofs = message["row"]
        return roofs

    def run_family(self, family: Family) -> dict[str, str]:
        """Measure one family; gives the status of each variant."""
        rows = self._case_rows(family)
        self._sink.append("cases", list(rows.values()))
        waiting = list(rows)
        first_block = 0
        while waiting:
            lost = self._attempt(family, waiting, rows, first_block)
            if lost is None:
                break
            variant, status, reason = lost
            self._settle(rows, [variant] if variant else waiting, status, reason)
            waiting = [name for name in waiting if variant is not None and name != variant]
            first_block += self._sampling.max_blocks + self._sampling.max_warmup_blocks
        return {name: str(row["status"]) for name, row in rows.items()}

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    # ---- one attempt --------------------------------------------------------------------------------------------

    def _attempt(
        self, family: Family, variants: Sequence[str], rows: dict[str, dict[str, Any]], first_block: int
    ) -> tuple[str | None, str, str] | None:
        """Let a worker measure ``variants``. None when it finished; else the variant that was lost, status, reason."""
        worker = self._ready_worker()
        worker.ask(
            "family",
            source=family.pattern.source,
            pattern=family.pattern.name,
            sizes=dict(family.sizes),
            axes=dict(family.axes),
            variants=list(variants),
            case_ids={name: rows[name]["case_id"] for name in variants},
            sampling=asdict(self._sampling),
            seed=self._seed,
            first_sample=self._next_sample,
            first_block=first_block,
        )
        try:
            while (message := worker.listen(self._timeout_s))["kind"] != "done":
                self._raise_failure(message)
                self._take(message, rows)
            return None
        except (WorkerDied, WorkerHung) as end:
            index, stage = worker.beacon.read()
            self.close()
            status = "crashed" if isinstance(end, WorkerDied) else "timeout"
            variant = variants[index] if index is not None else None
            return variant, status, f"{stage}: {end}"

    def _take(self, message: Mapping[str, Any], rows: dict[str, dict[str, Any]]) -> None:
        if message["kind"] == "rows":
            self._sink.append(message["table"], message["rows"])
            if message["table"] == "samples":
                self._next_sample = max(self._next_sample, message["rows"][-1]["sample"] + 1)
        elif message["kind"] == "case":
            row = rows[message["variant"]]
            row.update({key: value for key, value in message.items() if key not in ("kind", "variant")})
            self._sink.append("cases", [row])
        elif message["kind"] == "progress":
            self._notice(message["variant"])

    def _settle(self, rows: dict[str, dict[str, Any]], variants: Sequence[str], status: str, reason: str) -> None:
        for name in variants:
            rows[name].update(status=status, reason=reason)
        self._sink.append("cases", [rows[name] for name in variants])

    def _case_rows(self, family: Family) -> dict[str, dict[str, Any]]:
        """A row for every variant, before anything is known of it."""
        info, device_class = family.pattern, str(self._device["device_class"])
        return {
            variant.name: {
                "case_id": family.case_id(variant.name, device_class),
                "pattern": info.name,
                "family": info.family,
                "guide": info.guide,
                "catalogue": ",".join(info.catalogue),
                "variant": variant.name,
                "role": variant.role,
                "preset": family.preset,
                "axes": json.dumps(dict(family.axes), sort_keys=True),
                "device": self._device["device"],
                "device_class": device_class,
                "metric": info.metric,
                "claim": variant.claim.get(device_class),
                "status": "interrupted",
                "reason": "the run ended before this case did",
                "stopped_by": "",
                "seed": self._seed,
                "bytes_moved": None,
                "operations": None,
                "operation_kind": None,
                "kernels": "[]",
                "source": info.source,
            }
            for variant in info.variants
        }

    # ---- the worker ---------------------------------------------------------------------------------------------

    def _ready_worker(self) -> WorkerProcess:
        if self._worker is None:
            self._worker = self._make_worker(str(self._device["device"]))
            try:
                self._raise_failure(self._worker.listen(START_TIMEOUT_S))
            except (WorkerDied, WorkerHung) as error:
                raise BrokenEnvironment(f"a worker process did not start: {error}; try 'xebench doctor'") from None
        return self._worker

    @staticmethod
    def _raise_failure(message: Mapping[str, Any]) -> None:
        if message["kind"] == "failed":
            kind = NoDevice if message["exit_code"] == NoDevice.exit_code else XebenchError
            raise kind(f"the worker failed: {message['reason']}")

"""Serve families to worker processes, and turn whatever happens to a worker into rows.

A worker serves many families. When it crashes or hangs, the variant that was at work is marked, a new worker takes
the family on without it, and nothing that was measured is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Protocol

from harness.errors import BrokenEnvironment, NoDevice, XebenchError
from harness.patterns.plan import Family
from harness.runner.cases import ENDED_BEFORE, NOT_MEASURED, case_rows
from harness.runner.process import WorkerEnded, WorkerProcess
from harness.runner.sampler import Sampling
from harness.runner.signals import Stopped
from harness.runner.visit import Rows, Visit

# Starting the stack takes seconds; on a loaded machine a multiple of that.
START_TIMEOUT_S = 300.0

# What a worker has sent is in the pipe when it is gone.
REST_TIMEOUT_S = 1.0


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
        first: numbers of the first sample and of every family's first block; a resumed run goes on counting.
        notice: called with the name of the variant at work, for progress.
        sample_flags: what the samples that arrive now are marked with, beside their own flags.
        make_worker: starts a worker on a device.
    """

    def __init__(
        self,
        device: Mapping[str, Any],
        sink: Sink,
        *,
        sampling: Sampling,
        timeout_s: float,
        seed: int,
        first: tuple[int, int] = (0, 0),
        notice: Callable[[str], None] = lambda text: None,
        sample_flags: Callable[[], Sequence[str]] = tuple,
        make_worker: Callable[[str], WorkerProcess] = WorkerProcess,
    ) -> None:
        self._device = device
        self._sink = sink
        self._sampling = sampling
        self._timeout_s = timeout_s
        self._seed = seed
        self._next_sample, self._first_block = first
        self._visits: dict[str, Visit] = {}
        self._notice = notice
        self._sample_flags = sample_flags
        self._make_worker = make_worker
        self._worker: WorkerProcess | None = None

    def measure_roofs(self) -> Mapping[str, Any]:
        """The device's measured roofs: columns of the table ``devices``.

        Raises:
            BrokenEnvironment: the worker does not survive it.
        """
        worker = self._ready_worker()
        worker.ask("calibrate")
        roofs: Mapping[str, Any] = {}
        try:
            while (message := worker.listen(START_TIMEOUT_S))["kind"] != "done":
                self._raise_failure(message)
                if message["kind"] == "roofs":
                    roofs = message["row"]
        except WorkerEnded as end:
            raise BrokenEnvironment(f"measuring the device's roofs failed: {end}; try 'xebench doctor'") from None
        return roofs

    def announce(self, families: Iterable[Family], reason: str = ENDED_BEFORE) -> None:
        """Write the cases of families that are not measured yet, or that will not be, with the reason."""
        rows = [
            row
            for family in families
            for row in case_rows(family, self._device, self._seed, reason, self._sampling.precision).values()
        ]
        self._sink.append("cases", rows)

    def run_family(self, family: Family, budget_s: float = float("inf"), number: int = 0) -> dict[str, str]:
        """Measure one family; gives the status of each variant.

        Args:
            family: what to measure.
            budget_s: seconds that the run has left; sampling takes no longer.
            number: of the pass, from 0; in a later one the variants that are ok so far are measured further.

        Raises:
            Stopped: a signal came; everything that the worker had sent is written.
        """
        visit = self._visit(family, number)
        rows = visit.rows
        waiting = [name for name, row in rows.items() if row["status"] == NOT_MEASURED]
        left_s = (self._sampling.budget_s - visit.spent_s) / (self._sampling.passes - number)
        sampling = replace(
            self._sampling,
            budget_s=min(max(left_s, 0.0), budget_s),
            max_blocks=max(1, self._sampling.max_blocks // self._sampling.passes),
        )
        while waiting:
            lost = self._attempt(family, waiting, visit, sampling, number)
            if lost is None:
                break
            variant, status, reason = lost
            # a worker that falls after it has told of a case takes nothing from that case
            waiting = [name for name in waiting if rows[name]["status"] == NOT_MEASURED]
            gone = [name for name in waiting if variant in (None, name)]
            self._settle(rows, gone, status, reason)
            waiting = [name for name in waiting if name not in gone]
        return {name: str(row["status"]) for name, row in rows.items()}

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _visit(self, family: Family, number: int) -> Visit:
        """What is known of a family, new in the first pass; the cases to measure have no result yet."""
        key = self._key(family)
        if number and key in self._visits:
            visit = self._visits[key]
            for row in visit.rows.values():
                if row["status"] == "ok":
                    row["status"] = NOT_MEASURED  # not written: what is on disk counts until there is more
            return visit
        rows = case_rows(family, self._device, self._seed, precision=self._sampling.precision)
        self._sink.append("cases", list(rows.values()))
        self._visits[key] = visit = Visit(rows, self._first_block)
        return visit

    def restore(self, family: Family, visit: Visit) -> None:
        """Take over what an earlier session has of a family: one pass, the last, is left for it."""
        visit.next_block = self._first_block
        visit.spent_s = self._sampling.budget_s * (1 - 1 / self._sampling.passes)
        self._visits[self._key(family)] = visit

    def _key(self, family: Family) -> str:
        return family.case_id("", str(self._device["device_class"]))

    # ---- one attempt --------------------------------------------------------------------------------------------

    def _attempt(
        self, family: Family, variants: Sequence[str], visit: Visit, sampling: Sampling, number: int
    ) -> tuple[str | None, str, str] | None:
        """Let a worker measure ``variants``. None when it finished; else the variant that was lost, status, reason."""
        worker, rows = self._ready_worker(), visit.rows
        worker.ask(
            "family",
            source=family.pattern.source,
            pattern=family.pattern.name,
            sizes=dict(family.sizes),
            axes=dict(family.axes),
            variants=list(variants),
            case_ids={name: rows[name]["case_id"] for name in variants},
            sampling=asdict(sampling),
            seed=self._seed,
            first_sample=self._next_sample,
            first_block=visit.next_block,
            first_instance=visit.next_instance,
            again=number > 0,
            last=number + 1 >= self._sampling.passes,
            earlier={state: list(instances) for state, instances in visit.earlier.items()},
        )
        try:
            while (message := worker.listen(self._timeout_s))["kind"] != "done":
                if message["kind"] == "failed":
                    self.close()
                    return None, "error", str(message["reason"])
                self._take(message, visit)
            return None
        except WorkerEnded as end:
            index, stage = worker.beacon.read()
            self.close()
            return (variants[index] if index is not None else None), end.status, f"{stage}: {end}"
        except Stopped:
            self._take_rest(worker, visit)
            raise

    def _take_rest(self, worker: WorkerProcess, visit: Visit) -> None:
        """End the worker and take what it had sent before."""
        worker.kill()
        with suppress(WorkerEnded):
            while True:
                self._take(worker.listen(REST_TIMEOUT_S), visit)

    def _take(self, message: Mapping[str, Any], visit: Visit) -> None:
        if message["kind"] == "rows":
            if message["table"] == "samples":
                self._count(message["rows"], visit)
            self._sink.append(message["table"], message["rows"])
        elif message["kind"] == "case":
            row = visit.rows[message["variant"]]
            row.update({key: value for key, value in message.items() if key not in ("kind", "variant")})
            self._sink.append("cases", [row])
        elif message["kind"] == "pass":
            visit.earlier.setdefault(message["state"], []).extend(message["instances"])
            visit.spent_s += message["seconds"]
        elif message["kind"] == "progress":
            self._notice(message["variant"])

    def _count(self, samples: Sequence[dict[str, Any]], visit: Visit) -> None:
        """Note which numbers are taken: a later worker's must not repeat them."""
        flags = self._sample_flags()
        for sample in samples:
            self._next_sample = max(self._next_sample, sample["sample"] + 1)
            visit.next_block = max(visit.next_block, sample["block"] + 1)
            if sample["instance"] is not None:
                visit.next_instance = max(visit.next_instance, sample["instance"] + 1)
            if flags:
                sample["flags"] = ",".join(filter(None, (sample["flags"], *flags)))

    def _settle(self, rows: Rows, variants: Sequence[str], status: str, reason: str) -> None:
        for name in variants:
            rows[name].update(status=status, reason=reason)
        self._sink.append("cases", [rows[name] for name in variants])

    # ---- the worker ---------------------------------------------------------------------------------------------

    def _ready_worker(self) -> WorkerProcess:
        if self._worker is None:
            self._worker = self._make_worker(str(self._device["device"]))
            try:
                self._raise_failure(self._worker.listen(START_TIMEOUT_S))
            except WorkerEnded as error:
                raise BrokenEnvironment(f"a worker process did not start: {error}; try 'xebench doctor'") from None
        return self._worker

    @staticmethod
    def _raise_failure(message: Mapping[str, Any]) -> None:
        if message["kind"] == "failed":
            kind = NoDevice if message["exit_code"] == NoDevice.exit_code else XebenchError
            raise kind(f"the worker failed: {message['reason']}")

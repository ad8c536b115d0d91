"""Turn samples into rows of the tables, and send them between the samples rather than within."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from harness.runner.kernels import Compilation
from harness.runner.messages import Sender
from harness.runner.recorder import CommandTimes

# A crash must not cost more than this much of what was measured.
FLUSH_AFTER_S = 0.05


class RowStream:
    """Rows of one family on their way to the manager.

    Args:
        sender: where to.
        case_ids: key of the case by variant.
        first_sample: number of the first sample.
    """

    def __init__(self, sender: Sender, case_ids: Mapping[str, str], first_sample: int) -> None:
        self._sender = sender
        self._case_ids = case_ids
        self.next_sample = first_sample
        self._pending: dict[str, list[dict[str, Any]]] = {"samples": [], "events": []}
        self._flushed = time.monotonic()

    def add_sample(self, variant: str, measured: Mapping[str, Any], commands: Sequence[CommandTimes]) -> None:
        """Queue the row of one sample and the rows of its commands."""
        key = {"case_id": self._case_ids[variant], "sample": self.next_sample}
        self.next_sample += 1
        self._pending["samples"].append({**key, "stage": None, "cached": None, **measured})
        self._pending["events"].extend(
            {
                **key,
                "sequence": sequence,
                "kind": command.kind,
                "name": command.name,
                "queue": f"q{command.queue}",
                "submit_ns": command.submit_ns,
                "start_ns": command.start_ns,
                "end_ns": command.end_ns,
            }
            for sequence, command in enumerate(commands)
        )
        if time.monotonic() - self._flushed > FLUSH_AFTER_S:
            self.flush()

    def add_compilations(self, variant: str, stages: Sequence[Compilation], host_ns: int) -> None:
        """Queue the rows of a variant's first call: each stage of compilation, and the rest as ``launch``."""
        rest = max(0, host_ns - sum(stage.host_ns for stage in stages))
        for stage in [*stages, Compilation("", "launch", rest, cached=False)]:
            self.add_sample(
                variant,
                {
                    "block": -1,
                    "order": -1,
                    "state": "compile",
                    "stage": stage.stage,
                    "cached": stage.cached,
                    "host_ns": stage.host_ns,
                    "device_ns": None,
                    "span_ns": None,
                    "queue_ns": None,
                    "valid": True,
                    "flags": "",
                },
                (),
            )

    def flush(self) -> None:
        """Send everything that is queued."""
        for table, rows in self._pending.items():
            if rows:
                self._sender.send("rows", table=table, rows=rows)
                self._pending[table] = []
        self._flushed = time.monotonic()

"""The run's order to every worker, and the workers' announcements and results: plain data between hosts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xebench.patterns.plan import Family
from xebench.runner.cluster.software import Software
from xebench.runner.recipe import Recipe
from xebench.system.runtime import DeviceInfo
from xebench.tables.analysis.rows import DeviceKey


@dataclass(frozen=True)
class Order:
    """The settings of a run, the same for all workers.

    Attributes:
        name: of the run, unique.
        software: that must be the same everywhere.
        recipe: what was asked for.
        run: its folder, for other runs on the device.
        timeout_s: silence after which a worker process counts as hung; None: by preset.
        memory_limit: what a worker process may occupy, as the user wrote it: a part is one of the worker's host.
        exclusive: refuse a device that another run uses.
        run_budget_s: seconds for the whole run; None for no limit.
        first_block: number of every family's first block.
        calibrated: devices whose roofs the run has.
    """

    name: str
    software: Software
    recipe: Recipe
    run: str
    timeout_s: float | None
    memory_limit: str
    exclusive: bool
    run_budget_s: float | None = None
    first_block: int = 0
    calibrated: frozenset[DeviceKey] = frozenset()


@dataclass(frozen=True)
class Announcement:
    """A worker's announcement of itself.

    Attributes:
        host: its name.
        machine: what tells its machine from others of the same name.
        device: the one that it measures on; None without one.
        lanes: work-items that fill the device.
        unfit: why it can measure nothing; empty when it can.
        different: what it must change to have the software of the run; empty when nothing.
        facts: of the host, for the manifest.
    """

    host: str
    machine: str
    device: DeviceInfo | None = None
    lanes: int = 0
    unfit: str = ""
    different: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def offers(self) -> str | None:
        """The class of the device that it measures on; None when it cannot."""
        return None if self.device is None or self.unfit or self.different else self.device.device_class


@dataclass(frozen=True)
class FamilyOrder:
    """A family to measure.

    Attributes:
        number: in the plan.
        family: the source of its pattern is a portable one.
        share_s: seconds that it may take; None for no limit.
        left_s: seconds that the run has left; what a device needs before its first family is part of them.
    """

    number: int
    family: Family
    share_s: float | None = None
    left_s: float = math.inf


@dataclass(frozen=True)
class FamilyResult:
    """A worker's results of a family.

    Attributes:
        device: the row of its device; with roofs when it has measured them.
        tables: rows as they came, each some rows of one table.
        first_sample, end_sample: the numbers that samples and checks may have.
        answers: variant, answer and a few words of each, for progress.
        cut_off: a process was killed from outside, so that cases lack results.
        lacks: how many families the time was not enough for: 0 or 1.
        wide: how many were to be visited again: 0 or 1.
    """

    device: Mapping[str, Any]
    tables: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
    first_sample: int
    end_sample: int
    answers: Sequence[tuple[str, str, str]]
    cut_off: bool = False
    lacks: int = 0
    wide: int = 0

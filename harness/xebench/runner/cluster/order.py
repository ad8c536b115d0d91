"""A run's order to every worker, and a worker's announcement of its device and software: plain data.

Files of the user (``--path``, and what they import) must lie at the same place everywhere: nothing is sent.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from numba_sycl.stacks import stack
from xebench.patterns import registry
from xebench.patterns.plan import Family
from xebench.patterns.registry import BENCHMARKS
from xebench.records.points import DeviceKey
from xebench.runner.run_options import Recipe
from xebench.system import PACKAGES
from xebench.system.runtime import DeviceInfo

_PACKAGES: Final = tuple(package.resolve() for package in PACKAGES)

#: Hash of a missing file.
_MISSING: Final = b""


@dataclass(frozen=True)
class Software:
    """The software and files of a measurement.

    Attributes:
        version: version of xebench.
        stack: one of the two stacks.
        source: hash of all Python files of xebench and its patterns.
        files: hash of each user file that patterns depend on, by path.
    """

    version: str
    stack: str
    source: str
    files: Mapping[str, bytes]

    @classmethod
    def here(cls, files: Iterable[str]) -> Software:
        """The software of this environment, with these files of the user."""
        hashes = {file: registry.contents_hash(file) if Path(file).is_file() else _MISSING for file in files}
        return cls(metadata.version("xebench"), str(stack()), _source(), hashes)

    def difference(self, other: Software) -> str | None:
        """The change that a worker needs to equal this software; None if nothing differs.

        Args:
            other: software of the worker.
        """
        if other.version != self.version:
            return f"has xebench {other.version}, but this host has {self.version}: install the same there"
        if other.stack != self.stack:
            return f"has the {other.stack} stack, but this host has the {self.stack} one: install the same there"
        if other.source != self.source:
            return (
                f"has other source files of xebench {self.version} or its patterns: bring both to the same state, and "
                "start the worker again"
            )
        for file, contents in self.files.items():
            if other.files[file] != contents:
                what = "has another" if other.files[file] else "has no"
                return f"{what} {file}: copy it from here to the same path there"
        return None


def user_files(paths: Sequence[str]) -> tuple[str, ...]:
    """The files of the user that ``--path`` brings in: pattern files, and what they import from beside them."""
    if not paths:
        return ()
    own = registry.sources([Path(path).resolve() for path in paths])
    return tuple(file for file in own if not {*_PACKAGES, BENCHMARKS} & set(Path(file).parents))


@functools.cache
def _source() -> str:
    """A hash of the names and contents of our Python files; where they are installed does not matter.

    Taken once in a process: one that goes on after they have changed runs what they were before.
    """
    total = hashlib.sha256()
    for root in (*_PACKAGES, BENCHMARKS):
        for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
            if root == BENCHMARKS or BENCHMARKS not in path.parents:
                name = f"{root.name}/{path.relative_to(root).as_posix()}"
                total.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


@dataclass(frozen=True)
class Order:
    """The settings of a run, the same for all workers.

    Attributes:
        name: unique name of the run.
        software: software that all workers must have.
        recipe: the run's settings.
        run: folder of the run, shown to other runs on the device.
        timeout_s: silence after which a worker process counts as hung; None: by preset.
        memory_limit: memory limit of a worker process, as the user wrote it; a percentage refers to the worker's host.
        exclusive: refuse a device that another run uses.
        run_budget_s: seconds for the whole run; None for no limit.
        first_block: number of the first block of each family.
        calibrated: devices with measured roofs.
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
    """A worker's description of itself.

    Attributes:
        host: name of the host.
        machine: identifier that distinguishes machines of the same name.
        device: device that it measures on; None without one.
        lanes: work-items that fill the device.
        unfit: reason why it cannot measure; empty if it can.
        different: change that gives it the software of the run; empty if it has it.
        facts: facts about the host, for the manifest.
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
        number: index in the plan.
        family: family to measure; the path of its pattern's source is portable.
        share_s: seconds that it may take; None for no limit.
        left_s: seconds left for the run, which include the preparation of a device for its first family.
    """

    number: int
    family: Family
    share_s: float | None = None
    left_s: float = math.inf


@dataclass(frozen=True)
class FamilyResult:
    """A worker's results of a family.

    Attributes:
        device: row of its device, with roofs if it measured them.
        tables: rows in the order of arrival; each entry has rows of one table.
        first_sample, end_sample: numbers that samples and checks may have.
        results: variants, each with a short text, for progress.
        cut_off: True if another process killed a worker, so that cases lack results.
        lacks: number of families without enough time: 0 or 1.
        wide: number of families that need another round: 0 or 1.
    """

    device: Mapping[str, Any]
    tables: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
    first_sample: int
    end_sample: int
    results: Sequence[tuple[str, str]]
    cut_off: bool = False
    lacks: int = 0
    wide: int = 0

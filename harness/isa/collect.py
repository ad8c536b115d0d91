"""Find the kernels that patterns launch: their SPIR-V, byte for byte what a run measures.

Every variant runs once at a small preset, in child processes, with a session that notes what is launched. A crash
or a hang of a child costs the pattern at work; a new child goes on with the rest.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.children.pool import in_threads, run
from harness.patterns.plan import Family

TIMEOUT_S = 120
_WORKER = "harness.isa.collect_worker"


@dataclass(frozen=True)
class KernelLaunch:
    """A kernel of a variant, as it was first launched.

    Attributes:
        pattern, chapter, variant, role: whose kernel it is.
        axes: the point on the pattern's axes, as JSON.
        kernel: name in the SPIR-V.
        spirv_sha256: of the module.
        spirv: where the module lies.
        build_options: what the kernel asks of the driver's compiler on an Intel GPU.
        global_size: extents of the index space, dimension 0 (the fastest) first.
        local_size: extents of a work-group; None where the driver chooses.
        local_bytes: shared local memory of a work-group in ``LocalAccessor`` arguments.
        sized_here: the variant asked for the number of compute units of the device here.
    """

    pattern: str
    chapter: str
    variant: str
    role: str
    axes: str
    kernel: str
    spirv_sha256: str
    spirv: Path
    build_options: tuple[str, ...] = ()
    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] | None = None
    local_bytes: int = 0
    sized_here: bool = False

    @property
    def identity(self) -> tuple[str, tuple[str, ...]]:
        """What is compiled: the same module with other options, such as the large register file, is another kernel."""
        return self.spirv_sha256, self.build_options


@dataclass(frozen=True)
class VariantWithoutKernel:
    """A variant without a kernel to look at, and why."""

    pattern: str
    variant: str
    reason: str


@dataclass(frozen=True)
class LeastWork:
    """The least work of a family, as its problem states it.

    Attributes:
        pattern: its name.
        axes: the point on the pattern's axes, as JSON.
        bytes_moved, operations, operation_kind: see :class:`harness.patterns.problem.Problem`.
    """

    pattern: str
    axes: str
    bytes_moved: int | None
    operations: int | None
    operation_kind: str


@dataclass
class Collected:
    """All kernels that were found, the variants that have none, and the least work of each family."""

    launches: list[KernelLaunch] = field(default_factory=list)
    missing: list[VariantWithoutKernel] = field(default_factory=list)
    work: list[LeastWork] = field(default_factory=list)

    def merge(self, other: Collected) -> None:
        """Take over what another found."""
        self.launches += other.launches
        self.missing += other.missing
        self.work += other.work


def collect(families: Sequence[Family], folder: Path, *, timeout_s: int = TIMEOUT_S, processes: int = 2) -> Collected:
    """Run every variant of the families once and note its kernels.

    Args:
        families: a plan at a small preset.
        folder: where SPIR-V is put.
        timeout_s: seconds that one family may take.
        processes: children at a time.
    """
    shares = [list(families[start::processes]) for start in range(processes)]
    folders = [folder / f"share{number}" for number in range(processes)]
    found = Collected()
    for part in in_threads(lambda work: _collect_share(*work, timeout_s), zip(shares, folders, strict=True), processes):
        found.merge(part)
    order = {family.pattern.name: number for number, family in enumerate(families)}
    found.launches.sort(key=lambda launch: order[launch.pattern])
    found.missing.sort(key=lambda missing: order[missing.pattern])
    found.work.sort(key=lambda work: order[work.pattern])
    return found


def _collect_share(families: list[Family], folder: Path, timeout_s: int) -> Collected:
    found = Collected()
    attempt = 0
    while families:
        place = folder / str(attempt)
        place.mkdir(parents=True)
        attempt += 1
        begun, done, how = _run_child(families, place, timeout_s)
        found.merge(_read(families, place))
        # a child that did not come to its first pattern failed for a reason that the next would share
        lost = families[done : done + 1] if begun else families[done:]
        found.missing += [VariantWithoutKernel(f.pattern.name, v.name, how) for f in lost for v in f.pattern.variants]
        families = families[done + len(lost) :]
    return found


def _run_child(families: Sequence[Family], place: Path, timeout_s: int) -> tuple[int, int, str]:
    """How many families the child began and finished, and how it ended if these are not all."""
    requests = [
        {
            "source": family.pattern.source,
            "pattern": family.pattern.name,
            "sizes": dict(family.sizes),
            "axes": dict(family.axes),
            "axes_json": family.axes_json(),
        }
        for family in families
    ]
    (place / "requests.json").write_text(json.dumps(requests), encoding="utf-8")
    command = [sys.executable, "-m", _WORKER, str(place), str(timeout_s)]
    child = run(command, place, stderr=subprocess.PIPE)
    kinds = [record["kind"] for record in _records(place)]
    return kinds.count("begin"), kinds.count("done"), _epitaph(child, timeout_s)


def _epitaph(child: subprocess.CompletedProcess[str], timeout_s: int) -> str:
    if child.returncode == -signal.SIGALRM:
        return f"not finished within {timeout_s} s"
    if child.returncode < 0:
        return f"crashed ({signal.Signals(-child.returncode).name})"
    lines = child.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f"ended with exit status {child.returncode}"


def _records(place: Path) -> Iterator[dict[str, Any]]:
    """What the child has noted; a line that a crash cut short is left out."""
    file = place / "found.jsonl"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _read(families: Sequence[Family], place: Path) -> Collected:
    infos = {family.pattern.name: family.pattern for family in families}
    found = Collected()
    for record in _records(place):
        if record["kind"] == "kernel":
            info = infos[record["pattern"]]
            role = next(variant.role for variant in info.variants if variant.name == record["variant"])
            found.launches.append(_launch(record, info.chapter, role, place))
        elif record["kind"] == "missing":
            found.missing.append(VariantWithoutKernel(record["pattern"], record["variant"], record["reason"]))
        elif record["kind"] == "work":
            found.work.append(LeastWork(**{name: value for name, value in record.items() if name != "kind"}))
    return found


def _launch(record: Mapping[str, Any], chapter: str, role: str, place: Path) -> KernelLaunch:
    local = record["local_size"]
    return KernelLaunch(
        pattern=record["pattern"],
        chapter=chapter,
        variant=record["variant"],
        role=role,
        axes=record["axes"],
        kernel=record["kernel"],
        spirv_sha256=record["spirv_sha256"],
        spirv=place / f"{record['spirv_sha256']}.spv",
        build_options=tuple(record["build_options"]),
        global_size=tuple(record["global_size"]),
        local_size=None if local is None else tuple(local),
        local_bytes=record["local_bytes"],
        sized_here=record["sized_here"],
    )

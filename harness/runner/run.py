"""One run: from a plan and a device to a finished run folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness import runtime
from harness.analysis.intervals import MIN_SAMPLES
from harness.analysis.stopping import MIN_BLOCKS
from harness.errors import NoDevice
from harness.patterns.plan import Family
from harness.records import Run, RunWriter
from harness.records.provenance import manifest
from harness.runner.manager import Manager
from harness.runner.sampler import Sampling

# A status that means: the instrument or a variant failed, so the command's exit status is 1.
FAILED = frozenset({"wrong", "crashed", "timeout", "error"})

# Seconds of sampling per family, by preset: smoke proves that everything works, guide takes the time it needs.
BUDGETS_S = {"smoke": 0.4, "default": 6.0, "guide": 60.0}
TIMEOUTS_S = {"smoke": 60.0, "default": 120.0, "guide": 900.0}


@dataclass(frozen=True)
class Options:
    """What a run is asked for beside its plan.

    Attributes:
        output: the run folder.
        device: ``auto``, ``gpu``, ``cpu`` or a SYCL filter string.
        require_gpu: refuse the fall-back to the CPU device.
        overwrite: replace an earlier run in the same folder.
        sampling: how long to sample.
        timeout_s: silence after which a worker counts as hung.
        seed: of the data and of the order of samples.
        command_line: for the manifest.
    """

    output: Path
    device: str = "auto"
    require_gpu: bool = False
    overwrite: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    timeout_s: float = 120.0
    seed: int = 20240517
    command_line: tuple[str, ...] = ()


class Progress(Protocol):
    """Told how far a run is; see :mod:`harness.report.progress`."""

    def say(self, text: str) -> None:
        """A notice that stays visible."""

    def family(self, index: int, total: int, name: str) -> None:
        """A family begins."""

    def variant(self, name: str) -> None:
        """A variant of the family is at work."""


def sampling_for(preset: str, *, precision: float | None, budget_s: float | None) -> Sampling:
    """The sampling limits of a preset, with what the user gave instead."""
    budget = budget_s if budget_s is not None else BUDGETS_S.get(preset, BUDGETS_S["default"])
    least = MIN_SAMPLES if preset == "smoke" else MIN_BLOCKS
    return Sampling(precision=precision or 0.01, budget_s=budget, min_blocks=least)


def run_plan(plan: Sequence[Family], options: Options, progress: Progress) -> Run:
    """Measure a plan.

    Ctrl-C ends it cleanly: everything measured is kept and the folder says ``interrupted``.

    Raises:
        NoDevice: no device fits, or it computes wrong.
        BrokenEnvironment: the stack cannot be loaded.
        RunFolderError: the folder cannot be written.
    """
    runtime.load()
    selection = runtime.select_device(options.device, require_gpu=options.require_gpu)
    if selection.notice:
        progress.say(selection.notice)
    device = selection.device
    progress.say(f"device: {device.name} ({device.device}, driver {device.driver_version})")
    _require_right_results(device)
    facts = manifest(options.command_line, asdict(runtime.describe_machine()), runtime.relevant_environment())
    facts["drivers"] = {found.device: found.driver_version for found in runtime.list_devices()}
    writer = RunWriter.create(options.output, facts, overwrite=options.overwrite)
    try:
        _measure(plan, device, options, progress, writer)
    except KeyboardInterrupt:
        progress.say("interrupted: what was measured is kept")
        return writer.finish("interrupted")
    except BaseException:
        writer.finish("interrupted")
        raise
    return writer.finish("complete")


def _measure(
    plan: Sequence[Family],
    device: runtime.DeviceInfo,
    options: Options,
    progress: Progress,
    writer: RunWriter,
) -> None:
    row: dict[str, Any] = {**device.to_row(), "selftest": "ok", **_no_roofs()}
    manager = Manager(
        row,
        writer,
        sampling=options.sampling,
        timeout_s=options.timeout_s,
        seed=options.seed,
        notice=progress.variant,
    )
    try:
        row.update(manager.measure_roofs())
        writer.append("devices", [row])
        for index, family in enumerate(plan):
            label = f"{family.pattern.name} {family.axes_text()}".strip()
            progress.family(index, len(plan), label)
            manager.run_family(family)
    finally:
        manager.close()


def _no_roofs() -> dict[str, None]:
    return dict.fromkeys(("bandwidth_roof_gbps", "fp32_roof_gflops", "int32_roof_gops"))


def _require_right_results(device: runtime.DeviceInfo) -> None:
    """A device that computes wrong is caught at the door, before there is a folder to put results in."""
    result = runtime.selftest(device.device)
    if not result.ok:
        more = f" and {len(result.failures) - 1} more" if len(result.failures) > 1 else ""
        raise NoDevice(
            f"{device.device} failed its self-test ({result.failures[0]}{more}): update its driver; see xebench doctor"
        )


def exit_status(run: Run) -> int:
    """0 when every case was measured or skipped for a reason, 1 when one failed, 130 when it was interrupted."""
    if run.manifest["state"] == "interrupted":
        return 130
    return 1 if FAILED & set(run.cases["status"]) else 0

"""Find the kernels that patterns launch: their SPIR-V, byte for byte what a run measures.

Every variant runs once at a small preset, in a worker whose session reports each launch. A crash or a hang costs the
current variant; a new worker goes on with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from xebench.errors import XebenchError
from xebench.isa.asked_gpu import AskedGpu
from xebench.measuring.device_worker import DeviceWorker, Lost, start_worker
from xebench.measuring.messages import Call, Returned, WorkerMessage, pickled, unpickled
from xebench.patterns.plan import Family
from xebench.system.children import Program
from xebench.system.children.process import in_threads
from xebench.vocabulary import DeviceClass

TIMEOUT_S = 120


@dataclass(frozen=True)
class KernelLaunch:
    """A kernel of a variant, as it was first launched.

    Attributes:
        pattern, chapter, variant, role: owner of the kernel.
        axes: the point on the pattern's axes, as JSON.
        kernel: name in the code.
        spirv_sha256: SHA-256 of the code.
        spirv: the code: a module, or OpenCL C where ``language`` is ``opencl``.
        build_options: the kernel's options for the driver's compiler on an Intel GPU.
        global_size: extents of the index space, dimension 0 (the fastest) first.
        local_size: extents of a work-group; None where the driver chooses.
        local_bytes: shared local memory of a work-group in ``LocalAccessor`` arguments.
        language: language of the code, ``spirv`` or ``opencl``.
        requires: capabilities that the pattern or the variant requires of a device.
    """

    pattern: str
    chapter: str
    variant: str
    role: str
    axes: str
    kernel: str
    spirv_sha256: str
    spirv: bytes
    build_options: tuple[str, ...] = ()
    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] | None = None
    local_bytes: int = 0
    language: str = "spirv"
    requires: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, str, tuple[str, ...]]:
        """The code to compile: with other options, such as the large register file, it is another kernel."""
        return self.kernel, self.spirv_sha256, self.build_options


@dataclass(frozen=True)
class VariantWithoutKernel:
    """A variant without a kernel to look at, and why."""

    pattern: str
    variant: str
    reason: str


@dataclass
class Collected:
    """All kernels that variants launch, and the variants that have none."""

    launches: list[KernelLaunch] = field(default_factory=list)
    missing: list[VariantWithoutKernel] = field(default_factory=list)

    def merge(self, other: Collected) -> None:
        """Take over the contents of another."""
        self.launches += other.launches
        self.missing += other.missing


@dataclass(frozen=True, kw_only=True)
class CollectFamily:
    """The variants of one pattern to run once, at one point of its parameters, as on a GPU."""

    source: str
    pattern: str
    chapter: str
    parameters: Mapping[str, Any]
    axes_json: str
    variants: Sequence[str]
    gpu: AskedGpu


# built at import time: msgspec crashes if two threads use a type first at the same time
msgspec.json.Decoder(WorkerMessage)


def collect(
    families: Sequence[Family],
    gpu: AskedGpu,
    *,
    timeout_s: float = TIMEOUT_S,
    processes: int = 2,
    begins: Callable[[int, str], None] = lambda total, name: None,
) -> Collected:
    """Run every variant of the families once and note its kernels.

    Args:
        families: a plan at a small preset; what follows the device has a GPU's values where it has none yet.
        gpu: limits by which variants size their launches.
        timeout_s: seconds of silence after which a worker counts as hung.
        processes: workers at a time.
        begins: called with the number of families, and the pattern of each that is begun, from several threads.
    """
    families = [family.on(DeviceClass.GPU) for family in families]
    shares = [families[start::processes] for start in range(processes)]
    collected = Collected()
    begins_one = partial(begins, len(families))
    for part in in_threads(lambda share: _collect_share(share, gpu, timeout_s, begins_one), shares, processes):
        collected.merge(part)
    order = {family.pattern.name: number for number, family in enumerate(families)}
    point = {(family.pattern.name, family.axes_json()): number for number, family in enumerate(families)}
    collected.launches.sort(key=lambda launch: point[launch.pattern, launch.axes])
    collected.missing.sort(key=lambda missing: order[missing.pattern])
    return collected


def _collect_share(
    families: Sequence[Family], gpu: AskedGpu, timeout_s: float, begins: Callable[[str], None]
) -> Collected:
    collected = Collected()
    worker = DeviceWorker(partial(start_worker, "auto", handler=Program.COLLECT_KERNELS))
    try:
        for number, family in enumerate(families):
            begins(family.pattern.name)
            try:
                _collect_family(family, gpu, worker, timeout_s, collected)
            except XebenchError as error:  # a worker that does not start would not for the next one either
                for left in families[number:]:
                    collected.missing += _missing(left, _variants(left), str(error))
                break
    finally:
        worker.close_all()
    return collected


def _collect_family(
    family: Family,
    gpu: AskedGpu,
    worker: DeviceWorker,
    timeout_s: float,
    collected: Collected,
) -> None:
    waiting = _variants(family)
    while waiting:
        wanted = CollectFamily(
            source=family.pattern.source,
            pattern=family.pattern.name,
            chapter=family.pattern.chapter,
            parameters=family.parameters,
            axes_json=family.axes_json(),
            variants=waiting,
            gpu=gpu,
        )
        worker.use({}, family.pattern.source)
        try:
            request = Call("collect", pickled((wanted,)))
            for answer in worker.answers(request, waiting, silence_s=lambda: timeout_s):
                if isinstance(answer, Returned):  # one for each kernel: a crash loses none that was seen before
                    collected.merge(unpickled(answer))
            return
        except Lost as lost:
            gone = waiting if lost.variant is None else [lost.variant]
            collected.missing += _missing(family, gone, lost.how)
            waiting = waiting[waiting.index(gone[-1]) + 1 :]


def _variants(family: Family) -> list[str]:
    return [variant.name for variant in family.pattern.variants]


def _missing(family: Family, variants: Sequence[str], reason: str) -> list[VariantWithoutKernel]:
    return [VariantWithoutKernel(family.pattern.name, variant, reason) for variant in variants]

"""Makes a pack of the kernels that the current stack looks up (`xebench.dpex.shipped`): ``xebench pack``.

Nothing in here is needed to measure. Types of arguments and captured values decide which kernels there are, not how
large a problem is; so every variant runs in a session that compiles what it is to launch, and launches nothing. The few
kernels of the harness itself run as they do in a run.

The front end writes its version into a module, so another version makes other bytes of the same text. What a pack has
already is therefore made again only by the version that made it.
"""

from __future__ import annotations

import functools
import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from xebench.dpex import compiler, direct_calls, options_of
from xebench.dpex.compiler import compile_for
from xebench.dpex.dpex_errors import KernelCompileError, NotShipped
from xebench.dpex.events import DeviceEvent
from xebench.dpex.foreign_kernel import ForeignKernel, foreign_digest
from xebench.dpex.kernel_store import KernelStore
from xebench.dpex.shipped import UnknownIdentity, find_shipped, shipped_key, shipped_spirv, source_digest
from xebench.dpex.signature import CompiledKernel, Signature, signature_of
from xebench.dpex.spirv_cache import SpirvCache, compiler_versions
from xebench.errors import Unsupported, XebenchError, describe_error
from xebench.isa.compilation import Compiler, Source
from xebench.isa.ocloc import NoCompiler, find_compiler, to_spirv
from xebench.measuring.bound_problem import Binding, Bound
from xebench.measuring.device_numbers import DeviceNumbers
from xebench.measuring.instrument import measure_instrument
from xebench.measuring.place import accepted_parameters, start
from xebench.measuring.prepare import find_pattern, make_problem
from xebench.measuring.random_numbers import LARGE_BYTES, Numbers
from xebench.measuring.results import Sums
from xebench.measuring.roofline.bench import Bench, measure_probes
from xebench.measuring.roofline.catalogue import PROBES
from xebench.measuring.roofline.search import Effort
from xebench.measuring.self_test import run_checks
from xebench.measuring.session.device_memory import DeviceMemory, Flusher
from xebench.measuring.session.session import Session
from xebench.patterns.declaration import PatternInfo
from xebench.patterns.pattern import Variant
from xebench.patterns.plan import Family, build_plan
from xebench.patterns.problem import Problem
from xebench.patterns.registry import builtin_files, portable_source, read
from xebench.system import PACKAGE
from xebench.system.kernel_files import OCLOC, OWN_PACK, Pack, PackedKernel, pack_beside, write_pack
from xebench.system.runtime.packages import is_current
from xebench.vocabulary import DeviceClass

#: The folder that the package ``xebench`` is in, and that of a checkout.
_ROOTS: Final = PACKAGE.resolve().parents[:2]


class KernelRecorder:
    """A source of kernels (`xebench.dpex.compiler.use_source`) that records the kernels it returned.

    Args:
        source: where they come from.
        opencl: gives the SPIR-V of those in OpenCL C.
        only: the file whose kernels are remembered; None: of all files.

    Attributes:
        kernels: each with its module, and that with narrowed indices, by key.
        unknown: kernels that cannot be shipped, with what they refer to.
        missing: why the source did not have others, each once.
    """

    def __init__(
        self,
        source: Callable[[Any, Signature, SpirvCache | None], CompiledKernel],
        opencl: Callable[[ForeignKernel], bytes],
        only: Path | None = None,
    ) -> None:
        self.kernels: dict[str, tuple[PackedKernel, bytes, bytes]] = {}
        self.unknown: dict[str, str] = {}
        self.missing: dict[str, None] = {}
        self._source = source
        self._only = only
        self._given: dict[str, CompiledKernel] = {}
        self._opencl = opencl

    def __call__(self, kernel: Any, signature: Signature, cache: SpirvCache | None) -> CompiledKernel:
        """The kernel for a signature; it is remembered for devices without 64-bit atomics too, where it needs none."""
        if isinstance(kernel, ForeignKernel):
            if kernel.opencl_c and self._only in (None, kernel.file):
                self._keep_module(kernel)
            return CompiledKernel.of_foreign(kernel, signature)
        name, file = kernel.py_func.__name__, Path(kernel.py_func.__code__.co_filename)
        try:
            key = shipped_key(kernel, signature)
        except UnknownIdentity as error:
            compiled = self._source(kernel, signature, None)  # what does not compile is not lacking
            self.unknown[f"{file.name}: {name}"] = str(error)
            return compiled
        if key not in self._given:
            self._given[key] = self._from_source(kernel, signature)
            if self._only in (None, file):
                self._keep(kernel, key, self._given[key])
                with suppress(KernelCompileError, NotShipped):
                    without = replace(signature, atomic64=not signature.atomic64)
                    self._keep(kernel, shipped_key(kernel, without), self._source(kernel, without, None))
        return self._given[key]

    def _from_source(self, kernel: Any, signature: Signature) -> CompiledKernel:
        try:
            return self._source(kernel, signature, None)
        except NotShipped as error:
            self.missing[str(error)] = None
            raise

    def _keep_module(self, kernel: ForeignKernel) -> None:
        key = foreign_digest(kernel)
        if key in self.kernels:
            return
        try:
            module = self._opencl(kernel)
        except (NoCompiler, NotShipped) as error:
            self.missing[str(error)] = None
            return
        packed = PackedKernel(
            kernel=kernel.name,
            origin=_origin(kernel.file),
            signature=f"({', '.join(map(str, kernel.parameters))})",
            atomic64=True,
            options=kernel.options.text(),
            source=key,
            key=key,
            spirv=hashlib.sha256(module).hexdigest(),
        )
        self.kernels[key] = packed, module, b""

    def _keep(self, kernel: Any, key: str, compiled: CompiledKernel) -> None:
        packed = PackedKernel(
            kernel=compiled.name,
            origin=_origin(Path(kernel.py_func.__code__.co_filename)),
            signature=str(compiled.signature),
            atomic64=compiled.signature.atomic64,
            options=options_of(kernel).text(),
            source=source_digest(kernel),
            key=key,
            spirv=compiled.sha256,
            narrow=compiled.narrowed.sha256 if compiled.narrow else "",
            limit=compiled.limit,
        )
        self.kernels[key] = packed, compiled.spirv, compiled.narrow


def _origin(file: Path) -> str:
    """A file as any checkout has it."""
    if (source := Path(portable_source(str(file)))) != file:
        return source.as_posix()
    return next((file.relative_to(root).as_posix() for root in _ROOTS if file.is_relative_to(root)), file.name)


class OpenCLModules:
    """Makes modules, or keeps those of an earlier pack.

    Args:
        earlier: the pack's file, if there is one.

    Attributes:
        versions: of the compilers that made the requested modules.
    """

    def __init__(self, earlier: Path) -> None:
        self.versions: set[str] = set()
        self._earlier = Pack.open(earlier) if earlier.is_file() else None

    def module(self, kernel: ForeignKernel) -> bytes:
        """The SPIR-V of a kernel.

        Raises:
            NoCompiler: it was not packed before, and there is no ocloc or it does not take the text.
        """
        compiler = self._compiler
        kept = self._kept(foreign_digest(kernel))
        if kept and self._earlier and (compiler is None or self._made_by != compiler.version):
            self.versions.update(self._made_by.split(", "))
            return self._earlier.module(kept.spirv)
        if compiler is None:
            raise NoCompiler(f"kernel {kernel.name} is in OpenCL C: ocloc is needed (Debian: intel-opencl-icd)")
        self.versions.add(compiler.version)
        try:
            return to_spirv(compiler, Source(kernel.opencl_c.encode(), "opencl"), kernel.options.source_flags)
        except NoCompiler as error:
            raise NoCompiler(f"kernel {kernel.name}: {error}") from None

    @functools.cached_property
    def _compiler(self) -> Compiler | None:
        try:
            return find_compiler()
        except NoCompiler:
            return None

    @property
    def _made_by(self) -> str:
        return self._earlier.index.versions.get(OCLOC, "") if self._earlier else ""

    def _kept(self, key: str) -> PackedKernel | None:
        kernels = self._earlier.index.kernels if self._earlier else ()
        return next((kernel for kernel in kernels if kernel.key == key), None)


#: Every form of every probe once.
ONCE: Final = Effort(screening=1, finalists=1, patience=1, patience_s=0.0, confirmations=1, most_s=0.0)


def collect_own_kernels(device: str) -> Iterator[str]:
    """Run the self-test, the probes of the roofline and what a worker runs beside patterns; a line for what fails.

    Args:
        device: SYCL filter string of one that has doubles, local memory and work-groups of 4096.
    """
    yield from run_checks(device)
    session = Session.on(device)
    measure_instrument(session)
    Flusher(session.queue)
    Numbers(np.random.Philox(0), DeviceNumbers(session.queue)).random(LARGE_BYTES, np.float32)
    for dtype in (np.int32, np.int16, np.int8):
        Sums(session.queue).by_device(session.alloc(7, dtype))
    for result in measure_probes(Bench(session, ONCE), [probe.name for probe in PROBES]):
        if result.status == "failed":
            yield f"{result.probe}: {result.reason}"


#: Sub-group sizes that devices offer: Intel's CPUs and GPUs, and other vendors' GPUs.
SUB_GROUP_SIZES: Final = (8, 16, 32, 64)


class CompilingStore(KernelStore):
    """Compiles the kernels of launches, and launches nothing."""

    def submit(
        self, kernel: Any, queue: Any, index_space: Any, arguments: Sequence[Any], depends: Sequence[Any] = ()
    ) -> DeviceEvent:
        """An event without times."""
        compile_for(kernel, signature_of(kernel, index_space, arguments), None)
        return DeviceEvent(queue.submit_barrier())


class CompilingSession(Session):
    """A session whose device has a chosen sub-group size, and which runs no kernel.

    Attributes:
        sub_group_size: of the device that is meant.
    """

    sub_group_size = SUB_GROUP_SIZES[0]


def collect_kernels(device: str, patterns: Sequence[PatternInfo], known: Callable[[], int]) -> Iterator[str]:
    """Request every kernel of some patterns; yields a line for each variant that fails.

    Where the second preset's sizes ask for no kernel that the first did not, on a CPU, where they are smallest, sizes
    are no part of the kernels, and all others are left out: large problems take long, and may not fit this machine.

    Args:
        device: SYCL filter string: any that has memory.
        patterns: the patterns.
        known: returns the number of kernels requested so far.
    """
    session = CompilingSession(Session.on(device).queue, CompilingStore())
    for info in patterns:
        first, *others = info.presets
        yield from collect_preset(session, info, first, tuple(DeviceClass))
        for preset in others:
            before = known()
            yield from collect_preset(session, info, preset, (DeviceClass.CPU,))
            if known() == before:
                break
            yield from collect_preset(session, info, preset, tuple(DeviceClass))


def collect_preset(
    session: CompilingSession, info: PatternInfo, preset: str, device_classes: Sequence[DeviceClass]
) -> Iterator[str]:
    """Request the kernels of one preset; yields a line for each variant that fails."""
    for family in build_plan([info], preset):
        yield from _collect_family(session, info, family, device_classes)
        gc.collect()  # what variants prepared refers to itself, and holds arrays


def _collect_family(
    session: CompilingSession, info: PatternInfo, family: Family, device_classes: Sequence[DeviceClass]
) -> Iterator[str]:
    pattern = find_pattern(info.source, info.name)
    made: dict[str, tuple[Problem, Binding]] = {}
    failures: dict[str, None] = {}
    for concrete in _on_devices(family, device_classes):
        session.sub_group_size = concrete.sub_group_size
        numbers = concrete.numbers
        # one problem at a time: those of the guide are large
        key = repr(accepted_parameters(pattern.make_problem, numbers)) if pattern.make_problem else ""
        if key not in made:
            made.clear()
            problem = make_problem(pattern, numbers, 0)
            made[key] = problem, Binding(problem, numbers, DeviceMemory(session.queue))
        problem, binding = made[key]
        others = {name: number for name, number in numbers.items() if name not in problem.fields}
        bound = binding.bound.with_numbers(others)
        for variant in pattern.variants.values():
            failure = run_variant(session, variant, bound, numbers)
            if failure and not any(claim.word == "error" for claim in variant.claims):
                failures[f"{info.name}/{variant.name}: {failure}"] = None
    session.release()
    yield from failures


def run_variant(session: Session, variant: Variant, bound: Bound, parameters: Mapping[str, Any]) -> str:
    """Run a variant once in a session that launches nothing; return how it failed, or ""."""
    failure, sample = "", None
    try:
        sample = start(variant.function, session, bound, parameters)
    except Unsupported:
        pass  # by the device here: what it was to launch is compiled
    except Exception as error:
        failure = describe_error(error)
    session.wait()
    del sample  # which has the arrays of what was not over
    session.forget_queues(1)
    session.begin()
    return failure


class _OnDevice:
    """A family as a certain device has it."""

    def __init__(self, family: Family, device_class: DeviceClass, sub_group_size: int) -> None:
        concrete = family.on(device_class, (sub_group_size,))
        self.sub_group_size = sub_group_size
        self.numbers: dict[str, Any] = dict(concrete.parameters)


def _on_devices(family: Family, device_classes: Sequence[DeviceClass]) -> list[_OnDevice]:
    """The family for each class of devices that differ in sizes, and for each sub-group size."""
    seen: dict[str, _OnDevice] = {}
    for device_class in device_classes:
        for size in SUB_GROUP_SIZES:
            one = _OnDevice(family, device_class, size)
            seen.setdefault(f"{one.numbers} {size}", one)
    return list(seen.values())


def make_pack(
    device: str, file: Path | None, say: Callable[[str], None], *, output: Path | None = None, check: bool = False
) -> None:
    """Compile every kernel, and write the pack; it is written without those that fail.

    Args:
        device: SYCL filter string of one that has memory; for the project's own kernels see `collect_own_kernels`.
        file: a pattern file; None: the project.
        say: called with a line for each failure, and one for the written pack.
        output: the pack's file; where packs are looked for by default.
        check: compile and write nothing, but check that the packs have the kernels.

    Raises:
        XebenchError: kernels are lacking; or numba-dpex is, by which the project's pack is made.
    """
    if file is None and is_current() and not check and not output:
        raise XebenchError("the project's pack is made where numba-dpex is: name a pattern FILE, or another --output")
    usual = pack_beside(file) if file else OWN_PACK
    path = output or usual
    modules = OpenCLModules(usual)
    opencl = module_of_packs if check else modules.module
    recorder = KernelRecorder(of_packs if check else compiler.compile_anew, opencl, only=file)
    compiler.use_source(recorder)
    failures = list(_collect(device, file, lambda: len(recorder.kernels)))
    failures += recorder.missing
    failures += [f"{kernel} cannot be shipped: it refers to {what}" for kernel, what in recorder.unknown.items()]
    for failure in failures:
        say(failure)
    if not check:
        versions = compiler_versions()
        if modules.versions:
            versions[OCLOC] = ", ".join(sorted(modules.versions))
        write_pack(path, versions, recorder.kernels.values())
        say(f"wrote {path}: {len(recorder.kernels)} kernels, {path.stat().st_size / 1000:.0f} kB")
    if failures:
        raise XebenchError(f"the pack lacks kernels: {len(failures)} failures, see above")


def of_packs(kernel: Any, signature: Any, cache: Any) -> Any:
    """A source of kernels that compiles nothing."""
    return find_shipped(kernel, signature)


def module_of_packs(kernel: Any) -> bytes:
    """The module of a kernel in OpenCL C, from the packs."""
    return shipped_spirv(kernel, "Level Zero")


def _collect(device: str, file: Path | None, known: Callable[[], int]) -> Iterable[str]:
    if file is None:
        yield from collect_own_kernels(device)
    direct_calls.install()
    yield from _unique(collect_kernels(device, read([file] if file else builtin_files()), known))


def _unique(lines: Iterable[str]) -> Iterator[str]:
    """Each line once: variants fail alike at all sizes."""
    return iter(dict.fromkeys(lines))

"""Kernels to SPIR-V, and SPIR-V to a kernel of a device, each stage timed by itself."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import dpctl.program
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba_dpex.core.exceptions import KernelHasReturnValueError
from numba_dpex.kernel_api_impl.spirv.dispatcher import SPIRVKernelDispatcher

from harness.dpex.build_log import driver_reason
from harness.dpex.diagnosis import compile_error, divergence_error
from harness.dpex.divergence import find_divergent_call
from harness.dpex.dpex_errors import ArgumentError, KernelBuildError
from harness.dpex.fingerprint import fingerprint
from harness.dpex.kernel_options import KernelOptions, options_of
from harness.dpex.launch_limits import check_required_sizes
from harness.dpex.signature import Signature, numba_types, signature_of
from harness.dpex.spirv_cache import SpirvCache


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel in SPIR-V, for every device.

    Attributes:
        name: the kernel's name in the SPIR-V.
        spirv: the module.
        sha256: of ``spirv``, hexadecimal; the same source gives the same bytes.
        options: what the kernel asked for.
        signature: index space and argument types that it was compiled for.
        stages: time of each stage in ns: "typing" (numba's typing and lowering) and "translate" (LLVM to SPIR-V);
            when ``cached``, "typing" alone, the time that finding it took.
        cached: no compiler ran: it came from disk or was compiled before in this process.
        llvm_ir: the LLVM IR that was translated; None when it came from disk.
    """

    name: str
    spirv: bytes = field(repr=False)
    sha256: str
    options: KernelOptions
    signature: Signature
    stages: dict[str, int]
    cached: bool
    llvm_ir: str | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class DeviceKernel:
    """A kernel built by the driver of one device, in one context.

    Attributes:
        compiled: what it was built from.
        kernel: the ``dpctl.program.SyclKernel``.
        device: the ``dpctl.SyclDevice``.
        context: the ``dpctl.SyclContext``; queues and arrays of other contexts do not fit.
        stages: {"build": ns}.
        build_options: what the driver's compiler was given.
        ignored_options: names of options that this device has no use for.
    """

    compiled: CompiledKernel
    kernel: Any = field(repr=False)
    device: Any = field(repr=False)
    context: Any = field(repr=False)
    stages: dict[str, int]
    build_options: tuple[str, ...] = ()
    ignored_options: tuple[str, ...] = ()

    @property
    def sub_group_size(self) -> int | None:
        """The sub-group size that the kernel requires, or None when the driver chooses it at launch."""
        return int(self.kernel.compile_sub_group_size) or None

    @property
    def private_memory_bytes(self) -> int:
        """Private memory of a work-item, spills included, as the driver tells it."""
        return int(self.kernel.private_mem_size)

    @property
    def max_work_group_size(self) -> int:
        """The largest work-group that this kernel can run with on its device."""
        return int(self.kernel.work_group_size)


_compiled: WeakKeyDictionary[Any, dict[Signature, CompiledKernel]] = WeakKeyDictionary()


def compile_kernel(
    kernel: Any, index_space: Any, args: Sequence[Any], *, cache: SpirvCache | None = None
) -> CompiledKernel:
    """Compile a kernel to SPIR-V for an index space and arguments, once a process.

    Args:
        kernel: made by ``harness.dpex.kernel`` or ``numba_dpex.kernel``.
        index_space: ``kernel_api.Range`` or ``NdRange``; only its kind and dimensions matter.
        args: the kernel's arguments after the item; only their types matter.
        cache: looked up first and filled after; None compiles.

    Raises:
        KernelCompileError: the function cannot be compiled; names the kernel and the line.
        ArgumentError: arguments that a kernel cannot take.
        IndexSpaceError: an index space that the kernel cannot run in.
    """
    started = time.perf_counter_ns()
    if not isinstance(kernel, SPIRVKernelDispatcher):
        raise ArgumentError(f"{kernel!r} is no kernel: decorate the function with harness.dpex.kernel")
    signature = signature_of(kernel, index_space, args)
    known = _compiled.setdefault(kernel, {})
    if signature in known:
        elapsed = {"typing": time.perf_counter_ns() - started}
        return replace(known[signature], stages=elapsed, cached=True)
    key = fingerprint(kernel, signature) if cache else None
    found = cache.load(key) if cache and key else None
    if found:
        name, spirv = found
        elapsed = {"typing": time.perf_counter_ns() - started}
        compiled = _record(name, spirv, kernel, signature, elapsed, cached=True)
    else:
        compiled = _compile(kernel, signature)
        if cache and key:
            cache.store(key, compiled.name, compiled.spirv)
    known[signature] = compiled
    return compiled


def _record(
    name: str, spirv: bytes, kernel: Any, signature: Signature, stages: dict[str, int], cached: bool
) -> CompiledKernel:
    digest = hashlib.sha256(spirv).hexdigest()
    return CompiledKernel(name, spirv, digest, options_of(kernel), signature, stages, cached)


def _compile(kernel: Any, signature: Signature) -> CompiledKernel:
    started = time.perf_counter_ns()
    divergent = find_divergent_call(kernel.py_func)
    if divergent is not None:
        raise divergence_error(kernel.py_func, divergent)
    try:
        with global_compiler_lock:
            result = kernel._compiler.compile(numba_types(signature), None)
            if result.signature.return_type not in (None, types.none, types.void):
                raise KernelHasReturnValueError(kernel.py_func.__name__, result.signature.return_type)
    except Exception as error:
        raise compile_error(kernel.py_func, error) from error
    module = result.kernel_device_ir_module
    total = time.perf_counter_ns() - started
    stages = {"typing": total - module.translate_ns, "translate": module.translate_ns}
    compiled = _record(module.kernel_name, module.kernel_bitcode, kernel, signature, stages, cached=False)
    return replace(compiled, llvm_ir=module.llvm_ir)


def build(compiled: CompiledKernel, queue: Any) -> DeviceKernel:
    """Build a kernel with the driver of the queue's device.

    Raises:
        UnsupportedByDevice: the kernel requires a sub-group size or work-group size that the device lacks.
        KernelBuildError: the driver refused it.
    """
    device = queue.sycl_device
    check_required_sizes(compiled.name, compiled.options, device)
    flags, ignored = compiled.options.flags_for(device)
    text = " ".join(flags)
    started = time.perf_counter_ns()
    try:
        program = dpctl.program.create_program_from_spirv(queue, compiled.spirv, text)
    except dpctl.program.SyclProgramCompilationError as error:
        reason = driver_reason(compiled.spirv, device, text)
        raise KernelBuildError(compiled.name, device.name, reason) from error
    if not program.has_sycl_kernel(compiled.name):
        raise KernelBuildError(compiled.name, device.name, "the built program does not contain the kernel")
    kernel = program.get_sycl_kernel(compiled.name)
    stages = {"build": time.perf_counter_ns() - started}
    return DeviceKernel(compiled, kernel, device, queue.sycl_context, stages, flags, ignored)

"""SPIR-V or OpenCL C to a kernel of a device, by the device's driver."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import dpctl.program

from xebench.dpex.binaries import kernel_of_binary
from xebench.dpex.build_log import driver_reason
from xebench.dpex.compiled_kernel import CompiledKernel
from xebench.dpex.dpex_errors import KernelBuildError
from xebench.dpex.packs import shipped_spirv
from xebench.dpex.spirv_module import without_assumptions
from xebench.errors import Unsupported
from xebench.system.runtime.level_zero_library import LevelZeroError
from xebench.system.runtime.opencl_library import OpenCLError
from xebench.system.sycl_types import Device, Queue

#: Build options of OpenCL C's text, which mean nothing for the SPIR-V that it became.
_OF_THE_TEXT = ("-D", "-I", "-cl-std=")


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
        return self.compiled.options.sub_group_size

    @property
    def max_sub_group_size(self) -> int | None:
        """The largest sub-group it runs with: on Intel's GPUs the SIMD width that the driver compiled it for.

        None where the driver cannot be asked, as for `max_work_group_size`.
        """
        return (int(self.kernel.max_sub_group_size) or None) if self._answers else None

    @property
    def max_work_group_size(self) -> int | None:
        """The largest work-group that this kernel can run with on its device; None where the driver cannot be asked."""
        return int(self.kernel.work_group_size) if self._answers else None

    @property
    def _answers(self) -> bool:
        """Whether dpctl would ask for the device at hand: it asks for the first of the context.

        For a device that the kernel was not built for, a driver may refuse, and the C++ exception ends the process.
        """
        return bool(self.context.get_devices()[0] == self.device)


def module_of(compiled: CompiledKernel, device: Device, flags: tuple[str, ...]) -> tuple[bytes, str, tuple[str, ...]]:
    """What a device's driver is given of a kernel: the code, its language, and those of the flags that mean anything.

    Raises:
        NotShipped: it is in OpenCL C, which the driver does not take, and no pack has its SPIR-V.
    """
    code, language = compiled.code, compiled.language
    if language == "opencl" and device.backend.name != "opencl":
        assert compiled.foreign
        code, language = shipped_spirv(compiled.foreign, device.backend.name), "spirv"
        flags = tuple(flag for flag in flags if not flag.startswith(_OF_THE_TEXT))
    if not compiled.foreign and "intel" not in device.vendor.lower():
        code = without_assumptions(code)
    return code, language, flags


def build(compiled: CompiledKernel, queue: Queue) -> DeviceKernel:
    """Build a kernel with the driver of the queue's device.

    Raises:
        UnsupportedByDevice: the kernel requires a sub-group size or work-group size that the device lacks.
        KernelBuildError: the driver refused it.
        NotShipped: it is in OpenCL C, which the driver does not take, and no pack has its SPIR-V.
    """
    device = queue.sycl_device
    compiled.options.check_device(compiled.name, device)
    flags, ignored = compiled.options.flags_for(device)
    code, language, flags = module_of(compiled, device, flags)
    text = " ".join(flags)
    started = time.perf_counter_ns()
    try:
        if language == "opencl":
            program = dpctl.program.create_program_from_source(queue, code.decode(), text)
        else:
            program = dpctl.program.create_program_from_spirv(queue, code, text)
    except dpctl.program.SyclProgramCompilationError as error:
        reason = driver_reason(code, language, device, text)
        raise KernelBuildError(compiled.name, device.name, reason) from error
    if not program.has_sycl_kernel(compiled.name):
        raise KernelBuildError(compiled.name, device.name, "the built program does not contain the kernel")
    kernel = program.get_sycl_kernel(compiled.name)
    stages = {"build": time.perf_counter_ns() - started}
    return DeviceKernel(compiled, kernel, device, queue.sycl_context, stages, flags, ignored)


def load(built: DeviceKernel, binary: bytes, queue: Queue) -> DeviceKernel:
    """A kernel again, from the binary that the driver made of it.

    Raises:
        KernelBuildError: the driver refused it.
        Unsupported: this SYCL runtime cannot be given what a driver has loaded.
    """
    started = time.perf_counter_ns()
    try:
        kernel = kernel_of_binary(binary, built.compiled.name, queue)
    except (OSError, AttributeError) as error:
        reason = str(error).rpartition("/")[2]
        raise Unsupported(f"needs a SYCL runtime that takes a kernel from its driver: {reason}") from error
    except (OpenCLError, LevelZeroError) as error:
        reason = f"its binary cannot be loaded: {error}"
        raise KernelBuildError(built.compiled.name, built.device.name, reason) from error
    return replace(built, kernel=kernel, stages={"build": time.perf_counter_ns() - started})

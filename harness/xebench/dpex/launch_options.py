"""Options of our kernels where numba-dpex's own ``call_kernel`` launches them.

numba-dpex gives the driver the build options of one environment variable. Here a kernel's own options go before them,
and a sub-group or work-group size that the device lacks is an error, where some drivers report nothing.
"""

from __future__ import annotations

from typing import Any

import dpctl
from numba_dpex.core import config
from numba_dpex.core.types import USMNdArray
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.core.utils.call_kernel_builder import KernelLaunchIRBuilder

from numba_sycl.kernel_options import NO_OPTIONS
from xebench.dpex.translation import KernelModule


class _SpirvWithOptions(bytes):
    """SPIR-V that hashes differently with other options: numba-dpex keeps built kernels by this hash alone."""

    options: str

    def __new__(cls, spirv: bytes, options: str) -> _SpirvWithOptions:
        new = super().__new__(cls, spirv)
        new.options = options
        return new

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.options == getattr(other, "options", "")

    def __hash__(self) -> int:
        return hash((bytes(self), self.options))


def _device_of(launcher: Any) -> Any:
    for argument in launcher.cached_arguments.arg_ty_list:
        if isinstance(argument, USMNdArray) and not isinstance(argument, LocalAccessorType):
            return dpctl.SyclDevice(argument.device)
    raise ValueError("no argument of this launch is an array on a device")


def install() -> None:
    """Wrap the step of numba-dpex's launcher that builds the kernel."""
    set_kernel_from_spirv = KernelLaunchIRBuilder.set_kernel_from_spirv

    def with_build_options(self: Any, kernel_module: Any, debug: bool = False) -> None:
        flags: tuple[str, ...] = ()
        if isinstance(kernel_module, KernelModule) and kernel_module.options != NO_OPTIONS:
            device = _device_of(self)
            kernel_module.options.check_device(kernel_module.kernel_name, device)
            flags, _ = kernel_module.options.flags_for(device)
        if not flags:
            set_kernel_from_spirv(self, kernel_module, debug)
            return
        users = config.BUILD_KERNEL_OPTIONS
        config.BUILD_KERNEL_OPTIONS = text = " ".join([*flags, users]).strip()
        try:
            spirv = _SpirvWithOptions(kernel_module.kernel_bitcode, text)
            set_kernel_from_spirv(self, kernel_module._replace(kernel_bitcode=spirv), debug)
        finally:
            config.BUILD_KERNEL_OPTIONS = users

    KernelLaunchIRBuilder.set_kernel_from_spirv = with_build_options

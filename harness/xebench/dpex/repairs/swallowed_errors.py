"""Failed builds and submissions of ``call_kernel`` and ``call_kernel_async`` become exceptions.

Symptom: with a work-group or local memory too large for the device, or a kernel that the driver cannot build,
``call_kernel`` does nothing and says nothing, and ``call_kernel_async`` ends the process.
Cause: the generated launcher never looks whether dpctl gave it a kernel and an event or a null pointer.
Cure: test both and raise RuntimeError. dpctl keeps the reason to itself; ``DPCTL_VERBOSITY=error`` prints it.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils
from numba_dpex.core.utils.call_kernel_builder import KernelLaunchIRBuilder

BUILD_FAILED = "the device compiler could not build the kernel (DPCTL_VERBOSITY=error prints its reason)"
SUBMISSION_FAILED = (
    "the kernel was not submitted: work-group, local memory or arguments that the device refuses, "
    "or profiling with a driver that has no clock (DPCTL_VERBOSITY=error prints its reason)"
)


def _raise_if_null(launcher: Any, value: Any, message: str) -> None:
    with launcher.builder.if_then(cgutils.is_null(launcher.builder, value), likely=False):
        launcher.context.call_conv.return_user_exc(launcher.builder, RuntimeError, (message,))


def apply() -> None:
    """Wrap the two steps of the launcher that receive a reference from dpctl."""
    submit, set_kernel = KernelLaunchIRBuilder.submit, KernelLaunchIRBuilder.set_kernel

    def checked_submit(self: Any) -> Any:
        event = submit(self)
        _raise_if_null(self, event, SUBMISSION_FAILED)
        return event

    def checked_set_kernel(self: Any, kernel: Any) -> None:
        _raise_if_null(self, kernel, BUILD_FAILED)
        set_kernel(self, kernel)

    KernelLaunchIRBuilder.submit = checked_submit
    KernelLaunchIRBuilder.set_kernel = checked_set_kernel

"""LocalAccessor beside arrays of any queue.

Symptom: ExecutionQueueInferenceError for a kernel with a LocalAccessor whose arrays live on a queue other than
the default one, such as every profiling queue.
Cause: the numba type of a LocalAccessor derives from the array type and carries the default device's queue.
Cure: leave LocalAccessors out of the comparison of queues.
"""

from __future__ import annotations

from typing import Any

from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType
from numba_dpex.kernel_api_impl.spirv.dispatcher import _SPIRVKernelCompiler


def apply() -> None:
    """Wrap the check of the arguments' queues."""
    check = _SPIRVKernelCompiler.check_queue_equivalence_of_args

    def check_arrays_only(self: Any, py_func_name: str, args: list[Any]) -> None:
        check(self, py_func_name, [arg for arg in args if not isinstance(arg, LocalAccessorType)])

    _SPIRVKernelCompiler.check_queue_equivalence_of_args = check_arrays_only

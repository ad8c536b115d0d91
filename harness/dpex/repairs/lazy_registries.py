"""Filled target registries before the first compilation.

Symptom: compiling a kernel before any ``call_kernel`` fails with "No definition for lowering range".
Cause: numba-dpex's kernel target shares builtin lowerings (range, tuples) that numba fills only when a host
target is first used.
Cure: refresh the host (dpjit) target's contexts.
"""

from __future__ import annotations

from numba_dpex.core.descriptor import dpex_target


def apply() -> None:
    """Refresh the dpjit target, whose registries the kernel target needs."""
    dpex_target.typing_context.refresh()
    dpex_target.target_context.refresh()

"""Kernels of a long process compile as fast as its first ones.

Symptom: each compilation makes the next one slower, twice as slow after some hundred kernels.
Cause: before every compilation numba-dpex registers its mathematical functions and operators once more, and numba
looks at every registration of an operator wherever a kernel uses it.
Cure: leave out a registration that is in force already. The last one counts, so nothing changes but the time.
"""

from __future__ import annotations

from typing import Any

from numba.core.base import OverloadSelector


def apply() -> None:
    """Wrap the registration of an implementation."""
    append = OverloadSelector.append

    def append_new(self: Any, value: Any, sig: Any) -> None:
        in_force = self.__dict__.setdefault("_in_force", {})
        if in_force.get(sig) is not value:
            in_force[sig] = value
            append(self, value, sig)

    OverloadSelector.append = append_new

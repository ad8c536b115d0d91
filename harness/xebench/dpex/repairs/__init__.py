"""Repairs of numba-dpex 0.23: refusals, aborts and faults of dpctl that become results, each by a function of its own.

A kernel that numba-dpex compiles without them, and whose code the driver can read, keeps its SPIR-V, byte for byte.

``apply()`` runs once, on ``import xebench.dpex``. The repairs reach into private names, so they hold only for
the versions in ``PINS``; with other versions ``apply`` says so in one line and goes on as far as it can.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import metadata

from xebench.dpex.errors import RepairError

PINS = {"numba-dpex": "0.23.0", "numba": "0.59.1", "llvmlite": "0.42.0", "dpctl": "0.17.0"}

REPAIRS = (
    "misread_switches",
    "lazy_registries",
    "repeated_definitions",
    "local_accessor_queue",
    "sub_device_queue",
    "array_views",
    "narrow_scalars",
    "half_arrays",
    "swallowed_errors",
    "host_copy",
    "freed_memory",
)

_applied: list[str] = []


def version_mismatch() -> str | None:
    """One line that names the packages whose version is not the pinned one, or None."""
    installed = {name: metadata.version(name) for name in PINS}
    wrong = [f"{name} {installed[name]} (pinned: {PINS[name]})" for name in PINS if installed[name] != PINS[name]]
    return f"xebench.dpex repairs private parts of its pinned versions; found {', '.join(wrong)}" if wrong else None


def apply() -> tuple[str, ...]:
    """Apply every repair, once a process.

    Returns:
        The names of the repairs in force.

    Raises:
        RepairError: a repair does not find what it repairs.
    """
    if _applied:
        return tuple(_applied)
    mismatch = version_mismatch()
    if mismatch:
        warnings.warn(mismatch, RuntimeWarning, stacklevel=2)
    for name in REPAIRS:
        try:
            _repair(name)()
        except (AttributeError, ImportError, KeyError) as error:
            raise RepairError(f"repair {name} does not fit this numba-dpex: {mismatch or error}") from error
        _applied.append(name)
    return tuple(_applied)


def _repair(name: str) -> Callable[[], None]:
    """The function of a repair; their module imports numba-dpex."""
    from xebench.dpex.repairs import cures

    repair: Callable[[], None] = getattr(cures, name)
    return repair


__all__ = ["cures"]

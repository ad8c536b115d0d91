"""The stack of this environment, one of two sets of packages: the one place that decides it.

*Pinned* has numba-dpex 0.23 and what works with it, on Python 3.11: kernels are written and compiled there. *Current*
has dpctl and dpnp of today on any Python, and no numba-dpex, which nobody releases for them: kernels are shipped, or
compiled by our own target of numba (:mod:`xebench.dpex.numba_target`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from enum import StrEnum
from typing import Final

#: Of dpctl, where numba-dpex belongs: it is missing there if it cannot be found.
_PINNED_DPCTL: Final = "0.17."


class Stack(StrEnum):
    """The two sets of packages."""

    PINNED = "pinned"
    CURRENT = "current"


@functools.cache
def stack() -> Stack:
    """The stack of this environment; nothing is imported to find out."""
    if importlib.util.find_spec("numba_dpex") is not None or _dpctl_version().startswith(_PINNED_DPCTL):
        return Stack.PINNED
    return Stack.CURRENT


def is_current() -> bool:
    """True if numba-dpex is not installed."""
    return stack() is Stack.CURRENT


def _dpctl_version() -> str:
    try:
        return importlib.metadata.version("dpctl")
    except importlib.metadata.PackageNotFoundError:
        return ""

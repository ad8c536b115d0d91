"""Programs may import dpctl, dpnp or numba-dpex as they like, once this package is imported.

Drivers and libraries of an environment are found only after `numba_sycl.loading` has prepared the process, which
takes up to 0.2 s. So it is done when the first of these packages is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from numba_sycl.errors import BrokenEnvironment

#: Packages that load the SYCL runtime.
PACKAGES: Final = ("dpctl", "dpnp", "numba_dpex")


class _Preparing:
    """Finds no module; it prepares the process before another finder finds one of `PACKAGES`.

    It is a `importlib.abc.MetaPathFinder`, whose module takes longer to import than this package.
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if name in PACKAGES:
            sys.meta_path.remove(self)
            _prepare()


def watch() -> None:
    """Prepare the process for SYCL when a package needs it, at once if one is imported already."""
    if any(name in sys.modules for name in PACKAGES):
        _prepare(came_late=True)
    else:
        sys.meta_path.insert(0, _Preparing())


def _prepare(*, came_late: bool = False) -> None:
    from numba_sycl import loading

    loading.came_late = came_late
    with suppress(BrokenEnvironment):  # the import itself says what is missing
        loading.prepare()

"""numba-dpex's public names for kernels, where numba-dpex itself is not installed."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, NoReturn

from xebench.dpex import kernel_api
from xebench.dpex.decorators import device_func, kernel
from xebench.dpex.dpex_errors import NeedsCompiler
from xebench.dpex.launching import call_kernel, call_kernel_async
from xebench.runtime.stack import is_current

_NAME: Final = "numba_dpex"
#: Of the host's part of numba-dpex, which compiles whole programs and not kernels.
_NOT_OFFERED: Final = ("dpjit", "prange")


def as_numba_dpex() -> None:
    """Let ``import numba_dpex`` find these names in this process; where numba-dpex is installed, nothing changes."""
    if not is_current() or _NAME in sys.modules:
        return
    module = ModuleType(_NAME, __doc__)
    module.__spec__ = ModuleSpec(_NAME, None)
    module.__path__ = []
    names: dict[str, Any] = {
        "NdRange": kernel_api.NdRange,
        "Range": kernel_api.Range,
        "call_kernel": call_kernel,
        "call_kernel_async": call_kernel_async,
        "device_func": device_func,
        "kernel": kernel,
        "kernel_api": kernel_api,
        **{name: _not_offered(name) for name in _NOT_OFFERED},
    }
    vars(module).update(names)
    sys.modules[_NAME] = module
    sys.modules[f"{_NAME}.kernel_api"] = kernel_api


def _not_offered(name: str) -> Any:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NeedsCompiler(f"numba_dpex.{name}")

    refuse.__name__ = name
    return refuse

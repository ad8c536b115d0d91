"""numba-dpex's public names, where numba-dpex itself is not installed, for programs that import it."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, NoReturn

import dpctl

from numba_sycl import kernel_api
from numba_sycl.decorators import device_func, kernel
from numba_sycl.drop_in import call_kernel, call_kernel_async
from numba_sycl.errors import NotOffered, OptionError
from numba_sycl.numba_names import numba_name
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor

_NAME: Final = "numba_dpex"
#: Names of the host's part of numba-dpex, which compiles whole programs and not kernels, and what to write.
_HOST_LOOPS: Final = "runs functions of the host on a device, which is not supported: launch a kernel over a Range"
NOT_OFFERED: Final = {
    "dpjit": "compiles functions of the host, which is not supported: call them as plain Python, or use numba.njit",
    "prange": "makes kernels of a host function's loops, which is not supported: launch a kernel over a Range",
    "offload_to_sycl_device": _HOST_LOOPS,
}
#: Modules of numba-dpex that programs import types and errors from, beside its first.
_MODULES: Final = (
    "core",
    "core.exceptions",
    "core.types",
    "core.types.kernel_api",
    "core.types.kernel_api.index_space_ids",
    "kernel_api_impl",
    "kernel_api_impl.spirv",
    "kernel_api_impl.spirv.target",
)


def as_numba_dpex(api: str = "0.23") -> None:
    """Make ``import numba_dpex`` return these names in this process; if numba-dpex is installed, change nothing.

    ``import dpctl.tensor`` returns dpnp's arrays then, where dpctl has none.

    Args:
        api: "0.23", or "0.20" for programs written for numba-dpex before 0.21 and for numba-dppy
            (`numba_sycl.older_api`).

    Raises:
        OptionError: there is no such API, or the other one has been chosen before.
    """
    if api not in _VERSIONS:
        raise OptionError(f"api={api!r}: known are {' and '.join(_VERSIONS)}")
    if not is_current():
        return
    if _NAME in sys.modules:
        if sys.modules[_NAME].__version__ != _VERSIONS[api]:
            raise OptionError(f"{_NAME} {sys.modules[_NAME].__version__} has been chosen in this process")
        return
    _offer()
    sys.modules[_NAME].__version__ = _VERSIONS[api]  # type: ignore[attr-defined]
    if api == "0.20":
        importlib.import_module("numba_sycl.older_api").offer(sys.modules[_NAME])


#: The version that the module gives as its own, by API.
_VERSIONS: Final = {"0.23": "0.23.0", "0.20": "0.20.0"}
#: Settings of numba-dpex, which programs read and set: they change nothing here.
_SETTINGS: Final = {
    "BUILD_KERNEL_OPTIONS": "",
    "DEBUG": 0,
    "DEBUGINFO_DEFAULT": 0,
    "DEBUG_KERNEL_LAUNCHER": 0,
    "DPEX_OPT": 2,
    "DUMP_KERNEL_LAUNCHER": 0,
    "DUMP_KERNEL_LLVM": 0,
    "INLINE_THRESHOLD": 2,
    "OFFLOAD_DIAGNOSTICS": 0,
    "SAVE_IR_FILES": 0,
    "TESTING_LOG_DEBUGGING": 0,
    "TESTING_SKIP_NO_DEBUGGING": 1,
}


def _offer() -> None:
    names: dict[str, Any] = {
        "DEFAULT_LOCAL_SIZE": [],
        "NdRange": kernel_api.NdRange,
        "Range": kernel_api.Range,
        "call_kernel": call_kernel,
        "call_kernel_async": call_kernel_async,
        "device_func": device_func,
        "func": device_func,
        "kernel": kernel,
        "kernel_api": kernel_api,
        **{name: _not_offered(name, instead) for name, instead in NOT_OFFERED.items()},
    }
    vars(_module(_NAME)).update(names)
    for path in _MODULES:
        _module(f"{_NAME}.{path}")
    sys.modules[f"{_NAME}.kernel_api"] = kernel_api
    config = _module(f"{_NAME}.core.config")
    vars(config).update(_SETTINGS, __getattr__=_numba_setting)
    sys.modules[f"{_NAME}.config"] = sys.modules[_NAME].config = config  # type: ignore[attr-defined]
    if not hasattr(dpctl, "tensor"):
        sys.modules["dpctl.tensor"] = dpctl.tensor = tensor


def _numba_setting(name: str) -> Any:
    return getattr(importlib.import_module("numba.core.config"), name)


def _module(name: str) -> ModuleType:
    """A module, in its parent, that looks its names up at their first use."""
    module = ModuleType(name, __doc__)
    module.__spec__ = ModuleSpec(name, None)
    module.__path__ = []
    vars(module)["__getattr__"] = numba_name
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)
    return module


def _not_offered(name: str, instead: str) -> Any:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NotOffered(f"{_NAME}.{name} {instead}")

    refuse.__name__ = name
    return refuse

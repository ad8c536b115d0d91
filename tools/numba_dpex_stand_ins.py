"""A pytest plugin: numba-dpex's own tests find xebench under its name, and stand-ins of what only its tests import.

The stand-ins are of numba-dpex's internals and of its compiler of host programs. They do nothing; a test that needs one
of them fails. Whatever a kernel or its launch needs is xebench's own.
"""

import importlib
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import xebench.dpex

xebench.dpex.as_numba_dpex()

import dpctl  # noqa: E402
import numba.core.config  # noqa: E402
import numba_dpex  # noqa: E402

from xebench.dpex.code_generation.context import NAME, target  # noqa: E402
from xebench.system.runtime.tensor import tensor  # noqa: E402


def stand_in(name: str, **names: Any) -> ModuleType:
    """A module, in its parent."""
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(names)
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    setattr(importlib.import_module(parent), own, module)
    return module


def dpjit(function: Any = None, **_: Any) -> Any:
    """A program of the host, which fails when it is called."""

    def refuse(*_: Any, **__: Any) -> None:
        raise NotImplementedError("dpjit")

    return dpjit if function is None else refuse


if not hasattr(dpctl, "tensor"):  # dpctl 0.22 gave it to dpnp
    dpctl.tensor = sys.modules["dpctl.tensor"] = tensor

numba.core.config.CAPTURED_ERRORS = "new_style"  # of numba 0.59, whose only style that is today
numba_dpex.dpjit = dpjit
numba_dpex.config = SimpleNamespace(TESTING_SKIP_NO_DEBUGGING=True, INLINE_THRESHOLD=None, DUMP_KERNEL_LLVM=False)
numba_dpex.core.config = numba_dpex.config
stand_in("numba_dpex.core.descriptor", dpex_kernel_target=target)
stand_in("numba_dpex.core.runtime")
stand_in("numba_dpex.core.runtime.context", DpexRTContext=None)
stand_in("numba_dpex.core.targets")
stand_in("numba_dpex.core.targets.dpjit_target", DPEX_TARGET_NAME=NAME)
stand_in("numba_dpex.tests").__path__ = [os.environ["NUMBA_DPEX_TESTS"]]

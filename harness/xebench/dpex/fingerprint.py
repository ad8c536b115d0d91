"""The identity of a compilation: a hash of everything that the SPIR-V of a kernel depends on.

A wrong match would run the wrong kernel, so this is conservative: to what the kernel is (:mod:`xebench.dpex.identity`)
it adds the bytecode and constants of each function, the argument types and the versions of the compilers. Where a
kernel refers to something whose identity cannot be told, there is no fingerprint and the kernel is compiled again.
"""

from __future__ import annotations

import inspect
from types import CodeType, FunctionType
from typing import Any

from numba.core import types
from numba_dpex.core import config
from numba_dpex.kernel_api_impl.spirv.dispatcher import SPIRVKernelDispatcher

from xebench.dpex.identity import Identity, UnknownIdentity
from xebench.dpex.signature import Signature
from xebench.dpex.toolchain import toolchain

_PACKAGES = ("numba", "numba-dpex", "llvmlite", "dpcpp-llvm-spirv", "numpy", "dpnp", "dpctl")
# Settings of numba and numba-dpex, which environment variables change.
_SETTINGS = ("DPEX_OPT", "INLINE_THRESHOLD", "DEBUGINFO_DEFAULT", "BOUNDSCHECK", "OPT")
_CODE_FIELDS = (
    "co_name",
    "co_code",
    "co_exceptiontable",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_kwonlyargcount",
    "co_flags",
)


def fingerprint(kernel: Any, signature: Signature) -> str | None:
    """The identity of compiling ``kernel`` for ``signature``, or None if it cannot be determined."""
    identity = _OfCompilation()
    try:
        identity.add(toolchain(*_PACKAGES))
        identity.add([str(getattr(config, name)) for name in _SETTINGS])
        identity.add(repr(signature))
        identity.add(kernel)
    except UnknownIdentity:
        return None
    return identity.hexdigest()


class _OfCompilation(Identity):
    """Adds what only this Python and these compilers give a meaning to."""

    def add(self, value: Any, attributes: Any = ()) -> None:
        if isinstance(value, types.Type):
            self._token("type", str(value))
        else:
            super().add(value, attributes)

    def is_compound(self, value: Any) -> bool:
        return isinstance(value, CodeType) or super().is_compound(value)

    def add_compound(self, value: Any, looked_up: frozenset[str]) -> None:
        if isinstance(value, CodeType):
            for field in _CODE_FIELDS:
                self.add(getattr(value, field))
            self.add(value.co_consts)
        else:
            super().add_compound(value, looked_up)

    def add_decorated(self, decorated: Any) -> None:
        self._token("dispatcher", type(decorated).__name__)
        if isinstance(decorated, SPIRVKernelDispatcher):
            self.add(decorated.targetoptions["_compilation_mode"])
            self.add(repr(decorated._compiler.locals))
        super().add_decorated(decorated)

    def add_text(self, function: FunctionType) -> None:
        try:
            self.add(inspect.getsource(function))
        except (OSError, TypeError):
            self._token("no source")
        self.add(function.__code__)

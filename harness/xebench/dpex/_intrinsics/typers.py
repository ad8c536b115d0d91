"""The code generators, for the modules that declare kernels' functions with them: looked up when a kernel needs one.

So a program that launches kernels which were compiled before never imports numba, which takes half a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xebench.dpex._intrinsics.device_function import module
from xebench.system.runtime.packages import is_current

__all__ = ["GroupOperation", "Scope", "checks", "extended", "fetch", "groups", "memory_access"]

_PACKAGE: Final = "xebench.dpex._intrinsics"


if TYPE_CHECKING or not is_current():
    from xebench.dpex._intrinsics import checks, groups, memory_access
    from xebench.dpex._intrinsics.atomic_calls import fetch
    from xebench.dpex._intrinsics.groups import GroupOperation, extended
    from xebench.dpex._intrinsics.spirv import Scope
else:
    checks, groups, memory_access = (module(f"{_PACKAGE}.{name}") for name in ("checks", "groups", "memory_access"))
    fetch, GroupOperation = module(f"{_PACKAGE}.atomic_calls").fetch, groups.GroupOperation
    extended, Scope = groups.extended, module(f"{_PACKAGE}.spirv").Scope

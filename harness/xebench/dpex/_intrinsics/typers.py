"""The code generators, for the modules that declare kernels' functions with them: looked up when a kernel needs one.

So a program that launches kernels which were compiled before never imports numba, which takes half a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xebench.dpex._intrinsics.later import module
from xebench.system.runtime.stack import is_current

__all__ = ["GroupOperation", "Scope", "block_access", "checks", "extended", "fetch", "groups", "vectors"]

_PACKAGE: Final = "xebench.dpex._intrinsics"


if TYPE_CHECKING or not is_current():
    from xebench.dpex._intrinsics import block_access, checks, groups, vectors
    from xebench.dpex._intrinsics.atomic_calls import fetch
    from xebench.dpex._intrinsics.groups import GroupOperation
    from xebench.dpex._intrinsics.mathematics import extended
    from xebench.dpex._intrinsics.spirv import Scope
else:
    block_access, checks, groups, vectors = (
        module(f"{_PACKAGE}.{name}") for name in ("block_access", "checks", "groups", "vectors")
    )
    fetch, GroupOperation = module(f"{_PACKAGE}.atomic_calls").fetch, groups.GroupOperation
    extended, Scope = module(f"{_PACKAGE}.mathematics").extended, module(f"{_PACKAGE}.spirv").Scope

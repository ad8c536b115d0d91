"""The code generators, for the modules that declare kernels' functions with them.

Where nothing is compiled (`xebench.runtime.stack`) there is no numba that they could be imported with, and nothing ever
asks a function for its generator: a blank stands for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xebench.runtime.stack import is_current

__all__ = ["GroupOperation", "Scope", "block_access", "checks", "extended", "fetch", "groups", "vectors"]


class _Blank:
    """Whatever is looked up in it, and whatever it is called with, is blank too."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self


if TYPE_CHECKING or not is_current():
    from xebench.dpex._intrinsics import block_access, checks, groups, vectors
    from xebench.dpex._intrinsics.atomic_calls import fetch
    from xebench.dpex._intrinsics.groups import GroupOperation
    from xebench.dpex._intrinsics.mathematics import extended
    from xebench.dpex._intrinsics.spirv import Scope
else:
    block_access = checks = groups = vectors = fetch = GroupOperation = extended = Scope = _Blank()

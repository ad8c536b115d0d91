"""The code generators, for the modules that declare kernels' functions with them: looked up when a kernel needs one.

So a program that launches kernels which were compiled before never imports numba, which takes half a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xebench.dpex.code_generation.device_function import module
from xebench.system.runtime.packages import is_current

__all__ = ["Scope", "checks", "generators"]

_PACKAGE: Final = "xebench.dpex.code_generation"

if TYPE_CHECKING or not is_current():
    from xebench.dpex.code_generation import checks, generators
    from xebench.dpex.code_generation.spirv import Scope
else:
    checks, generators = module(f"{_PACKAGE}.checks"), module(f"{_PACKAGE}.generators")
    Scope = module(f"{_PACKAGE}.spirv").Scope

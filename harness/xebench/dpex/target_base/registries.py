"""What this target declares, module by module, and what `context` gives numba of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numba.core.imputils import Registry
from numba.core.typing.templates import Registry as Declarations

#: Attributes and methods of types: what comes of them.
declarations: Final = Declarations()
#: How calls become LLVM IR.
implementations: Final = Registry("xebench")
#: What stands in for numba's own: installed after it, as the later one is taken.
replacements: Final = Registry("xebench replacements")
#: Give the type of a global or captured value that numba does not know; None for others.
value_types: Final[list[Callable[[Any], Any]]] = []

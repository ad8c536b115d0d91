"""Calls of OpenCL's functions without effects; those of work-items become SPIR-V's built-in variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils

from xebench.dpex.target_base import SPIR_FUNC

INT32: Final = ir.IntType(32)
INT64: Final = ir.IntType(64)

#: Ids and extents are below this, as SYCL's compilers assume too (-fsycl-id-queries-fit-in-int).
MOST_ITEMS: Final = 1 << 31


def work_item_query(builder: Any, function: str, dimension: int) -> Any:
    """An id or an extent in one dimension, as a 64-bit integer in its bounds, so tests for others vanish."""
    result = pure_call(builder, f"_Z{len(function)}{function}j", INT64, [INT32(dimension)])
    result.attributes.add("nounwind")
    result.set_metadata(
        "range", builder.module.add_metadata([INT64(int(not function.endswith("_id"))), INT64(MOST_ITEMS)])
    )
    return result


def pure_call(builder: Any, mangled: str, returns: Any, arguments: Sequence[Any]) -> Any:
    """Call a function of the device that has no effect."""
    kind = ir.FunctionType(returns, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, mangled)
    function.calling_convention = SPIR_FUNC
    for attribute in ("nounwind", "readnone"):
        function.attributes.add(attribute)
    return builder.call(function, arguments, cconv=SPIR_FUNC)

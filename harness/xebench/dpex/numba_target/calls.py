"""Calls of OpenCL's work-item functions, which the back end turns into SPIR-V's built-in variables."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils

from xebench.dpex._intrinsics.spirv import CC_SPIR_FUNC

INT32: Final = ir.IntType(32)
INT64: Final = ir.IntType(64)

#: Ids and extents are below this, as SYCL's compilers assume too (-fsycl-id-queries-fit-in-int).
MOST_ITEMS: Final = 1 << 31


def work_item_query(builder: Any, function: str, dimension: int) -> Any:
    """An id or an extent in one dimension, as a 64-bit integer that is never negative."""
    return query(builder, f"_Z{len(function)}{function}j", INT64, MOST_ITEMS, INT32(dimension))


def query(builder: Any, mangled: str, returns: Any, limit: int, *arguments: Any) -> Any:
    """Call a function that has no effect; its result is below ``limit``, so tests for negative indices vanish."""
    kind = ir.FunctionType(returns, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, mangled)
    function.calling_convention = CC_SPIR_FUNC
    for attribute in ("nounwind", "readnone"):
        function.attributes.add(attribute)
    result = builder.call(function, arguments, cconv=CC_SPIR_FUNC)
    result.attributes.add("nounwind")
    result.set_metadata("range", builder.module.add_metadata([returns(0), returns(limit)]))
    return result

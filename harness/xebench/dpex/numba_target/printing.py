"""``print`` in kernels: numbers and literal strings, by OpenCL's ``printf``."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors, types

from xebench.dpex.kernel_names import AddressSpace
from xebench.dpex.numba_target.calls import INT32
from xebench.dpex.target_base import SPIR_FUNC
from xebench.dpex.target_base.registries import implementations


def _print(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    formats, values = [], []
    for kind, value in zip(sig.args, args, strict=True):
        text, converted = _item(context, builder, kind, value)
        formats.append(text)
        values += converted
    data = cgutils.make_bytearray((" ".join(formats) + "\n\0").encode())
    text_of = cgutils.global_constant(builder, "printf.format", data, linkage="internal")
    text_of.addrspace = AddressSpace.CONSTANT
    text_of.type = ir.PointerType(data.type, addrspace=AddressSpace.CONSTANT)
    pointer = ir.PointerType(ir.IntType(8), addrspace=AddressSpace.CONSTANT)
    kind = ir.FunctionType(INT32, [pointer], var_arg=True)
    printf = cgutils.get_or_insert_function(builder.module, kind, "printf")
    printf.calling_convention = SPIR_FUNC
    builder.call(printf, [builder.bitcast(text_of, pointer), *values], cconv=SPIR_FUNC)
    return context.get_dummy_value()


def _item(context: Any, builder: Any, kind: Any, value: Any) -> tuple[str, list[Any]]:
    """The format of one value, and what is printed with it."""
    if isinstance(kind, types.StringLiteral):
        return kind.literal_value.replace("%", "%%"), []
    plain = types.unliteral(kind)
    if isinstance(plain, types.Boolean):
        plain, value = types.int32, context.cast(builder, value, plain, types.int32)
    if isinstance(plain, types.Integer):
        wide = types.int64 if plain.signed else types.uint64
        return ("%ld" if plain.signed else "%lu"), [context.cast(builder, value, kind, wide)]
    if isinstance(plain, types.Float):
        # a device without 64-bit floats prints them as they are
        return "%f", [value if plain.bitwidth == 64 else context.cast(builder, value, plain, types.float32)]
    raise errors.LoweringError(f"print of {plain}: a kernel prints numbers and literal strings")


implementations.lower(print, types.VarArg(types.Any))(_print)

"""Calls in kernels: OpenCL's functions, ``math``, ``print`` and ``PrivateArray``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.core.typing import signature
from numba.core.typing.npydecl import parse_dtype
from numba.core.typing.templates import ConcreteTemplate

from numba_sycl.code_generation import SPIR_FUNC, checks
from numba_sycl.code_generation.device_types import DeviceArray, declarations, implementations
from numba_sycl.kernel_names import AddressSpace

INT32: Final = ir.IntType(32)

INT64: Final = ir.IntType(64)

#: Ids and extents are below this, as SYCL's compilers assume too (-fsycl-id-queries-fit-in-int).
MOST_ITEMS: Final = 1 << 31


def work_item_query(builder: Any, function: str, dimension: int) -> Any:
    """An id or an extent in one dimension, as a 64-bit integer in its bounds, so tests for others vanish."""
    result = pure_call(builder, f"_Z{len(function)}{function}j", INT64, [INT32(dimension)])
    result.attributes.add("nounwind")
    result.callee.return_value.add_attribute("noundef")
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


_UNARY: Final = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *(
        "ceil",
        "floor",
        "fabs",
        "sqrt",
        "exp",
        "expm1",
        "log",
        "log10",
        "log1p",
        "erf",
        "erfc",
        "exp2",
        "log2",
        "lgamma",
    ),
)

_BINARY: Final = ("atan2", "pow", "fmod", "copysign", "hypot")
#: Further functions of C's library, with their number of arguments.
_FURTHER: Final = {"tgamma": 1, "rint": 1, "trunc": 1, "cbrt": 1, "nextafter": 2}

_CODES: Final = {types.float32: "f", types.float64: "d"}


def _instruction(name: str, code: str) -> str:
    """The mangled name of an extended instruction."""
    full = f"__spirv_ocl_{name}"
    return f"_Z{len(full)}{full}{code}"


def _implement(function: Any, instruction: str, operands: int) -> None:
    for kind, code in _CODES.items():
        mangled = _instruction(instruction, code * operands)
        implementations.lower(function, *[kind] * operands)(partial(_lower, kind, mangled))


def _lower(kind: Any, mangled: str, context: Any, builder: Any, sig: Any, args: Any) -> Any:
    result = pure_call(builder, mangled, context.get_value_type(kind), args)
    return context.cast(builder, result, kind, sig.return_type)


for _name in _UNARY:
    if hasattr(math, _name):
        _implement(getattr(math, _name), _name, 1)

_implement(math.gamma, "tgamma", 1)

for _name in _BINARY:
    _implement(getattr(math, _name), _name, 2)

for _name, _operands in (("fmod", 2), ("cbrt", 1)):  # which numba does not declare
    _function = getattr(math, _name)
    _cases = [signature(kind, *[kind] * _operands) for kind in _CODES]
    declarations.register_global(_function)(type(f"Math_{_name}", (ConcreteTemplate,), {"cases": _cases}))

_implement(math.cbrt, "cbrt", 1)

#: What C calls it, and its variant for floats, to the instruction.
LIBRARY: Final = {
    name: _instruction(instruction, code * operands)
    for instruction, operands in {**dict.fromkeys(_UNARY, 1), **dict.fromkeys(_BINARY, 2), **_FURTHER}.items()
    for suffix, code in (("", "d"), ("f", "f"))
    for name in (f"{instruction}{suffix}", f"numba_{instruction}{suffix}")
} | {
    f"{name}{suffix}": _instruction(instruction, f"{code}{operand}")
    for name, instruction, operand in (
        ("ldexp", "ldexp", "i"),
        ("numba_ldexp", "ldexp", "i"),
        ("numba_frexp", "frexp", "Pi"),
    )
    for suffix, code in (("", "d"), ("f", "f"))
}


def define_library(module: Any) -> None:
    """Define the functions of C's library that a module declares, as calls of the device's."""
    for function in list(module.functions):
        if function.name not in LIBRARY or not function.is_declaration:
            continue
        called = cgutils.get_or_insert_function(module, function.ftype, LIBRARY[function.name])
        called.calling_convention = SPIR_FUNC
        called.attributes.update(function.attributes)
        function.linkage = "internal"
        function.attributes.add("alwaysinline")
        builder = ir.IRBuilder(function.append_basic_block())
        builder.ret(builder.call(called, function.args, cconv=SPIR_FUNC))


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


def literal_array(shape: Any, dtype: Any) -> tuple[list[int], Any]:
    """The extents and the type of the elements of an array that a kernel declares.

    Raises:
        Misuse: an extent is no literal, or the elements are no numbers.
    """
    given = tuple(shape.types) if isinstance(shape, types.BaseTuple) else (shape,)
    extents = [checks.literal("shape", extent, int) for extent in given]
    try:
        element = parse_dtype(dtype)
    except errors.TypingError:
        element = None
    if element is None:
        raise checks.Misuse(f"dtype is {dtype}, but must be a number's, such as numpy.float32")
    return extents, element


def array_of(context: Any, builder: Any, array: DeviceArray, data: Any, extents: Sequence[int]) -> Any:
    """A contiguous array.

    Args:
        context: target context that lowers the kernel.
        builder: builder of the function's IR.
        array: its type.
        data: pointer to its first element.
        extents: its shape.
    """
    itemsize = context.get_abi_sizeof(context.get_data_type(array.dtype))
    made = context.make_array(array)(context, builder)
    context.populate_array(
        made,
        data=data,
        shape=[INT64(extent) for extent in extents],
        strides=[INT64(itemsize * prod(extents[dimension + 1 :])) for dimension in range(len(extents))],
        itemsize=INT64(itemsize),
        meminfo=None,
        parent=None,
    )
    return made._getvalue()


def private_array(shape: Any, dtype: Any, fill_zeros: Any) -> Any:
    """A call of ``PrivateArray``."""
    extents, element = literal_array(shape, dtype)
    zeros = False
    if not isinstance(fill_zeros, types.Omitted | types.NoneType):
        zeros = bool(checks.literal("fill_zeros", fill_zeros, int))
    array = DeviceArray(element, len(extents), "C", AddressSpace.PRIVATE)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = ir.ArrayType(context.get_data_type(element), prod(extents))
        with builder.goto_entry_block():
            allocated = builder.alloca(memory)
        if zeros:
            builder.store(ir.Constant(memory, None), allocated)
        data = builder.gep(allocated, [INT32(0), INT32(0)], inbounds=True)
        return array_of(context, builder, array, data, extents)

    return signature(array, shape, dtype, fill_zeros), generate

"""A kernel's module with its index arithmetic narrowed, from the text of the optimised one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from numba_sycl.narrow import BOUND
from numba_sycl.narrow.fences import with_local_fences
from numba_sycl.narrow.function_text import NARROW, Function, IntegerRange, range_of
from numba_sycl.narrow.intervals import Intervals
from numba_sycl.narrow.llvm_line import LlvmInstruction, last_word
from numba_sycl.narrow.narrowing import narrowed
from numba_sycl.narrow.spellings import plainly
from numba_sycl.signature import ArrayType, LocalType, Signature

# Numbers of values, which are renamed wherever they stand in a line.
_NUMBER: Final = re.compile(r"%(\d+)\b")
_NAMED: Final = re.compile(r"%v(\d+)\b")
#: Products of these are ids of a group's first work-item.
_STARTS: Final = ({"WorkgroupId", "WorkgroupSize"}, {"group_id", "local_size"})
#: Limits of launches that a narrowed module is for; a kernel has the first that is good enough.
_LIMITS: Final = tuple(sign * limit for limit in (BOUND, 1 << 28, 1 << 26, 1 << 24) for sign in (-1, 1))
#: What is computed or compared in 64 bits, what may be negative, and what tests for that: a measure of a text, which is
#: not taken apart for each limit.
_COSTLY: Final = re.compile(
    r"^ +%\S+ = (?:(?!trunc|load|extractelement|getelementptr)[^\n]*\bi64 |(?:add|mul|shl) (?!nuw)|icmp s\w+ i32 %)",
    re.MULTILINE,
)
_BELOW: Final = (0, BOUND - 1)
_CALLED: Final = ("smax", "smin", "umax", "umin")
# LLVM's types of elements
_TYPES: Final = {
    **{f"{sign}int{width}": f"i{width}" for sign in ("", "u") for width in (8, 16, 32, 64)},
    "bool": "i8",
    "float16": "half",
    "float32": "float",
    "float64": "double",
}


def bounded_module(text: str, kernel: str, signature: Signature, clean: Callable[[str], str]) -> tuple[str, int]:
    """The module for launches within a limit, and the limit; "" where it is the one for any launch.

    Args:
        text: the optimised module, in LLVM's text.
        kernel: its entry point.
        signature: index space and argument types that it was compiled for.
        clean: drops from a module what it does not need.
    """
    settled = _settled(text, kernel, signature)
    text = clean(settled) if settled else text
    narrow, limit = narrow_module(text, kernel, signature)
    return (narrow, limit) if narrow else (settled and text, -BOUND)


def _settled(text: str, kernel: str, signature: Signature) -> str:
    """The module without what no launch within the widest limit needs; "" if there is nothing of it.

    It leaves out tests with the same result in each of them, such as whether an index is negative, and fences of
    memory that barriers need not order (`with_local_fences`).
    """
    lines = _with_names(text)
    start, end = _place(lines, kernel)
    function = Function(lines[start], lines[start + 1 : end])
    if function.unknown:
        return ""
    intervals = Intervals(function, _known(function, _queries(function), signature, -BOUND)[0])
    changed = with_local_fences(function)
    for one in function.instructions:
        if one.kind == "comparison" and not function.is_assumed(one) and (answer := intervals.answer(one)) is not None:
            one.line, changed = f"  {one.result} = icmp {'eq' if answer else 'ne'} i32 0, 0", True
    return "\n".join([*lines[:start], function.text(), *lines[end + 1 :]]) if changed else ""


def narrow_module(text: str, kernel: str, signature: Signature) -> tuple[str, int]:
    """The module for launches within a limit, and the limit; "" where there is nothing that can be narrowed.

    Args:
        text: the optimised module, in LLVM's text.
        kernel: its entry point.
        signature: index space and argument types that it was compiled for.
    """
    lines = _with_names(text)
    start, end = _place(lines, kernel)
    head, body = lines[start], lines[start + 1 : end]
    elements = _known(Function(head, []), [], signature, 0)[1]
    function, limit = _best(head, plainly(body, elements), signature)
    if " i32 %short." not in function:
        return "", 0
    whole = "\n".join([*lines[:start], function, *lines[end + 1 :]])
    called = [name for name in _CALLED if f"@llvm.{name}.i32(" in function]
    declarations = {name: f"declare i32 @llvm.{name}.i32(" for name in called}
    return whole + "".join(f"\n{line}i32, i32)\n" for line in declarations.values() if line not in text), limit


def _place(lines: list[str], kernel: str) -> tuple[int, int]:
    """The first and the last line of a function."""
    start = next(at for at, line in enumerate(lines) if line.startswith("define ") and f" @{kernel}(" in line)
    return start, lines.index("}", start)


def _best(head: str, body: list[str], signature: Signature) -> tuple[str, int]:
    """The function narrowed for the first limit under which it is as good as under the last."""
    function = Function(head, body)
    if function.unknown:
        return "", 0
    queries = _queries(function)

    def for_limit(limit: int) -> str:
        return narrowed(function, *_known(function, queries, signature, limit))

    least = for_limit(_LIMITS[-1])
    for limit in _LIMITS[:-1]:
        if len(_COSTLY.findall(text := for_limit(limit))) <= len(_COSTLY.findall(least)):
            return text, limit
    return least, _LIMITS[-1]


def _with_names(text: str) -> list[str]:
    """The lines of a module in which every value and block has a name: numbers would have to be in order."""
    lines: list[str] = []
    begun = within = False
    for line in text.splitlines():
        label, colon, _ = line.partition(":")
        if begun and (" " in label or not colon):
            lines.append(f"v{len(set(_NAMED.findall(lines[-1])))}:")  # numbers go on from the parameters
        begun = line.startswith("define ")
        within = begun or (within and line != "}")
        named = f"v{line}" if colon and label.isdigit() else line
        lines.append(_NUMBER.sub(r"%v\1", named) if within else line)
    return lines


def _query(function: Function, one: LlvmInstruction) -> tuple[str, str] | None:
    """The id or extent of the index space that a value is, and its dimension; None if it is neither.

    It is an element of a vector that SPIR-V has built in, or a call of OpenCL's function.
    """
    if one.kind != "id":
        return None
    if one.callee:
        return one.callee.partition("get_")[2].removesuffix("j"), last_word(one.parts[0])
    vector, element = map(last_word, one.parts)
    source = function.values.get(vector)
    built_in = source.line.partition("@__spirv_BuiltIn")[2] if source else ""
    return (built_in.partition(",")[0], element) if built_in else None


def _queries(function: Function) -> list[str]:
    """The values that are below a limit as the index space is: ids, extents, and where a group starts."""
    queries = {one.result: query for one in function.instructions if (query := _query(function, one))}
    starts = [
        one.result
        for one in function.instructions
        if one.op == "mul" and set(one.operands) <= queries.keys()
        if {queries[name][0] for name in one.operands} in _STARTS
        if len({queries[name][1] for name in one.operands}) == 1  # in the same dimension
    ]
    return [*queries, *starts]


def _known(
    function: Function, queries: list[str], signature: Signature, limit: int
) -> tuple[dict[str, IntegerRange], dict[str, str]]:
    """Intervals of parameters and of the index space's numbers in launches within a limit, and types of elements."""
    known: dict[str, IntegerRange] = dict.fromkeys(queries, (0, abs(limit)))
    elements: dict[str, str] = {}
    names = iter(function.parameters)
    for argument in signature.arguments:
        if isinstance(argument, ArrayType | LocalType):
            count, _, pointer, *extents = (next(names) for _ in range(3 + argument.ndim))
            known |= dict.fromkeys((count, *extents), _BELOW)
            if argument.dtype in _TYPES and getattr(argument, "layout", "C") != "A":  # else by steps of bytes
                elements[pointer] = _TYPES[argument.dtype]
            known |= dict.fromkeys(_products(function, extents), _BELOW)
            if isinstance(argument, LocalType):
                known |= {name: (extent, extent) for name, extent in zip(extents[1:], argument.inner, strict=True)}
            for _ in range(argument.ndim):  # strides
                next(names)
        else:
            name = next(names)
            if str(argument).startswith("int"):
                if str(argument) == "int64":
                    known[name] = min(limit, 0), abs(limit)
                elif limit > 0:
                    extended = (use.result for use in function.uses[name] if use.kind == "extension")
                    known |= dict.fromkeys(extended, (0, range_of(NARROW)[1]))
            if str(argument).startswith("complex"):
                next(names)
    return known, elements


def _products(function: Function, extents: Sequence[str]) -> list[str]:
    """The products of different extents of an array, which has no fewer elements."""
    factors = {name: {name} for name in extents}
    for one in function.instructions:
        if one.op == "mul" and all(value in factors for value in one.operands):
            left, right = (factors[value] for value in one.operands)
            if not left & right:
                factors[one.result] = left | right
    return [name for name in factors if name not in extents]

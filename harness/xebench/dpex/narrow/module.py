"""A kernel's module with its index arithmetic narrowed, from the text of the optimised one."""

from __future__ import annotations

import re
from typing import Final

from xebench.dpex.narrow import BOUND
from xebench.dpex.narrow.function_text import NAME, Function, Instruction
from xebench.dpex.narrow.intervals import Interval
from xebench.dpex.narrow.narrowing import narrowed
from xebench.dpex.signature import ArrayType, LocalType, Signature

_NUMBER: Final = re.compile(r"%(\d+)\b")
_NAMED: Final = re.compile(r"%v(\d+)\b")
_EXTREMUM: Final = re.compile(r"@llvm\.([su](?:min|max))\.i32\(")
_BELOW: Final = (0, BOUND - 1)
# LLVM's types of elements
_TYPES: Final = {
    **{f"{sign}int{width}": f"i{width}" for sign in ("", "u") for width in (8, 16, 32, 64)},
    "bool": "i8",
    "float16": "half",
    "float32": "float",
    "float64": "double",
}


def narrow_module(text: str, kernel: str, signature: Signature) -> str | None:
    """The module for launches within `BOUND`, or None where there is nothing to narrow.

    Args:
        text: the optimised module, in LLVM's text.
        kernel: its entry point.
        signature: what it was compiled for.
    """
    lines = _with_names(text)
    define = re.compile(rf'define [^@]*@"?{re.escape(kernel)}"?\(')
    start = next(number for number, line in enumerate(lines) if define.match(line))
    end = lines.index("}", start)
    head, body = lines[start], lines[start + 1 : end]
    known, elements = _known(Function(head, body), signature)
    function = narrowed(head, body, known, elements)
    if " i32 %short." not in function:
        return None
    whole = "\n".join([*lines[:start], function, *lines[end + 1 :]])
    declared = {name for name in _EXTREMUM.findall(function) if f"declare i32 @llvm.{name}.i32(" not in text}
    return whole + "".join(f"\ndeclare i32 @llvm.{name}.i32(i32, i32)\n" for name in sorted(declared))


def _with_names(text: str) -> list[str]:
    """The lines of a module in which every value and block has a name: numbers would have to be in order."""
    lines: list[str] = []
    begun = within = False
    for line in text.splitlines():
        if begun and not re.match(r"[\w.$-]+:", line):
            lines.append(f"v{len(set(_NAMED.findall(lines[-1])))}:")  # numbers go on from the parameters
        begun = line.startswith("define ")
        within = begun or (within and line != "}")
        lines.append(_NUMBER.sub(r"%v\1", re.sub(r"^(\d+):", r"v\1:", line)) if within else line)
    return lines


def _is_id(function: Function, one: Instruction) -> bool:
    """Whether it is an id or an extent of the index space: of a vector, one of those that SPIR-V has built in."""
    vector = re.search(rf"extractelement <3 x i64> ({NAME})", one.line)
    source = function.values.get(vector[1]) if vector else one
    return one.kind == "id" and (source is one or (source is not None and "@__spirv_BuiltIn" in source.line))


def _known(function: Function, signature: Signature) -> tuple[dict[str, Interval], dict[str, str]]:
    """Intervals of parameters and ids, and types of arrays' elements."""
    known: dict[str, Interval] = {one.result: _BELOW for one in function.instructions if _is_id(function, one)}
    elements: dict[str, str] = {}
    names = iter(function.parameters)
    for argument in signature.arguments:
        if isinstance(argument, ArrayType | LocalType):
            count, _, pointer, *extents = (next(names) for _ in range(3 + argument.ndim))
            known |= dict.fromkeys((count, *extents), _BELOW)
            if argument.dtype in _TYPES and getattr(argument, "layout", "C") != "A":  # else by steps of bytes
                elements[pointer] = _TYPES[argument.dtype]
            if isinstance(argument, LocalType):
                known |= {name: (extent, extent) for name, extent in zip(extents[1:], argument.inner, strict=True)}
            for _ in range(argument.ndim):  # strides
                next(names)
        else:
            name = next(names)
            if str(argument) == "int64":
                known[name] = (-BOUND, BOUND)
            if str(argument).startswith("complex"):
                next(names)
    return known, elements

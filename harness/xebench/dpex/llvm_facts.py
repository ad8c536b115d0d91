"""Facts that every launch guarantees, written into the text of a kernel's LLVM IR for the optimizers.

Arguments and ids have values, extents are not negative, ids are below 2**31. So tests for negative indices vanish, and
remainders by powers of two become masks. A device's compiler is given the same by ``llvm.assume``, which is an
instruction of ``SPV_KHR_expect_assume``. Addresses are within their arrays, as numba leads to elements that are
accessed: so a compiler may make one from another by an addition. The text is that of LLVM 14 or of LLVM 20 and later.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from xebench.dpex.signature import ArrayType, LocalType, Signature

_PARAMETER = re.compile(r" (%[\w.$-]+)(?=, |$)")
_ENTRY_LABEL = re.compile(r"(?:[\w.$-]+|\"[^\"]+\"):[^\n]*\n")
_ID = re.compile(r"^ +(%[\w.$-]+) = load i64, i64[^\n]*@__spirv_BuiltIn", re.MULTILINE)
_EXTENT = re.compile(
    r"^ +(%[\w.$-]+) = load i64, i64[^\n]*@__spirv_BuiltIn(?:\w+Size|NumWorkgroups)\b[^\n]*$", re.MULTILINE
)
_FREEZE = re.compile(r"^( +%[\w.$-]+) = freeze i64 (%[\w.$-]+)$", re.MULTILINE)
_QUERY = re.compile(r"call spir_func i64 (@_Z\d+get_)")
_ADDRESS = re.compile(r"= getelementptr (?:nusw )?(?!inbounds|nusw)")


def launch_facts(signature: Signature) -> dict[int, int | None]:
    """The known values of integers among the flattened parameters; None stands for "not negative".

    Args:
        signature: what a kernel is compiled for.
    """
    facts: dict[int, int | None] = {}
    at = 0
    for argument in signature.arguments:
        if isinstance(argument, ArrayType | LocalType):  # elements, size of one, pointer, extents, strides
            facts |= dict.fromkeys((at, *range(at + 3, at + 3 + argument.ndim)))
            at += 3 + 2 * argument.ndim
        else:
            at += 2 if str(argument).startswith("complex") else 1
        if isinstance(argument, LocalType):
            facts |= {at - argument.ndim - place: extent for place, extent in enumerate(reversed(argument.inner), 1)}
    return facts


def state_launch(text: str, kernel: str, facts: Mapping[int, int | None]) -> str:
    """State that all parameters have values, as ids have, their known ranges, and that addresses are within arrays.

    Args:
        text: the module.
        kernel: its entry point.
        facts: of its parameters.
    """
    definition = re.search(rf'^define [^\n]*@"?{re.escape(kernel)}"?\((?P<all>[^\n]*)\)[^\n]*\n', text, re.MULTILINE)
    if definition is None:
        raise ValueError(f"no function {kernel} in the module")
    parameters = _PARAMETER.sub(r" noundef \1", definition["all"])
    names = _PARAMETER.findall(parameters)
    head = text[: definition.start("all")] + parameters + text[definition.end("all") : definition.end()]
    rest = text[definition.end() :]
    label = _ENTRY_LABEL.match(rest)
    start = label.end() if label else 0
    said = ""
    for position, value in facts.items():
        test = f"sgt i64 {names[position]}, -1" if value is None else f"eq i64 {names[position]}, {value}"
        said += f"  %fact.{position} = icmp {test}\n  call void @llvm.assume(i1 %fact.{position})\n"
    numbers = itertools.count()

    def positive(match: re.Match[str]) -> str:
        fact = f"%extent.{next(numbers)}"
        return f"{match[0]}\n  {fact} = icmp ne i64 {match[1]}, 0\n  call void @llvm.assume(i1 {fact})"

    rest = rest[:start] + said + _EXTENT.sub(positive, _QUERY.sub(r"call spir_func noundef i64 \1", rest[start:]))
    return _ADDRESS.sub("= getelementptr inbounds ", _with_assume(head + rest))


def without_freezes(text: str) -> str:
    """Drop what LLVM does lest an id, or an argument, be no value."""
    ids = {match[1] for match in _ID.finditer(text)}
    return _FREEZE.sub(lambda match: f"{match[1]} = add i64 {match[2]}, 0" if match[2] in ids else match[0], text)


def _with_assume(text: str) -> str:
    declaration = "declare void @llvm.assume(i1"
    return text if declaration in text or "@llvm.assume" not in text else f"{text}\n{declaration})\n"

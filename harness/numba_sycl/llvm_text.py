"""Rewriting the text of a kernel's LLVM IR, and writing into it what every launch guarantees. Pure string work.

llvmlite cannot set what is needed here (argument attributes, function metadata, loop metadata) on a finished module;
the text can. numba-dpex's is that of LLVM 14, with typed pointers; our own target's is that of LLVM 20 and later.

Arguments and ids have values, extents are not negative, ids are below 2**31. So tests for negative indices vanish, and
remainders by powers of two become masks. A device's compiler is given the same by ``llvm.assume``, which is an
instruction of ``SPV_KHR_expect_assume``. Addresses are within their arrays, as numba leads to elements that are
accessed: so a compiler may make one from another by an addition. The text is that of LLVM 14 or of LLVM 20 and later.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from numba_sycl.kernel_options import KernelOptions
from numba_sycl.signature import ArrayType, LocalType, Signature

_ARITHMETIC = re.compile(
    r"= (fadd|fsub|fmul|fdiv|frem|fneg|fcmp)((?: (?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast))*) "
)

_LABEL = re.compile(r'^(?:"([^"]+)"|([\w.$-]+)):')

_TARGET = re.compile(r'label %(?:"([^"]+)"|([\w.$-]+))')

_METADATA_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)


def entry_point_name(python_name: str) -> str:
    """The kernel's name in SPIR-V: its Python name, with underscores for all but ASCII letters and digits.

    numba's mangled name counts compilations; without it the SPIR-V of a kernel is the same bytes every time.
    """
    return re.sub(r"\W", "_", python_name, flags=re.ASCII)


def apply_options(text: str, kernel: str, options: KernelOptions) -> str:
    """Write a kernel's options for LLVM and the device's compiler into a module."""
    if options.restrict:
        text = add_noalias(text, kernel)
    if options.fast_math:
        text = add_fast_flags(text)
    if options.unroll is not None:
        text = add_loop_metadata(text, options.unroll)
    if options.fp_contract or options.fast_math:  # which contraction is a part of
        text += "\n!opencl.enable.FP_CONTRACT = !{}\n"  # without it LLVM's back end writes ContractionOff
    metadata: dict[str, tuple[int, ...]] = {}
    if options.sub_group_size is not None:
        metadata["intel_reqd_sub_group_size"] = (options.sub_group_size,)
    if options.work_group_size is not None:
        metadata["reqd_work_group_size"] = (*options.work_group_size, 1, 1)[:3]
    return add_kernel_metadata(text, kernel, metadata) if metadata else text


def add_fast_flags(text: str) -> str:
    """Mark floating-point arithmetic and comparisons ``fast``."""
    return _ARITHMETIC.sub(r"= \1 fast ", text)


def _definition(text: str, function: str) -> re.Match[str]:
    match = re.search(rf'^define [^\n]*@"?{re.escape(function)}"?\((?P<parameters>[^\n]*)$', text, re.MULTILINE)
    if match is None:
        raise ValueError(f"no function {function} in the module")
    return match


def add_noalias(text: str, function: str) -> str:
    """Mark every pointer parameter of ``function`` as not overlapping any other."""
    match = _definition(text, function)
    parameters = re.sub(r"(\*|ptr addrspace\(\d+\)) (?!noalias)", r"\1 noalias ", match["parameters"])
    return text[: match.start("parameters")] + parameters + text[match.end("parameters") :]


def _next_number(text: str) -> int:
    return max((int(number) for number in _METADATA_NUMBER.findall(text)), default=-1) + 1


def add_kernel_metadata(text: str, function: str, values: dict[str, tuple[int, ...]]) -> str:
    """Attach integer metadata (``intel_reqd_sub_group_size``, ``reqd_work_group_size``) to a definition."""
    number = _next_number(text)
    match = _definition(text, function)
    line = text[match.start() : match.end()]
    attachments, nodes = "", ""
    for offset, (name, integers) in enumerate(values.items()):
        attachments += f"!{name} !{number + offset} "
        nodes += f"!{number + offset} = !{{{', '.join(f'i32 {value}' for value in integers)}}}\n"
    line = re.sub(r"\{\s*$", attachments + "{", line)
    return text[: match.start()] + line + text[match.end() :].rstrip("\n") + "\n\n" + nodes


def _loop_property(unroll: int | str) -> str:
    if isinstance(unroll, int):
        return f'!{{!"llvm.loop.unroll.count", i32 {unroll}}}'
    return f'!{{!"llvm.loop.unroll.{unroll}"}}'


def add_loop_metadata(text: str, unroll: int | str) -> str:
    """Mark every loop: a branch to a block that appears no later in its function closes one.

    Args:
        text: the module.
        unroll: a factor, "full" or "disable".
    """
    number = _next_number(text)
    lines, nodes = [], []
    seen: set[str] = set()
    for line in text.splitlines():
        if line.startswith("define "):
            seen = set()
        label = _LABEL.match(line)
        if label:
            seen.add(label[1] or label[2])
        targets = {quoted or plain for quoted, plain in _TARGET.findall(line)}
        if line.startswith("  br ") and targets & seen and "!llvm.loop" not in line:
            lines.append(f"{line}, !llvm.loop !{number}")
            nodes.append(f"!{number} = distinct !{{!{number}, !{number + 1}}}")
            nodes.append(f"!{number + 1} = {_loop_property(unroll)}")
            number += 2
        else:
            lines.append(line)
    return "\n".join([*lines, "", *nodes]) + "\n"


_PARAMETER = re.compile(r" (%[\w.$-]+)(?=, |$)")

_ENTRY_LABEL = re.compile(r"(?:[\w.$-]+|\"[^\"]+\"):[^\n]*\n")

_EXTENT = re.compile(
    r"^ +(%[\w.$-]+) = load i64, i64[^\n]*@__spirv_BuiltIn(?:\w+Size|NumWorkgroups)\b[^\n]*$", re.MULTILINE
)

_QUERY = re.compile(r"call spir_func i64 (@_Z\d+get_)")

_ADDRESS = re.compile(r"= getelementptr (?:nusw )?(?!inbounds|nusw)")


def launch_facts(signature: Signature) -> dict[int, int | None]:
    """The known values of integers among the flattened parameters; None stands for "not negative".

    Args:
        signature: index space and argument types that a kernel is compiled for.
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
        facts: facts about its parameters.
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


def _with_assume(text: str) -> str:
    declaration = "declare void @llvm.assume(i1"
    return text if declaration in text or "@llvm.assume" not in text else f"{text}\n{declaration})\n"

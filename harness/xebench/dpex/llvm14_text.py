"""Rewriting the text of numba-dpex's LLVM IR, which is that of LLVM 14, with typed pointers. Pure string work.

llvmlite cannot set what is needed here (argument attributes, function metadata, loop metadata) on a finished module;
the text can. Our own compiler has it from the start.

Arguments and ids have values, extents are not negative, ids are below 2**31. So tests for negative indices vanish, and
remainders by powers of two become masks. A device's compiler is given the same by ``llvm.assume``, which is an
instruction of ``SPV_KHR_expect_assume``. Addresses are within their arrays, as numba leads to elements that are
accessed: so a compiler may make one from another by an addition.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from numba_sycl.entry_point import required_sizes
from numba_sycl.kernel_options import KernelOptions

_ENVIRONMENT = re.compile(r"^@([\w.$-]*NumbaEnv[\w.$-]*) = .*\n", re.MULTILINE)

_BUILTIN_POINTER = r"(?P<space>(?: addrspace\(\d+\))?)\*"

_BUILTIN_LOAD = re.compile(
    r"^(?P<indent>\s*)(?P<result>%[\w.$-]+) = load i64, i64" + _BUILTIN_POINTER + r" "
    r"(?:getelementptr (?:inbounds )?\(<3 x i64>, <3 x i64>(?: addrspace\(\d+\))?\* "
    r"(?P<name>@__spirv_BuiltIn\w+), i(?:32|64) 0, i(?:32|64) (?P<element>[012])\)"
    r"|bitcast \(<3 x i64>(?: addrspace\(\d+\))?\* (?P<first>@__spirv_BuiltIn\w+) "
    r"to i64(?: addrspace\(\d+\))?\*\))"
    r"(?:, align \d+)?(?P<rest>.*)$",
    re.MULTILINE,
)

_ID = re.compile(r"^ +(%[\w.$-]+) = load i64, i64[^\n]*@__spirv_BuiltIn", re.MULTILINE)

_FREEZE = re.compile(r"^( +%[\w.$-]+) = freeze i64 (%[\w.$-]+)$", re.MULTILINE)


def drop_environments(text: str) -> str:
    """Remove numba's environment globals that nothing refers to.

    They are host pointers without meaning on a device, and old Intel graphics compilers stumble on them.
    """

    def keep_if_used(match: re.Match[str]) -> str:
        name = re.escape(match.group(1))
        uses = re.findall(rf"@{name}(?![\w.$-])", text)
        return match.group(0) if len(uses) > 1 else ""

    return _ENVIRONMENT.sub(keep_if_used, text)


def load_whole_builtins(text: str) -> str:
    """Load a built-in variable as the vector that it is, then extract the element.

    LLVM folds the access to ``load i64, getelementptr(@__spirv_BuiltIn..., 0, n)``, on which Intel's graphics
    compiler IGC 1.0.12504 (Debian 12) crashes; it needs OpLoad of the vector and OpCompositeExtract.
    """

    def rewrite(match: re.Match[str]) -> str:
        name = match["name"] or match["first"]
        element = match["element"] or "0"
        whole = match["result"] + ".whole"
        return (
            f"{match['indent']}{whole} = load <3 x i64>, <3 x i64>{match['space']}* {name}, align 32\n"
            f"{match['indent']}{match['result']} = extractelement <3 x i64> {whole}, i32 {element}{match['rest']}"
        )

    return _BUILTIN_LOAD.sub(rewrite, text)


def rename_function(text: str, old: str, new: str) -> str:
    """Rename a function everywhere."""
    return re.sub(rf'@(?:"{re.escape(old)}"|{re.escape(old)}(?![\w.$-]))', f'@"{new}"', text)


def without_freezes(text: str) -> str:
    """Drop what LLVM does lest an id, or an argument, be no value."""
    ids = {match[1] for match in _ID.finditer(text)}
    return _FREEZE.sub(lambda match: f"{match[1]} = add i64 {match[2]}, 0" if match[2] in ids else match[0], text)


_ARITHMETIC = re.compile(
    r"= (fadd|fsub|fmul|fdiv|frem|fneg|fcmp)((?: (?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast))*) "
)

_LABEL = re.compile(r'^(?:"([^"]+)"|([\w.$-]+)):')

_TARGET = re.compile(r'label %(?:"([^"]+)"|([\w.$-]+))')

_METADATA_NUMBER = re.compile(r"^!(\d+) = ", re.MULTILINE)


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
    sizes = required_sizes(options)
    return add_kernel_metadata(text, kernel, sizes) if sizes else text


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
    parameters = re.sub(r"(\*) (?!noalias)", r"\1 noalias ", match["parameters"])
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

_ADDRESS = re.compile(r"= getelementptr (?!inbounds)")


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

    rest = rest[:start] + said + _EXTENT.sub(positive, rest[start:])
    return _ADDRESS.sub("= getelementptr inbounds ", _with_assume(head + rest))


def _with_assume(text: str) -> str:
    declaration = "declare void @llvm.assume(i1"
    return text if declaration in text or "@llvm.assume" not in text else f"{text}\n{declaration})\n"

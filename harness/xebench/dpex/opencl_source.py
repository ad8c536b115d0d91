"""Kernels in OpenCL C and in modules of SPIR-V, their parameters, and the facts in their text.

They are written as in C, ``__global float *x, const uint n, __local float *tile``, and read here. A pointer to
vectors, such as ``float4``, is one to their elements; ``void`` and unknown types are memory of any type.

This is no C compiler. It parses comments, ``#define NAME text``, ``typedef type name;`` and ``-DNAME=text``. Where the
text says more than one thing, such as two definitions under ``#if``, it does not guess: the author states it.

Both are launched as kernels of Python are, on both stacks. OpenCL C is built by OpenCL drivers from its text. Level
Zero takes SPIR-V alone (`xebench.dpex.opencl_modules`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from numba_sycl.errors import OptionError, suggestion
from numba_sycl.kernel_options import KernelOptions
from xebench.dpex.foreign_kernel import ForeignCode, ForeignKernel, caller, required_extents
from xebench.dpex.foreign_parameters import GlobalPointer, LocalPointer, Number, Parameter
from xebench.dpex.opencl_modules import OpenclCode
from xebench.dpex.spirv_facts import EntryPoint, entry_points

NUMBERS: Final = {
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "size_t": "uint64",
    "uintptr_t": "uint64",
    "ptrdiff_t": "int64",
    "intptr_t": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}

_QUALIFIERS = frozenset("const volatile restrict __restrict __restrict__ __const __volatile".split())  # noqa: SIM905

_SPACES = {
    "global": "global",
    "__global": "global",
    "constant": "global",
    "__constant": "global",
    "local": "local",
    "__local": "local",
    "private": "",
    "__private": "",
}

_VECTOR = re.compile(r"(char|uchar|short|ushort|int|uint|long|ulong|half|float|double)(?:2|3|4|8|16)")

_TOKEN = re.compile(r"\w+|\S")


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """Read a list of parameters in C; their names may be left out.

    Args:
        text: list without its parentheses.

    Raises:
        OptionError: a parameter cannot be understood, or nothing of Python's can be passed to it.
    """
    return () if text.strip() in ("", "void") else tuple(map(_read, text.split(",")))


def _read(text: str) -> Parameter:
    declared = " ".join(text.split())
    words = _TOKEN.findall(text)
    space = next((_SPACES[word] for word in words if word in _SPACES), "")
    words = [word for word in words if word not in _QUALIFIERS and word not in _SPACES]
    pointers = words.count("*") + words.count("[")
    type_words = [word for word in words if word.isidentifier()]
    if type_words and not _is_type(type_words[-1]):
        type_words.pop()  # the parameter's name
    if not type_words or pointers > 1 or "(" in words:
        raise OptionError(f"parameter {declared!r} cannot be understood: state arguments='TYPE NAME, ...'")
    if pointers and not space:
        raise OptionError(f"parameter {declared!r} is a pointer to neither global nor local memory")
    if pointers:
        dtype = _dtype(type_words)
        return GlobalPointer(dtype) if space == "global" else LocalPointer(dtype)
    dtype = _dtype(type_words)
    if dtype in (None, "float16") or _VECTOR.fullmatch(type_words[-1]):
        raise OptionError(f"parameter {declared!r}: a kernel is given pointers and numbers of 8 to 64 bits only")
    return Number(str(dtype))


def _is_type(word: str) -> bool:
    return word in NUMBERS or word in ("signed", "unsigned", "void") or _VECTOR.fullmatch(word) is not None


def _dtype(words: list[str]) -> str | None:
    """The dtype of a C type, of its elements for vectors; None of what no dtype is like."""
    signs = {word for word in words if word in ("signed", "unsigned")}
    base = next((word for word in words if word not in ("signed", "unsigned")), "int")
    if len(set(words) - signs - {base, "int"}) > 0:
        return None
    vector = _VECTOR.fullmatch(base)
    base = vector[1] if vector else base
    return NUMBERS.get(f"u{base}" if "unsigned" in signs else base)


#: Depth at which the expansion of macros in macros stops, also where they go round in a circle.
_MOST_EXPANSIONS: Final = 8

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)$", re.MULTILINE)
_TYPEDEF = re.compile(r"\btypedef\s+([\w\s]+?)\s+(\w+)\s*;")
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
# with "@3" in place of the attribute of that number
_KERNEL = re.compile(
    r"(?P<before>[^;{}()]*)\b(?:__)?kernel\b(?P<head>[^;{}()]*?)\bvoid\b(?P<between>[\s@\d]*)\b(?P<name>[A-Za-z_]\w*)"
    r"\s*\((?P<parameters>[^;{}()]*)\)(?P<after>[\s@\d]*)[;{]"
)


_SUB_GROUP = re.compile(r"\bintel_reqd_sub_group_size\s*\(((?:[^()]|\([^()]*\))*)\)")

_WORK_GROUP = re.compile(r"\breqd_work_group_size\s*\(((?:[^()]|\([^()]*\))*)\)")


@dataclass(frozen=True)
class Declaration:
    """A kernel as its text declares it.

    Attributes:
        name: name of the kernel.
        parameters: text of the parameters.
        sub_group_size: required sub-group size, or None.
        work_group_size: required work-group extents, or None.
    """

    name: str
    parameters: str
    sub_group_size: int | None
    work_group_size: tuple[int, ...] | None


def declaration(source: str, name: str | None, build_options: Iterable[str] = ()) -> Declaration:
    """The kernel of a name, or the only one.

    Args:
        source: OpenCL C.
        name: name of the kernel; None if there is only one.
        build_options: build options, of which ``-DNAME=text`` counts.

    Raises:
        OptionError: the kernel is missing or ambiguous, is declared in several ways, or requires a size that is no
        number.
    """
    found = list(_declarations(source, build_options))
    names = sorted({each["name"] for each in found})
    if name is None:
        if len(names) != 1:
            raise OptionError(f"the OpenCL C has {len(names) or 'no'} kernels ({', '.join(names)}): state name=")
        name = names[0]
    chosen = {(each["parameters"], each["attributes"]) for each in found if each["name"] == name}
    if not chosen:
        raise OptionError(f"the OpenCL C has no kernel {name!r}: {suggestion(name, names)}")
    if len(chosen) > 1:
        raise OptionError(
            f"kernel {name} is declared in several ways: select one before, where the text is put together"
        )
    parameters, attributes = chosen.pop()
    sub_group, work_group = _size(name, _SUB_GROUP, attributes), _size(name, _WORK_GROUP, attributes)
    return Declaration(name, parameters, sub_group[0] if sub_group else None, work_group)


def _size(name: str, attribute: re.Pattern[str], text: str) -> tuple[int, ...] | None:
    match = attribute.search(text)
    if match is None:
        return None
    try:
        return tuple(int(part.strip().strip("()")) for part in match[1].split(","))
    except ValueError:
        raise OptionError(
            f"kernel {name}: {match[0]} is no number here: give its macros by -D in build_options"
        ) from None


def _declarations(source: str, build_options: Iterable[str]) -> Iterator[dict[str, str]]:
    """Name, parameters and attributes of each kernel."""
    attributes: list[str] = []

    def take(match: re.Match[str]) -> str:
        attributes.append(match[0])
        return f" @{len(attributes) - 1} "

    for match in _KERNEL.finditer(_ATTRIBUTE.sub(take, _plain(source, build_options))):
        around = " ".join(match[part] for part in ("before", "head", "between", "parameters", "after"))
        yield {
            "name": match["name"],
            "parameters": " ".join(re.sub(r"@\d+", " ", match["parameters"]).split()),
            "attributes": " ".join(attributes[int(number)] for number in re.findall(r"@(\d+)", around)),
        }


def _plain(source: str, build_options: Iterable[str]) -> str:
    """A text without comments and directives, its macros expanded."""
    text = COMMENT.sub(" ", source.replace("\\\n", " "))
    return _expanded(_DIRECTIVE.sub("", text), _macros(text, build_options))


def _macros(text: str, build_options: Iterable[str]) -> dict[str, str]:
    """The values of names: those of ``-D``, else of the text; a name that the text defines twice has none."""
    found: dict[str, set[str]] = {}
    for name, meaning in _DEFINE.findall(text):
        found.setdefault(name, set()).add(meaning.strip())
    for meaning, name in _TYPEDEF.findall(text):
        found.setdefault(name, set()).add(meaning)
    names = {name: meanings.pop() for name, meanings in found.items() if len(meanings) == 1}
    given = (option[2:].partition("=") for option in build_options if option.startswith("-D"))
    return names | {name: value or "1" for name, _, value in given}


def _expanded(text: str, names: dict[str, str]) -> str:
    for _ in range(_MOST_EXPANSIONS):
        text = _WORD.sub(lambda match: names.get(match[0], match[0]), text)
    return text


#: Drivers' default, which every compiler receives, so that all of them read the text in the same way.
_STANDARD: Final = "-cl-std=CL1.2"
#: C contracts ``a * b + c`` by default, Python does not.
_NOT_CONTRACTED: Final = "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n"


def opencl_kernel(
    source: str,
    *,
    name: str | None = None,
    arguments: str | None = None,
    build_options: Sequence[str] | str = (),
    relaxed_math: bool = False,
    fp_contract: bool = False,
    large_grf: bool = False,
) -> ForeignKernel:
    """A kernel in OpenCL C, for what Python cannot say; launched like any other.

    It is given one argument for each parameter of its text: a USM array (contiguous, of the pointer's element type)
    for a pointer to global memory, a ``LocalAccessor`` in an ``NdRange`` for one to local memory, and numbers. Sizes in
    ``intel_reqd_sub_group_size`` and ``reqd_work_group_size`` are checked against the device before it is built.

    Args:
        source: text in OpenCL C.
        name: name of the kernel; not needed if there is only one.
        arguments: parameters in C's notation, if those in the text cannot be read.
        build_options: compiler options, such as ``-DTAPS=17``; the text is OpenCL C 1.2 unless they contain
            ``-cl-std=``.
        relaxed_math: ``-cl-fast-relaxed-math``.
        fp_contract: the text may contract ``a * b + c``, as C does by itself. Off as it is in kernels of Python: the
            pragma that says so stands before the text.
        large_grf: twice the registers and half the threads; for Intel GPUs, ignored elsewhere.

    Returns:
        What ``session.launch`` takes.

    Raises:
        OptionError: there is no such kernel in the text, or a parameter cannot be understood.

    Example:
        >>> scale = opencl_kernel('''
        ... __kernel void scale(__global float *x, const float a) {
        ...     x[get_global_id(0)] *= a;
        ... }''')
    """
    given = tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options)
    if not any(option.startswith("-cl-std=") for option in given):
        given = (_STANDARD, *given)
    declared = declaration(source, name, given)
    options = KernelOptions(
        sub_group_size=declared.sub_group_size,
        work_group_size=required_extents(declared.work_group_size),
        relaxed_math=relaxed_math,
        fp_contract=fp_contract,
        large_grf=large_grf,
        build_options=given,
    )
    parameters = _parameters(declared.name, declared.parameters if arguments is None else arguments)
    text = source if fp_contract else _NOT_CONTRACTED + source
    return ForeignKernel(declared.name, parameters, options, caller(__file__), OpenclCode.of, opencl_c=text)


def spirv_kernel(
    module: bytes | Path,
    *,
    name: str | None = None,
    arguments: str,
    build_options: Sequence[str] | str = (),
    relaxed_math: bool = False,
    large_grf: bool = False,
) -> ForeignKernel:
    """A kernel in SPIR-V, launched like any other (see :func:`opencl_kernel` for what it is given).

    Args:
        module: its bytes, or their file: ``Path(__file__).with_name("scale.spv")``.
        name: name of its entry point; not needed if there is only one.
        arguments: the parameters as C writes them: ``"__global float *x, float a"``. They are not checked against the
            module but for their number.
        build_options: options of the driver's compiler.
        relaxed_math: ``-cl-fast-relaxed-math``.
        large_grf: twice the registers and half the threads; for Intel GPUs, ignored elsewhere.

    Raises:
        OptionError: no SPIR-V, no such entry point, or a parameter cannot be understood.
    """
    given = tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options)
    try:
        code = module if isinstance(module, bytes) else Path(module).read_bytes()
        entry = _entry_point(entry_points(code), name)
    except (OSError, ValueError) as error:
        what = "the bytes" if isinstance(module, bytes) else module
        raise OptionError(f"{what}: {error}") from None
    options = KernelOptions(
        sub_group_size=entry.sub_group_size,
        work_group_size=required_extents(entry.work_group_size),
        relaxed_math=relaxed_math,
        large_grf=large_grf,
        build_options=given,
    )
    return ForeignKernel(
        entry.name, _parameters(entry.name, arguments), options, caller(__file__), ForeignCode.of, spirv=code
    )


def _entry_point(found: Sequence[EntryPoint], name: str | None) -> EntryPoint:
    names = [each.name for each in found]
    if name is None and len(found) == 1:
        return found[0]
    if name is None:
        raise ValueError(f"it has {len(found) or 'no'} kernels ({', '.join(names)}): state name=")
    if name not in names:
        raise ValueError(f"it has no kernel {name!r}: {suggestion(name, names)}")
    return found[names.index(name)]


def _parameters(name: str, text: str) -> tuple[Parameter, ...]:
    try:
        return read_parameters(text)
    except OptionError as error:
        raise OptionError(f"kernel {name}: {error}") from None

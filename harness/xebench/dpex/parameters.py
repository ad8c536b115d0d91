"""The parameters of a kernel in OpenCL C or SPIR-V: pointers to arrays, pointers to local memory, numbers by value.

They are written as in C, ``__global float *x, const uint n, __local float *tile``, and read here. A pointer to
vectors, such as ``float4``, is one to their elements; ``void`` and types that nobody here knows are memory of any type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from xebench.dpex.dpex_errors import OptionError

_NUMBERS: Final = {
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


@dataclass(frozen=True)
class GlobalPointer:
    """An array's memory: dtype name of its elements; None takes any."""

    dtype: str | None

    def __str__(self) -> str:
        return f"global {self.dtype or 'any'}*"


@dataclass(frozen=True)
class LocalPointer:
    """Local memory of a work-group, given as a LocalAccessor: dtype name of its elements; None takes any."""

    dtype: str | None

    def __str__(self) -> str:
        return f"local {self.dtype or 'any'}*"


@dataclass(frozen=True)
class Number:
    """A number by value: dtype name. Python's own numbers become it; those of numpy must be of it."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype


Parameter = GlobalPointer | LocalPointer | Number


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """Read a list of parameters in C; their names may be left out.

    Args:
        text: without its parentheses.

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
    return word in _NUMBERS or word in ("signed", "unsigned", "void") or _VECTOR.fullmatch(word) is not None


def _dtype(words: list[str]) -> str | None:
    """The dtype of a C type, of its elements for vectors; None of what no dtype is like."""
    signs = {word for word in words if word in ("signed", "unsigned")}
    base = next((word for word in words if word not in ("signed", "unsigned")), "int")
    if len(set(words) - signs - {base, "int"}) > 0:
        return None
    vector = _VECTOR.fullmatch(base)
    base = vector[1] if vector else base
    return _NUMBERS.get(f"u{base}" if "unsigned" in signs else base)

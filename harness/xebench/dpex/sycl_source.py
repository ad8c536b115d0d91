"""Kernels in SYCL C++, as free functions (``sycl_ext_oneapi_free_function_kernels``), and what their text declares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from numba_sycl.errors import OptionError
from numba_sycl.kernel_options import KernelOptions
from xebench.dpex.foreign_kernel import ForeignKernel, caller
from xebench.dpex.foreign_parameters import GlobalPointer, LocalPointer, Number, Parameter, StreamObject
from xebench.dpex.opencl_source import COMMENT, NUMBERS
from xebench.dpex.sycl_modules import compile_sycl
from xebench.errors import suggestion

_KERNEL = re.compile(
    r"\bSYCL_EXT_ONEAPI_FUNCTION_PROPERTY\s*\(\s*\([^)]*\bnd_range_kernel\s*<[^)]*\)\s*\)[^;{}]*?\bvoid\s+(?P<name>\w+)"
    r"\s*\((?P<parameters>[^;{}()]*)\)"
)
_CLASS = re.compile(r"(?:sycl\s*::\s*)?(accessor|local_accessor|stream)\b(?:\s*<(?P<of>[^>]*)>)?")
_TYPES: Final = NUMBERS | {f"{dtype}_t": dtype for dtype in NUMBERS.values() if "int" in dtype}
#: C++ lets the compiler contract `a * b + c`, Python does not.
_NOT_CONTRACTED: Final = "-ffp-contract=off"


def sycl_kernel(
    source: str, *, name: str | None = None, build_options: Sequence[str] | str = (), fp_contract: bool = False
) -> ForeignKernel:
    """A kernel in SYCL C++, for what only a class can say, such as an accessor or a stream; launched like any other.

    It is a free function with the property ``nd_range_kernel`` and C linkage. The runtime's own compiler makes SPIR-V
    of it at the first launch, which takes some seconds; the SPIR-V is kept on disk. That needs the current stack and a
    C++ compiler; elsewhere the variant is skipped.

    It is given one argument for each parameter: a USM array for a pointer; an accessor of a buffer or a USM array for a
    one-dimensional ``sycl::accessor``; a ``LocalAccessor`` for a ``sycl::local_accessor``; a ``session.stream`` for a
    ``sycl::stream``; and numbers.

    Args:
        source: text with its ``#include <sycl/sycl.hpp>``.
        name: name of the function; not needed if there is only one.
        build_options: options of the compiler, such as ``-DTAPS=17``.
        fp_contract: the compiler may contract ``a * b + c``, as in C++. Off as it is in kernels of Python.

    Returns:
        What ``session.launch`` takes.

    Raises:
        OptionError: there is no such kernel in the text, or a parameter is of another type.
    """
    given = tuple(build_options.split()) if isinstance(build_options, str) else tuple(build_options)
    found = {match["name"]: match["parameters"] for match in _KERNEL.finditer(COMMENT.sub(" ", source))}
    if name is None and len(found) != 1:
        raise OptionError(f"the SYCL C++ has {len(found) or 'no'} kernels ({', '.join(sorted(found))}): state name=")
    chosen = name or next(iter(found))
    if chosen not in found:
        raise OptionError(f"the SYCL C++ has no kernel {chosen!r}: {suggestion(chosen, found)}")
    try:
        parameters = tuple(map(_read, _split(found[chosen])))
    except OptionError as error:
        raise OptionError(f"kernel {chosen}: {error}") from None
    options = given if fp_contract else (_NOT_CONTRACTED, *given)
    file = caller(__file__)
    return ForeignKernel(chosen, parameters, KernelOptions(), file, compile_sycl, sycl=source, sycl_options=options)


def _split(text: str) -> list[str]:
    """Parameters, at the commas that are not in angle brackets."""
    return [part.strip() for part in re.split(r",(?![^<]*>)", text) if part.strip()]


def _read(text: str) -> Parameter:
    declared = " ".join(text.split())
    if found := _CLASS.match(declared):
        if found[1] == "stream":
            return StreamObject()
        element, *extent = (found["of"] or "").split(",")
        dtype = _dtype(element)
        if dtype is None or extent[:1] not in ([], [" 1"], ["1"]):
            raise OptionError(f"parameter {declared!r}: accessors have one dimension, and elements that numpy has")
        return (GlobalPointer if found[1] == "accessor" else LocalPointer)(dtype, is_accessor=True)
    words, pointer, _ = re.sub(r"\bconst\b|\b__restrict(?:__)?\b", " ", declared).partition("*")
    dtype = _dtype(words) or _dtype(words.rpartition(" ")[0])  # with the parameter's name, or without
    if dtype is None or (dtype == "float16" and not pointer):
        raise OptionError(f"parameter {declared!r} is no pointer, number, accessor or stream")
    return GlobalPointer(dtype) if pointer else Number(dtype)


def _dtype(text: str) -> str | None:
    words = text.replace("std::", "").replace("sycl::", "").replace("const ", "").split()
    base = " ".join(word for word in words if word not in ("signed", "unsigned"))
    if not base and words:
        base = "int"
    return _TYPES.get(f"u{base}" if "unsigned" in words else base)

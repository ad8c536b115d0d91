"""Link the functions of a kernel and write its options into it: from numba's LLVM IR to what the back end is given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm

from xebench.dpex import llvm_facts, llvm_text
from xebench.dpex.kernel_options import KernelOptions
from xebench.dpex.numba_target.mathematics import LIBRARY


class HostFunction(TypeError):
    """A kernel needs a function that only the host has."""


_CALLED = re.compile(r'\bcall [^@\n]*@"?(?P<name>[\w.]+)"?\(')
#: How the names of what devices have begin.
_OF_DEVICE = ("_Z", "llvm.", "printf")
_DECLARED = re.compile(r'^declare [^@]*@"?(?P<name>[\w.]+)"?\(', re.MULTILINE)


def linked(modules: Sequence[Any], kernel: str, options: KernelOptions, facts: Mapping[int, int | None]) -> str:
    """The LLVM IR of a whole kernel, with its options.

    Args:
        modules: llvmlite's, of the entry point and of all functions; linked as text.
        kernel: name of the entry point.
        options: of the kernel.
        facts: what is known of the kernel's parameters.

    Raises:
        HostFunction: it calls what no device has, such as a library for random numbers.
    """
    whole, *others = (llvm.parse_assembly(_with_device_library(str(module))) for module in modules)
    for other in others:
        whole.link_in(other)
    for function in whole.functions:
        if not function.is_declaration and function.name != kernel:
            function.linkage = llvm.Linkage.internal
    text = str(whole)
    for call in _CALLED.finditer(text):
        if not call["name"].startswith(_OF_DEVICE):
            raise HostFunction(f"it calls {call['name']}, which the host alone has")
    return llvm_text.apply_options(llvm_facts.state_launch(text, kernel, facts), kernel, options)


def _with_device_library(text: str) -> str:
    """Call OpenCL's functions where numba calls those of C's library."""
    declared = {match["name"] for match in _DECLARED.finditer(text)}
    for name in sorted(declared & LIBRARY.keys()):
        if LIBRARY[name] in declared:
            text = re.sub(rf'^declare [^@]*@"?{name}"?\(.*\n', "", text, flags=re.MULTILINE)
        text = re.sub(rf'@"?{name}"?\(', f'@"{LIBRARY[name]}"(', text)
        declared.add(LIBRARY[name])
    return text

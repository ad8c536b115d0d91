"""A kernel's entry point before there is code: its name, sizes that it requires, and facts of its arguments."""

from __future__ import annotations

import re

from numba_sycl.kernel_options import KernelOptions
from numba_sycl.signature import ArrayType, LocalType, Signature


def entry_point_name(python_name: str) -> str:
    """The kernel's name in SPIR-V: its Python name, with underscores for all but ASCII letters and digits.

    numba's mangled name counts compilations; without it the SPIR-V of a kernel is the same bytes every time.
    """
    return re.sub(r"\W", "_", python_name, flags=re.ASCII)


def required_sizes(options: KernelOptions) -> dict[str, tuple[int, ...]]:
    """LLVM's metadata of a kernel that requires sizes of its sub-groups or work-groups."""
    sizes: dict[str, tuple[int, ...]] = {}
    if options.sub_group_size is not None:
        sizes["intel_reqd_sub_group_size"] = (options.sub_group_size,)
    if options.work_group_size is not None:
        sizes["reqd_work_group_size"] = (*options.work_group_size, 1, 1)[:3]
    return sizes


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

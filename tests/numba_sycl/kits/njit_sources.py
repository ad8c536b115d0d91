"""The text of a kernel of `njit_kernels`, as a module for the device and as one for ``numba.njit``."""

from __future__ import annotations

from math import prod
from typing import Final

from njit_kernels import NjitKernel

_HEAD: Final = """\
from collections import namedtuple
import numpy as np
{imports}
Pair = namedtuple('Pair', 'x y')
@function
def cut(x):
    if abs(x) < 1e6:
        return np.int64(x)
    return np.int64(77)
{functions}
"""
_OF_DEVICE: Final = """\
import types
from numba_sycl import atomics, device_func as function, kernel, kernel_api as kapi
references = types.ModuleType("references")
"""
_REFERENCE: Final = """\
@function
def _{name}(array, index, value):
    return kapi.AtomicRef(array, index).fetch_{name}(value)
references.fetch_{name} = _{name}
"""
_OPERATIONS: Final = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
}


def device_source(kernel: NjitKernel, sub_group_size: int) -> str:
    """The module of the kernel, which is called ``run``.

    Args:
        kernel: kernel to write.
        sub_group_size: size for kernels that require one.
    """
    dimensions = range(len(kernel.global_size))
    of_group = kernel.local_size is not None
    query = "get_global_" if of_group else "get_"
    lines = [f"    i{d} = item.{query}id({d})" for d in dimensions] + [f"    li = item.{query}linear_id()"]
    head = _HEAD.format(imports=_OF_DEVICE, functions=kernel.functions)
    head += "".join(_REFERENCE.format(name=name) for name in _OPERATIONS)
    if kernel.exchanged:
        head += f"""
@function
def exchanged(item, tile, by):
    place = item.get_local_linear_id()
    tile[place] = of_item(item.get_global_linear_id())
    kapi.group_barrier(item.get_group())
    value = tile[(place + by) % {prod(kernel.local_size or ())}]
    kapi.group_barrier(item.get_group())
    return value
"""
    options = kernel.options.replace("SUB_GROUP", str(sub_group_size))
    parameters = ", ".join(("item", *kernel.parameters))
    return "\n".join([head, f"@kernel({options})", f"def run({parameters}):", *lines, kernel.body, ""])


def reference_source(kernel: NjitKernel) -> str:
    """The module of a function ``run`` for njit, which does all work-items one after the other."""
    size, local = kernel.global_size, kernel.local_size
    dimensions = range(len(size))
    ids = [f"i{d}" for d in dimensions]
    functions = ["import types", "import numba", "function = numba.njit(error_model='numpy', boundscheck=True)"]
    functions += ["kapi, atomics = types.ModuleType('kapi'), types.ModuleType('atomics')", "references = atomics"]
    functions += ["@function", "def _private(extent, dtype, fill_zeros):", "    return np.zeros(extent, dtype)"]
    functions += ["kapi.PrivateArray = _private"]
    for name, operation in _OPERATIONS.items():
        functions += ["@function", f"def _{name}(array, index, value):", "    old = array[index]"]
        functions += [f"    array[index] = array.dtype.type({operation.format('old', 'value')})"]
        functions += [f"atomics.fetch_{name} = _{name}"]
    linear = "0"
    for d in dimensions:
        linear = f"({linear}) * {size[d]} + item[{d}]"
    head = _HEAD.format(imports="\n".join(functions), functions=kernel.functions)
    if kernel.exchanged and local:
        lines, place = [], "0"
        for d in dimensions:
            place = f"({place}) * {local[d]} + item[{d}] % {local[d]}"
        lines += [f"    rest = ({place} + by) % {prod(local)}", "    other = 0"]
        for d in dimensions:
            below = prod(local[d + 1 :])
            lines += [f"    at = rest // {below} + item[{d}] // {local[d]} * {local[d]}"]
            lines += [f"    other, rest = other * {size[d]} + at, rest % {below}"]
        head += "\n".join(["@function", "def exchanged(item, tile, by):", *lines, "    return of_item(other)", ""])
    parameters = ", ".join(kernel.parameters)
    body = [f"    {', '.join(ids)}, = item", f"    li = {linear}", kernel.body]
    loops = [f"{'    ' * (d + 1)}for i{d} in range({size[d]}):" for d in dimensions]
    call = f"{'    ' * (len(size) + 1)}one(({', '.join(ids)},), {parameters})"
    one = ["@function", f"def one(item, {parameters}):", *body]
    return "\n".join([head, *one, "", "@function", f"def run({parameters}):", *loops, call, ""])

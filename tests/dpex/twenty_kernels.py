"""SPIR-V of twenty kernels of ``numba_dpex.kernel``, as numba-dpex makes it: ``twenty_kernels.py ORDER``.

ORDER is one of

- ``alone``: without xebench.dpex;
- ``before``: these kernels, then those of ``xebench.kernel``;
- ``after``: ``import xebench.dpex`` and the same kernels by ``xebench.kernel``, then these.

Prints a JSON object: lists of the modules' hashes by the kernels' names, of numba-dpex twice and of xebench once.
"""

import hashlib
import itertools
import json
import math
import sys

if sys.argv[1] == "after":
    import xebench.dpex
else:
    from xebench.system.runtime import load

    load()

import dpctl.tensor as dpt
import numba_dpex
import numpy as np
from numba.core import bytecode, types
from numba.core.typing.typeof import typeof
from numba_dpex import kernel_api as kapi
from numba_dpex.core.types.kernel_api.index_space_ids import ItemType, NdItemType
from numba_dpex.core.types.kernel_api.local_accessor import LocalAccessorType

BLOCK = 16


@numba_dpex.device_func
def clamp(value, low, high):
    return min(max(value, low), high)


@numba_dpex.device_func
def count_multiples(limit, step):
    total = 0
    for _ in range(0, limit, step):
        total += 1
    return total


def copied(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i]


def blocked(item: kapi.Item, x, y):
    first = item.get_id(0) * BLOCK
    for k in range(first, min(first + BLOCK, x.shape[0])):
        y[k] = x[k]


def interleaved(item: kapi.NdItem, x, y):
    for k in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
        y[k] = x[k]


def backwards(item: kapi.Item, x, y):
    for k in range(x.shape[0] - 1, -1, -1):
        y[item.get_id(0)] += x[k]


def row_and_column(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i // BLOCK] = x[i % BLOCK]


def divided_by_argument(item: kapi.Item, x, y, n):
    i = item.get_id(0)
    y[i // n] = x[i % n]


def hashed(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = (i * 2654435761 + 12345) % 1024 - x[i]


def formula(item: kapi.Item, x, n):
    total = 0
    for k in range(n):
        total += k
    x[item.get_id(0)] = total


def table(item: kapi.Item, x, y):
    i = item.get_id(0)
    if x[i] == 0:
        y[i] = 3
    elif x[i] == 1:
        y[i] = 5
    elif x[i] == 2:
        y[i] = 17
    elif x[i] == 3:
        y[i] = 2
    elif x[i] == 4:
        y[i] = 9


def strided(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[2 * i]


def transposed(item: kapi.Item, a, b):
    i, j = item.get_id(0), item.get_id(1)
    b[j, i] = a[i, j]


def row_view(item: kapi.Item, a, y):
    i = item.get_id(0)
    row = a[i]
    y[i] = row[0] + row[1]


def sliced(item: kapi.Item, x, y):
    part = x[2:6]
    y[item.get_id(0)] = part[1]


def through_local(item: kapi.NdItem, x, local):
    i = item.get_local_id(0)
    local[i] = x[i]
    kapi.group_barrier(item.get_group())
    x[i] = local[item.get_local_range(0) - 1 - i]


def with_private(item: kapi.Item, x, y):
    i = item.get_id(0)
    kept = kapi.PrivateArray(4, np.float32)
    for k in range(4):
        kept[k] = x[4 * i + k]
    y[i] = kept[3] - kept[0]


def added(item: kapi.Item, x, y):
    total = kapi.AtomicRef(y, 0)
    total.fetch_add(x[item.get_id(0)])


def of_math(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = math.sqrt(x[i]) + math.exp(math.sin(x[i]))


def of_powers(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] ** 2 / np.float32(math.floor(x[i]))


def of_complex(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = x[i] * x[i] + np.complex64(1j)


def calling(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = clamp(x[i], np.float32(0), np.float32(1)) + count_multiples(i, 3)


def arguments() -> dict:
    """Numba types of each kernel's arguments; dpctl's default queue has no profiling."""
    f, g, i, c = (typeof(dpt.ones(64, dtype=dtype)) for dtype in ("f4", "f4", "i8", "c8"))
    a = typeof(dpt.ones((8, 8), dtype="f4"))
    local = LocalAccessorType(1, types.float32)
    item, nd_item, item_2d = ItemType(1), NdItemType(1), ItemType(2)
    return {
        copied: (item, f, g),
        blocked: (item, f, g),
        interleaved: (nd_item, f, g),
        backwards: (item, f, g),
        row_and_column: (item, f, g),
        divided_by_argument: (item, f, g, types.int64),
        hashed: (item, i, i),
        formula: (item, i, types.int64),
        table: (item, i, i),
        strided: (item, typeof(dpt.ones(64, dtype="f4")[::2]), g),
        transposed: (item_2d, a, a),
        row_view: (item, a, f),
        sliced: (item, f, g),
        through_local: (nd_item, f, local),
        with_private: (item, f, g),
        added: (item, f, g),
        of_math: (item, f, g),
        of_powers: (item, f, g),
        of_complex: (item, c, c),
        calling: (item, f, g),
    }


def compile_all(decorator) -> dict:
    """The modules by the kernels' names."""
    modules = {}
    for function, signature in arguments().items():
        # numba counts what it compiles, and the count is in the names of functions
        bytecode.FunctionIdentity._unique_ids = itertools.count(1000)
        result = decorator(function).get_compile_result(types.void(*signature))
        modules[function.__name__] = hashlib.sha256(result.kernel_device_ir_module.kernel_bitcode).hexdigest()
    return modules


if __name__ == "__main__":
    # numba-dpex alone cannot compile a loop before its first launch
    numba_dpex.call_kernel(numba_dpex.kernel(copied), kapi.Range(4), dpt.ones(4), dpt.ones(4))
    ours = [compile_all(xebench.dpex.kernel)] if sys.argv[1] == "after" else []
    theirs = [compile_all(numba_dpex.kernel)]
    if sys.argv[1] == "before":
        import xebench.dpex

        ours = [compile_all(xebench.dpex.kernel)]
    theirs.append(compile_all(numba_dpex.kernel))  # now with device functions that are compiled already
    print(json.dumps({"theirs": theirs, "ours": ours}))

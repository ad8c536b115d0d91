"""What each repair is for, run in a process of its own: ``repair_experiments.py plain|repaired EXPERIMENT...``.

``plain`` is numba-dpex as it comes, ``repaired`` is the same after ``import xebench.dpex``. Prints one line an
experiment: a JSON pair of its name and what happened. Some experiments end an unrepaired process.
"""

import json
import operator
import re
import sys

if sys.argv[1] == "repaired":
    import xebench.dpex
else:
    from xebench.system.runtime import load

    load()

import dpctl
import dpctl.tensor as dpt
import dpnp
import numba_dpex as ndpx
import numpy as np
from numba.core import types
from numba.core.typing.typeof import typeof
from numba_dpex import kernel_api as kapi
from numba_dpex.core.descriptor import dpex_kernel_target
from numba_dpex.core.types.kernel_api.index_space_ids import ItemType
from numba_dpex.kernel_api_impl.spirv import spirv_generator

QUEUE = dpctl.SyclQueue(property="enable_profiling")
IR: list[str] = []

_translate = spirv_generator.llvm_to_spirv


def _record(context, text, bitcode):
    IR.append(str(text))
    return _translate(context, text, bitcode)


spirv_generator.llvm_to_spirv = _record


@ndpx.kernel
def loop(item: kapi.Item, x):
    for j in range(3):
        x[item.get_id(0)] += j


@ndpx.kernel
def chain(item: kapi.Item, x):
    i = item.get_id(0)
    m = i % 4
    if m == 0:
        x[i] = 5
    elif m == 1:
        x[i] = 7
    elif m == 2:
        x[i] = 11
    else:
        x[i] = 13


@ndpx.kernel
def assign(item: kapi.Item, x, value):
    x[item.get_id(0)] = value


@ndpx.kernel
def through_local(item: kapi.NdItem, x, local):
    i = item.get_local_id(0)
    local[i] = x[i]
    kapi.group_barrier(item.get_group())
    x[i] = local[7 - i]


@ndpx.kernel
def sums_of_columns(item: kapi.Item, a, x):
    column = a[:, item.get_id(0)]
    x[item.get_id(0)] = column[0] + column[1]


@ndpx.kernel
def widen(item: kapi.Item, x, y):
    i = item.get_id(0)
    y[i] = np.float32(x[i])


@ndpx.kernel
def large_group(item: kapi.NdItem, x):
    x[item.get_global_id(0)] = 1


def lazy_registries():
    x = dpt.zeros(4, dtype="i8")
    signature = types.void(ItemType(1), typeof(x))
    return len(loop.get_compile_result(signature).kernel_device_ir_module.kernel_bitcode) > 0


def host_functions_still_compile():
    # Filling the registries through numba-dpex's host target would break this.
    @ndpx.dpjit
    def allocate():
        return dpnp.empty(10)

    return allocate().size


def misread_switches():
    # Compiled only: building it ends the process of an unrepaired numba-dpex on some drivers.
    chain.get_compile_result(types.void(ItemType(1), typeof(dpt.zeros(8, dtype="i8", sycl_queue=QUEUE))))
    return re.findall(r"switch (\w+)", IR[-1])


def local_accessor_queue():
    x = dpt.asarray(np.arange(8, dtype="i8"), sycl_queue=QUEUE)
    ndpx.call_kernel(through_local, kapi.NdRange((8,), (8,)), x, kapi.LocalAccessor((8,), np.int64))
    return dpt.asnumpy(x).tolist()


def sub_device_queue():
    sub_device = QUEUE.sycl_device.create_sub_devices(partition=1)[0]
    x = dpt.zeros(4, dtype="i4", sycl_queue=dpctl.SyclQueue(sub_device))
    ndpx.call_kernel(assign, kapi.Range(4), x, np.int32(3))
    return dpt.asnumpy(x).tolist()


def array_views():
    x = dpt.zeros(2, dtype="i8", sycl_queue=QUEUE)
    a = dpt.asarray([[0, 5], [2, 7]], dtype="i8", sycl_queue=QUEUE)
    ndpx.call_kernel(sums_of_columns, kapi.Range(2), a, x)
    view = typeof(a).copy(ndim=1)
    return [dpt.asnumpy(x).tolist(), view.queue == typeof(a).queue]


def narrow_scalars():
    x = dpt.zeros(2, dtype="i2", sycl_queue=QUEUE)
    ndpx.call_kernel(assign, kapi.Range(2), x, np.int16(-5))
    return dpt.asnumpy(x).tolist()


def half_arrays():
    x = dpt.asarray(np.array([0.5, 2.0], dtype="f2"), sycl_queue=QUEUE)
    y = dpt.zeros(2, dtype="f4", sycl_queue=QUEUE)
    ndpx.call_kernel(widen, kapi.Range(2), x, y)
    return dpt.asnumpy(y).tolist()


def host_copy():
    x = dpt.zeros((2, 4), dtype="f4", sycl_queue=QUEUE)
    x[:, 1:] = 7
    x[0, 0] = np.int32(3)
    x[1, ::2] = np.arange(4, dtype="i8")[::2]
    y = dpnp.ones(2, dtype="i4", sycl_queue=QUEUE)
    y.fill(5)
    strided = dpt.asarray(np.arange(4, dtype="f4")[::2], sycl_queue=QUEUE)
    empty = dpt.zeros((0, 3), dtype="f4", sycl_queue=QUEUE)
    empty[:] = 1
    return [dpt.asnumpy(x).tolist(), dpnp.asnumpy(y).tolist(), dpt.asnumpy(strided).tolist()]


class DerivedQueue(dpctl.SyclQueue):
    pass


def freed_memory():
    queue = DerivedQueue(QUEUE.sycl_context, QUEUE.sycl_device)
    places = {}
    for kind in ("device", "shared", "host"):
        for make in (dpt.empty, dpnp.empty):
            found = set()
            for _ in range(20):
                x = make(1 << 20, dtype="u1", usm_type=kind, sycl_queue=queue)
                found.add(dpnp.get_usm_ndarray(x).usm_data._pointer)
                del x
            places[f"{kind} {make.__module__.partition('.')[0]}"] = len(found)
    of_another = dpctl.memory.MemoryUSMShared(
        dpt.ones(1 << 20, dtype="u1", usm_type="shared", sycl_queue=queue).usm_data
    )
    dpt.zeros(1 << 20, dtype="u1", usm_type="shared", sycl_queue=queue)
    return places, of_another.copy_to_host()[:2].tolist()


def repeated_definitions():
    definitions = dpex_kernel_target.target_context._defns[operator.add].versions
    x = dpt.zeros(4, dtype="f4", sycl_queue=QUEUE)
    signature = types.void(ItemType(1), typeof(x), types.float32)
    counts = []
    for _ in range(3):
        ndpx.kernel(assign.py_func).get_compile_result(signature)
        counts.append(len(definitions))
    return counts[2] - counts[1]


def _too_large():
    size = 2 * QUEUE.sycl_device.max_work_group_size
    return dpt.zeros(size, dtype="u1", sycl_queue=QUEUE), kapi.NdRange((size,), (size,))


def swallowed_errors():
    x, index_space = _too_large()
    ndpx.call_kernel(large_group, index_space, x)
    return "nothing was said"


def swallowed_errors_async():
    x, index_space = _too_large()
    ndpx.call_kernel_async(large_group, index_space, (), x)
    return "nothing was said"


def required_sub_group_size():
    # Needs the options of xebench.dpex, so there is no plain form of it.
    kernel = xebench.dpex.kernel(sub_group_size=256)(large_group.py_func)
    x = dpt.zeros(256, dtype="u1", sycl_queue=QUEUE)
    ndpx.call_kernel(kernel, kapi.NdRange((256,), (256,)), x)
    return "nothing was said"


def outcome(experiment):
    try:
        return experiment()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(json.dumps([name, outcome(globals()[name])]), flush=True)

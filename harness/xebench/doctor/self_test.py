"""The kernels of the self-test, with numpy's results. Imported only in the process that runs the test.

Each check poisons its output on the device, runs one kernel, copies the result back, and compares every
element.
"""

from __future__ import annotations

# mypy: disable-error-code="untyped-decorator,no-untyped-def"
import math
from collections.abc import Callable
from typing import Any

import dpctl
import numpy as np

from numba_sycl import kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.kernel_store import KernelStore
from numba_sycl.tensor import asarray, asnumpy
from xebench.errors import NoDevice, describe_error
from xebench.system.runtime.devices import DeviceInfo, describe, missing, open_device


def first_difference(result: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], ulp: int = 0) -> str | None:
    """Describe in one line the first difference of two arrays by more than ``ulp`` units in the last place.

    Args:
        result: array that the device computed.
        expected: finite array of the same shape and dtype.
        ulp: allowed difference; 0 means equal, as integers must be.
    """
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"{result.dtype}{result.shape} instead of {expected.dtype}{expected.shape}"
    if ulp:
        distance = np.abs(result.astype(np.float64) - expected.astype(np.float64))
        right = distance <= ulp * np.spacing(np.abs(expected)).astype(np.float64)
    else:
        right = result == expected
    wrong = np.argwhere(~right)
    if not len(wrong):
        return None
    first = tuple(int(i) for i in wrong[0])
    got, wanted = result[first], expected[first]
    return f"{len(wrong)} of {result.size} wrong, first at {first}: {got!s}, expected {wanted!s}"


COUNT = 1000  # no multiple of any work-group: the tail is tested, too

GROUP = 64

BINS = 7

# OpenCL C, relative error of the full profile: 3 ulp for exp, log, sqrt and division, 4 for sin and cos. One
# more for the reference, which is rounded from double precision.
MATH_ULP = 5


@kernel
def _integers_to_floats(item: kapi.NdItem, signed, unsigned, narrow, out):
    i = item.get_global_id(0)
    if i < signed.size:
        out[i, 0] = np.float32(signed[i])
        out[i, 1] = np.float32(unsigned[i])
        out[i, 2] = np.float32(narrow[i])


@kernel
def _floats_to_integers(item: kapi.NdItem, values, out, narrow_out):
    i = item.get_global_id(0)
    if i < values.size:
        out[i] = np.int64(values[i])
        narrow_out[i] = np.int32(values[i])


@kernel
def _integer_division(item: kapi.NdItem, dividend, divisor, out):
    i = item.get_global_id(0)
    if i < dividend.size:
        out[i, 0] = dividend[i] // divisor[i]
        out[i, 1] = dividend[i] % divisor[i]


@kernel
def _functions(item: kapi.NdItem, values, out):
    i = item.get_global_id(0)
    if i < values.size:
        x = values[i]
        out[i, 0] = math.exp(x)
        out[i, 1] = math.log(x)
        out[i, 2] = math.sin(x)
        out[i, 3] = math.cos(x)
        out[i, 4] = math.sqrt(x)
        out[i, 5] = math.sqrt(x) / x


@kernel
def _strided_copy(item: kapi.NdItem, source, out):
    i = item.get_global_id(0)
    if i < out.size:
        out[i] = source[i]


@kernel
def _reverse_in_group(item: kapi.NdItem, source, out, window):
    i = item.get_global_id(0)
    j = item.get_local_id(0)
    window[j] = source[i]
    kapi.group_barrier(item.get_group(), kapi.MemoryScope.WORK_GROUP)
    out[i] = window[GROUP - 1 - j]


@kernel
def _histogram(item: kapi.NdItem, keys, bins):
    i = item.get_global_id(0)
    if i < keys.size:
        kapi.AtomicRef(bins, index=keys[i]).fetch_add(np.int32(1))


def run_checks(filter_string: str) -> list[str]:
    """Run every check on a device.

    Returns:
        A line for each check that failed.

    Raises:
        NoDevice: there is no such device.
    """
    device = open_device(filter_string)
    if device is None:
        raise NoDevice(f"no device {filter_string!r}")
    try:
        queue = dpctl.SyclQueue(device, property=["in_order", "enable_profiling"])
    except dpctl.SyclQueueCreationError as error:
        return [f"profiling queue: {error}"]
    failures = (_guarded(name, check, queue) for name, check in _checks(describe(device)).items())
    return [failure for failure in failures if failure]


def _checks(device: DeviceInfo) -> dict[str, Callable[[dpctl.SyclQueue], str | None]]:
    checks: dict[str, Callable[[dpctl.SyclQueue], str | None]] = {
        "integers to float32": _check_integers_to_floats,
        "float32 to integers": _check_floats_to_integers,
        "int32 division": lambda queue: _check_division(queue, np.int32),
        "int64 division": lambda queue: _check_division(queue, np.int64),
        "float32 functions": lambda queue: _check_functions(queue, np.float32),
        "strided access": _check_strided,
        "local memory and barrier": _check_local_memory,
        "atomic add": _check_atomics,
    }
    if missing(device, ["fp64"]) is None:
        checks["float64 functions"] = lambda queue: _check_functions(queue, np.float64)
    if missing(device, [f"work_group_size={GROUP}", f"local_memory_bytes={4 * GROUP}"]) is not None:
        del checks["local memory and barrier"]
    return checks


def _guarded(name: str, check: Callable[[dpctl.SyclQueue], str | None], queue: dpctl.SyclQueue) -> str | None:
    try:
        problem = check(queue)
    except Exception as error:  # whatever a compiler or driver throws is a failure of the device
        problem = describe_error(error)
    return f"{name}: {problem}" if problem else None


def _check_integers_to_floats(queue: dpctl.SyclQueue) -> str | None:
    rng = np.random.default_rng(1)
    signed = rng.integers(-(2**62), 2**62, COUNT) >> rng.integers(0, 62, COUNT)
    unsigned = rng.integers(0, 2**64, COUNT, dtype=np.uint64) >> rng.integers(0, 64, COUNT, dtype=np.uint64)
    narrow = rng.integers(-(2**31), 2**31, COUNT, dtype=np.int32)
    out = _poisoned((COUNT, 3), np.float32, queue)
    _run(queue, _integers_to_floats, *(_put(array, queue) for array in (signed, unsigned, narrow)), out)
    expected = np.stack([array.astype(np.float32) for array in (signed, unsigned, narrow)], axis=1)
    return first_difference(asnumpy(out), expected, ulp=1)


def _check_floats_to_integers(queue: dpctl.SyclQueue) -> str | None:
    values = np.random.default_rng(2).uniform(-(2**30), 2**30, COUNT).astype(np.float32)
    values[::2] /= np.float32(2**25)
    out, narrow = _poisoned(COUNT, np.int64, queue), _poisoned(COUNT, np.int32, queue)
    _run(queue, _floats_to_integers, _put(values, queue), out, narrow)
    wrong = first_difference(asnumpy(out), values.astype(np.int64))
    return wrong or first_difference(asnumpy(narrow), values.astype(np.int32))


def _check_division(queue: dpctl.SyclQueue, dtype: Any) -> str | None:
    rng = np.random.default_rng(3)
    dividend = rng.integers(-(2**30), 2**30, COUNT).astype(dtype)
    divisor = rng.integers(1, 1000, COUNT).astype(dtype) * rng.choice(np.array([-1, 1], dtype), COUNT)
    out = _poisoned((COUNT, 2), dtype, queue)
    _run(queue, _integer_division, _put(dividend, queue), _put(divisor, queue), out)
    return first_difference(asnumpy(out), np.stack([dividend // divisor, dividend % divisor], axis=1))


def _check_functions(queue: dpctl.SyclQueue, dtype: Any) -> str | None:
    values = np.random.default_rng(4).uniform(0.01, 20.0, COUNT).astype(dtype)
    out = _poisoned((COUNT, 6), dtype, queue)
    _run(queue, _functions, _put(values, queue), out)
    x = values.astype(np.float64)
    columns = (np.exp(x), np.log(x), np.sin(x), np.cos(x), np.sqrt(x), np.sqrt(x) / x)
    return first_difference(asnumpy(out), np.stack(columns, axis=1).astype(dtype), ulp=MATH_ULP)


def _check_strided(queue: dpctl.SyclQueue) -> str | None:
    source = np.arange(3 * COUNT, dtype=np.int32)
    out = _poisoned(COUNT, np.int32, queue)
    _run(queue, _strided_copy, _put(source, queue)[::3], out)
    return first_difference(asnumpy(out), source[::3])


def _check_local_memory(queue: dpctl.SyclQueue) -> str | None:
    source = np.arange(8 * GROUP, dtype=np.int32)
    out = _poisoned(source.size, np.int32, queue)
    window = kapi.LocalAccessor(GROUP, dtype=np.int32)
    _run(queue, _reverse_in_group, _put(source, queue), out, window, count=source.size)
    return first_difference(asnumpy(out), source.reshape(-1, GROUP)[:, ::-1].ravel())


def _check_atomics(queue: dpctl.SyclQueue) -> str | None:
    keys = np.random.default_rng(5).integers(0, BINS, COUNT)
    bins = _put(np.zeros(BINS, np.int32), queue)
    _run(queue, _histogram, _put(keys, queue), bins)
    return first_difference(asnumpy(bins), np.bincount(keys, minlength=BINS).astype(np.int32))


def _run(queue: dpctl.SyclQueue, kernel: Any, *arguments: Any, count: int = COUNT) -> None:
    group = min(GROUP, queue.sycl_device.max_work_group_size)
    groups = -(-count // group)
    KernelStore().submit(kernel, queue, kapi.NdRange((groups * group,), (group,)), arguments, ()).wait()


def _put(array: np.ndarray[Any, Any], queue: dpctl.SyclQueue) -> Any:
    return asarray(array, sycl_queue=queue, usm_type="device")


def _poisoned(shape: Any, dtype: Any, queue: dpctl.SyclQueue) -> Any:
    """A device array whose elements no check expects, so that a kernel that does not run is noticed."""
    return _put(np.full(shape, -123456789, dtype), queue)

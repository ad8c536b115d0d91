"""Compiling and building: what comes out, what is shared between queues, and how long each stage took."""

import hashlib
from dataclasses import FrozenInstanceError
from typing import Any

import dpctl
import dpnp
import numba_dpex
import numpy as np
import pytest

from numba_sycl import PreparedLaunch, build, compile_kernel, kernel, separate_context
from numba_sycl.signature import ArrayType, LocalType, ScalarType, signature_of
from numba_sycl.tensor import tensor as dpt
from xebench import kernel_api as kapi

pytestmark = pytest.mark.device


def make_scale() -> Any:
    @kernel
    def scale(item: kapi.Item, x, factor):
        x[item.get_id(0)] *= factor

    return scale


def launch(run: Any, index_space: Any, *args: Any, queue: Any) -> None:
    PreparedLaunch(build(compile_kernel(run, index_space, args), queue), queue, index_space, args).submit().wait()


def test_what_a_compilation_is(queue: Any) -> None:
    args = (dpt.ones(8, dtype="f4", sycl_queue=queue), np.float32(3))
    compiled = compile_kernel(make_scale(), kapi.Range(8), args)
    assert compiled.name == "scale"
    assert compiled.spirv[:4] == b"\x03\x02\x23\x07"
    assert compiled.sha256 == hashlib.sha256(compiled.spirv).hexdigest()
    assert str(compiled.signature) == "(Item<1>, float32[:]C, float32)"
    assert set(compiled.stages) == {"typing", "translate"}
    assert all(nanoseconds > 0 for nanoseconds in compiled.stages.values())
    assert not compiled.cached
    assert compiled.llvm_ir is not None
    assert "define spir_kernel void @scale(" in compiled.llvm_ir
    with pytest.raises(FrozenInstanceError):
        compiled.name = "other"  # type: ignore[misc]


def test_the_same_source_gives_the_same_bytes(queue: Any) -> None:
    args = (dpt.ones(8, dtype="f4", sycl_queue=queue), np.float32(3))
    first, second = (compile_kernel(make_scale(), kapi.Range(8), args) for _ in range(2))
    assert not second.cached
    assert first.spirv == second.spirv


def test_a_kernel_is_compiled_once_a_signature(queue: Any) -> None:
    run = make_scale()
    args = (dpt.ones(8, dtype="f4", sycl_queue=queue), np.float32(3))
    first = compile_kernel(run, kapi.Range(8), args)
    again = compile_kernel(run, kapi.Range(99), args)
    assert again.cached
    assert set(again.stages) == {"typing"}
    assert again.sha256 == first.sha256
    assert not compile_kernel(run, kapi.Range(8), (args[0], np.float64(3))).cached


def test_one_compilation_serves_all_queues_and_kinds_of_memory(queue: Any) -> None:
    run = make_scale()
    device = queue.sycl_device
    other = dpctl.SyclQueue(separate_context(device), device, property=["enable_profiling", "in_order"])
    compile_kernel(run, kapi.Range(8), (dpt.ones(8, dtype="f4", sycl_queue=queue), np.float32(3)))
    arrays = [dpt.ones(8, dtype="f4", sycl_queue=other, usm_type=kind) for kind in ("device", "shared", "host")]
    arrays.append(dpnp.ones(8, dtype="f4", sycl_queue=other))
    for x in arrays:
        assert compile_kernel(run, kapi.Range(8), (x, np.float32(3))).cached
        launch(run, kapi.Range(8), x, np.float32(3), queue=other)
        values = dpt.asnumpy(x.get_array() if hasattr(x, "get_array") else x)
        assert values.tolist() == [3.0] * 8


def test_a_plain_numba_dpex_kernel_works(queue: Any) -> None:
    @numba_dpex.kernel
    def increment(item: kapi.Item, x):
        x[item.get_id(0)] += 1

    x = dpt.zeros(4, dtype="i8", sycl_queue=queue)
    launch(increment, kapi.Range(4), x, queue=queue)
    numba_dpex.call_kernel(increment, kapi.Range(4), x)
    assert dpt.asnumpy(x).tolist() == [2] * 4


def test_argument_types(queue: Any) -> None:
    c = dpt.zeros((2, 3), dtype="c8", sycl_queue=queue)
    numbers = (5, 1 << 63, True, 2.0, 1j, np.int8(1), np.longlong(1))
    args = (c, c.T, dpt.zeros(8, dtype="u2", sycl_queue=queue)[::2], *numbers)
    local = kapi.LocalAccessor((4, 2), np.float32)

    @kernel
    def many(item: kapi.NdItem, a, b, c, d, e, f, g, h, i, j, k):
        a[0, 0] = d

    signature = signature_of(many, kapi.NdRange((4, 4), (2, 2)), (*args, local))
    assert (signature.item, signature.ndim) == ("NdItem", 2)
    assert signature.arguments == (
        ArrayType("complex64", 2, "C"),
        ArrayType("complex64", 2, "F"),
        ArrayType("uint16", 1, "A"),
        *map(ScalarType, ("int64", "uint64", "bool", "float64", "complex128", "int8", "int64")),
        LocalType("float32", 2, (2,)),
    )


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?", "c8", "c16"])
def test_every_scalar_arrives(dtype: str, queue: Any) -> None:
    if np.dtype(dtype) in (np.float64, np.complex128) and not queue.sycl_device.has_aspect_fp64:
        pytest.skip("the device has no fp64")

    @kernel
    def fill(item: kapi.Item, x, value):
        x[item.get_id(0)] = value

    value = (
        np.array([1]).astype(dtype)[0]
        if dtype == "?"
        else np.dtype(dtype).type(-100 % 128 + (2j if "c" in dtype else 0))
    )
    x = dpt.zeros(3, dtype=dtype, sycl_queue=queue)
    launch(fill, kapi.Range(3), x, value, queue=queue)
    assert dpt.asnumpy(x).tolist() == [value.item()] * 3


def test_kernels_without_arrays(queue: Any) -> None:
    @kernel
    def nothing(item: kapi.Item):
        item.get_id(0)

    @kernel
    def scalar_only(item: kapi.Item, n):
        item.get_id(0)

    launch(nothing, kapi.Range(4), queue=queue)
    launch(scalar_only, kapi.Range(4), 3, queue=queue)


def test_dimension_0_is_the_fastest(queue: Any) -> None:
    @kernel
    def linear(item: kapi.NdItem, x, groups):
        i, j = item.get_global_id(0), item.get_global_id(1)
        x[j, i] = item.get_local_range(0) * 100 + item.get_local_range(1)
        groups[j, i] = item.get_group().get_group_id(0) * 10 + item.get_group().get_group_id(1)

    x, groups = (dpt.zeros((4, 8), dtype="i8", sycl_queue=queue) for _ in range(2))
    launch(linear, kapi.NdRange((8, 4), (4, 1)), x, groups, queue=queue)
    assert (dpt.asnumpy(x) == 401).all()
    assert dpt.asnumpy(groups).tolist() == [[0 + j] * 4 + [10 + j] * 4 for j in range(4)]


def test_local_memory_of_three_dimensions(queue: Any) -> None:
    @kernel
    def mirror(item: kapi.NdItem, x, local):
        i, j, k = item.get_local_id(0), item.get_local_id(1), item.get_local_id(2)
        local[k, j, i] = 100 * k + 10 * j + i
        kapi.group_barrier(item.get_group())
        x[k, j, i] = local[1 - k, 2 - j, 3 - i]

    x = dpt.zeros((2, 3, 4), dtype="i4", sycl_queue=queue)
    launch(mirror, kapi.NdRange((4, 3, 2), (4, 3, 2)), x, kapi.LocalAccessor((2, 3, 4), np.int32), queue=queue)
    k, j, i = np.indices((2, 3, 4))
    assert (dpt.asnumpy(x) == 100 * (1 - k) + 10 * (2 - j) + 3 - i).all()


def test_what_a_build_is(queue: Any) -> None:
    @kernel(sub_group_size=16)
    def run(item: kapi.NdItem, x):
        x[item.get_global_id(0)] = 1

    if 16 not in queue.sycl_device.sub_group_sizes:
        pytest.skip("the device has no sub-groups of 16")
    x = dpt.zeros(32, dtype="f4", sycl_queue=queue)
    built = build(compile_kernel(run, kapi.NdRange((32,), (32,)), (x,)), queue)
    assert set(built.stages) == {"build"}
    assert built.stages["build"] > 0
    assert built.sub_group_size == 16
    assert built.max_work_group_size is not None and built.max_work_group_size >= 32
    assert built.context == queue.sycl_context
    free = build(compile_kernel(make_scale(), kapi.Range(8), (x, np.float32(1))), queue)
    assert free.sub_group_size is None

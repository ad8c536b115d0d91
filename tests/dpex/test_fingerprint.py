"""The fingerprint of a compilation: equal for equal kernels, different for everything that changes the SPIR-V."""

import enum
import types
from pathlib import Path
from typing import Any, NamedTuple

import numba_dpex
import numpy as np
import pytest

from numba_sycl import device_func, kernel, sub_group
from numba_sycl.signature import Signature, signature_of
from numba_sycl.spirv_cache import toolchain
from numba_sycl.tensor import tensor as dpt
from xebench import kernel_api as kapi
from xebench.dpex.numba_compiler import fingerprint

pytestmark = pytest.mark.device


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Pair(NamedTuple):
    a: int
    b: int


@pytest.fixture(scope="module")
def signature(queue: Any) -> Signature:
    x = dpt.zeros(4, dtype="f4", sycl_queue=queue)
    return signature_of(kernel(lambda item, x: None), kapi.Range(4), (x,))


def of_value(value: Any) -> Any:
    @kernel
    def run(item: kapi.Item, x):
        x[item.get_id(0)] = value

    return run


def of_helper(helper: Any) -> Any:
    @kernel
    def run(item: kapi.Item, x):
        x[item.get_id(0)] = helper(x[0])

    return run


def make_helper(constant: float) -> Any:
    @device_func
    def helper(value):
        return value + constant

    return helper


def of_module(**attributes: Any) -> Any:
    settings = types.ModuleType("settings")
    vars(settings).update(attributes)

    @kernel
    def run(item: kapi.Item, x):
        x[item.get_id(0)] = settings.scale

    return run


def test_equal_kernels_have_equal_fingerprints(signature: Signature) -> None:
    assert fingerprint(of_value(3), signature) == fingerprint(of_value(3), signature)
    assert fingerprint(of_helper(make_helper(2.0)), signature) == fingerprint(of_helper(make_helper(2.0)), signature)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, 4),
        (1, True),
        (1, 1.0),
        (1.0, np.float32(1)),
        (0.0, -0.0),
        ((1, 2), (2, 1)),
        ((1, 23), (12, 3)),
        (Pair(1, 2), (1, 2)),
        (Level.LOW, Level.HIGH),
        (Level.LOW, 1),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1, 2], dtype="i4"), np.array([1, 2], dtype="u4")),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (kapi.MemoryScope.WORK_GROUP, kapi.MemoryScope.DEVICE),
    ],
)
def test_captured_values_count(signature: Signature, one: Any, other: Any) -> None:
    first, second = fingerprint(of_value(one), signature), fingerprint(of_value(other), signature)
    assert first is not None
    assert second is not None
    assert first != second


def test_device_functions_count_recursively(signature: Signature) -> None:
    def outer(inner: Any) -> Any:
        @device_func
        def call(value):
            return inner(value)

        return call

    keys = {fingerprint(of_helper(outer(make_helper(value))), signature) for value in (1.0, 2.0)}
    keys.add(fingerprint(of_helper(make_helper(1.0)), signature))
    assert len(keys) == 3
    assert None not in keys


def test_functions_of_the_extension_count(signature: Signature) -> None:
    keys = {fingerprint(of_helper(f), signature) for f in (sub_group.reduce_add, sub_group.reduce_max)}
    assert len(keys) == 2
    assert None not in keys


def test_attributes_of_a_users_module_count(signature: Signature) -> None:
    first = fingerprint(of_module(scale=1), signature)
    assert first is not None
    assert first != fingerprint(of_module(scale=2), signature)
    assert first == fingerprint(of_module(scale=1, other=object()), signature)


def global_kernel(source: str, **names: Any) -> Any:
    namespace = {"kernel": kernel, **names}
    exec(f"def run(item, x):\n    {source}\n", namespace)
    return kernel(namespace["run"])


def test_globals_and_code_count(signature: Signature) -> None:
    kernels = [
        global_kernel("x[item.get_id(0)] = N", N=1),
        global_kernel("x[item.get_id(0)] = N", N=2),
        global_kernel("x[item.get_id(0)] = N + 1", N=1),
        global_kernel("x[item.get_id(0)] = len((N, N))", N=1),
        global_kernel("x[item.get_id(0)] = len((N, N))", N=1, len=max),
    ]
    keys = [fingerprint(k, signature) for k in kernels]
    assert None not in keys
    assert len(set(keys)) == len(keys)


def test_options_types_and_dimensions_count(signature: Signature, queue: Any) -> None:
    def body(item: kapi.Item, x) -> None:
        x[item.get_id(0)] = 1

    x = dpt.zeros(4, dtype="f4", sycl_queue=queue)
    y = dpt.zeros((4, 4), dtype="f4", sycl_queue=queue)
    decorated = [kernel(body), kernel(fast_math=True)(body), kernel(build_options="-g")(body)]
    decorated += [kernel(inline_threshold=3)(body), numba_dpex.kernel(body)]
    keys = [fingerprint(k, signature) for k in decorated]
    signatures = [
        signature_of(decorated[0], kapi.Range(4, 4), (x,)),
        signature_of(decorated[0], kapi.NdRange((4,), (4,)), (x,)),
        signature_of(decorated[0], kapi.Range(4), (y,)),
        signature_of(decorated[0], kapi.Range(4), (y.T,)),
        signature_of(decorated[0], kapi.Range(4), (x[::2],)),
        signature_of(decorated[0], kapi.Range(4), (3,)),
        signature_of(decorated[0], kapi.Range(4), (np.int32(3),)),
    ]
    keys += [fingerprint(decorated[0], s) for s in signatures]
    assert None not in keys
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("unknown", [object(), {"a": 1}, lambda: 1, types.SimpleNamespace(a=1), Path()])
def test_what_cannot_be_identified_is_not_guessed(signature: Signature, unknown: Any) -> None:
    key = fingerprint(of_value(unknown), signature)
    if isinstance(unknown, types.FunctionType):
        assert key != fingerprint(of_value(lambda: 2), signature)
    else:
        assert key is None


def test_modules_that_refer_to_each_other_end(signature: Signature) -> None:
    one, two = types.ModuleType("one"), types.ModuleType("two")
    one.two, two.one, two.scale = two, one, 5  # type: ignore[attr-defined]

    @kernel
    def run(item: kapi.Item, x):
        x[0] = one.two.one.two.scale

    assert fingerprint(run, signature) is not None


def test_the_toolchain_names_every_version() -> None:
    for name in ("numba 0.59.1", "numba-dpex 0.23.0", "llvmlite 0.42.0", "dpcpp-llvm-spirv 2024.2.0", "numba_sycl"):
        assert name in toolchain("numba", "numba-dpex", "llvmlite", "dpcpp-llvm-spirv")

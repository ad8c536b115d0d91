"""What a user reads when a kernel does not compile or build: one line, the kernel, the line of the source."""

import colorsys
import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from llvmlite import binding
from numba.core import errors as numba_errors
from numba_dpex.core.exceptions import InternalError
from numba_dpex.kernel_api_impl.spirv import spirv_generator

from numba_sycl import build, compile_kernel, device_func, kernel
from numba_sycl.errors import (
    ArgumentError,
    BrokenEnvironment,
    KernelBuildError,
    KernelCompileError,
    KernelError,
    KernelOnly,
    Refused,
    Unsupported,
    UserError,
)
from numba_sycl.tensor import tensor as dpt
from xebench import kernel_api as kapi
from xebench.dpex.translation import to_spirv

pytestmark = pytest.mark.device


@device_func
def wrong_helper(value):
    return value.nothing  # here: helper


def undefined(item: kapi.Item, x):
    x[0] = missing  # type: ignore[name-defined]  # noqa: F821  here: undefined


def text_and_number(item: kapi.Item, x):
    x[0] = "text" + x[1]  # here: text_and_number


def unknown_attribute(item: kapi.Item, x):
    x[0] = np.nothing(x[1])  # type: ignore[attr-defined]  # here: unknown_attribute


def of_numpy(item: kapi.Item, x):
    x[0] = np.arcsin(x[1])  # here: of_numpy


def module_of_the_host(item: kapi.Item, x):
    x[0] = colorsys.rgb_to_hsv(x[1], x[1], x[1])[0]  # here: module_of_the_host


def list_in_kernel(item: kapi.Item, x):
    values = [1, 2, 3]  # here: list_in_kernel
    x[0] = values[item.get_id(0)]


def atomic_of_another_type(item: kapi.Item, x):
    reference = kapi.AtomicRef(x, 0)
    reference.fetch_add(np.int32(3))  # here: atomic_of_another_type


def private_array_of_any_size(item: kapi.Item, x):
    private = kapi.PrivateArray(item.get_id(0), np.float32)  # here: private_array_of_any_size
    x[0] = private[0]


def reshapes(item: kapi.Item, x):
    x[0] = x.reshape((2, 2))[0, 1]  # here: reshapes


def copies(item: kapi.Item, x):
    x[0] = x.copy()[1]  # here: copies


def in_a_device_function(item: kapi.Item, x):
    x[0] = wrong_helper(x[0])


def returns(item: kapi.Item, x):
    return x[0]


def line_of(marker: str) -> int:
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()  # type: ignore[arg-type]
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"here: {marker}"))


@pytest.mark.parametrize(
    ("function", "marker", "reason"),
    [
        (undefined, "undefined", "name 'missing' is not defined"),
        (text_and_number, "text_and_number", "nothing implements add(Literal[str](text), float32)"),
        (unknown_attribute, "unknown_attribute", "module 'numpy' has no attribute 'nothing'"),
        (of_numpy, "of_numpy", "nothing implements numpy.arcsin in kernels here: write math.asin"),
        (module_of_the_host, "module_of_the_host", "'rgb_to_hsv' of type Module(<module 'colorsys'>)"),
        (list_in_kernel, "list_in_kernel", "it makes a list, for which device code has no memory"),
        (atomic_of_another_type, "atomic_of_another_type", "int32 does not match the type of the reference: float32"),
        (private_array_of_any_size, "private_array_of_any_size", "requires literal type in PrivateArray("),
        (reshapes, "reshapes", "reshapes, transposes or makes an array, which device code cannot: index the array"),
        (copies, "copies", "reshapes, transposes or makes an array, which device code cannot: index the array"),
        (in_a_device_function, "helper", "Unknown attribute 'nothing' of type float32"),
    ],
)
def test_the_kernel_the_line_and_the_reason(function: Any, marker: str, reason: str, queue: Any) -> None:
    with pytest.raises(KernelCompileError) as caught:
        compile_kernel(kernel(function), kapi.Range(4), (dpt.zeros(4, dtype="f4", sycl_queue=queue),))
    error = caught.value
    assert error.kernel == function.__name__
    assert error.location == f"{__file__}:{line_of(marker)}"
    assert reason in error.reason
    assert "\n" not in str(error)
    assert str(error).startswith(f"kernel {function.__name__} ({__file__}:")
    assert isinstance(error.__context__, numba_errors.NumbaError) and error.__suppress_context__
    before, at, after = error.__notes__[0].splitlines()
    assert at.startswith(">") and marker in at and before.startswith(" ") and after.startswith(" ")


ONES = np.ones(4, np.float32)


def array_of_outside(item: kapi.Item, x):
    x[0] = ONES[item.get_id(0)]


def prints_text(item: kapi.Item, x):
    print("item", x[0])


def of_groups(item: kapi.Item, x):
    x[0] = kapi.reduce_over_group(x[1])  # type: ignore[attr-defined]


def beyond_the_index_space(item: kapi.Item, x):
    x[0] = item.get_id(1)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (array_of_outside, "a numpy array of outside, which numba-dpex cannot: make it an argument"),
        (prints_text, "it prints text, which numba-dpex cannot: print numbers"),
        (of_groups, "kernel_api has no reduce_over_group: functions of groups are in the modules work_group and"),
        (beyond_the_index_space, "Item.get_id: dim is 1, but the index space has 1 dimension(s)"),
    ],
)
def test_what_numba_dpex_does_not_explain(function: Any, reason: str, queue: Any) -> None:
    with pytest.raises(KernelCompileError) as caught:
        compile_kernel(kernel(function), kapi.Range(4), (dpt.zeros(4, dtype="f4", sycl_queue=queue),))
    assert reason in caught.value.reason


def test_a_kernel_is_launched_neither_by_a_call_nor_by_an_index() -> None:
    launched = kernel(returns)
    for call in (lambda: launched(kapi.Range(4)), lambda: launched[4]):
        with pytest.raises(KernelOnly, match=r"kernel returns was called on the host: write call_kernel\(returns"):
            call()


def test_a_kernel_returns_nothing(queue: Any) -> None:
    with pytest.raises(KernelCompileError, match="must have a void return type"):
        compile_kernel(kernel(returns), kapi.Range(4), (dpt.zeros(4, dtype="f4", sycl_queue=queue),))


def test_what_is_no_kernel() -> None:
    for function in (plain, device_func(plain)):
        with pytest.raises(ArgumentError, match=r"^plain is no kernel: .* decorated with numba_dpex.kernel$"):
            compile_kernel(function, kapi.Range(4), (np.float32(1),))


def test_a_refusal_of_llvm_spirv(queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> bytes:
        raise InternalError("Error during lowering LLVM IR to SPIRV:\n\tInvalidFunctionCall: Unexpected llvm intrinsic")

    monkeypatch.setattr(spirv_generator, "llvm_to_spirv", refuse)
    with pytest.raises(KernelCompileError, match="InvalidFunctionCall: Unexpected llvm intrinsic"):
        compile_kernel(kernel(plain), kapi.Range(4), (dpt.zeros(4, dtype="f4", sycl_queue=queue),))


def plain(item: kapi.Item, x):
    x[item.get_id(0)] = 1


def compiled_plain(queue: Any, **options: Any) -> Any:
    return compile_kernel(kernel(**options)(plain), kapi.Range(4), (dpt.zeros(4, dtype="f4", sycl_queue=queue),))


def need_opencl(queue: Any) -> None:
    if queue.backend.name != "opencl":
        pytest.skip("only OpenCL drivers tell their reason")


def test_a_build_option_that_the_driver_does_not_know(queue: Any) -> None:
    need_opencl(queue)
    with pytest.raises(KernelBuildError) as caught:
        build(compiled_plain(queue, build_options="-no-such-option"), queue)
    assert caught.value.kernel == "plain"
    assert caught.value.device == queue.sycl_device.name
    assert "-no-such-option" in caught.value.reason
    assert "\n" not in str(caught.value)


def test_a_function_that_nobody_defines(queue: Any) -> None:
    need_opencl(queue)
    compiled = compiled_plain(queue)
    text = compiled.llvm_ir.replace("ret void", "call spir_func void @nobodys()\n  ret void")
    module = binding.parse_assembly(f"{text}\ndeclare spir_func void @nobodys()\n")
    spirv = to_spirv(module)
    with pytest.raises(KernelBuildError, match="nobodys"):
        build(replace(compiled, spirv=spirv), queue)


def test_a_module_without_the_kernel(queue: Any) -> None:
    with pytest.raises(KernelBuildError, match="does not contain the kernel"):
        build(replace(compiled_plain(queue), name="other"), queue)


def test_every_error_is_of_the_family() -> None:
    from numba_sycl import errors

    own = [value for value in vars(errors).values() if getattr(value, "__module__", "") == errors.__name__]
    of_environments = UserError, BrokenEnvironment, Unsupported, Refused, KernelError
    raised = [error for error in own if isinstance(error, type) and error not in of_environments]
    assert raised
    for error in raised:
        assert issubclass(error, KernelError)
        assert issubclass(error, RuntimeError | TypeError | ValueError)

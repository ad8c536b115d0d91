"""Kernels that multiply by a factor kept in all the places that a kernel's code depends on.

``python changing_kernels.py change`` launches each on integers, changes every factor from 2 to 3 and launches each on
floats, which is another compilation; without ``change`` the factors stay. Prints the second launches' results.
docs/compiler.md lists these places.
"""

import importlib.util
import json
import sys
import types
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic, lower_builtin, overload, type_callable

if importlib.util.find_spec("xebench"):
    import xebench.dpex  # noqa: F401  (where numba-dpex is, it compiles kernels by xebench alone)

import numba_sycl
from numba_sycl import kernel_api as kapi
from numba_sycl.kernel_store import KernelStore
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

kernels: dict[str, Any] = {}
settings = types.ModuleType("settings")
IN_GLOBALS = ("in_global", "in_function", "in_njit", "in_overload", "in_choice", "in_intrinsic", "in_lowering")
in_global = in_function = in_njit = in_overload = in_choice = in_intrinsic = in_lowering = 2
in_array = np.array([2, 2], np.int32)
settings.factor = 2  # type: ignore[attr-defined]


def by_replacing(x: Any) -> Any:
    return x * 2


def threefold(x: Any) -> Any:
    return x * 3


def by_code(x: Any) -> Any:
    return x * 2


def by_default(x: Any, factor: Any = 2) -> Any:
    return x * factor


def by_global(x: Any) -> Any:
    return x * in_function


@numba.njit
def by_njit(x: Any) -> Any:
    return x * in_njit


replaced, with_default = numba_sycl.device_func(by_replacing), numba_sycl.device_func(by_default)
with_code, with_global = numba_sycl.device_func(by_code), numba_sycl.device_func(by_global)


def overloaded(x: Any) -> Any: ...
def chosen(x: Any) -> Any: ...
def lowered(x: Any) -> Any: ...


@overload(overloaded)
def _of_overload(x: Any) -> Any:
    def implementation(x: Any) -> Any:
        return x * in_overload

    return implementation


@overload(chosen)
def _of_choice(x: Any) -> Any:
    def double(x: Any) -> Any:
        return x * 2

    def triple(x: Any) -> Any:
        return x * 3

    return double if in_choice == 2 else triple


@intrinsic
def generated(context: Any, x: Any) -> Any:
    factor = in_intrinsic
    return x(x), lambda context, builder, signature, given: builder.mul(given[0], given[0].type(factor))


@type_callable(lowered)
def _type_of_lowered(context: Any) -> Any:
    return lambda x: x


@lower_builtin(lowered, numba.types.Integer)
def _of_lowered(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    return builder.mul(given[0], given[0].type(in_lowering))


def kernel(function: Any) -> Any:
    kernels[function.__name__] = numba_sycl.kernel(function)
    return function


def own_kernel(function: Any) -> Any:
    """A kernel for our own compiler: numba-dpex refuses it, or keeps the factor that it saw first."""
    return kernel(function) if is_current() else function


@kernel
def a_global(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = (item.get_id(0) + 1) * in_global


@own_kernel
def an_array(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = (item.get_id(0) + 1) * in_array[0]


@kernel
def an_attribute(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = (item.get_id(0) + 1) * settings.factor


@own_kernel
def an_attribute_by_getattr(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = (item.get_id(0) + 1) * getattr(settings, "factor")  # noqa: B009


@kernel
def a_replaced_function(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = replaced(item.get_id(0) + 1)


@own_kernel
def a_default_of_a_function(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = with_default(item.get_id(0) + 1)


@kernel
def the_code_of_a_function(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = with_code(item.get_id(0) + 1)


@kernel
def a_global_of_a_function(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = with_global(item.get_id(0) + 1)


@own_kernel
def a_global_of_njit(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = by_njit(item.get_id(0) + 1)


@own_kernel
def a_global_of_an_overload(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = overloaded(item.get_id(0) + 1)


@own_kernel
def the_choice_of_an_overload(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = chosen(item.get_id(0) + 1)


@own_kernel
def an_intrinsic(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = generated(item.get_id(0) + 1)


@own_kernel
def a_lowering(item: kapi.Item, x: Any) -> None:
    x[item.get_id(0)] = lowered(item.get_id(0) + 1)


def of_a_cell() -> Any:
    factor = 2

    @kernel
    def a_captured_variable(item: kapi.Item, x: Any) -> None:
        x[item.get_id(0)] = (item.get_id(0) + 1) * factor

    def change() -> None:
        nonlocal factor
        factor = 3

    return change


change_cell = of_a_cell()


def change() -> None:
    """Make every factor 3."""
    globals().update(dict.fromkeys(IN_GLOBALS, 3), replaced=numba_sycl.device_func(threefold))
    in_array[:] = 3
    settings.factor = 3  # type: ignore[attr-defined]
    by_default.__defaults__ = (3,)
    by_code.__code__ = threefold.__code__
    change_cell()


def results(dtype: str) -> dict[str, float]:
    """The factor of each kernel."""
    import dpctl  # numba_sycl has its libraries found

    store, queue, found = KernelStore(), dpctl.SyclQueue(), {}
    for name, kernel in kernels.items():
        x = dpt.zeros(1, dtype=dtype, sycl_queue=queue)
        store.submit(kernel, queue, kapi.Range(1), [x]).wait()
        found[name] = float(dpt.asnumpy(x)[0])
    return found


if __name__ == "__main__":
    results("i4")
    if sys.argv[1:] == ["change"]:
        change()
    print(json.dumps(results("f4")))

"""The kernel language, compiled by our own target: each part of it against numpy."""

import math
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from device_kit import launch

from numba_sycl import (
    ArgumentError,
    IndexSpaceError,
    KernelCompileError,
    call_kernel,
    call_kernel_async,
    compile_kernel,
    device_func,
    kernel,
)
from numba_sycl import kernel_api as kapi
from numba_sycl.identity import digest
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = [pytest.mark.device, pytest.mark.skipif(not is_current(), reason="numba-dpex compiles on this stack")]


def test_ids_and_extents_of_three_dimensions() -> None:
    @kernel
    def ids(item: kapi.NdItem, out: Any) -> None:
        group = item.get_group()
        i = item.get_global_linear_id()
        out[i, 0] = item.get_global_id(0) * 100 + item.get_global_id(1) * 10 + item.get_global_id(2)
        out[i, 1] = item.get_local_linear_id()
        out[i, 2] = group.get_group_linear_id()
        out[i, 3] = item.get_global_linear_range() + item.get_local_linear_range() + group.get_group_linear_range()
        out[i, 4] = item.dimensions * 10 + group.get_group_range(2) + group.get_local_range(1)

    whole, local = (2, 4, 6), (1, 2, 3)
    (out,) = launch(ids, whole, local, np.zeros((48, 5), np.int64))
    for i, (x, y, z) in enumerate(np.ndindex(*whole)):
        own = (x % 1 * 2 + y % 2) * 3 + z % 3
        group = (x * 2 + y // 2) * 2 + z // 3
        assert out[i].tolist() == [x * 100 + y * 10 + z, own, group, 48 + 6 + 8, 30 + 2 + 2]


def test_a_dimension_may_be_known_only_when_the_kernel_runs() -> None:
    @kernel
    def extents(item: kapi.NdItem, out: Any) -> None:
        for dimension in range(item.dimensions):
            out[item.get_global_linear_id(), dimension] = item.get_global_id(dimension)

    (out,) = launch(extents, (2, 4), (1, 2), np.zeros((8, 2), np.int64))
    assert out.tolist() == [list(index) for index in np.ndindex(2, 4)]


def test_private_arrays_and_captured_arrays() -> None:
    weights = np.array([1, 10, 100], np.int32)

    @kernel
    def weighted(item: kapi.NdItem, x: Any, out: Any) -> None:
        own = kapi.PrivateArray((2, 3), np.int32, fill_zeros=True)
        i = item.get_global_id(0)
        for j in range(6):
            own[j % 2, j // 2] += x[i, j] * weights[j // 2]
        for j in range(3):
            out[i, j] = own[0, j] + own[1, j]

    x = np.arange(48, dtype=np.int32).reshape(8, 6)
    _, out = launch(weighted, 8, 4, x, np.zeros((8, 3), np.int32))
    assert np.array_equal(out, (x[:, ::2] + x[:, 1::2]) * weights)


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_compare_exchange(dtype: str) -> None:
    @kernel
    def exchange(item: kapi.NdItem, x: Any, expected: Any, done: Any) -> None:
        i = item.get_global_id(0)
        reference = kapi.AtomicRef(x, i)
        done[i] = reference.compare_exchange(expected, x[i] + x[i], i)

    x = np.arange(1, 9).astype(dtype)
    expected = np.where(np.arange(8) % 2, x, 0).astype(dtype)
    new, seen, done = launch(exchange, 8, 4, x, expected, np.zeros(8, np.int32))
    fits = np.arange(8) % 2 == 1
    assert np.array_equal(new, np.where(fits, x * 2, x))
    assert np.array_equal(seen, x)
    assert np.array_equal(done, fits)


@pytest.mark.parametrize("dtype", ["int64", "uint32", "float32", "float64"])
def test_atomic_moves_of_every_type(dtype: str) -> None:
    @kernel
    def move(item: kapi.NdItem, x: Any, old: Any) -> None:
        i = item.get_global_id(0)
        old[i] = kapi.AtomicRef(x, i).exchange(x[i] + x[i])
        kapi.AtomicRef(x, i).store(kapi.AtomicRef(x, i).load() + old[i])

    x = np.arange(8).astype(dtype)
    new, old = launch(move, 8, 4, x, np.zeros(8, dtype))
    assert np.array_equal(new, x * 3)
    assert np.array_equal(old, x)


def test_methods_of_atomic_references() -> None:
    @kernel
    def update(item: kapi.NdItem, x: Any, old: Any) -> None:
        i = item.get_global_id(0)
        old[0, i] = kapi.AtomicRef(x, 0).fetch_add(i)
        kapi.AtomicRef(x, 1).fetch_max(i)
        kapi.AtomicRef(x, 2).fetch_or(1 << i)
        kapi.AtomicRef(x, 3, memory_order=kapi.MemoryOrder.ACQ_REL).fetch_sub(1)
        old[1, i] = kapi.AtomicRef(x, 4 + i).exchange(i)
        kapi.AtomicRef(x, 4 + i).store(kapi.AtomicRef(x, 4 + i).load() * 2)

    x, old = launch(update, 8, 8, np.full(12, 5, np.int64), np.zeros((2, 8), np.int64))
    assert x.tolist() == [5 + 28, 7, 255, 5 - 8, *(2 * i for i in range(8))]
    assert old[0].min() == 5
    assert old[1].tolist() == [5] * 8


def test_device_functions_defaults_and_keywords() -> None:
    @device_func
    def scaled(x: Any, factor: Any = 2) -> Any:
        return x * factor

    @device_func
    def norm(x: Any, y: Any) -> Any:
        return math.sqrt(scaled(x, factor=3) + scaled(y))

    @kernel
    def norms(item: kapi.NdItem, x: Any, y: Any, out: Any) -> None:
        i = item.get_global_id(0)
        out[i] = norm(x[i], y[i])

    x, y = np.arange(16.0), np.arange(16.0)[::-1].copy()
    *_, out = launch(norms, 16, 8, x, y, np.zeros(16))
    assert np.allclose(out, np.sqrt(3 * x + 2 * y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", ["sqrt", "exp", "log", "sin", "floor", "fabs", "tanh", "log1p"])
def test_functions_of_numpy_and_of_math(function: str, dtype: str) -> None:
    of_numpy, of_math = getattr(np, function), getattr(math, function)

    @kernel
    def both(item: kapi.NdItem, x: Any, out: Any) -> None:
        i = item.get_global_id(0)
        out[i, 0] = of_numpy(x[i])
        out[i, 1] = of_math(x[i])

    x = np.linspace(0.1, 3, 16).astype(dtype)
    _, out = launch(both, 16, 8, x, np.zeros((16, 2), dtype))
    assert np.allclose(out, of_numpy(x)[:, None], rtol=float(4 * np.finfo(dtype).eps))


def test_complex_numbers_half_precision_and_views() -> None:
    @kernel
    def run(item: kapi.NdItem, z: Any, h: Any, m: Any, factor: Any) -> None:
        i = item.get_global_id(0)
        z[i] = z[i] * z[i] + factor
        h[i] = h[i] * h[i]
        row = m[i]
        total = m.dtype.type(0)
        for value in row[1:]:
            total += value
        row[0] = total + m[:, 1][i]

    z = (np.arange(8) + 1j * np.arange(8)[::-1]).astype(np.complex64)
    h, m = np.arange(8).astype(np.float16), np.arange(32, dtype=np.float32).reshape(8, 4)
    new_z, new_h, new_m = launch(run, 8, 4, z, h, m, np.complex64(1 - 2j))
    assert np.allclose(new_z, z * z + np.complex64(1 - 2j))
    assert np.array_equal(new_h, h * h)
    assert np.array_equal(new_m[:, 0], m[:, 1:].sum(1) + m[:, 1])


def test_what_getattr_names_may_be_captured(queue: Any) -> None:
    name = "fetch_add"

    @kernel
    def count(item: kapi.Item, x: Any) -> None:
        getattr(kapi.AtomicRef(x, 0), name)(1)

    x = dpt.zeros(1, dtype="i4", sycl_queue=queue)
    call_kernel(count, kapi.Range(100), x)
    assert int(x[0]) == 100


def test_a_kernel_without_an_item(queue: Any) -> None:
    @kernel
    def scopes(x: Any) -> None:
        x[0] = kapi.MemoryScope.DEVICE
        x[1] = kapi.MemoryOrder.SEQ_CST

    x = dpt.zeros(2, dtype="i8", sycl_queue=queue)
    _, event = call_kernel_async(scopes, kapi.Range(1), [], x)
    event.wait()
    assert dpt.asnumpy(x).tolist() == [3, 5]


def test_print(queue: Any, capfd: pytest.CaptureFixture[str]) -> None:
    @kernel
    def tell(item: kapi.Item, x: Any) -> None:
        print("100 %:", x[item.get_id(0)], item.get_id(0), x[0] > 1)

    call_kernel(tell, kapi.Range(1), dpt.asarray([1.5], dtype="f4", sycl_queue=queue))
    assert capfd.readouterr().out == "100 %: 1.500000 0 1\n"


def wrong_name(item: kapi.Item, x: Any) -> None:
    x[0] = undefined  # type: ignore[name-defined]  # noqa: F821  # wrong


def wrong_return(item: kapi.Item, x: Any) -> Any:
    return x[0]


def wrong_dimension(item: kapi.Item, x: Any) -> None:
    x[0] = item.get_id(3)  # wrong


def wrong_argument(item: kapi.NdItem, x: Any) -> None:
    kapi.group_barrier(item)  # wrong


#: Text that would be code in a module: passes that read modules as text must not find it.
TEXTS = (
    "x i5 = add i33 y",
    "p = getelementptr q, %z = fadd w",
    "v = uitofp nneg i64 and call foo @bar(x) and @exp(y)",
    "%q = freeze i64 %r 100% %d",
)


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_no_code(text: str, queue: Any, capfd: pytest.CaptureFixture[str]) -> None:
    @kernel(fast_math=True, unroll=2, restrict=True)
    def say(item: kapi.Item, x: Any) -> None:
        for _ in range(2):
            print(text)
        x[0] = math.exp(x[0])

    x = dpt.asarray([0.0], dtype="f4", sycl_queue=queue)
    call_kernel(say, kapi.Range(1), x)
    assert capfd.readouterr().out == f"{text}\n" * 2
    assert float(x[0]) == 1


def test_negative_powers_of_zero_divide_as_numpy_does(queue: Any) -> None:
    @kernel
    def invert(item: kapi.Item, x: Any, y: Any) -> None:
        i = item.get_id(0)
        y[i] = x[i] ** -1 + x[i] ** -2

    x = dpt.asarray([0, 2], dtype="f4", sycl_queue=queue)
    y = dpt.full(2, 77, dtype="f4", sycl_queue=queue)
    call_kernel(invert, kapi.Range(2), x, y)
    assert dpt.asnumpy(y).tolist() == [np.inf, 0.75]


def test_functions_inside_kernels_take_arguments_by_name(queue: Any) -> None:
    @kernel
    def weigh(item: kapi.Item, x: Any) -> None:
        def weighed(a: Any, b: Any = 2, c: Any = 3) -> Any:
            return a + 10 * b + 100 * c

        x[0], x[1] = weighed(x[0], c=5, b=1), weighed(c=4, b=1, a=1)

    x = dpt.zeros(2, dtype="f4", sycl_queue=queue)
    call_kernel(weigh, kapi.Range(1), x)
    assert dpt.asnumpy(x).tolist() == [510, 411]


@numba.njit
def plus_one(x: Any) -> Any:
    return x + 1


@numba.njit
def times(x: Any, y: Any = 2) -> Any:
    return plus_one(x) * y


def test_functions_of_njit_are_device_functions(queue: Any) -> None:
    @kernel
    def compute(item: kapi.Item, x: Any) -> None:
        i = item.get_id(0)
        x[i] = times(x[i], y=3) + plus_one(i)

    x = dpt.zeros(3, dtype="f4", sycl_queue=queue)
    call_kernel(compute, kapi.Range(3), x)
    assert dpt.asnumpy(x).tolist() == [4, 5, 6]
    assert digest(compute)  # the cache on disk has it


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts_of_floats(dtype: str, queue: Any) -> None:
    @kernel
    def take_apart(item: kapi.Item, x: Any, fractions: Any, exponents: Any) -> None:
        i = item.get_id(0)
        fractions[i], exponents[i] = math.frexp(x[i])
        x[i] = math.ldexp(x[i], i - 1)

    numbers = np.array([3.5, -0.25, 0], dtype)
    x, fractions = (dpt.asarray(numbers, sycl_queue=queue) for _ in range(2))
    exponents = dpt.zeros(3, dtype="int32", sycl_queue=queue)
    call_kernel(take_apart, kapi.Range(3), x, fractions, exponents)
    expected, of_two = np.frexp(numbers)
    assert dpt.asnumpy(fractions).tolist() == expected.tolist()
    assert dpt.asnumpy(exponents).tolist() == of_two.tolist()
    assert dpt.asnumpy(x).tolist() == [1.75, -0.25, 0]


def test_too_many_work_items_are_one_line(queue: Any) -> None:
    x = dpt.zeros(1, dtype="f4", sycl_queue=queue)
    with pytest.raises(IndexSpaceError, match=r"^kernel an_item: 4294967296 work-items; SYCL's runtimes take fewer"):
        call_kernel(kernel(an_item), kapi.Range(1 << 16, 1 << 16), x)


def wrong_finally(item: kapi.Item, x: Any) -> None:
    try:
        x[0] = 1  # wrong
    finally:
        x[1] = 2


def wrong_default(item: kapi.Item, x: Any) -> None:
    def weighed(a: Any, b: Any = 2, c: Any = 3) -> Any:
        return a + 10 * b + 100 * c

    x[0] = weighed(x[0], c=5)  # wrong


def wrong_depth(item: kapi.Item, x: Any) -> None:
    def outer(a: Any) -> Any:
        def inner(b: Any, c: Any = 3) -> Any:
            return b * c

        return inner(a, c=5)

    x[0] = outer(x[0])  # wrong


def wrong_print(item: kapi.Item, x: Any) -> None:
    print(x)  # wrong


def wrong_shape(item: kapi.Item, x: Any) -> None:
    own = kapi.PrivateArray(x.shape[0], np.float32)  # wrong
    x[0] = own[0]


def wrong_list(item: kapi.Item, x: Any) -> None:
    own = [1, 2, 3]  # wrong
    x[0] = own[1]


def wrong_append(item: kapi.Item, x: Any) -> None:
    own: list[Any] = []
    own.append(x[0])  # wrong


def wrong_array(item: kapi.Item, x: Any) -> None:
    own = np.zeros(4)  # wrong
    x[0] = own[0]


def wrong_expression(item: kapi.Item, x: Any) -> None:
    twice = x + x  # wrong
    x[0] = twice[0]


def wrong_function(item: kapi.Item, x: Any) -> None:
    x[0] = plain(x[0])  # wrong


def plain(x: Any) -> Any:
    return x


def wrong_builtin(item: kapi.Item, x: Any) -> None:
    input()  # wrong


def wrong_object(item: kapi.Item, x: Any) -> None:
    x[0] = THINGS["a"]  # wrong


THINGS = {"a": 1}


def wrong_member(item: kapi.Item, x: Any) -> None:
    x[0] = kapi.get_global_id(0)  # type: ignore[attr-defined]  # wrong


def wrong_import(item: kapi.Item, x: Any) -> None:
    import math as m  # wrong

    x[0] = m.pi


@device_func
def factorial(n: Any) -> Any:
    return n * factorial(n - 1) if n > 1 else 1  # wrong


def wrong_recursion(item: kapi.Item, x: Any) -> None:
    x[0] = factorial(5)


def wrong_atomic(item: kapi.Item, x: Any) -> None:
    kapi.AtomicRef(x, 0).fetch_and(1)  # wrong


def wrong_random(item: kapi.Item, x: Any) -> None:
    x[0] = np.random.random()


def wrong_catch(item: kapi.Item, x: Any) -> None:
    try:
        x[0] = 1 / x[1]
    except ZeroDivisionError:  # wrong
        x[0] = 0


def wrong_with(item: kapi.Item, x: Any) -> None:
    with open("file") as file:  # noqa: PTH123  # wrong
        x[0] = file


def wrong_type(item: kapi.Item, x: Any) -> None:
    number: Any = 1
    if x[0] > 0:
        number = "one"
    x[0] = number  # wrong


def wrong_generator(item: kapi.Item, x: Any) -> None:
    x[0] = sum(i * i for i in range(3))  # wrong


def wrong_yield(item: kapi.Item, x: Any) -> Any:
    yield x[0]


def wrong_del(item: kapi.Item, x: Any) -> None:
    one = 1
    x[0] = one
    del one  # wrong


def wrong_named(item: kapi.Item, x: Any, *, n: int = 3) -> None:
    x[0] = n


def wrong_local(item: kapi.Item, x: Any) -> None:
    tile = kapi.LocalAccessor(4, np.float32)  # wrong
    x[0] = tile[0]


def wrong_cast(item: kapi.Item, x: Any) -> None:
    x[0] = x[0].astype(np.float32)  # wrong


def wrong_item(item: kapi.Item, x: Any) -> None:
    x[0] = item.get_global_id(0)  # wrong


def wrong_index(item: kapi.Item, x: Any) -> None:
    x[x[0]] = 1  # wrong


def wrong_sort(item: kapi.Item, x: Any) -> None:
    x[0] = sorted((3, 1, 2))[0]  # wrong


#: Kernels of which numba does not say which line is wrong.
UNPLACED = (wrong_return, wrong_finally, wrong_random, wrong_yield, wrong_named, wrong_with, wrong_sort)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (wrong_catch, "no error is raised in device code: test instead of try"),
        (wrong_finally, "no error is raised in device code: test instead of try"),
        (wrong_with, "device code has no with"),
        (wrong_type, "number is int in one place and str in another: a variable of a kernel has one type"),
        (wrong_generator, "it makes a generator: write a loop"),
        (wrong_yield, "it makes a generator: write a loop"),
        (wrong_del, "device code has no del: leave out del one"),
        (wrong_named, "it has parameters that must be named"),
        (wrong_local, "a LocalAccessor is made outside, and is an argument of the launch"),
        (wrong_cast, "a number has no astype: write np.float32(x)"),
        (wrong_item, "an Item has no get_global_id, an NdItem has: launch it with an NdRange"),
        (wrong_index, "an index is a float32: make an integer of it, such as int(x)"),
        (wrong_sort, "works on the host alone: write it as a loop"),
        (wrong_list, "it makes a list, for which device code has no memory: use a tuple or kernel_api.PrivateArray"),
        (wrong_append, "it makes a list, for which"),
        (wrong_array, "zeros makes an array, for which"),
        (wrong_expression, "makes an array, which device code cannot"),
        (wrong_function, "plain is a plain function: decorate it with device_func"),
        (wrong_builtin, "kernels have no input"),
        (wrong_object, "THINGS is a dict: of what is outside, a kernel sees"),
        (wrong_member, "kernel_api has no get_global_id"),
        (wrong_import, "a feature of Python that device code does not have (IMPORT_NAME)"),
        (wrong_recursion, "a function calls itself"),
        (wrong_atomic, "dtype is float32, but must be an integer"),
        (wrong_random, "random numbers, which only the host makes"),
        (wrong_name, "name 'undefined' is not defined"),
        (wrong_return, "returns float32, but a kernel returns nothing"),
        (wrong_dimension, "dim is 3, but the index space has 1 dimension"),
        (wrong_argument, "group is NdItem<1>, but must be a Group"),
        (wrong_default, "weighed is a function inside a kernel: give arguments by position"),
        (wrong_depth, "outer is a function inside a kernel: give arguments by position"),
        (wrong_print, "a kernel prints numbers and literal strings"),
        (wrong_shape, "shape is int64, but must be a literal"),
    ],
)
def test_what_cannot_be_compiled_is_one_line_with_its_place(function: Any, reason: str, queue: Any) -> None:
    x = dpt.zeros(4, dtype="f4", sycl_queue=queue)
    space = kapi.NdRange((4,), (4,)) if function is wrong_argument else kapi.Range(4)
    with pytest.raises(KernelCompileError) as caught:
        call_kernel(kernel(function), space, x)
    assert "\n" not in str(caught.value)
    assert reason in caught.value.reason
    file, _, line = caught.value.location.rpartition(":")
    assert file == __file__
    source = Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert "# wrong" in source or function in UNPLACED


def an_item(item: kapi.Item, x: Any) -> None:
    x[0] = 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((1.0, 2.0), "kernel an_item takes 1 arguments after its item, 2 given"),
        (((1, 2),), "argument 0 is a tuple: .*: give its elements one by one"),
        (([1, 2],), "argument 0 is a list: .*: make it an array"),
        ((np.float16(1),), "argument 0 is a float16: .*: give an np.float32, or an array"),
        ((np.zeros(1),), "argument 0 is a numpy array in host memory: copy it to the device"),
    ],
)
def test_what_is_no_argument_is_one_line(arguments: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{reason}[^\n]*$"):
        compile_kernel(kernel(an_item), kapi.Range(1), arguments)

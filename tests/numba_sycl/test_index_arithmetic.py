"""What kernels cost beside their own arithmetic: ``range`` without a division, no test of what cannot be negative."""

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_kit import bounded_text, launch

from numba_sycl import call_kernel, compile_kernel, device_func, kernel
from numba_sycl import kernel_api as kapi
from numba_sycl.spirv_module import instructions, without_assumptions
from numba_sycl.stacks import is_current
from numba_sycl.tensor import tensor as dpt

pytestmark = pytest.mark.device

MOST = 8


@kernel
def walk(item: kapi.NdItem, bounds: Any, found: Any, steps: Any) -> None:
    i = item.get_global_id(0)
    at = 0
    for number in range(bounds[i, 0], bounds[i, 1], bounds[i, 2]):
        if at < found.shape[1]:
            found[i, at] = number
            at += 1
        else:
            break
    steps[i] = at


def bounds_of(dtype: Any) -> list[tuple[int, int, int]]:
    """Ranges whose next number would be beyond the type among them."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    near = [(a, b, c) for a, b in itertools.product((-7, 0, 1, 6), repeat=2) for c in (-9, -3, -1, 1, 2, 7, 100)]
    ends = [(high - 5, high, c) for c in (1, 2, 5, 6, high)] + [(low + 5, low, c) for c in (-1, -2, -5, -6, low)]
    return [*near, *ends, (0, high, high - 1), (0, high, high), (0, low, low), (low, -1, high), (high, 1, low)]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_range_is_that_of_python(dtype: Any) -> None:
    bounds = bounds_of(dtype)
    found = np.zeros((len(bounds), MOST), dtype)
    _, found, steps = launch(walk, (len(bounds),), (1,), np.array(bounds, dtype), found, np.full(len(bounds), -1))
    for one, row, count in zip(bounds, found, steps, strict=True):
        expected = list(itertools.islice(range(*one), MOST))
        assert row[:count].tolist() == expected, one


def test_a_step_of_zero_ends_the_work_item() -> None:
    bounds = np.array([[0, 4, 0], [0, 4, 2]])
    *_, steps = launch(walk, (2,), (1,), bounds, np.zeros((2, MOST), np.int64), np.full(2, -1))
    assert steps.tolist() == [-1, 2]


@kernel
def divide(item: kapi.NdItem, numbers: Any, out: Any) -> None:
    i = item.get_global_id(0)
    out[i, 0], out[i, 1] = numbers[i] // 16, numbers[i] % 16
    out[i, 2], out[i, 3] = numbers[i] // 1, numbers[i] % 1
    quotient, remainder = numbers[i], numbers[i]
    quotient //= 1 << 20
    remainder %= 1 << 20
    out[i, 4], out[i, 5] = quotient, remainder
    out[i, 6], out[i, 7] = numbers[i] // -8, numbers[i] % 7


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint32])
def test_divisions_by_constants_round_down(dtype: Any) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    numbers = [low, low // 2, -33, -17, -16, -15, -1, 0, 1, 15, 16, 17, high // 2, high]
    numbers = [number for number in numbers if number >= low]
    _, out = launch(divide, (len(numbers),), (1,), np.array(numbers, dtype), np.zeros((len(numbers), 8), np.int64))
    for number, row in zip(numbers, out.tolist(), strict=True):
        pairs = [divmod(number, 16), divmod(number, 1), divmod(number, 1 << 20), (number // -8, number % 7)]
        assert row == list(itertools.chain(*pairs)), number


def ir_of(run: Any, *arguments: Any) -> str:
    text = compile_kernel(run, kapi.NdRange((64,), (64,)), arguments).llvm_ir
    assert text is not None
    return text


def test_a_strided_range_neither_divides_nor_counts() -> None:
    @kernel
    def total(item: kapi.NdItem, x: Any, sums: Any) -> None:
        i = item.get_local_id(0)
        own = np.float32(0)
        for k in range(i, x.shape[0], item.get_local_range(0)):
            own += x[k]
        sums[i] = own

    text = ir_of(total, dpt.zeros(64, dtype="f4"), dpt.zeros(64, dtype="f4"))
    assert not re.search(r"\b[su](div|rem) ", text)
    assert len(re.findall(r"= phi i64", text)) == 1
    assert "select" not in text


def test_parts_of_an_id_are_masks_and_shifts() -> None:
    @kernel
    def fold(item: kapi.NdItem, x: Any, y: Any) -> None:
        i = item.get_global_id(0)
        y[i // 16, i % 16] = x[i % 16] + x[i // 16]

    text = ir_of(fold, dpt.zeros(64, dtype="f4"), dpt.zeros((4, 16), dtype="f4"))
    assert "and i64" in text
    assert not re.search(r"freeze|select|\b[su](div|rem) |, -16\b", text)


def test_what_a_branch_a_loop_or_a_group_says_of_an_index_spares_the_test_of_its_sign() -> None:
    @kernel
    def window(item: kapi.NdItem, x: Any, y: Any) -> None:
        i = item.get_global_id(0)
        first = item.get_group().get_group_id(0) * item.get_local_range(0)
        total = np.float32(0)
        if i < 8:
            for k in range(8 - i, 17):
                total += x[i - 8 + k]
        elif first >= 8:
            for k in range(17):
                total += x[i - 8 + k]
        y[i] = total

    arguments = [dpt.zeros(64, dtype="f4")] * 2
    text = bounded_text(compile_kernel(window, kapi.NdRange((64,), (64,)), arguments))
    assert text and not re.search(r"icmp slt i\d+ %\S+, 0$", text, re.MULTILINE)

    @kernel
    def unknown(item: kapi.NdItem, x: Any, y: Any) -> None:
        i = item.get_global_id(0)
        y[i] = x[i - 8]

    assert re.search(
        r"icmp (samesign )?[us][lg]t i64 %\w+, [08]$", ir_of(unknown, *[dpt.zeros(64, dtype="f4")] * 2), re.MULTILINE
    )


def test_an_address_is_said_to_be_within_its_array() -> None:
    @kernel
    def shift(item: kapi.NdItem, x: Any, y: Any) -> None:
        own = kapi.PrivateArray(4, np.float32)
        i = item.get_global_id(0)
        own[i % 4] = x[1 + i]
        y[0, i] = own[(i + 1) % 4]

    text = ir_of(shift, dpt.zeros(65, dtype="f4"), dpt.zeros((4, 128), dtype="f4")[:, ::2])
    assert text.count("= getelementptr inbounds ") == text.count("= getelementptr ") >= 4


def test_a_module_without_its_facts_is_the_same_kernel() -> None:
    @kernel
    def fill(item: kapi.NdItem, x: Any) -> None:
        x[item.get_global_id(0)] = 1

    compiled = compile_kernel(fill, kapi.NdRange((64,), (64,)), (dpt.zeros(64, dtype="f4"),))
    plain = without_assumptions(compiled.spirv)
    assert b"SPV_KHR_expect_assume" in compiled.spirv and b"SPV_KHR_expect_assume" not in plain
    both = ([one for one in instructions(module) if one[0] in (15, 16)] for module in (plain, compiled.spirv))
    assert next(both) == next(both)  # entry points and their modes
    assert without_assumptions(plain) == plain


@device_func(wraparound=False)
def element(x: Any, place: Any) -> Any:
    return x[place]


@device_func
def wrapped_element(x: Any, place: Any) -> Any:
    return x[place]


@kernel(wraparound=False)
def gather(item: kapi.Item, places: Any, x: Any, y: Any) -> None:
    i = item.get_id(0)
    y[i] = x[places[i]] + element(x, places[i])


@kernel(wraparound=False)
def gather_from_both_ends(item: kapi.Item, places: Any, x: Any, y: Any) -> None:
    i = item.get_id(0)
    y[i] = x[places[i]] + wrapped_element(x, places[i] - x.shape[0])


@kernel
def gather_wrapped(item: kapi.Item, places: Any, x: Any, y: Any) -> None:
    i = item.get_id(0)
    y[i] = x[places[i]] + x[places[i] - x.shape[0]]


@pytest.mark.parametrize(
    ("function", "tests"),
    [(gather, 0), (gather_from_both_ends, 1), (gather_wrapped, 2)],
    ids=["off", "on in a device function", "on"],
)
def test_without_wraparound_no_sign_is_tested(
    function: Any, tests: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # what is kept on disk has no LLVM IR
    places = dpt.asarray([3, 0, 2, 1], dtype="int32")
    x = dpt.asarray([10, 20, 30, 40], dtype="float32")
    y = dpt.zeros(4, dtype="float32")
    call_kernel(function, kapi.Range(4), places, x, y)
    assert dpt.asnumpy(y).tolist() == [80, 20, 60, 40]
    if is_current():  # numba-dpex has no such option
        text = compile_kernel(function, kapi.Range(4), [places, x, y]).llvm_ir
        assert text is not None
        assert text.count("select i1") == tests

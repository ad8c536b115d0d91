"""Rates of multiply-add, which counts as two operations, in float32, float64 and int32.

Each work-item runs 8 or 16 chains of which every step needs the one before, so no step can be left out; the factor is
an argument, so none can be computed beforehand. Floats start small and are multiplied by one: every sum is exact. For
integers the closed form of the recurrence modulo 2**32 is compared.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numba_dpex import kernel_api as kapi

from harness.dpex import device_func, kernel, native, specialize
from harness.errors import Unsupported
from harness.roofline.bench import Bench, nd_range
from harness.roofline.expected import INTEGER_FACTOR, chain_operations, chain_starts, chain_sums
from harness.roofline.forms import CHAIN_FORMS
from harness.roofline.search import Form, Measurement, grown
from harness.roofline.sizes import MOST_STEPS

DTYPES = {"fp32": np.float32, "fp64": np.float64, "int32": np.int32}
ITEMS_PER_UNIT = 1 << 14
_FEWEST_STEPS = 128


@device_func
def _integer_step(x: Any, factor: Any, addend: Any) -> Any:
    # numba makes 64 bits of 32-bit products
    return np.int32(x * factor + addend)


def make_chains(dtype: str, chains: int, unroll: int) -> Any:
    """The kernel; ``chains`` is 8 or 16."""
    cast, many = np.dtype(dtype).type, chains == 16
    step = _integer_step if dtype == "int32" else native.mad

    # fast_math: without it multiplications and additions are never fused
    @kernel(fast_math=True, unroll=unroll or None)
    def multiply_add(item: kapi.NdItem, x: Any, sums: Any, factor: Any, steps: Any) -> None:
        i = item.get_global_id(0)
        s = x[i]
        a = s
        b, c, d = cast(a + s), cast(a + s + s), cast(a + s + s + s)
        e, f, g, h = cast(d + a), cast(d + b), cast(d + c), cast(d + d)
        j, k, l, m = cast(h + a), cast(h + b), cast(h + c), cast(h + d)  # noqa: E741
        n, o, p, q = cast(h + e), cast(h + f), cast(h + g), cast(h + h)
        for _ in range(steps):
            a, b, c, d = step(a, factor, s), step(b, factor, s), step(c, factor, s), step(d, factor, s)
            e, f, g, h = step(e, factor, s), step(f, factor, s), step(g, factor, s), step(h, factor, s)
            if many:
                j, k, l, m = step(j, factor, s), step(k, factor, s), step(l, factor, s), step(m, factor, s)  # noqa: E741
                n, o, p, q = step(n, factor, s), step(o, factor, s), step(p, factor, s), step(q, factor, s)
        total = cast(a + b + c + d + e + f + g + h)
        if many:
            total = cast(total + j + k + l + m + n + o + p + q)
        sums[i] = total

    return multiply_add


class Group:
    """One launch a form, long enough to be timed."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        if name == "fp64" and not self._bench.device.has_aspect_fp64:
            raise Unsupported("the device has no fp64")
        return self._bench.search(_Chains(self._bench, np.dtype(DTYPES[name])).forms())


class _Chains:
    """The forms for one type."""

    def __init__(self, bench: Bench, dtype: Any) -> None:
        self._bench = bench
        self._dtype = dtype
        self._starts = chain_starts(ITEMS_PER_UNIT * bench.compute_units, dtype)
        self._x = bench.memory.upload(self._starts)
        self._sums = bench.session.alloc(self._x.size, dtype)

    def forms(self) -> Iterator[Form]:
        numbers = self._bench.likely(CHAIN_FORMS)
        steps = grown(_FEWEST_STEPS, MOST_STEPS, lambda steps: self._form(steps, *numbers[0]).run())
        return (self._form(steps, *form) for form in numbers)

    def _form(self, steps: int, group: int, chains: int, unroll: int) -> Form:
        bench = self._bench
        factor = self._dtype.type(INTEGER_FACTOR if self._dtype.kind == "i" else 1)
        kernel = specialize(make_chains, dtype=self._dtype.name, chains=chains, unroll=unroll)
        space = nd_range(self._x.size, group)
        return bench.form(
            {"work-group": group, "chains": chains, "unroll": unroll or "auto"},
            chain_operations(self._x.size, chains, steps),
            partial(bench.session.launch, kernel, space, self._x, self._sums, factor, np.int32(steps)),
            self._sums,
            partial(chain_sums, self._starts, chains, steps),
        )

"""Rates of multiply-add, which counts as two operations, in float32, float64 and int32.

Each work-item runs 8 or 16 chains of which every step needs the one before, so no step can be left out; the factor is
an argument, so none can be computed beforehand. Floats start small and are multiplied by one: every sum is exact. For
integers the closed form of the recurrence, modulo what the type holds, is compared.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from xebench.dpex import device_func, kernel, native, specialize
from xebench.dpex import kernel_api as kapi
from xebench.errors import Unsupported
from xebench.measuring.roofline.bench import ProbeGroup, nd_range
from xebench.measuring.roofline.forms import CHAIN_FORMS, INTEGER_FACTOR, chain_operations, chain_starts, chain_sums
from xebench.measuring.roofline.search import MOST_STEPS, Form, Measurement

DTYPES = {"fp32": np.float32, "fp64": np.float64, "int32": np.int32}
ITEMS_PER_UNIT = 1 << 14
_FEWEST_STEPS = 128


@device_func
def _integer_step(x: Any, factor: Any, addend: Any) -> Any:
    # numba makes 64 bits of 32-bit products
    return np.int32(x * factor + addend)


#: A step where it is no `native.mad`, by dtype.
STEPS = {"int32": _integer_step}


def make_chains(dtype: str, chains: int, unroll: int) -> Any:
    """The kernel; ``chains`` is 8 or 16."""
    cast, many = np.dtype(dtype).type, chains == 16
    step = STEPS.get(dtype, native.mad)

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


class Group(ProbeGroup):
    """One launch a form, long enough to be timed."""

    def measure(self, name: str) -> Measurement:
        """Measure one probe."""
        return self._bench.search(self.forms(name))

    def forms(self, name: str) -> Iterator[Form]:
        """The forms of one probe."""
        bench, dtype = self._bench, np.dtype(DTYPES[name])
        if name == "fp64" and not bench.device.has_aspect_fp64:
            raise Unsupported("the device has no fp64")
        starts = chain_starts(ITEMS_PER_UNIT * bench.compute_units, dtype)
        arrays = bench.memory.upload(starts), bench.session.alloc(starts.size, dtype)
        return bench.grown(CHAIN_FORMS, _FEWEST_STEPS, MOST_STEPS, partial(self._form, starts, arrays))

    def _form(self, starts: Any, arrays: tuple[Any, Any], steps: int, form: tuple[int, int, int]) -> Form:
        group, chains, unroll = form
        dtype, (_, sums) = starts.dtype, arrays
        factor = dtype.type(INTEGER_FACTOR if dtype.kind == "i" else 1)
        kernel = specialize(make_chains, dtype=dtype.name, chains=chains, unroll=unroll)
        space = nd_range(starts.size, group)
        return self._bench.form(
            {"work-group": group, "chains": chains, "unroll": unroll or "auto"},
            chain_operations(starts.size, chains, steps),
            partial(self._bench.session.launch, kernel, space, *arrays, factor, np.int32(steps)),
            sums,
            partial(chain_sums, starts, chains, steps),
        )

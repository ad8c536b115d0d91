"""A small launch of each kernel and of its twin, of random data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from numba_sycl import kernel_api as kapi
from numba_sycl.sycl_types import Array
from tools.studies.unseen import kernels

TWINS: Final = Path(__file__).with_name("kernels.cl")
#: Macros of the twins.
BUILD_OPTIONS: Final = f"-DGROUP={kernels.GROUP}"
f32, i32 = np.float32, np.int32


@dataclass(frozen=True)
class Case:
    """A launch.

    Attributes:
        kernel: the kernel in Python; its twin has its name.
        space: index space of both.
        arguments: arguments of the kernel.
        of_twin: arguments of the twin, with the same arrays.
    """

    kernel: Any
    space: Any
    arguments: tuple[Any, ...]
    of_twin: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name of both."""
        return str(self.kernel.py_func.__name__)


def cases() -> Iterator[Case]:
    """A case of each kernel."""
    rng = np.random.default_rng(1)

    def numbers(*shape: int) -> Array:
        return rng.random(shape, f32) + f32(1)

    def square(kernel: Any, space: Any, n: int) -> Case:
        a = numbers(n, n) ** 8  # some ways are shorter than others
        return Case(kernel, space, (a, i32(5)), (a, i32(n), i32(5)))

    yield square(kernels.floyd_warshall, kapi.Range(48, 48), 48)
    yield square(kernels.eliminate, kapi.Range(42, 42), 48)

    lengths = rng.integers(0, 9, 64)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(i32)
    column = rng.integers(0, 100, first[-1], dtype=i32)
    sparse = first, column, numbers(len(column)), numbers(100), numbers(64)
    yield Case(kernels.sparse_times_vector, kapi.Range(64), sparse, sparse)

    image, smaller, step = numbers(40, 56), numbers(20, 30), f32(1.8)
    extents = i32(40), i32(56)
    yield Case(kernels.resize, kapi.Range(20, 30), (image, smaller, step), (image, *extents, smaller, i32(30), step))
    weights, result = numbers(5, 5), numbers(40, 56)
    yield Case(
        kernels.convolve, kapi.Range(40, 56), (image, weights, result), (image, *extents, weights, i32(5), result)
    )
    cells, after = rng.integers(0, 2, (40, 56), dtype=np.int8), np.zeros((40, 56), np.int8)
    yield Case(kernels.live, kapi.Range(40, 56), (cells, after), (cells, *extents, after))

    bands = numbers(32, 64), numbers(32, 64) + f32(4), numbers(32, 64), numbers(32, 64), np.zeros((32, 64), f32)
    yield Case(kernels.solve_tridiagonal, kapi.Range(64), bands, (*bands, i32(32), i32(64)))

    signals = [numbers(*shape) for shape in ((64,), (64,), (32,), (32,), (64,), (64,))]
    yield Case(kernels.stockham, kapi.Range(32), (*signals, i32(4)), (*signals, i32(64), i32(4)))

    x, sums = numbers(512), numbers(512)
    groups, tile = kapi.NdRange((512,), (kernels.GROUP,)), kapi.LocalAccessor((2, kernels.GROUP), f32)
    flat = kapi.LocalAccessor(2 * kernels.GROUP, f32)
    yield Case(kernels.prefix_sums, groups, (x, sums, tile), (x, sums, flat))

    across, up = (np.array(speeds, i32) for speeds in ([0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]))
    weight = np.array([4 / 9, *[1 / 9] * 4, *[1 / 36] * 4], f32)
    fluid = numbers(9, 20, 24), np.zeros((9, 20, 24), f32), across, up, weight
    rate = f32(0.6)
    yield Case(kernels.stream_and_collide, kapi.Range(18, 22), (*fluid, rate), (*fluid, i32(20), i32(24), rate))

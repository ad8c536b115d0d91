"""The host's arithmetic of the probes, against the same computed step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xebench.roofs import forms


@pytest.mark.parametrize(
    ("operation", "combine"),
    [
        ("copy", lambda b, c: b),
        ("triad", lambda b, c: b + 3 * c),
    ],
)
def test_stream_results(operation: str, combine: Any) -> None:
    b, c = forms.stream_inputs()
    assert forms.stream_result(operation).tolist() == [combine(x, y) for x, y in zip(b, c, strict=True)]
    assert len(set(b)) == len(set(c)) == forms.PERIOD, "a mix-up of elements must show"


def test_stream_bytes_are_those_that_the_kernel_names() -> None:
    assert [forms.stream_bytes(name, 10) for name in ("copy", "triad")] == [80, 120]


@pytest.mark.parametrize(("width", "vectors", "group"), [(1, 4, 16), (4, 2, 64), (1, 16, 256)])
def test_read_sums(width: int, vectors: int, group: int) -> None:
    b, _ = forms.stream_inputs()
    block = np.tile(b, width * vectors * group // forms.PERIOD)
    sums = forms.read_sums(width, vectors, group)
    assert sums.sum() == block.sum(), "a group reads its block, each element once"
    one = [block[v * width * group + width * 5 + e] for v in range(vectors) for e in range(width)]
    assert sums[5] == sum(one)


@pytest.mark.parametrize("chains", [8, 16])
@pytest.mark.parametrize("steps", [1, 2, 37])
@pytest.mark.parametrize(("dtype", "factor"), [(np.float32, 1), (np.float64, 1), (np.int32, 3), (np.int64, 3)])
def test_chain_sums(dtype: Any, factor: int, chains: int, steps: int) -> None:
    starts = forms.chain_starts(4, dtype)
    sums = forms.chain_sums(starts, chains, steps)
    assert sums.dtype == dtype
    for start, total in zip(starts.tolist(), sums.tolist(), strict=True):
        ends = [(chain + 1) * start for chain in range(chains)]
        for _ in range(steps):
            ends = [x * factor + start for x in ends]
        wanted, half = sum(ends), 2 ** (8 * starts.itemsize - 1)
        assert total == (wanted if factor == 1 else (int(wanted) + half) % (2 * half) - half)


def test_float_chains_stay_exact() -> None:
    from xebench.roofs.search import MOST_STEPS

    largest = float(forms.chain_sums(np.array([2], np.float32), 16, MOST_STEPS)[0])
    assert largest < 2**24
    assert largest == 2 * (136 + 16 * MOST_STEPS)


def test_operations_count_a_multiplication_and_an_addition() -> None:
    assert forms.chain_operations(items=10, chains=8, steps=3) == 480


@pytest.mark.parametrize("width", [1, 4])
def test_local_sums(width: int) -> None:
    group, rounds, passes = 16, 3, 5
    tile = [1 + j % 4 for j in range(width * rounds * group)]
    sums = forms.local_sums(width, group, rounds, passes)
    assert sums.sum() == passes * sum(tile)
    assert sums[6] == passes * sum(tile[(r * group + 6) * width + e] for r in range(rounds) for e in range(width))
    assert sums.all(), "zero is what memory holds that nobody wrote"

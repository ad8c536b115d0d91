"""Sums of a device array tell of every change in it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device


@pytest.fixture
def session() -> Any:
    from xebench.session.session import Session

    return Session.on("cpu")


@pytest.mark.parametrize("folds", ["host", "device"])
@pytest.mark.parametrize(
    ("dtype", "size"), [(np.float32, 200_000), (np.float64, 200_000), (np.uint8, 200_001), (np.int16, 131_073)]
)
def test_a_change_anywhere_and_two_that_could_cancel_are_seen(session: Any, dtype: type, size: int, folds: str) -> None:
    from xebench.measuring.checksums import GROUP, Sums
    from xebench.session.device_memory import DeviceMemory

    memory, own = DeviceMemory(session.queue), Sums(session.queue)

    def sums(array: Any) -> bytes:
        return own(array) if folds == "host" else memory.read(own.by_device(array)).tobytes()

    rng = np.random.default_rng(1)
    contents: np.ndarray = rng.integers(0, 100, size).astype(dtype)
    array = memory.upload(contents)
    first = sums(array)
    assert sums(array) == first
    word = 4 if contents.nbytes % 4 == 0 else 2 if contents.nbytes % 2 == 0 else 1
    of_one_item = [word - 1, GROUP * word + word - 1]
    for places in ([0], [contents.nbytes - 1], of_one_item, [0, 1]):
        changed = contents.copy()
        changed.view(np.uint8)[places] ^= 128  # sign bits: in sums of 32 bits two of them would cancel
        memory.write(array, changed)
        assert sums(array) != first, places
    memory.write(array, contents)
    assert sums(array) == first


def test_nothing_is_built_twice_and_no_array_is_kept(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba_sycl import build
    from xebench.measuring import checksums
    from xebench.session.device_memory import DeviceMemory

    built = []

    def counted(*asked: Any) -> Any:
        built.append(1)
        return build(*asked)

    monkeypatch.setattr(checksums, "build", counted)
    memory, sums = DeviceMemory(session.queue), checksums.Sums(session.queue)
    for _ in range(2):
        array = memory.upload(np.zeros(1 << 18, np.float32))
        before = sys.getrefcount(array.usm_data)
        sums(array), sums.by_device(array)
        after = sys.getrefcount(array.usm_data)
        assert after == before, "its memory is free when the family lets go of it"
    assert len(built) == 1


def test_inputs_that_were_changed_are_told_once_and_put_back(session: Any) -> None:
    from xebench import Problem, inout, output
    from xebench.measuring.bound_problem import Binding
    from xebench.measuring.checksums import LARGE_BYTES, Inputs, Sums
    from xebench.session.device_memory import DeviceMemory

    memory = DeviceMemory(session.queue)
    large = np.zeros(LARGE_BYTES // 4, np.float32)
    small = np.array([np.nan, 1.0])
    problem = Problem(large=large, small=small, state=inout(np.zeros(2)), y=output(2, np.float32), n=2)
    binding = Binding(problem, {}, memory)
    inputs = Inputs(binding, Sums(session.queue))
    assert inputs.changed() == []
    memory.write(binding.bound.state, np.ones(2))
    memory.write(binding.bound.y, np.ones(2, np.float32))
    assert inputs.changed() == []
    memory.write(binding.bound.large, -large)  # -0.0 equals 0.0, and has other bits
    memory.write(binding.bound.small, np.array([np.nan, 2.0]))
    assert inputs.changed() == ["large", "small"]
    assert inputs.changed() == []
    assert memory.read(binding.bound.small)[1] == 1.0

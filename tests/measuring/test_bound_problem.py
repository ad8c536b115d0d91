"""A problem's arrays on a device, with a fake memory that hands out copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xebench import Problem, inout, output
from xebench.errors import TooLarge
from xebench.measuring.bound_problem import Binding, host_view, output_types, require_memory, tolerances


class DeviceArray:
    """Memory that the host cannot touch but through FakeMemory."""

    def __init__(self, contents: np.ndarray) -> None:
        self.contents: np.ndarray = contents.copy()


class FakeMemory:
    def __init__(self) -> None:
        self.sent = 0

    def upload(self, array: np.ndarray) -> Any:
        self.sent += 1
        return DeviceArray(array)

    upload_guarded = upload

    def write(self, destination: Any, source: np.ndarray) -> None:
        self.sent += 1
        destination.contents[...] = source

    def copy(self, destination: Any, source: DeviceArray) -> None:
        destination.contents[...] = source.contents

    def read(self, source: DeviceArray) -> np.ndarray:
        return source.contents.copy()


def fake_memory() -> Any:
    """Of any type: it has no more of `DeviceMemory` than is used here."""
    return FakeMemory()


def problem_of_each_kind() -> Problem:
    return Problem(
        x=np.arange(4, dtype=np.float32),
        total=inout(np.zeros(1, np.int64)),
        y=output(4, np.float32),
        report=output((2, 2), np.int32, host=True),
        scale=3,
    )


def bind() -> Binding:
    return Binding(problem_of_each_kind(), {"n": 4, "stride": 16}, fake_memory())


def results_of(binding: Binding) -> dict[str, np.ndarray]:
    return {name: binding.read(array) for name, array in binding.written().items()}


def test_variants_see_device_arrays_host_arrays_and_numbers() -> None:
    p = bind().bound
    assert isinstance(p.x, DeviceArray) and isinstance(p.host.x, np.ndarray)
    assert isinstance(p.report, np.ndarray)
    assert (p.n, p.stride, p.scale) == (4, 16, 3)


def test_everything_written_is_declared() -> None:
    binding = bind()
    assert {name: shape for name, (shape, _) in output_types(problem_of_each_kind()).items()} == {
        "y": (4,),
        "report": (2, 2),
        "total": (1,),
    }
    assert set(results_of(binding)) == {"y", "report", "total"}
    assert set(binding.inputs) == {"x"}


def test_an_input_is_compared_by_bits_and_put_back() -> None:
    binding = Binding(Problem(x=np.array([np.nan, 0.0]), empty=np.zeros((0, 2))), {}, fake_memory())
    assert binding.holds_input("x") and binding.holds_input("empty")
    for changed in (np.array([np.nan, -0.0]), np.array([1.0, 0.0])):
        binding.bound.x.contents[...] = changed
        assert not binding.holds_input("x")
        binding.restore("x")
        assert binding.holds_input("x")


def test_a_name_that_the_problem_lacks_is_told_with_those_it_has() -> None:
    p = bind().bound
    for name, advice in (
        ("totl", "did you mean total"),
        ("m", "known are host, n, report, scale, stride, total, x, y"),
    ):
        with pytest.raises(AttributeError, match=f"the problem has no '{name}': {advice}"):
            getattr(p, name)
    with pytest.raises(AttributeError, match="the problem has no 'm': known are report, total, x"):
        getattr(p.host, "m")  # noqa: B009
    with pytest.raises(AttributeError, match="the problem has no 'y': known are n, x"):
        getattr(host_view(Problem(x=np.arange(3), y=output(3, np.int32)), {"n": 3}), "y")  # noqa: B009


def test_what_all_variants_share_cannot_be_set() -> None:
    p = bind().bound
    with pytest.raises(AttributeError, match=r"p\.x cannot be set"):
        p.x = p.y
    p.scratch = 1
    assert p.scratch == 1


def test_reset_restores_states_and_poison_reaches_outputs() -> None:
    binding = bind()
    binding.bound.total.contents[0] = 9
    binding.reset()
    binding.poison({"y": np.full(4, np.nan, np.float32), "report": np.full((2, 2), 7, np.int32), "total": np.ones(1)})
    results = results_of(binding)
    assert results["total"].tolist() == [0]
    assert np.isnan(results["y"]).all()
    assert results["report"].tolist() == [[7, 7], [7, 7]]


def test_the_reference_sees_inputs_and_numbers_but_no_outputs() -> None:
    problem = Problem(x=np.arange(3), total=inout(np.zeros(1)), y=output(3, np.int32))
    view = host_view(problem, {"n": 3})
    assert (view.n, view.total.tolist(), view.x.tolist()) == (3, [0.0], [0, 1, 2])
    assert not hasattr(view, "y")


def test_a_problem_that_does_not_fit_is_refused_with_both_sizes() -> None:
    problem = Problem(x=np.zeros(1 << 20, np.uint8), y=output(1 << 20, np.uint8))
    require_memory(problem, global_memory_bytes=4 << 20, max_alloc_bytes=1 << 20)
    with pytest.raises(TooLarge, match=r"needs 0\.00 GiB of device memory"):
        require_memory(problem, global_memory_bytes=2 << 20, max_alloc_bytes=0)
    with pytest.raises(TooLarge, match="one allocation"):
        require_memory(problem, global_memory_bytes=4 << 20, max_alloc_bytes=1 << 19)


def test_outputs_are_those_that_were_made_whatever_a_variant_puts_in_their_place() -> None:
    binding = bind()
    report = binding.bound.report
    vars(binding.bound)["report"] = np.ones((2, 2), np.int32)
    binding.poison({"report": np.full((2, 2), 7, np.int32), "y": np.zeros(4, np.float32)})
    assert (report == 7).all() and (results_of(binding)["report"] == 7).all()


def test_an_output_has_its_own_tolerances_or_the_patterns() -> None:
    problem = Problem(y=output(1, np.float32), z=output(1, np.float16, rtol=1e-2), s=inout(np.zeros(1), atol=0.5))
    assert tolerances(problem, 1e-5, 1e-6) == {"y": (1e-5, 1e-6), "z": (1e-2, 1e-6), "s": (1e-5, 0.5)}
    with pytest.raises(ValueError, match=r"output\(rtol=1\): give a number from 0, below 1"):
        output(1, np.float32, rtol=1)
    with pytest.raises(ValueError, match=r"inout\(atol=-1\): give a number from 0, below inf"):
        inout(np.zeros(1), atol=-1)

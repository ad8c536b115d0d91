"""Functions of oneMKL that are called by their C++ names: their results, and what is refused before it is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def session() -> Any:
    from xebench.session.session import Session

    return Session.on("cpu")


def on_device(session: Any, array: np.ndarray) -> Any:
    from xebench.session.device_memory import DeviceMemory

    return DeviceMemory(session.queue).upload(array)


def on_host(session: Any, array: Any) -> np.ndarray:
    from xebench.session.device_memory import DeviceMemory

    return DeviceMemory(session.queue).read(array)


def test_a_scaled_vector_is_added(session: Any) -> None:
    from benchmarks.common import onemkl

    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    source, target = on_device(session, x), on_device(session, y)
    session.call(onemkl.axpy, 3, source, target)
    session.wait()
    assert on_host(session, target).tolist() == (y + 3 * x).tolist()


def test_rows_of_a_product_may_lie_further_apart(session: Any) -> None:
    from benchmarks.common import onemkl

    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 10, (5, 16)).astype(np.float32), rng.integers(0, 10, (9, 24)).astype(np.float32)
    factors, product = (on_device(session, a)[:, :9], on_device(session, b)[:, :7]), on_device(session, a[:, :7])
    session.call(onemkl.gemm, *factors, product)
    session.wait()
    assert on_host(session, product).tolist() == (a[:, :9] @ b[:, :7]).tolist()
    session.call(onemkl.gemm, *factors, product, alpha=-3, beta=2)
    session.wait()
    assert on_host(session, product).tolist() == (-a[:, :9] @ b[:, :7]).tolist()


def test_groups_of_products_may_differ_in_their_shapes(session: Any) -> None:
    from benchmarks.common import onemkl

    rng = np.random.default_rng(1)
    groups = []
    for count, m, n, k in ((2, 3, 4, 5), (1, 7, 1, 2), (3, 2, 6, 3)):
        a, b = (rng.integers(0, 10, shape).astype(np.float32) for shape in ((count, m, k), (count, k, n)))
        groups.append((a, b, np.zeros((count, m, n), np.float32)))
    given = [tuple(on_device(session, array) for array in group) for group in groups]
    multiply = onemkl.grouped_gemm(given)
    session.call(multiply)
    session.wait()
    for (a, b, _), (_, _, product) in zip(groups, given, strict=True):
        assert on_host(session, product).tolist() == (a @ b).tolist()
    a, b, _ = given[0]
    with pytest.raises(ValueError, match=r"shapes \(2, 3, 5\), \(2, 5, 4\) and \(3, 2, 6\) do not fit"):
        onemkl.grouped_gemm([(a, b, given[2][2])])


def test_a_mode_that_the_library_does_not_use_is_told(session: Any) -> None:
    from benchmarks.common import onemkl
    from xebench.errors import Unsupported

    a, b = (on_device(session, np.full(shape, 1.001, np.float32)) for shape in ((5, 9), (9, 7)))
    product = on_device(session, np.zeros((5, 7), np.float32))
    with pytest.raises(Unsupported, match="needs a device on which oneMKL uses bf16x2 for 5 x 9 times 9 x 7: "):
        session.call(onemkl.gemm, a, b, product, compute_mode="bf16x2")
    with pytest.raises(ValueError, match="compute mode 'bf17': give one of standard, bf16, "):
        session.call(onemkl.gemm, a, b, product, compute_mode="bf17")
    session.wait()
    assert not on_host(session, product).any(), "nothing was computed"


def test_a_mode_that_the_library_uses_is_tried_once_for_each_shape(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.common import onemkl

    asked = []
    multiply = onemkl._multiply

    def as_on_a_matrix_engine(a: Any, b: Any, c: Any, alpha: float, beta: float, compute_mode: str) -> None:
        asked.append(compute_mode)
        multiply(a, b, c, alpha * (1 if compute_mode == "standard" else 1.01), beta, "standard")

    monkeypatch.setattr(onemkl, "_multiply", as_on_a_matrix_engine)
    monkeypatch.setattr(onemkl, "_tried_modes", set())
    square, product = (on_device(session, np.ones((4, 4), np.float32)) for _ in range(2))
    for _ in range(2):
        session.call(onemkl.gemm, square, square, product, compute_mode="bf16")
    session.wait()
    assert asked == ["standard", "bf16", "bf16", "bf16"]
    assert on_host(session, product)[0, 0] == np.float32(4.04)


def test_numbers_are_those_of_the_generator(session: Any) -> None:
    from benchmarks.common import onemkl

    states = [2**31 - 2]  # the last seed; the product with the multiplier takes 62 bits
    while len(states) < 1001:
        states.append(states[-1] * 1132489760 % (2**31 - 1))
    y = on_device(session, np.zeros(1001, np.float32))
    session.call(onemkl.uniform, states[0], y)
    assert np.allclose(on_host(session, y), np.array(states) / (2**31 - 1), rtol=2**-22, atol=0)
    with pytest.raises(ValueError, match="give one from 1"):
        onemkl.uniform(0, y)


def test_what_does_not_fit_is_refused(session: Any) -> None:
    from benchmarks.common import onemkl

    square = on_device(session, np.zeros((4, 4), np.float32))
    vector = on_device(session, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="do not fit"):
        onemkl.gemm(square, square[:3], square)
    with pytest.raises(ValueError, match="side by side"):
        onemkl.axpy(1, vector[::2], vector[::2])
    with pytest.raises(ValueError, match="x has 4 elements, y 3"):
        onemkl.axpy(1, vector, vector[:3])
    with pytest.raises(ValueError, match="float32 in USM with 1 dimensions"):
        onemkl.axpy(1, np.zeros(4, np.float32), vector)


def test_a_device_that_is_refused_is_unsupported(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.common import onemkl
    from xebench.errors import Unsupported

    def refuse(*_: Any) -> None:
        raise RuntimeError("oneMKL: unsupported device\nand more")

    vector = on_device(session, np.zeros(4, np.float32))
    onemkl._try_device.cache_clear()
    monkeypatch.setattr("dpnp.matmul", refuse)
    with pytest.raises(Unsupported, match=r"axpy does not run on this device: oneMKL: unsupported device$"):
        session.call(onemkl.axpy, 1, vector, vector)


def test_a_part_of_a_device_is_tried_as_the_whole_one() -> None:
    from benchmarks.common import onemkl
    from xebench.session.session import Session

    session = Session.on("cpu")
    if session.device.max_compute_units < 2:
        pytest.skip("a CPU of one core cannot be cut")
    (queue, _) = session.queues_on(2, kind="sub-devices")
    x, y = (session.alloc(8, np.float32, queue=queue) for _ in range(2))
    session.fill(x, np.float32(1), queue=queue)
    session.fill(y, np.float32(2), queue=queue)
    onemkl._try_device.cache_clear()
    session.call(onemkl.axpy, 3, x, y, queue=queue)
    session.wait()
    assert on_host(session, y).tolist() == [5] * 8

"""What the host writes to the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.device


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.complex64])
@pytest.mark.parametrize("shape", [(7,), (1 << 18,), ((1 << 18) + 1,), (3, (1 << 18) + 5), ()])
def test_an_array_of_equal_elements_arrives_and_its_beginning_alone_is_sent(
    shape: tuple[int, ...], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xebench.session import device_memory
    from xebench.session.session import Session

    memory = device_memory.DeviceMemory(Session.on("cpu").queue)
    target = memory.upload(np.zeros(shape, dtype))
    sent: list[int] = []
    copy = device_memory.copy_async

    def noting(queue: Any, destination: Any, source: Any, depends: list[Any]) -> Any:
        sent.append(source.nbytes if isinstance(source, np.ndarray) else 0)
        return copy(queue, destination, source, depends)

    monkeypatch.setattr(device_memory, "copy_async", noting)
    memory.write(target, np.broadcast_to(dtype(3), shape))
    assert sum(sent) == min(np.zeros(shape, dtype).nbytes, (1 << 18) * np.dtype(dtype).itemsize)
    assert (memory.read(target) == dtype(3)).all()

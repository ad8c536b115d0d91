"""Functions that a process of their own imports: some end it."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np

N = 1 << 12


def make_array(session: Any) -> Any:
    import dpnp

    return dpnp.full(N, 2, dtype=np.float32, sycl_queue=session.queue)


def twice(x: Any) -> Any:
    return x + x


def product(x: Any) -> Any:
    return x * x


def crash(x: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    time.sleep(1000)


def fail(x: Any) -> Any:
    raise ZeroDivisionError("own")


def caller() -> int:
    return int(os.environ["XEBENCH_TEST_CALLER"])

"""Functions that a process of their own imports: some end it."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numpy as np

N = 1 << 12


def make_array(session: Any) -> Any:
    import dpnp

    return dpnp.full(N, 2, dtype=np.float32, sycl_queue=session.queue)


def make_random_array(session: Any) -> Any:
    import dpnp

    return dpnp.asarray(np.random.default_rng().random(N), sycl_queue=session.queue)


def sum_of_two(x: Any) -> Any:
    return x.__add__(x)


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


def leave() -> None:
    sys.exit(3)


def caller() -> int:
    return int(os.environ["XEBENCH_TEST_CALLER"])


class Busy:
    """In place of a queue that nobody times: it has work left when `early` gave it some."""

    has_work = False

    def wait(self) -> None:
        if self.has_work:
            time.sleep(0.05)
        self.has_work = False


def early(x: Any) -> Any:
    """Return before the device is done."""
    from xebench.dpex import direct_calls

    direct_calls.live_queues = lambda **_: [QUEUE]  # in this process, which is the function's own
    QUEUE.has_work = True
    return x * x


QUEUE = Busy()

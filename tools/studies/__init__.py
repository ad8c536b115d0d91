"""Studies of the instrument itself: programs that measure how well xebench measures; and the load that they share.

The load is processes that work in bursts, as other users of a shared machine do: each works and rests in turn, for
exponentially distributed times.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

BURST_S: Final = 0.05
PAUSE_S: Final = 0.1
#: Parts of a burst between looks at the clock.
_STEPS: Final = 2000


@contextmanager
def background_load(seed: int) -> Iterator[None]:
    """One process of bursts for each core that this process may use, busy a third of the time, until the block ends."""
    commands = [
        [sys.executable, "-c", f"from {__name__} import burst; burst({seed + core})"]
        for core in range(len(os.sched_getaffinity(0)))
    ]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    try:
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()  # it is running
        yield
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.communicate()


def burst(seed: int) -> None:
    """Work and rest in turn for as long as the parent lives."""
    parent, source = os.getppid(), random.Random(seed)
    print("running", flush=True)
    while os.getppid() == parent:
        end = time.monotonic() + source.expovariate(1 / BURST_S)
        while time.monotonic() < end:
            sum(range(_STEPS))
        time.sleep(source.expovariate(1 / PAUSE_S))

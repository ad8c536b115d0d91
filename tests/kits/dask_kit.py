"""A Dask scheduler and workers as processes of this machine, which a test may kill; each worker has a host's name.

python dask_kit.py scheduler
python dask_kit.py worker ADDRESS HOST
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self


class Cluster:
    """A context manager: a scheduler with workers of one thread and without nannies.

    Args:
        folder: for what workers put on disk, and for their output.
        hosts: a worker for each; its process believes that its host has this name.
        environment: of the workers, beside this process's.
    """

    def __init__(self, folder: Path, hosts: tuple[str, ...], environment: Mapping[str, str] | None = None) -> None:
        self._folder, self._hosts = folder, hosts
        self._environment = {**os.environ, **(environment or {})}
        self.workers: dict[str, subprocess.Popen[str]] = {}
        self.addresses: dict[str, str] = {}

    def __enter__(self) -> Self:
        self.scheduler, self.address = self._start("scheduler")
        for host in self._hosts:
            self.workers[host], self.addresses[host] = self._start("worker", self.address, host)
        return self

    def __exit__(self, *error: object) -> None:
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()

    def _start(self, *arguments: str) -> tuple[subprocess.Popen[str], str]:
        """A process, and the first line that it prints: it is ready then."""
        with (self._folder / f"{'-'.join(arguments[::2])}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, __file__, *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._folder,
                env=self._environment,
            )
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line, Path(log.name).read_text()
        return process, line

    def kill(self, pid: int) -> str:
        """Kill the worker of a process id as ``kill -9`` does; gives its host."""
        os.kill(pid, signal.SIGKILL)
        return next(host for host, process in self.workers.items() if process.pid == pid)


async def scheduler() -> None:
    """Run a scheduler until the process is killed."""
    from distributed import Scheduler

    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as running:
        print(running.address, flush=True)
        await running.finished()


async def worker(address: str, host: str) -> None:
    """Run a worker on a host of this name, likewise."""
    socket.gethostname = lambda: host
    from distributed import Worker

    async with Worker(
        address, nthreads=1, host="127.0.0.1", dashboard=False, local_directory=f"{host}-files"
    ) as running:
        print(running.address, flush=True)
        await running.finished()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    asyncio.run(worker(*rest) if what == "worker" else scheduler())

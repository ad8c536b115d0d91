"""The side of the scheduler's workers: a plugin that announces a worker's device, and the task that measures a family.

Dask gives the plugin to every worker, also to one that comes later. It makes the class of the worker's device one of
its resources, so that Dask sends it families that need that class, one at a time.
"""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import WorkerPlugin, get_worker

from xebench.runner.cluster.agent import Agent, announce
from xebench.runner.cluster.order import Announcement, FamilyOrder, FamilyResult, Order


class DevicePlugin(WorkerPlugin):  # type: ignore[misc]  # untyped if the extra is not installed
    """A run on a worker.

    Args:
        order: order of the run; the run's name is the plugin's.
    """

    def __init__(self, order: Order) -> None:
        self.order = order
        self.name = order.name
        self.announced: Announcement | None = None
        self._agent: Agent | None = None

    async def setup(self, worker: Any) -> None:
        """Announce the worker's device, as a resource of its class."""
        self.announced = announced = await asyncio.to_thread(announce, self.order)
        if (offered := announced.offers) and not worker.state.total_resources.get(offered):
            await worker.set_resources(**{offered: 1})
        worker.log_event(self.order.name, ["worker", None, worker.address, ""])

    async def teardown(self, worker: Any) -> None:
        """The run is over: so is what the worker does for it."""
        if self._agent is not None:
            await asyncio.to_thread(self._agent.close)

    def measure(self, asked: FamilyOrder, worker: Any) -> FamilyResult:
        """Measure a family; the command gets its progress meanwhile."""
        announced = self.announced
        assert announced is not None  # before, it had no resource

        def tell(what: str, text: str) -> None:
            worker.log_event(self.order.name, [what, self._number, announced.host, text])

        self._number = asked.number
        if self._agent is None:
            self._agent = Agent(self.order, announced, tell)
        return self._agent.measure(asked)


def measure_family(run: str, asked: FamilyOrder) -> FamilyResult:
    """The task that measures a family for a run."""
    worker = get_worker()
    plugin: DevicePlugin = worker.plugins[run]
    return plugin.measure(asked, worker)


def announcement(run: str, dask_worker: Any) -> Announcement | None:
    """A worker's announcement for a run, read on the worker itself."""
    plugin = dask_worker.plugins.get(run)
    return None if plugin is None else plugin.announced

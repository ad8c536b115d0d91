"""The scheduler as a run sees it: connected to in one line or not at all, and every loss of it is one error."""

from __future__ import annotations

import asyncio
import logging
import queue
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Self, TypeVar

from xebench.errors import BrokenEnvironment, NoDevice, XebenchError, describe_error, first_line
from xebench.runner.cluster.order import Announcement, FamilyOrder, Order

#: Seconds in which a scheduler must answer.
CONNECT_S: Final = 10.0

T = TypeVar("T")


class NoScheduler(NoDevice):
    """No scheduler whose workers can measure answers at the address."""


class SchedulerLost(XebenchError):
    """The scheduler does not answer any more."""

    def __init__(self, address: str) -> None:
        super().__init__(f"the scheduler at {address} is gone: start it and its workers again, then resume the run")


class Scheduler:
    """A connection to a Dask scheduler; a context manager.

    Args:
        address: address as the scheduler prints it, or ``host:port``.

    Attributes:
        news: messages of workers and tasks, in order of arrival.

    Raises:
        BrokenEnvironment: the extra is not installed.
        NoScheduler: no scheduler answers at the address.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise BrokenEnvironment(
                f"--on needs Dask's scheduler client ({first_line(error)}): pip install distributed"
            ) from None
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what it has to say comes as an exception, too
        self.address = address
        self.news: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            # checked first: the client waits forever for a server that is no scheduler
            kind = asyncio.run(asyncio.wait_for(_kind(address), CONNECT_S))
            if kind != "Scheduler":
                raise ValueError(f"it is a {kind}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of versions that differ, in a table
                self._client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False, name="xebench")
        except Exception as error:  # of a wrong address it may be any
            why = first_line(error) or f"no answer for {CONNECT_S:g} s"
            raise NoScheduler(
                f"no Dask scheduler answers at {address} ({why}): give the address that 'dask scheduler' prints"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(Exception):
            self._client.close(timeout=CONNECT_S)

    @contextmanager
    def running(self, order: Order) -> Iterator[None]:
        """Within this block the workers, also those that come later, take families of a run.

        Raises:
            XebenchError: a worker cannot take the run.
        """
        if not self.workers():
            raise NoScheduler(
                f"the scheduler at {self.address} has no workers: run 'dask worker {self.address}' on each host, one "
                "for each device"
            )
        from xebench.runner.cluster.dask_worker import DevicePlugin

        self._client.subscribe_topic(order.name, lambda event: self.news.put(event[1]))
        try:
            try:
                self._client.register_plugin(DevicePlugin(order), name=order.name)
            except OSError:
                raise SchedulerLost(self.address) from None
            except Exception as error:
                raise XebenchError(
                    f"a worker of {self.address} cannot take a run ({describe_error(error)}): install xebench's extra "
                    "cluster in the environment of each"
                ) from None
            yield
        finally:
            with suppress(Exception):
                self._client.unregister_worker_plugin(order.name)

    def announcements(self, order: Order, addresses: list[str] | None = None) -> Mapping[str, Announcement]:
        """The workers' announcements, by address; none for workers that are gone, or not ready."""
        from xebench.runner.cluster.dask_worker import announcement

        told = self._sure(
            lambda: self._client.run(announcement, order.name, workers=addresses, on_error="ignore", wait=True)
        )
        return {address: one for address, one in told.items() if isinstance(one, Announcement)}

    def workers(self) -> set[str]:
        """The addresses of the workers that there are now."""
        return set(self._sure(lambda: self._client.scheduler_info()["workers"]))

    def submit(self, order: Order, asked: FamilyOrder, device_class: str) -> Any:
        """Submit a family for a device of a class; when it is over its future is in `news`, as ``done``."""
        from xebench.runner.cluster.dask_worker import measure_family

        future = self._sure(
            lambda: self._client.submit(
                measure_family,
                order.name,
                asked,
                key=f"{asked.family.title()}-{order.name}-{asked.number}-{id(asked)}",
                resources={device_class: 1},
                priority=-asked.number,
                pure=False,
            )
        )
        self.tell_when_done(asked.number, future)
        return future

    def tell_when_done(self, number: int, future: Any) -> None:
        """Put the future of a family into `news` when it is over."""
        future.add_done_callback(lambda done: self.news.put(["done", number, "", done]))

    def cancel(self, futures: list[Any]) -> None:
        """Cancel all families, as far as the scheduler can be reached."""
        with suppress(Exception):
            if futures:
                self._client.cancel(futures)

    def check(self) -> None:
        """Raise `SchedulerLost` when it is."""
        if self._client.status != "running":
            raise SchedulerLost(self.address)

    def _sure(self, action: Callable[[], T]) -> T:
        self.check()
        try:
            return action()
        except (OSError, TimeoutError):
            raise SchedulerLost(self.address) from None


async def _kind(address: str) -> str:
    """The type that a Dask server reports: Scheduler, Worker or Nanny."""
    from distributed.core import rpc

    async with rpc(address, timeout=CONNECT_S / 2) as server:
        return str((await server.identity())["type"])

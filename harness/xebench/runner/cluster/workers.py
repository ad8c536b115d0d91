"""The workers of a run: which of them can measure, on what, and what became of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Final

from xebench.errors import NoDevice, XebenchError
from xebench.measuring.sampling.limits import Clock
from xebench.runner.cluster.order import Announcement, Order
from xebench.runner.cluster.scheduler import Scheduler
from xebench.runner.run_options import Progress
from xebench.system.runtime import DeviceInfo
from xebench.tables import RunWriter
from xebench.vocabulary import DeviceClass

#: Seconds between two looks at who is there.
LOOK_S: Final = 1.0

#: Seconds for which a run waits for a worker when the last one is gone: a nanny takes some to start another.
WAIT_S: Final = 60.0


class Workers:
    """The workers that can measure, all on devices of one class.

    Args:
        scheduler: whose.
        order: of the run.
        progress: is told of workers that come and go.
        clock: seconds, for tests.

    Attributes:
        device_class: of the devices.

    Raises:
        XebenchError: one has other software, or two machines have one name.
        NoDevice: none has a device that was asked for.
    """

    def __init__(self, scheduler: Scheduler, order: Order, progress: Progress, clock: Clock = time.monotonic) -> None:
        self._scheduler, self._order, self._progress, self._clock = scheduler, order, progress, clock
        told = dict(scheduler.announcements(order))
        for address, one in told.items():
            if one.different:
                raise XebenchError(f"the worker {address} on {one.host} {one.different}")
        _check_names(told.values())
        offered = {one.offers for one in told.values()}
        self.device_class = str(DeviceClass.GPU if DeviceClass.GPU in offered else DeviceClass.CPU)
        self._able = {address: one for address, one in told.items() if one.offers == self.device_class}
        if not self._able:
            reasons = "; ".join(sorted({f"{one.host}: {one.unfit}" for one in told.values()}))
            raise NoDevice(
                f"no worker of {scheduler.address} has a device to measure on ({reasons or 'none is ready'})"
            )
        self._hosts = {one.host: one for one in told.values() if one.offers}
        self._told, self._before = set(told), set(self._able)
        self._looked_s = self._seen_s = clock()
        self._tell(told)

    def _tell(self, told: dict[str, Announcement]) -> None:
        if _asks_auto(self._order) and self.device_class == DeviceClass.CPU:
            self._progress.say("no worker has a GPU: falling back to CPU devices")
        for address, one in told.items():
            if address in self._able and one.device is not None:
                device = one.device
                self._progress.say(f"{one.host}: {device.name} ({device.device}, driver {device.driver_version})")
            else:
                self._progress.say(f"{one.host} is left out: {one.unfit or f'no {self.device_class}'}")
        places = [(one.host, one.device.device) for one in self._able.values() if one.device is not None]
        for (host, filter_string), count in Counter(places).items():
            if count > 1:
                what = f"{count} workers share {filter_string} of {host}"
                self._progress.say(f"{what}: their families wait for one another")

    def devices(self) -> list[DeviceInfo]:
        """The devices of the class."""
        return [one.device for one in self._able.values() if one.device is not None]

    def device_count(self) -> int:
        """The number of devices that measure at the same time: workers that share one wait for one another."""
        return len({(one.host, one.device.device) for one in self._able.values() if one.device is not None})

    def most_lanes(self) -> int:
        """Work-items that fill any of the devices."""
        return max(one.lanes for one in self._able.values())

    def note_hosts(self, writer: RunWriter) -> None:
        """Put the facts of the hosts into the manifest."""
        hosts = {host: dict(one.facts) for host, one in self._hosts.items()}
        writer.note(hosts={**writer.manifest.get("hosts", {}), **hosts})

    def add(self, address: str) -> None:
        """A worker has come, and announced itself."""
        if address in self._told:
            return
        self._told.add(address)
        for one in self._scheduler.announcements(self._order, [address]).values():
            if one.offers != self.device_class:
                why = one.different or one.unfit or f"has no {self.device_class}"
                self._progress.say(f"a new worker on {one.host} is left out: {why}")
            else:
                self._progress.say(f"a new worker on {one.host} takes part")
                self._able[address] = one
                self._hosts[one.host] = one

    def look(self) -> bool:
        """Look for workers that are gone, once a second; whether all of before are gone, and others have come.

        Raises:
            NoDevice: there has been none for too long.
        """
        now_s = self._clock()
        if now_s - self._looked_s < LOOK_S:
            return False
        self._looked_s = now_s
        here = self._scheduler.workers()
        for address in [address for address in self._able if address not in here]:
            host = self._able.pop(address).host
            self._progress.say(f"a worker on {host} is gone: what it was at goes to another")
        before, self._before = self._before, set(self._able)
        if self._able:
            self._seen_s = now_s
        elif now_s - self._seen_s > WAIT_S:
            raise NoDevice(
                f"no worker with a {self.device_class} is left at {self._scheduler.address}: start one, then resume"
            )
        return bool(self._able) and not before & self._before


def _check_names(told: Iterable[Announcement]) -> None:
    """Raise where two machines have one name, which would be one key."""
    machines: dict[str, str] = {}
    for one in told:
        if machines.setdefault(one.host, one.machine) != one.machine:
            raise XebenchError(f"two machines are both named {one.host}: give each a name of its own")


def _asks_auto(order: Order) -> bool:
    """True if the user left the class of the devices open."""
    return order.recipe.device == "auto" and not order.recipe.require_gpu

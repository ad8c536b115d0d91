"""The state of the machine while samples are taken, and a clock that leaves out the time in which it stopped us.

A few files of ``/proc`` and ``/sys`` that stay open, read between the samples: on two cores about 20 us altogether.
What a machine does not report is null.

A laptop's lid, a debugger or a batch system stops every process of a run at once. That is no variant's fault, and it
takes nothing from the budget for sampling.
"""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from xebench.measuring.core_waiting import CoreWaiting
from xebench.measuring.machine_files import Files
from xebench.measuring.sampling import Clock
from xebench.vocabulary import Flag, RoundPart

#: Number of first states that define the usual one; later ones are checked for changes.
REFERENCE_STATES: Final = 4

#: Change in the share of contended or stolen time that counts as another state of the machine.
LOAD_CHANGE: Final = 0.2

#: Relative change of a clock that counts as another state.
CLOCK_CHANGE: Final = 0.1

#: The flag of a sample if a column of the table `machine` differs from its value in the beginning.
FLAGS: Final = {
    "contended": Flag.CONTENTION,
    "stolen": Flag.STOLEN,
    "cpu_mhz": Flag.CLOCK,
    "gpu_limit_mhz": Flag.CLOCK,
    "throttled": Flag.THROTTLING,
    "gpu_clients": Flag.SHARED,
}

#: Seconds between two looks at other users of the GPU, which take milliseconds.
GPU_CLIENTS_S: Final = 2.0


class MachineMonitor:
    """Reads the machine's state between samples and flags samples whose state differs from that of the beginning.

    Args:
        device_class: gpu or cpu, which selects the clock to watch.
        root: directory that contains ``proc`` and ``sys``.
        clock: seconds.
    """

    def __init__(
        self, device_class: str, *, root: Path = Path("/"), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._root = root
        self._cores = CoreWaiting(root)
        self._load = Files(root, "proc/loadavg")
        self._pressure = Files(root, "proc/pressure/cpu")
        self._stat = Files(root, "proc/stat")
        self._cpu_clock = Files(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
        self._cpu_throttle = Files(root, "sys/devices/system/cpu/cpu0/thermal_throttle/*_throttle_count")
        self._gpu_clock = Files(root, *_gpu("rps_act_freq_mhz", "act_freq"))
        self._gpu_limit = Files(root, *_gpu("rps_max_freq_mhz", "max_freq"))
        self._gpu_throttle = Files(root, *_gpu("throttle_reason_status", "throttle/status"))
        self._has_gpu = device_class == "gpu"
        # where the system counts no thread's waiting, a change of all tasks' waiting must do
        load = () if self._cores.is_known else ("contended",)
        self._decisive = (*load, "stolen", "gpu_limit_mhz" if self._has_gpu else "cpu_mhz")
        self._clients: int | None = None
        self._clients_due = clock()
        self._first: list[dict[str, Any]] = []
        self._throttled = False
        self._usual_status = 0.0
        self._before = self._counters()

    def observe(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The state since the last call, and the names of what has changed since the beginning.

        Columns of the table `machine`, null if the machine does not report them.
        """
        state = self._read()
        changed = tuple(self._changed(state))
        if len(self._first) < REFERENCE_STATES:
            self._first.append(state)
        return state, changed

    def begin_sample(self) -> None:
        """A sample begins."""
        self._cores.begin()

    def waited(self, *, on_device_clock: bool) -> float | None:
        """The part of the core time that the process wanted since `begin_sample` and others had; None if unknown.

        Args:
            on_device_clock: True if the sample is timed by the device's clock, which does not wait for a GPU's host.
        """
        return None if self._has_gpu and on_device_clock else self._cores.part()

    def close(self) -> None:
        """Close the files."""
        self._cores.close()
        for value in vars(self).values():
            if isinstance(value, Files):
                value.close()

    def _read(self) -> dict[str, Any]:
        now, before = self._counters(), self._before
        self._before = now
        status = self._gpu_throttle.numbers()
        if len(self._first) < REFERENCE_STATES:
            self._usual_status = sum(status)
        # a CPU counts how often it was throttled, Intel's GPU drivers report whether a GPU is throttled now
        self._throttled = now.throttles != before.throttles or sum(status) > self._usual_status
        throttles = [*([] if now.throttles is None else [now.throttles]), *status]
        return {
            "load_average": next(iter(self._load.numbers()), None),
            "contended": _part(before.contended_us, now.contended_us, 1e6 * (now.time_s - before.time_s)),
            "stolen": _part(before.stolen, now.stolen, now.cores - before.cores),
            "cpu_mhz": next((khz / 1000 for khz in self._cpu_clock.numbers()), None),
            "gpu_mhz": max(self._gpu_clock.numbers(), default=None),
            "gpu_limit_mhz": min(self._gpu_limit.numbers(), default=None),
            "throttled": int(sum(throttles)) if throttles else None,
            "gpu_clients": self._gpu_clients(),
        }

    def _counters(self) -> _Counters:
        some = self._pressure.text().partition("total=")[2].partition("\n")[0]
        ticks = [int(word) for word in self._stat.text().partition("\n")[0].split()[1:9]]
        return _Counters(
            self._clock(),
            int(some) if some else None,
            ticks[7] if len(ticks) > 7 else None,
            sum(ticks),
            sum(throttles) if (throttles := self._cpu_throttle.numbers()) else None,
        )

    def _gpu_clients(self) -> int | None:
        if self._has_gpu and self._clock() >= self._clients_due:
            self._clients = len(gpu_processes(self._root) - {os.getpid()})
            self._clients_due = self._clock() + GPU_CLIENTS_S
        return self._clients

    def _changed(self, state: dict[str, Any]) -> Iterator[str]:
        if len(self._first) < REFERENCE_STATES:
            return
        for name in self._decisive:
            values = [first[name] for first in self._first]
            now = state[name]
            if now is None or None in values:
                continue
            usual = statistics.median(values)
            limit = CLOCK_CHANGE * usual if name.endswith("_mhz") else LOAD_CHANGE
            if abs(now - usual) > limit:
                yield name
        if self._throttled:
            yield "throttled"
        if state["gpu_clients"] != self._first[-1]["gpu_clients"]:
            yield "gpu_clients"


@dataclass(frozen=True)
class _Counters:
    """Counters that only grow: the clock in s, contention in us, stolen and all ticks of the cores, and throttling
    events of the CPU.
    """

    time_s: float
    contended_us: int | None
    stolen: int | None
    cores: int
    throttles: float | None


def gpu_processes(root: Path = Path("/")) -> set[int]:
    """Processes that have a GPU open, as far as this user may see, by the ``drm-client-id`` of their descriptors."""
    return {
        int(folder.name)
        for folder in (root / "proc").glob("[0-9]*")
        if any(b"drm-client-id" in content for content in _contents(folder / "fdinfo"))
    }


def _contents(folder: Path) -> Iterator[bytes]:
    try:
        for file in folder.iterdir():
            yield file.read_bytes()
    except OSError:  # of another user, or ended meanwhile
        return


def _gpu(i915: str, xe: str) -> tuple[str, str]:
    """The file patterns of Intel's two kernel drivers for one number of each tile."""
    return f"sys/class/drm/card*/gt/gt*/{i915}", f"sys/class/drm/card*/device/tile*/gt*/freq0/{xe}"


def _part(before: float | None, now: float | None, whole: float) -> float | None:
    return None if before is None or now is None or whole <= 0 else (now - before) / whole


#: Shortest sleep that counts, in seconds: two clocks read one after the other differ by far less.
_ASLEEP_S: Final = 0.1


class _Stops:
    """The stops of this process."""

    ended = 0


def note_stops() -> None:
    """Note from now on when this process goes on after it was stopped; for the main thread of a process of ours."""
    signal.signal(signal.SIGCONT, _continued)


def _continued(number: int, frame: FrameType | None) -> None:
    _Stops.ended += 1


class RunningClock:
    """Seconds, without those between two looks at it between which the process was stopped or the machine slept."""

    def __init__(self) -> None:
        self._left_out_s = 0.0
        self._looked_s = time.monotonic()
        self._stops = _Stops.ended, _asleep_s()

    def __call__(self) -> float:
        """Seconds since an arbitrary point in time."""
        self.was_stopped()
        return self._looked_s - self._left_out_s

    @contextmanager
    def stands_still(self) -> Iterator[None]:
        """Leave out what is done in here, too."""
        begin = self()
        try:
            yield
        finally:
            self._left_out_s += self() - begin

    def was_stopped(self) -> bool:
        """True if the process was stopped, or the machine slept, since the last call."""
        before, (times, asleep_s) = self._looked_s, self._stops
        self._looked_s, self._stops = time.monotonic(), (_Stops.ended, _asleep_s())
        stopped = self._stops[0] != times or self._stops[1] - asleep_s > _ASLEEP_S
        if stopped:
            self._left_out_s += self._looked_s - before
        return stopped


def _asleep_s() -> float:
    """Seconds for which the machine has slept since it was started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


class RoundClock:
    """Adds up the seconds of a round by its parts; every second belongs to one of them.

    Args:
        clock: seconds, for tests.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._part, self._since = RoundPart.ENDING, clock()
        self._seconds: dict[str, float] = defaultdict(float)

    def enter(self, part: RoundPart) -> RoundPart:
        """Begin a part; returns the one before."""
        before, now = self._part, self._clock()
        self._seconds[before] += now - self._since
        self._part, self._since = part, now
        return before

    @contextmanager
    def during(self, part: RoundPart) -> Iterator[None]:
        """Count this block as a part, and what follows it as the part before."""
        before = self.enter(part)
        try:
            yield
        finally:
            self.enter(before)

    def count_as(self, part: RoundPart, seconds: float) -> None:
        """Seconds of the part that is under way belong to another."""
        self._seconds[self._part] -= seconds
        self._seconds[part] += seconds

    def take(self) -> dict[str, float]:
        """The seconds since the last call, by part."""
        self.enter(self._part)
        taken, self._seconds = dict(self._seconds), defaultdict(float)
        return taken

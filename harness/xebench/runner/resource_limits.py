"""Limits of a run: memory, seconds, and a device that other runs may use; and the signals that stop it cleanly."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec

from xebench.errors import XebenchError
from xebench.results.provenance import now
from xebench.system.children.process import STOPPING

DEFAULT_MEMORY: Final = "80%"
#: A worker with the SYCL runtime and numba occupies about 300 MiB.
LEAST_MEMORY: Final = 512 << 20

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT]?)(?:i?B)?|(%))", re.IGNORECASE)


def parse_memory(text: str, total_bytes: int) -> int:
    """Bytes of ``8G``, ``512M`` or ``80%`` (of ``total_bytes``).

    Raises:
        XebenchError: the text has another form, or it is less than a worker needs before it measures anything.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or not float(match[1]):
        raise XebenchError(
            f"--memory-limit {text!r}: write a size as 8G or 512M, or a part of the host's memory as 80%"
        )
    scale = total_bytes / 100 if match[3] else _UNITS[match[2].upper()]
    limit = float(match[1]) * scale
    if limit < LEAST_MEMORY:
        raise XebenchError(f"--memory-limit {text!r}: a worker process needs at least 512M; raise it")
    return int(limit)


def host_memory_bytes(root: Path = Path("/")) -> int:
    """The memory that this process can have: the host's, or less in a container or a batch job.

    Args:
        root: directory that contains ``proc`` and ``sys``.
    """
    import psutil

    return min([int(psutil.virtual_memory().total), *_control_group_limits(root)])


def _control_group_limits(root: Path) -> list[int]:
    """``memory.max`` of the process's control group and of those above it (version 2)."""
    groups = root / "sys/fs/cgroup"
    try:
        own = re.search(r"^0::/(.*)$", (root / "proc/self/cgroup").read_text(), re.MULTILINE)
    except OSError:
        return []
    folder = groups / (own[1] if own else "")
    limits = []
    for group in (folder, *folder.parents):
        try:
            limits.append(int((group / "memory.max").read_text()))
        except (OSError, ValueError):  # "max" is no limit
            continue
    return limits


#: Seconds that a run has after its start for a first sample.
FIRST_SAMPLE_S: Final = 30.0


@dataclass
class RunBudget:
    """Seconds that a whole run may take.

    Until there is a sample, `FIRST_SAMPLE_S` are left after the start, whatever the limit: no run ends without one.

    Attributes:
        seconds: limit in seconds; None for no limit.
        clock: seconds, for tests.
        begun_s: start of the run, by the clock; None for now.
        reserve_s: function that returns the seconds needed to finish the run.
    """

    seconds: float | None
    clock: Callable[[], float] = time.monotonic
    begun_s: float | None = None
    reserve_s: Callable[[], float] = lambda: 0.0

    def __post_init__(self) -> None:
        if self.begun_s is None:
            self.begun_s = self.clock()
        self._sampling_s = self.begun_s
        self._has_sample: Callable[[], bool] = lambda: True

    def begin_sampling(self, has_sample: Callable[[], bool]) -> None:
        """Note that the start of the run is over.

        Args:
            has_sample: function that returns True as soon as there is a sample.
        """
        self._sampling_s, self._has_sample = self.clock(), has_sample

    def left_s(self) -> float:
        """The seconds left for measuring; infinite without a limit."""
        if self.seconds is None:
            return math.inf
        # the estimate takes time itself, so it is skipped when none is left
        reserve_s = self.reserve_s() if self._rest_s() > 0 else 0.0
        left_s = self._rest_s() - reserve_s
        least_s = 0.0 if self._has_sample() else FIRST_SAMPLE_S - (self.clock() - self._sampling_s)
        return max(left_s, least_s) if least_s > 0 else left_s

    @property
    def spent(self) -> str:
        """The message when nothing is left; it names the start where that took most."""
        assert self.begun_s is not None
        told, start_s = f"the budget of {self.seconds:g} s for the run is spent", self._sampling_s - self.begun_s
        long = self.seconds is not None and start_s > self.seconds / 2
        return f"{told} ({start_s:.0f} s of it before the first family: raise --run-budget)" if long else told

    def _rest_s(self) -> float:
        assert self.seconds is not None and self.begun_s is not None
        return self.seconds - (self.clock() - self.begun_s)


class Stopped(BaseException):
    """A signal ended the run. No ``Exception``, so that nothing that handles errors takes it for one."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name


class StoppedEarly(XebenchError):
    """A signal came before there was a run folder."""

    def __init__(self, name: str) -> None:
        super().__init__(f"stopped by {name} before anything was measured")
        self.exit_code = exit_code(name)


def exit_code(name: str) -> int:
    """The exit status that shells expect of a command that the signal ``name`` ended."""
    return 128 + signal.Signals[name]


class StopSignals:
    """Handlers for the time of a run.

    The first signal raises `Stopped`: at once, or, within `held`, at the next `raise_caught`. Every later one is
    ignored: the run is ending already, and a second Ctrl-C must not tear the folder.
    """

    def __init__(self) -> None:
        self._caught: int | None = None
        self._over = False
        self._held = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                # signals that the caller ignores (nohup, a shell's background job) stay ignored
                if (before := signal.getsignal(number)) is not signal.SIG_IGN:
                    self._before[number] = before
                    signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        self.ignore()
        for number, before in self._before.items():
            signal.signal(number, before)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within this block a signal waits for `raise_caught`, or for the end of the block."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.raise_caught()

    def raise_caught(self) -> None:
        """Raise `Stopped` for a signal that waits."""
        if self._caught is not None and not self._over:
            self._over = True
            raise Stopped(self._caught)

    def ignore(self) -> None:
        """Ignore signals from now on: the run is over and its folder is being finished."""
        self._over = True

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._caught = number if self._caught is None else self._caught
        if not self._held:
            self.raise_caught()


# Seconds between two looks for other runs.
LOOK_S: Final = 1.0
# Folders from that of a device up to the runtime folder: its key, devices, xebench.
_DEPTH: Final = 4


class OtherRun(msgspec.Struct, frozen=True):
    """A run, as seen by others on its device.

    Attributes:
        pid: process of the run.
        output: folder of the run.
        since: start time, ISO 8601.
        exclusive: True if it must have the device alone.
    """

    pid: int
    output: str
    since: str
    exclusive: bool = False

    def __str__(self) -> str:
        return f"process {self.pid}, run folder {self.output}" if self.pid else f"unknown, by {self.output}"


def device_key(device: Mapping[str, Any]) -> str:
    """A name for the physical device of a row of ``devices``.

    The back-end is left out: ``level_zero:gpu:0`` and ``opencl:gpu:0`` are one device. Where the driver gives a
    `hardware_id`, that takes the place of the number, which is 0 for each of two devices that are chosen by a mask.
    """
    which = device.get("hardware_id") or str(device["device"]).rpartition(":")[2]
    return re.sub(r"[^A-Za-z0-9]+", "-", f"{device['device_class']}-{which}-{device['name']}").strip("-")


def locks_folder() -> Path:
    """The folder in which runs announce themselves: local to the host, one for each user."""
    import platformdirs

    with warnings.catch_warnings():
        # without XDG_RUNTIME_DIR (cron, containers) it names a folder in /tmp and warns of it
        warnings.simplefilter("ignore")
        return Path(platformdirs.user_runtime_dir("xebench")) / "devices"


class DeviceLock:
    """Shows that this run uses a device, until `release` or the end of the process.

    Args:
        key: key of the device (`device_key`).
        mine: entry of this run that other runs read.
        folder: folder in which runs register.

    Raises:
        OSError: the folder cannot be written, or belongs to another user.
    """

    def __init__(self, key: str, mine: OtherRun, folder: Path) -> None:
        self._folder = own_folder(folder / key)
        self._path = self._folder / f"{mine.pid}-{time.monotonic_ns()}.json"
        hidden, content = self._path.with_suffix(".new"), msgspec.json.encode(mine)
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        os.write(self._file, content)
        hidden.rename(self._path)  # only now: a file that can be seen is locked while its run lives

    def others(self) -> list[OtherRun]:
        """The other runs on the device, now."""
        paths = [path for path in sorted(self._folder.glob("*.json")) if path != self._path]
        return [run for path in paths if (run := _living(path)) is not None]

    def release(self) -> None:
        """Release the device; a second call does nothing."""
        if self._file >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def own_folder(folder: Path) -> Path:
    """A folder for locks, which is made if need be; what lies in it and the three above it are this user's.

    Raises:
        OSError: it cannot be made, or belongs to another user, who could put anything there.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for place in (folder, *folder.parents[: _DEPTH - 1]):
        if place.stat().st_uid != os.geteuid():
            raise PermissionError(errno.EACCES, "it belongs to another user", str(place))
    return folder


def _living(path: Path) -> OtherRun | None:
    """Whose file this is; None, and the file is removed, when its process is gone."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe has no end
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(os.read(file, 1 << 16), type=OtherRun)
        return OtherRun(0, str(path), "")  # another run is there, perhaps of another version
    except OSError:
        return None
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    finally:
        os.close(file)


@dataclass
class SharingWatch:
    """Looks for other runs while this one goes on, and reports each one once.

    Attributes:
        lock: lock of this run; None if other runs are invisible.
        tell: callback for each new run.
        clock: seconds, for tests.
    """

    lock: DeviceLock | None
    tell: Callable[[OtherRun], None]
    clock: Callable[[], float] = time.monotonic
    _looked_s: float = float("-inf")
    _others: set[OtherRun] = field(default_factory=set)
    _told: set[OtherRun] = field(default_factory=set)

    def shared(self) -> bool:
        """True if another run is on the device, as of the last second."""
        if self.lock is not None and self.clock() - self._looked_s >= LOOK_S:
            self._looked_s = self.clock()
            self._others = set(self.lock.others())
            for run in self._others - self._told:
                self._told.add(run)
                self.tell(run)
        return bool(self._others)


@contextmanager
def device_lock(
    device: Mapping[str, Any],
    output: Path,
    *,
    exclusive: bool,
    folder: Path | None = None,
    unseen: Callable[[str], object] = lambda why: None,
) -> Iterator[DeviceLock | None]:
    """Within this block others see a run on ``device``.

    Gives None where the runtime folder cannot be written: ``unseen`` hears why.

    Raises:
        XebenchError: another run is there, and one of the two is exclusive.
    """
    mine = OtherRun(os.getpid(), str(output.resolve()), now(), exclusive)
    place = folder or locks_folder()
    try:
        lock = DeviceLock(device_key(device), mine, place)
    except OSError as error:
        if exclusive:
            raise XebenchError(f"--exclusive: other runs cannot be seen ({error}): leave it out") from None
        unseen(f"{place} cannot be written ({error.strerror})")
        yield None
        return
    try:
        others = lock.others()
        if exclusive and others:
            raise XebenchError(
                f"{device['name']} is in use by another run ({others[0]}): wait for it, or leave out --exclusive"
            )
        if alone := [other for other in others if other.exclusive]:
            raise XebenchError(f"another run has {device['name']} for itself ({alone[0]}, --exclusive): wait for it")
        yield lock
    finally:
        lock.release()

"""Two runs at once on one device disturb one another: each shows that it is there, so that both can say so.

A run holds a locked file of its own in the device's folder below the user's runtime folder. The lock goes with its
process however that ends, and a file without a lock is swept by whoever sees it. Runs of other users and programs
that are not xebench are not seen.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from xebench.errors import XebenchError
from xebench.tables.provenance import now

# Seconds between two looks for other runs.
LOOK_S: Final = 1.0
# Folders from that of a device up to the runtime folder: its key, devices, xebench.
_DEPTH: Final = 4


class OtherRun(msgspec.Struct, frozen=True):
    """A run as the others on its device see it.

    Attributes:
        pid: its process.
        output: its run folder.
        since: when it began, ISO 8601.
        exclusive: whether it asked to be alone.
    """

    pid: int
    output: str
    since: str
    exclusive: bool = False

    def __str__(self) -> str:
        return f"process {self.pid}, run folder {self.output}" if self.pid else f"unknown, by {self.output}"


def device_key(device: Mapping[str, Any]) -> str:
    """A name for the physical device of a row of ``devices``.

    The back-end is left out: ``level_zero:gpu:0`` and ``opencl:gpu:0`` are one device.
    """
    number = str(device["device"]).rpartition(":")[2]
    return re.sub(r"[^A-Za-z0-9]+", "-", f"{device['device_class']}-{number}-{device['name']}").strip("-")


def locks_folder() -> Path:
    """Where runs show themselves: local to the host, one for each user."""
    import platformdirs

    with warnings.catch_warnings():
        # without XDG_RUNTIME_DIR (cron, containers) it names a folder in /tmp and warns of it
        warnings.simplefilter("ignore")
        return Path(platformdirs.user_runtime_dir("xebench")) / "devices"


class DeviceLock:
    """Shows that this run uses a device, until `release` or the end of the process.

    Args:
        key: of the device (`device_key`).
        mine: what others are told.
        folder: where runs show themselves.

    Raises:
        OSError: the folder cannot be written, or another user's is in its way.
    """

    def __init__(self, key: str, mine: OtherRun, folder: Path) -> None:
        self._folder = own_folder(folder / key)
        self._path = self._folder / f"{mine.pid}-{time.monotonic_ns()}.json"
        hidden = self._path.with_suffix(".new")
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        os.write(self._file, msgspec.json.encode(mine))
        hidden.rename(self._path)  # only now: a file that can be seen is locked while its run lives

    def others(self) -> list[OtherRun]:
        """The other runs on the device, now."""
        paths = [path for path in sorted(self._folder.glob("*.json")) if path != self._path]
        return [run for path in paths if (run := _living(path)) is not None]

    def release(self) -> None:
        """No longer use the device; twice is fine."""
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
            raise PermissionError(errno.EACCES, "it is another user's", place)
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
        return OtherRun(0, str(path), "")  # somebody is there, be it another version
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
        lock: of this run; None sees nobody.
        tell: called with every new one.
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
        XebenchError: another run is there, and one of the two asked to be alone.
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

"""Two runs at once on one device disturb one another: each shows that it is there, so that both can say so.

A run holds a locked file of its own in the device's folder below the user's runtime folder. The lock goes with its
process however that ends, and a file without a lock is swept by whoever sees it. Runs of other users and programs
that are not xebench are not seen.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from harness.errors import XebenchError
from harness.records.provenance import now

# Seconds between two looks for other runs.
LOOK_S: Final = 1.0


@dataclass(frozen=True)
class Neighbour:
    """Another run on the same device.

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
        return f"process {self.pid}, run folder {self.output}"


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


class Presence:
    """Shows that this run uses a device, until `release` or the end of the process.

    Args:
        key: of the device (`device_key`).
        mine: what others are told.
        folder: where runs show themselves.

    Raises:
        OSError: the folder cannot be written.
    """

    def __init__(self, key: str, mine: Neighbour, folder: Path) -> None:
        self._folder = folder / key
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / f"{mine.pid}-{time.monotonic_ns()}.json"
        hidden = self._path.with_suffix(".new")
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        os.write(self._file, json.dumps(asdict(mine)).encode())
        hidden.rename(self._path)  # only now: a file that can be seen is locked while its run lives

    def others(self) -> list[Neighbour]:
        """The other runs on the device, now."""
        paths = [path for path in sorted(self._folder.glob("*.json")) if path != self._path]
        return [neighbour for path in paths if (neighbour := _living(path)) is not None]

    def release(self) -> None:
        """No longer use the device; twice is fine."""
        if self._file >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def _living(path: Path) -> Neighbour | None:
    """Whose file this is; None, and the file is removed, when its process is gone."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        told = json.loads(os.read(file, 1 << 16))
        return Neighbour(told["pid"], told["output"], told["since"], told["exclusive"])
    else:
        path.unlink(missing_ok=True)
        return None
    finally:
        os.close(file)


class NeighbourWatch:
    """Looks for other runs while this one goes on, and tells of each one once.

    Args:
        presence: of this run; None sees nobody.
        tell: called with every new neighbour.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        presence: Presence | None,
        tell: Callable[[Neighbour], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._presence = presence
        self._tell = tell
        self._clock = clock
        self._looked_s = float("-inf")
        self._known: set[Neighbour] = set()
        self._present = False

    def disturbed(self) -> bool:
        """Whether another run is on the device, as of the last second."""
        if self._clock() - self._looked_s >= LOOK_S:
            self._looked_s = self._clock()
            others = self._presence.others() if self._presence is not None else []
            self._present = bool(others)
            for neighbour in others:
                if neighbour not in self._known:
                    self._known.add(neighbour)
                    self._tell(neighbour)
        return self._present


def enter(
    device: Mapping[str, Any],
    output: Path,
    *,
    exclusive: bool,
    folder: Path | None = None,
    unseen: Callable[[str], object] = lambda why: None,
) -> Presence | None:
    """Show that a run on ``device`` begins; None where the runtime folder cannot be written: ``unseen`` hears why.

    Raises:
        XebenchError: another run is there, and one of the two asked to be alone.
    """
    mine = Neighbour(os.getpid(), str(output.resolve()), now(), exclusive)
    place = folder or locks_folder()
    try:
        presence = Presence(device_key(device), mine, place)
    except OSError as error:
        if exclusive:
            raise XebenchError(f"--exclusive: other runs cannot be seen ({error}): leave it out") from None
        unseen(f"{place} cannot be written ({error.strerror})")
        return None
    others = presence.others()
    if exclusive and others:
        presence.release()
        raise XebenchError(
            f"{device['name']} is in use by another run ({others[0]}): wait for it, or leave out --exclusive"
        )
    if alone := [other for other in others if other.exclusive]:
        presence.release()
        raise XebenchError(f"another run has {device['name']} for itself ({alone[0]}, --exclusive): wait for it")
    return presence

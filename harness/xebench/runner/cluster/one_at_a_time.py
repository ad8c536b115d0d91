"""Families of workers that share a device wait for one another: two at once would measure each other."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from xebench.runner.device_lock import device_key, locks_folder, own_folder

#: Seconds between two looks whether the device is free.
LOOK_S: Final = 0.1


@contextmanager
def alone_on(
    device: Mapping[str, Any],
    *,
    poll: Callable[[], None],
    unseen: Callable[[str], object],
    folder: Path | None = None,
) -> Iterator[None]:
    """Within this block no other worker of this user and host measures on a device; a dead one holds nothing.

    Args:
        device: its row.
        poll: called while it waits; what it raises ends that.
        unseen: told why others are not seen, where the runtime folder cannot be written.
        folder: where runs show themselves.
    """
    place = (folder or locks_folder()) / device_key(device)
    try:
        own_folder(place)
        lock = os.open(place / "family.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        unseen(f"{place} cannot be written ({error.strerror})")
        yield
        return
    try:
        while not _taken(lock):
            poll()
            time.sleep(LOOK_S)
        yield
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False

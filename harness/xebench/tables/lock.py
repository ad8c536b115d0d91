"""The lock of a run folder: one writer at a time, gone with its process however that ends."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from xebench.errors import RunFolderError
from xebench.tables.files import open_within

NAME: Final = ".lock"


class FolderLock:
    """An exclusive lock on a folder, held until `release` or the end of the process.

    The lock is on an open file (flock), so it also tells two writers of one process apart. The file is not
    inherited by a worker that is started by exec.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock of ``folder``, which is made if need be.

        Raises:
            RunFolderError: Another writer holds it, or the folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open_within(folder.resolve(), NAME)
        except OSError as error:
            raise RunFolderError(
                f"cannot write {folder} ({error.strerror}): name another folder with --output"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode(errors="replace") or "unknown"
            self.release()
            raise RunFolderError(
                f"{folder} is being written by another run (process {holder}): "
                "wait for it or name another folder with --output"
            ) from error
        with suppress(OSError):  # the number is for the message only; a full disk is reported by the journal
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let go; twice is fine."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

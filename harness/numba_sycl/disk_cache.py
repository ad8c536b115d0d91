"""Folders for what can be made again: files appear whole, and a disk that refuses is no error."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def default_folder(kind: str, program: str = "numba-sycl") -> Path:
    """The default folder for files of a kind: ``PROGRAM/KIND`` in the user's cache folder."""
    # instead of platformdirs' function, whose imports take longer than a cached kernel
    told = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (told if told.is_absolute() else Path.home() / ".cache") / program / kind


def keep(path: Path, data: bytes) -> None:
    """Write a file aside and rename it, so that any number of processes can share the folder.

    The folder is made. Where that or the file is not possible there is none, and no error.
    """
    import tempfile  # it loads 20 modules that a reader does not need

    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            part = Path(file.name)
            try:
                file.write(data)
                file.close()
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)

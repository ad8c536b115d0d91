"""Files of ``/proc`` and ``/sys`` that stay open."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

#: The first descriptor that is not standard input, output or errors.
FIRST_DESCRIPTOR: Final = 3


class Files:
    """Files that stay open, for reading their present contents again and again."""

    def __init__(self, root: Path, *patterns: str) -> None:
        self._descriptors = []
        for pattern in patterns:
            for file in sorted(root.glob(pattern)):
                with suppress(OSError):  # root only, or gone
                    self._descriptors.append(open_above_standard(file))

    def texts(self) -> Iterator[str]:
        for descriptor in self._descriptors:
            try:
                yield os.pread(descriptor, 4096, 0).decode(errors="replace")
            except OSError:
                continue

    def text(self) -> str:
        return next(self.texts(), "")

    def numbers(self) -> list[float]:
        """The first word of each file, where it is a number."""
        words = (text.split(maxsplit=1)[:1] for text in self.texts())
        return [float(word[0]) for word in words if word and word[0].replace(".", "", 1).isdigit()]

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())


def open_above_standard(file: Path) -> int:
    """A descriptor that is not 0, 1 or 2: a pattern may close those, once and again, and means others."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    finally:
        os.close(descriptor)

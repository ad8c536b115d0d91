"""Output of a pattern's code: print, warnings, logging and native libraries, by the variant that ran."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

from xebench.errors import escape_controls
from xebench.patterns.registry import portable_text

#: Descriptor of the standard output.
OUTPUT: Final = 1
#: Characters of a variant's output that are kept, from its beginning.
KEPT: Final = 4_000


class Printed:
    """Output of this process since its making; its standard output and error are one file that can be read.

    Attributes:
        by_variant: beginning of each variant's output; "" is the output of steps that serve all variants.
    """

    def __init__(self) -> None:
        self.by_variant: dict[str, str] = {}
        self._variant = ""
        self._read = _size()

    def begin(self, variant: str | None) -> None:
        """Begin a step of a variant, or one that serves all; what was printed until now is of the step before."""
        if (size := _size()) > self._read:
            before = self.by_variant.get(self._variant, "")
            with suppress(OSError):  # a pattern may close descriptors
                new = os.pread(OUTPUT, min(size - self._read, 4 * KEPT), self._read).decode(errors="replace")
                self.by_variant[self._variant] = before if len(before) >= KEPT else _beginning(before + new)
            self._read = size
        self._variant = variant or ""

    def take(self) -> str:
        """The output of steps that serve all variants."""
        self.begin(None)
        return self.by_variant.get("", "")


def _size() -> int:
    with suppress(OSError):
        return os.fstat(OUTPUT).st_size
    return 0


def _beginning(text: str) -> str:
    text = portable_text(escape_controls(text))
    return text if len(text) <= KEPT else f"{text[:KEPT]}..."

"""Compare a worker's software and pattern files with the command's: with others its times are of another program.

Files of the user (``--path``, and what they import) must lie at the same place everywhere: nothing is sent.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from xebench.patterns import reading
from xebench.patterns.registry import BENCHMARKS
from xebench.system import PACKAGE
from xebench.system.runtime.stack import stack

_PACKAGE: Final = PACKAGE.resolve()

#: What stands for a file that is not there.
_MISSING: Final = b""


@dataclass(frozen=True)
class Software:
    """The software and files of a measurement.

    Attributes:
        version: of xebench.
        stack: which of the two stacks.
        source: a hash of all Python files of xebench and its patterns.
        files: a hash of each file of the user that patterns depend on, by path.
    """

    version: str
    stack: str
    source: str
    files: Mapping[str, bytes]

    @classmethod
    def here(cls, files: Iterable[str]) -> Software:
        """The software of this environment, with these files of the user."""
        hashes = {file: reading.contents_hash(file) if Path(file).is_file() else _MISSING for file in files}
        return cls(metadata.version("xebench"), str(stack()), _source(), hashes)

    def difference(self, other: Software) -> str | None:
        """The change that a worker needs to equal this software; None if nothing differs.

        Args:
            other: of the worker.
        """
        if other.version != self.version:
            return f"has xebench {other.version}, and here is {self.version}: install the same there"
        if other.stack != self.stack:
            return f"has the {other.stack} stack, and here is the {self.stack} one: install the same there"
        if other.source != self.source:
            return (
                f"has other source files of xebench {self.version} or its patterns: bring both to the same state, and "
                "start the worker again"
            )
        for file, contents in self.files.items():
            if other.files[file] != contents:
                what = "has another" if other.files[file] else "has no"
                return f"{what} {file}: copy it from here to the same path there"
        return None


def user_files(paths: Sequence[str]) -> tuple[str, ...]:
    """The files of the user that ``--path`` brings in: pattern files, and what they import from beside them."""
    if not paths:
        return ()
    own = reading.sources([Path(path).resolve() for path in paths])
    return tuple(file for file in own if not {_PACKAGE, BENCHMARKS} & set(Path(file).parents))


@functools.cache
def _source() -> str:
    """A hash of the names and contents of our Python files; where they are installed does not matter.

    Taken once in a process: one that goes on after they have changed runs what they were before.
    """
    total = hashlib.sha256()
    for root in (_PACKAGE, BENCHMARKS):
        for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
            if root == BENCHMARKS or BENCHMARKS not in path.parents:
                name = f"{root.name}/{path.relative_to(root).as_posix()}"
                total.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()

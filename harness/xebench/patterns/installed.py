"""Pattern files of installed packages, which name them in the entry point ``xebench.patterns``.

Nothing of a package is imported: `xebench.patterns.registry` reads its files as it reads any other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xebench.errors import PatternError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "xebench.patterns"


def installed_files() -> tuple[Path, ...]:
    """The pattern files of all installed packages, in the order of their entry points' names.

    Raises:
        PatternError: an entry point names neither a module nor a package with modules.
    """
    if not any(f"[{GROUP}]" in file.read_text("utf-8", "replace") for file in _files_of_entry_points()):
        return ()
    from importlib.metadata import entry_points  # costs a third of the time of `xebench list`

    return tuple(file for point in sorted(entry_points(group=GROUP)) for file in _pattern_files(point))


def _files_of_entry_points() -> Iterator[Path]:
    for folder in sys.path:
        yield from Path(folder).glob("*-info/entry_points.txt")


def _pattern_files(point: EntryPoint) -> list[Path]:
    """The file of the module that an entry point names, or those of a package, without names that begin with ``_``."""
    top, *names = point.value.split(".")
    spec = find_spec(top) if top.isidentifier() else None
    if spec is not None:
        for folder in spec.submodule_search_locations or ():
            place = Path(folder, *names)
            if files := sorted(place.glob("[!_]*.py")) or [*place.parent.glob(f"{place.name}.py")]:
                return files
        if not names and spec.origin and spec.submodule_search_locations is None:
            return [Path(spec.origin)]
    package = point.dist.name if point.dist else "an installed package"
    raise PatternError(
        f"{package}: its entry point {GROUP} names {point.value!r}, where there are no pattern files: name a module, "
        "or a package with modules"
    )

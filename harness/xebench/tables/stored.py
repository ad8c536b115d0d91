"""The runs that are at hand: in the folders where runs are put unless a user says otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from xebench.errors import RunFolderError
from xebench.tables.run import Run, load_run

#: Where `xebench run` puts its runs, and where a checkout keeps those of others.
FOLDERS: Final = (Path("runs"), Path("results"))


def newest_of_each_device(pattern: str, folders: Iterable[Path] = FOLDERS) -> list[Run]:
    """The newest run of each device that measured a pattern, newest first; damaged runs are left out.

    Args:
        pattern: its name.
        folders: that hold run folders.
    """
    found: list[Run] = []
    for folder in folders:
        for manifest in folder.glob("*/manifest.json"):
            try:
                run = load_run(manifest.parent)
                if (run.part("pairs", ["pattern"])["pattern"] == pattern).any():
                    found.append(run)
            except (RunFolderError, OSError):
                continue
    newest: dict[tuple[str, ...], Run] = {}
    for run in sorted(found, key=lambda run: str(run.manifest.get("created", "")), reverse=True):
        newest.setdefault(tuple(run.devices["name"]), run)
    return list(newest.values())

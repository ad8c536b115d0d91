"""A path without spaces for Intel's CPU driver.

The driver looks for its parts beside itself, by a path that it takes from ``/proc/self/maps`` up to the first space.
What stands there is where links lead, so a symbolic link does not help: the folder has a hard link to the driver (a
copy, of 100 MB, where the environment is on another file system), and symbolic links to all that lies beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from numba_sycl.disk_cache import default_folder
from numba_sycl.errors import BrokenEnvironment


def without_spaces(driver: Path) -> Path:
    """The driver by a path without spaces: its own, or one in a folder that is made for it.

    Raises:
        BrokenEnvironment: no such folder can be made.
    """
    reason = ""
    for place in places(driver):
        try:
            if place != driver:
                _make(place, driver)
            return place
        except OSError as error:
            reason = f" ({error.strerror}: {place.parent})"
    raise BrokenEnvironment(
        f"Intel's CPU driver cannot work in {driver.parent}, since the path has a space, and there is no other folder "
        f"for it{reason}: move the environment to a path without spaces"
    )


def places(driver: Path) -> list[Path]:
    """Paths from which the driver may be loaded: its own, else files in the user's cache and the temporary folder."""
    if not _has_space(driver):
        return [driver]
    state = driver.stat()
    key = f"{driver}|{state.st_size}|{state.st_mtime_ns}"
    name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:16]
    folders = default_folder("driver"), Path(tempfile.gettempdir()) / f"numba-sycl-{os.getuid()}"
    return [folder / name / driver.name for folder in folders if not _has_space(folder)]


def _has_space(path: Path) -> bool:
    return any(map(str.isspace, str(path)))


def _make(place: Path, driver: Path) -> None:
    """The folder of a place, unless it is there: it appears whole, within a folder of this user.

    Raises:
        OSError: it cannot be made.
    """
    above = place.parent.parent
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    if above.lstat().st_uid != os.getuid():
        raise PermissionError(0, "it belongs to another user")
    if place.exists():
        return
    with tempfile.TemporaryDirectory(dir=above, ignore_cleanup_errors=True) as name:
        folder = Path(name) / "new"
        folder.mkdir()
        for beside in driver.parent.iterdir():
            (folder / beside.name).symlink_to(beside)
        own = folder / driver.name
        own.unlink()
        try:
            own.hardlink_to(driver.resolve())
        except OSError:
            shutil.copy(driver, own)
        with contextlib.suppress(FileExistsError):  # another process was faster
            folder.rename(place.parent)

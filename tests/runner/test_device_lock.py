"""Two runs on one device see one another; what is gone is not seen."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from xebench.errors import XebenchError
from xebench.runner.resource_limits import DeviceLock, OtherRun, SharingWatch, device_key, device_lock

GPU = {"device": "level_zero:gpu:0", "device_class": "gpu", "name": "Intel(R) Arc(TM) A770"}


def test_one_device_has_one_key_on_both_backends() -> None:
    assert device_key(GPU) == device_key({**GPU, "device": "opencl:gpu:0"}) == "gpu-0-Intel-R-Arc-TM-A770"
    assert device_key(GPU) != device_key({**GPU, "device": "level_zero:gpu:1"})


def test_two_devices_that_masks_make_the_first_have_keys_of_their_own() -> None:
    one, other = ({**GPU, "hardware_id": f"uuid {number:032x}"} for number in (1, 2))
    assert device_key(one) != device_key(other)
    assert device_key(one) == device_key({**one, "device": "opencl:gpu:1"})


def other_run(pid: int, exclusive: bool = False) -> OtherRun:
    return OtherRun(pid, f"runs/{pid}", "2026-01-01T00:00:00+00:00", exclusive)


def test_runs_on_one_device_see_one_another(tmp_path: Path) -> None:
    first, second = DeviceLock("gpu-0", other_run(1), tmp_path), DeviceLock("gpu-0", other_run(2), tmp_path)
    elsewhere = DeviceLock("gpu-1", other_run(3), tmp_path)
    assert first.others() == [other_run(2)]
    assert second.others() == [other_run(1)]
    assert elsewhere.others() == []
    second.release()
    assert first.others() == []
    second.release()
    first.release()
    assert list((tmp_path / "gpu-0").iterdir()) == []


def test_a_run_that_was_killed_is_gone(tmp_path: Path) -> None:
    script = (
        "import os, signal; from pathlib import Path; from xebench.runner.resource_limits import OtherRun, DeviceLock;"
        f"p = DeviceLock('gpu-0', OtherRun(7, 'x', 'y'), Path({str(tmp_path)!r}));"
        "print('here', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        mine = DeviceLock("gpu-0", other_run(1), tmp_path)
        assert [other.pid for other in mine.others()] == [7]
        process.kill()
        process.wait()
    assert mine.others() == []
    assert len(list((tmp_path / "gpu-0").iterdir())) == 1, "what it left is swept"
    mine.release()


def test_another_run_is_told_of_once_and_seen_while_it_is_there(tmp_path: Path) -> None:
    now = 0.0
    told: list[OtherRun] = []
    mine = DeviceLock("gpu-0", other_run(1), tmp_path)
    watch = SharingWatch(mine, told.append, clock=lambda: now)
    assert not watch.shared()
    other = DeviceLock("gpu-0", other_run(2), tmp_path)
    assert not watch.shared(), "no look within a second"
    now = 1.0
    assert watch.shared()
    now = 2.0
    assert watch.shared()
    other.release()
    now = 3.0
    assert not watch.shared()
    assert told == [other_run(2)]
    mine.release()
    assert not SharingWatch(None, told.append).shared()


def locked(folder: Path, **options: Any) -> AbstractContextManager[DeviceLock | None]:
    return device_lock(GPU, folder / "run", folder=folder / "locks", **{"exclusive": False, **options})


def test_an_exclusive_run_refuses_to_begin_beside_another(tmp_path: Path) -> None:
    with locked(tmp_path) as first:
        with pytest.raises(XebenchError, match="is in use by another run .*run folder .*--exclusive"):
            locked(tmp_path, exclusive=True).__enter__()
        with locked(tmp_path) as second:
            assert first is not None and second is not None
            assert len(first.others()) == 1, "the one that was refused left nothing behind"


def test_an_exclusive_run_keeps_others_away(tmp_path: Path) -> None:
    with locked(tmp_path, exclusive=True) as alone:
        with pytest.raises(XebenchError, match="for itself"):
            locked(tmp_path).__enter__()
        assert alone is not None and alone.others() == []


def test_without_a_folder_runs_go_on_unseen_but_not_exclusively(tmp_path: Path) -> None:
    file = tmp_path / "locks"
    file.write_text("no folder")
    with locked(tmp_path) as lock:
        assert lock is None
    with pytest.raises(XebenchError, match="cannot be seen"):
        locked(tmp_path, exclusive=True).__enter__()


def test_a_lock_that_cannot_be_read_is_an_unknown_run(tmp_path: Path) -> None:
    mine, other = DeviceLock("gpu-0", other_run(1), tmp_path), DeviceLock("gpu-0", other_run(2), tmp_path)
    other._path.write_bytes(b"{")
    (unknown,) = mine.others()
    assert str(unknown) == f"unknown, by {other._path}"
    other.release()
    mine.release()


def test_what_is_no_lock_is_not_seen(tmp_path: Path) -> None:
    mine = DeviceLock("gpu-0", other_run(1), tmp_path)
    os.mkfifo(tmp_path / "gpu-0" / "pipe.json")
    (tmp_path / "gpu-0" / "folder.json").mkdir()
    (tmp_path / "gpu-0" / "link.json").symlink_to("/dev/zero")
    assert mine.others() == []
    mine.release()


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    told: list[str] = []
    with locked(tmp_path, unseen=told.append) as lock:
        assert lock is None
    assert "belongs to another user" in told[0]

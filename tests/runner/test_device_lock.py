"""Two runs on one device see one another; what is gone is not seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import XebenchError
from harness.runner.device_lock import Neighbour, NeighbourWatch, Presence, device_key, enter

GPU = {"device": "level_zero:gpu:0", "device_class": "gpu", "name": "Intel(R) Arc(TM) A770"}


def test_one_device_has_one_key_on_both_backends() -> None:
    assert device_key(GPU) == device_key({**GPU, "device": "opencl:gpu:0"}) == "gpu-0-Intel-R-Arc-TM-A770"
    assert device_key(GPU) != device_key({**GPU, "device": "level_zero:gpu:1"})


def neighbour(pid: int, exclusive: bool = False) -> Neighbour:
    return Neighbour(pid, f"runs/{pid}", "2026-01-01T00:00:00+00:00", exclusive)


def test_runs_on_one_device_see_one_another(tmp_path: Path) -> None:
    first, second = Presence("gpu-0", neighbour(1), tmp_path), Presence("gpu-0", neighbour(2), tmp_path)
    elsewhere = Presence("gpu-1", neighbour(3), tmp_path)
    assert first.others() == [neighbour(2)]
    assert second.others() == [neighbour(1)]
    assert elsewhere.others() == []
    second.release()
    assert first.others() == []
    second.release()
    first.release()
    assert list((tmp_path / "gpu-0").iterdir()) == []


def test_a_run_that_was_killed_is_gone(tmp_path: Path) -> None:
    script = (
        "import os, signal; from pathlib import Path; from harness.runner.device_lock import Neighbour, Presence;"
        f"p = Presence('gpu-0', Neighbour(7, 'x', 'y'), Path({str(tmp_path)!r}));"
        "print('here', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        mine = Presence("gpu-0", neighbour(1), tmp_path)
        assert [other.pid for other in mine.others()] == [7]
        process.kill()
        process.wait()
    assert mine.others() == []
    assert len(list((tmp_path / "gpu-0").iterdir())) == 1, "what it left is swept"
    mine.release()


def test_a_neighbour_is_told_of_once_and_seen_while_it_is_there(tmp_path: Path) -> None:
    now, told = 0.0, []
    mine = Presence("gpu-0", neighbour(1), tmp_path)
    watch = NeighbourWatch(mine, told.append, clock=lambda: now)
    assert not watch.disturbed()
    other = Presence("gpu-0", neighbour(2), tmp_path)
    assert not watch.disturbed(), "no look within a second"
    now = 1.0
    assert watch.disturbed()
    now = 2.0
    assert watch.disturbed()
    other.release()
    now = 3.0
    assert not watch.disturbed()
    assert told == [neighbour(2)]
    mine.release()
    assert not NeighbourWatch(None, told.append).disturbed()


def entered(folder: Path, **options: Any) -> Presence | None:
    return enter(GPU, folder / "run", folder=folder / "locks", **{"exclusive": False, **options})


def test_an_exclusive_run_refuses_to_begin_beside_another(tmp_path: Path) -> None:
    first = entered(tmp_path)
    with pytest.raises(XebenchError, match="is in use by another run .*run folder .*--exclusive"):
        entered(tmp_path, exclusive=True)
    second = entered(tmp_path)
    assert first is not None and second is not None
    assert len(first.others()) == 1, "the one that was refused left nothing behind"
    first.release()
    second.release()


def test_an_exclusive_run_keeps_others_away(tmp_path: Path) -> None:
    alone = entered(tmp_path, exclusive=True)
    with pytest.raises(XebenchError, match="for itself"):
        entered(tmp_path)
    assert alone is not None and alone.others() == []
    alone.release()


def test_without_a_folder_runs_go_on_unseen_but_not_exclusively(tmp_path: Path) -> None:
    file = tmp_path / "locks"
    file.write_text("no folder")
    assert entered(tmp_path) is None
    with pytest.raises(XebenchError, match="cannot be seen"):
        entered(tmp_path, exclusive=True)

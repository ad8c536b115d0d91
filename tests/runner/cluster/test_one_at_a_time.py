"""Workers that share a device wait for one another, until they are told to stop."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import rows_kit

from xebench.runner.cluster.agent import alone_on


class Stop(Exception):
    pass


def test_a_second_waits_until_the_first_is_done(tmp_path: Path) -> None:
    device, waiting, order = rows_kit.device(), threading.Event(), []

    def second() -> None:
        with alone_on(device, poll=waiting.set, unseen=pytest.fail, folder=tmp_path):
            order.append("second")

    with alone_on(device, poll=lambda: None, unseen=pytest.fail, folder=tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(60)
        order.append("first")
    thread.join(60)
    assert order == ["first", "second"]


def test_who_waits_can_be_stopped_and_another_device_is_free(tmp_path: Path) -> None:
    def stop() -> None:
        raise Stop

    with alone_on(rows_kit.device(), poll=stop, unseen=pytest.fail, folder=tmp_path):
        with pytest.raises(Stop), alone_on(rows_kit.device(), poll=stop, unseen=pytest.fail, folder=tmp_path):
            pytest.fail("two at once")
        with alone_on(rows_kit.device(name="Other"), poll=stop, unseen=pytest.fail, folder=tmp_path):
            pass


def test_a_folder_that_cannot_be_made_is_told_and_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told: list[object] = []
    with alone_on(rows_kit.device(), poll=lambda: None, unseen=told.append, folder=tmp_path / "file"):
        assert "cannot be written" in str(told)
